#include "tests/kfdemu/jit/programs.hpp"

#include <cstdio>

#include "tools/kfdemu/isa/encodings/family.hpp"
#include "tools/kfdemu/isa/rows/row.hpp"
#include "tools/kfdemu/jit/operation.hpp"

namespace test_jit {
namespace {

using namespace test_isa;
using kfdemu::isa::Format;
using kfdemu::isa::Row;

constexpr unsigned kVgprs = 12, kSgprs = 12;

class Generator {
  public:
    Generator(Target target, Random& random, unsigned lanes)
        : random_(random), decoder_(target, kfdemu::isa::best_level(), lanes), target_(target), lanes_(lanes) {
        for (const Row& row : kfdemu::isa::rows())
            if (row.on(target) && is_candidate(row.format)) rows_.push_back(&row);
    }

    Program program(unsigned instructions) {
        Program made;
        while (instructions > 0) {
            const Row& row = *rows_[random_.below(static_cast<u32>(rows_.size()))];
            const std::vector<u32> words = encoded(row);
            std::vector<kfdemu::jit::LaneOp> ops;
            const Inst inst = decoder_.decode(kCodeBase, words);
            if (!append_operations(inst, {kfdemu::jit::Width::bits512, lanes_}, ops)) continue;
            made.words.insert(made.words.end(), words.begin(), words.begin() + inst.size);
            made.text += std::string(row.name) + "; ";
            --instructions;
        }
        return made;
    }

  private:
    static bool is_candidate(Format format) {
        return format == Format::Vop1 || format == Format::Vop2 || format == Format::Vopc || format == Format::Vop3 ||
               format == Format::Vop3p || format == Format::Sop1 || format == Format::Sop2 || format == Format::Sopk;
    }
    bool is_gfx10() const { return &kfdemu::isa::family_of(target_) == &kfdemu::isa::kGfx10; }
    u32 scalar() {
        switch (random_.below(4)) {
            case 0:
                return 128 + random_.below(81);
            case 1:
                return 240 + random_.below(9);
            case 2:
                return random_.one_in(4) ? 106 : 126;
            default:
                return random_.below(kSgprs);
        }
    }
    u32 vgpr() { return random_.below(kVgprs); }
    u32 source() { return random_.one_in(3) ? scalar() : v(vgpr()); }
    std::vector<u32> encoded(const Row& row) {
        const u32 literal = 0x3f000000 + random_.below(0x1000000), op = opcode_of(row, target_);
        const u32 a = random_.one_in(8) ? 255 : source();
        const bool long_form = random_.one_in(2);
        switch (row.format) {
            case Format::Sop1:
                return {0xbe800000u | random_.below(kSgprs) << 16 | op << 8 | (random_.one_in(2) ? 255 : scalar()),
                        literal};
            case Format::Sop2:
                return {0x80000000u | op << 23 | random_.below(kSgprs) << 16 | scalar() << 8 |
                            (random_.one_in(4) ? 255 : scalar()),
                        literal};
            case Format::Sopk:
                return {0xb0000000u | op << 23 | random_.below(kSgprs) << 16 | random_.below(0x10000), 0};
            case Format::Vop1:
                if (long_form) return vop3_form(op + kfdemu::isa::family_of(target_).vop1_in_vop3);
                return {0x7e000000u | vgpr() << 17 | op << 9 | a, literal};
            case Format::Vop2:
                if (long_form) return vop3_form(op + kfdemu::isa::family_of(target_).vop2_in_vop3);
                return {op << 25 | vgpr() << 17 | vgpr() << 9 | a, literal};
            case Format::Vopc:
                if (long_form) return vop3_form(op);
                return {0x7c000000u | op << 17 | vgpr() << 9 | a, literal};
            case Format::Vop3p:
                return {(is_gfx10() ? 0xcc000000u : 0xd3800000u) | op << 16 | random_.below(8) << 11 | vgpr() |
                            random_.below(2) << 14,
                        v(2 * random_.below(5)) | v(2 * random_.below(5)) << 9 | v(2 * random_.below(5)) << 18 |
                            random_.below(4) << 27 | (random_.one_in(3) ? random_.below(8) << 29 : 0)};
            default:
                return vop3_form(op);
        }
    }
    /// VOP3A, or VOP3B, whose SDST is in the place of ABS and more.
    std::vector<u32> vop3_form(u32 op) {
        const bool plain = random_.one_in(2);
        const u32 c = random_.one_in(2) ? 2 * random_.below(kSgprs / 2) : random_.one_in(2) ? 106 : source();
        return {(is_gfx10() ? 0xd4000000u : 0xd0000000u) | op << 16 | (plain ? 0 : random_.below(8) << 8) | vgpr(),
                source() | v(vgpr()) << 9 | c << 18 | (plain ? 0 : random_.below(8) << 29)};
    }

    Random& random_;
    Decoder decoder_;
    Target target_;
    unsigned lanes_;
    std::vector<const Row*> rows_;
};

}  // namespace

Program random_program(Target target, Random& random, unsigned instructions, unsigned lanes) {
    return Generator(target, random, lanes).program(instructions);
}

std::string difference(test_isa::Machine& a, test_isa::Machine& b) {
    char text[100] = "";
    for (unsigned n = 0; n < 256 && text[0] == 0; ++n)
        for (unsigned lane = 0; lane < a.wave().width && text[0] == 0; ++lane)
            if (a.lane(n, lane) != b.lane(n, lane))
                std::snprintf(text, sizeof text, "v%u, lane %u: %08x, interpreted %08x", n, lane, a.lane(n, lane),
                              b.lane(n, lane));
    for (unsigned n = 0; n < kfdemu::isa::kConstants && text[0] == 0; ++n)
        if (a.sgpr(n) != b.sgpr(n))
            std::snprintf(text, sizeof text, "s%u: %08x, interpreted %08x", n, a.sgpr(n), b.sgpr(n));
    if (text[0] == 0 && a.wave().scc != b.wave().scc) return "SCC";
    return text;
}

}  // namespace test_jit
