// Brute force: every opcode of llvm-mc, except images, exports and interpolation, is in the table.
#include <algorithm>
#include <cstring>

#include "tests/kfdemu/isa/llvm_mc.hpp"
#include "tests/support/catch.hpp"
#include "tools/kfdemu/isa/encodings/decode.hpp"
#include "tools/kfdemu/isa/encodings/family.hpp"
#include "tools/kfdemu/isa/text/disassemble.hpp"

using namespace kfdemu::isa;
using test_isa::Words;
using u32 = std::uint32_t;

namespace {

/// Where the families have what differs.
struct Layout {
    u32 vop3, vop3p;
    unsigned gds_bit, segment_bit, glc_bit;  ///< of DS; of FLAT
    u32 saddr;                               ///< of GLOBAL: no register
};
constexpr Layout kLayoutGfx9{0xd0000000, 0xd3800000, 16, 14, 16, 0x7f},
    kLayoutGfx10{0xd4000000, 0xcc000000, 17, 14, 16, 0x7d}, kLayoutGfx11{0xd4000000, 0xcc000000, 17, 16, 14, 0x7c};

/// Encodings of one opcode number with operands that some instruction may like.
std::vector<Words> attempts(Format format, u32 opcode, const Family& family) {
    const bool gfx10 = &family == &kGfx10, gfx11 = &family == &kGfx11, gfx12 = &family == &kGfx12;
    const bool rdna = gfx10 || gfx11 || gfx12;
    const Layout& layout = gfx11 || gfx12 ? kLayoutGfx11 : gfx10 ? kLayoutGfx10 : kLayoutGfx9;
    switch (format) {
        case Format::Sop2:
            return {{0x80000000 | opcode << 23 | 4 << 16 | 8 << 8 | 12, 0x1234},
                    {0x80000000 | opcode << 23 | 4 << 16 | 8 << 8 | 12},
                    {0x80000000 | opcode << 23 | 8 << 8 | 12}};
        case Format::Sopk: {
            const u32 word = 0xb0000000 | opcode << 23 | 4 << 16 | 1;
            return {{word}, {word, 0x1234}, {word & 0xff80ffff, 0x1234}};
        }
        case Format::Sop1: {
            const u32 word = 0xbe800000 | opcode << 8;
            return {{word | 4 << 16 | 8}, {word | 8}, {word | 4 << 16}, {word | 4 << 16 | 0x80}, {word | 193}};
        }
        case Format::Sopc:
            return {{0xbf000000 | opcode << 16 | 4 << 8 | 8}};
        case Format::Sopp:
            return {{0xbf800000 | opcode << 16}};
        case Format::Vop1:
            return {{0x7e000000 | opcode << 9 | 4 << 17 | 262}, {0x7e000000 | opcode << 9}};
        case Format::Vop2: {
            const u32 word = opcode << 25 | 4 << 17 | 2 << 9 | 262;
            return {{word}, {word, 0x1234}};
        }
        case Format::Vopc:
            return {{0x7c000000 | opcode << 17 | 2 << 9 | 262}};
        case Format::Smem: {
            const u32 none = gfx10 ? 0xfa000000 : 0xf8000000;
            if (gfx12) {
                if (opcode >= 64) return {};
                const u32 word = 0xf4000000 | opcode << 13;
                return {{word | 8 << 6 | 2, none | 0x10}, {word | 8 << 6, none}, {word, 0}};
            }
            if (rdna) return {{0xf4000000 | opcode << 18 | 8 << 6 | 2, none | 0x10}, {0xf4000000 | opcode << 18, 0}};
            const u32 word = 0xc0000000 | opcode << 18;
            return {{word | 1u << 17 | 8 << 6 | 2, 0x10}, {word, 0}};
        }
        case Format::Ds: {
            const unsigned gds = layout.gds_bit;
            const u32 word = 0xd8000000 | opcode << (gds + 1);
            std::vector<Words> all;
            for (const u32 second :
                 {0u, 2u, 4u << 8, 12u << 24, 2u | 4u << 8, 2u | 12u << 24, 2u | 4u << 8 | 12u << 24,
                  4u << 8 | 12u << 24, 2u | 4u << 8 | 8u << 16, 2u | 4u << 8 | 8u << 16 | 12u << 24}) {
                all.push_back({word, second});
                all.push_back({word | 1u << gds, second});
            }
            return all;
        }
        case Format::Flat: {
            std::vector<Words> all;
            if (gfx12) {
                for (const u32 segment : {0u, 1u, 2u})
                    for (const u32 first : {8u, 0u, 4u << 23, 4u << 23 | 8u, 4u << 23 | 8u | 1u << 20})
                        for (const u32 address : {2u, 0u})
                            all.push_back({0xec00007c | segment << 24 | opcode << 14, first, address});
                return all;
            }
            for (const u32 second : {2u | 8u << 24, 2u | 4u << 8, 2u | 4u << 8 | 8u << 24, 8u << 24, 4u << 8}) {
                for (const bool global : {false, true})
                    for (const bool glc : {false, true})
                        all.push_back({0xdc000000 | opcode << 18 | u32{glc} << layout.glc_bit |
                                           (global ? 2u : 0) << layout.segment_bit,
                                       second | (rdna || global ? layout.saddr << 16 : 0)});
            }
            return all;
        }
        case Format::Mubuf: {
            if (gfx12) {
                const u32 word = 0xc400007c | (opcode & 127) << 14, operands = 4u | 8u << 9 | 1u << 23;
                return {{word, operands, 2}, {word, operands | 1u << 20, 2}};
            }
            const u32 word = 0xe0000000 | opcode << 18, operands = 4u << 8 | 2u << 16 | 4u << 24;
            return {{word, operands}, {word | 1u << 14, operands}, {word | 1u << 16, operands & ~0xff00u}, {word, 0}};
        }
        case Format::Mtbuf:
            if (gfx12) return {{0xc420007c | opcode << 14, 4u | 8u << 9 | 1u << 23, 2}};
            if (gfx10) return {{0xe8000000 | (opcode & 7) << 16, 4u << 8 | 2u << 16 | 4u << 24 | (opcode >> 3) << 21}};
            return {{0xe8000000 | opcode << 15 | 1u << 19, 4u << 8 | 2u << 16 | 4u << 24}};
        case Format::Vop3p: {
            const u32 word = layout.vop3p | opcode << 16 | 4;
            return {{word, 262u | 258u << 9 | 264u << 18},
                    {word, 262u | 258u << 9},
                    {word | 0x4000, 0x18000106},
                    {word | 0x4000, 262u | 270u << 9 | 280u << 18 | 0x18000000}};
        }
        case Format::Vopd: {  // in the first place, and in the second beside a v_dual_mov_b32
            constexpr u32 move = 8, first = 262 | 2 << 9, second = 263 | 3 << 9 | 2 << 17 | 4 << 24;
            const u32 beside = (second & ~(0xffu << 9)), alone = 262;
            std::vector<Words> all;
            if (opcode < 16)
                for (const u32 operands : {first, alone})
                    all.push_back({0xc8000000 | opcode << 22 | move << 17 | operands, beside});
            all.push_back({0xc8000000 | move << 22 | opcode << 17 | alone, second});
            for (std::size_t n = all.size(); n-- > 0;) {
                all.push_back(all[n]);
                all.back().push_back(0x1234);
            }
            return all;
        }
        default: {
            std::vector<Words> all;
            const u32 word = layout.vop3 | opcode << 16;
            for (const u32 second : {262u | 258u << 9 | 264u << 18, 262u | 258u << 9, 262u, 262u | 4u << 9,
                                     262u | 258u << 9 | 8u << 18, 262u | 4u << 9 | 8u << 18, 0u, 4u | 8u << 9}) {
                all.push_back({word | 4, second});
                if (rdna) all.push_back({word | 126, second});  // a comparison to EXEC
            }
            all.push_back({word, 0});
            return all;
        }
    }
}

struct Wanted {
    Format format;
    u32 opcodes;
};
// VOP1, VOP2 and VOPC opcodes above these are other formats.
constexpr Wanted kWanted[] = {{Format::Sop2, 96},    {Format::Sopk, 29},   {Format::Sop1, 256}, {Format::Sopc, 128},
                              {Format::Sopp, 128},   {Format::Vop1, 256},  {Format::Vop2, 62},  {Format::Vopc, 256},
                              {Format::Vop3, 0x380}, {Format::Vop3p, 128}, {Format::Smem, 256}, {Format::Ds, 256},
                              {Format::Flat, 128},   {Format::Mubuf, 256}, {Format::Mtbuf, 16}, {Format::Vopd, 32}};

/// Interpolation is for pixels, which no kernel of a compute queue has.
bool is_graphics(const std::string& text) { return text.find("v_interp_") == 0; }

/// Rows lack the suffix of a form, and those of FLAT carry its prefix for all segments.
bool is_same(const std::string& mnemonic, const std::string& ours) {
    if (ours.find("flat_") == 0) return mnemonic.substr(mnemonic.find('_')) == ours.substr(4);
    return mnemonic == ours || mnemonic == ours + "_e32" || mnemonic == ours + "_e64";
}

void check_coverage(Target target, test_isa::Version version) {
    if (!test_isa::have_llvm_mc(version)) SKIP_BECAUSE(test_isa::llvm_mc_missing(version));
    // VOPD is of waves of 32 lanes.
    const bool has_dual = traits_of(target).register_halves;
    const unsigned width = has_dual ? 32 : kMostLanes;
    if (!is_built(width)) SKIP_BECAUSE("no executor of " + std::to_string(width) + " lanes is built: -Dwidths=64,32");
    const Decoder decoder{target, best_level(), width};
    std::vector<Words> encodings;
    for (const Wanted& wanted : kWanted) {
        const Family& family = family_of(target);
        if (wanted.format == Format::Vopd && !has_dual) continue;
        const bool top_bit =
            wanted.format == Format::Mubuf && !traits_of(target).row_share;  // there it is another field
        for (u32 opcode = 0; opcode < (top_bit ? 128 : wanted.opcodes); ++opcode) {
            const std::vector<Words> more = attempts(wanted.format, opcode, family);
            encodings.insert(encodings.end(), more.begin(), more.end());
        }
    }
    const std::vector<std::string> texts = test_isa::llvm_mc(target, encodings, width, version);
    unsigned known = 0;
    for (std::size_t n = 0; n < texts.size(); ++n) {
        if (texts[n].empty() || is_graphics(texts[n])) continue;
        const Encoding encoding = family_of(target).encoding_of(encodings[n]);
        const Row* row = decoder.find(encoding.format, encoding.opcode);
        INFO(name(target) << ": " << texts[n]);
        CHECK(row != nullptr);
        if (!row) continue;
        if (encoding.format == Format::Vopd) {
            const Inst inst = decoder.decode(0, encodings[n]);
            CHECK(disassemble(target, inst) == texts[n]);
            ++known;
            continue;
        }
        ++known;
        const std::string mnemonic = texts[n].substr(0, texts[n].find(' '));
        CHECK(is_same(mnemonic, mnemonic_of(*row, target)));
    }
    CHECK(known > 600);
}
void check_coverage(Target target) { check_coverage(target, test_isa::version_for(target)); }

}  // namespace

TEST_CASE("every opcode that llvm-mc knows has a row on gfx900", "[isa][coverage]") { check_coverage(Target::gfx900); }
TEST_CASE("every opcode that llvm-mc knows has a row on gfx906", "[isa][coverage]") { check_coverage(Target::gfx906); }
TEST_CASE("every opcode that llvm-mc knows has a row on gfx908", "[isa][coverage]") { check_coverage(Target::gfx908); }
TEST_CASE("every opcode that llvm-mc knows has a row on gfx90a", "[isa][coverage]") { check_coverage(Target::gfx90a); }
TEST_CASE("every opcode that llvm-mc knows has a row on gfx942", "[isa][coverage]") { check_coverage(Target::gfx942); }
TEST_CASE("every opcode that llvm-mc knows has a row on gfx950", "[isa][coverage]") { check_coverage(Target::gfx950); }
TEST_CASE("every opcode that llvm-mc knows has a row on gfx1030", "[isa][coverage]") {
    check_coverage(Target::gfx1030);
}
TEST_CASE("every opcode that llvm-mc knows has a row on gfx1100", "[isa][coverage]") {
    check_coverage(Target::gfx1100);
}
TEST_CASE("every opcode that the newest llvm-mc knows has a row on gfx1100", "[isa][coverage]") {
    check_coverage(Target::gfx1100, test_isa::Version::newest);
}
TEST_CASE("every opcode that llvm-mc knows has a row on gfx1151", "[isa][coverage]") {
    check_coverage(Target::gfx1151);
}
TEST_CASE("every opcode that the newest llvm-mc knows has a row on gfx1151", "[isa][coverage]") {
    check_coverage(Target::gfx1151, test_isa::Version::newest);
}
TEST_CASE("every opcode that llvm-mc knows has a row on gfx1201", "[isa][coverage]") {
    check_coverage(Target::gfx1201);
}
