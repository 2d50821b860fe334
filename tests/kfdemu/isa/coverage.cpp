// Brute force: every opcode of llvm-mc, except images, exports and interpolation, is in the table.
#include <algorithm>
#include <cstring>

#include "tests/kfdemu/isa/llvm_mc.hpp"
#include "tests/support/catch.hpp"
#include "tools/kfdemu/isa/encodings/decode.hpp"
#include "tools/kfdemu/isa/encodings/family.hpp"

using namespace kfdemu::isa;
using test_isa::Words;
using u32 = std::uint32_t;

namespace {

/// Encodings of one opcode number with operands that some instruction may like.
std::vector<Words> attempts(Format format, u32 opcode, bool gfx10) {
    switch (format) {
        case Format::Sop2:
            return {{0x80000000 | opcode << 23 | 4 << 16 | 8 << 8 | 12}, {0x80000000 | opcode << 23 | 8 << 8 | 12}};
        case Format::Sopk: {
            const u32 word = 0xb0000000 | opcode << 23 | 4 << 16 | 1;
            return {{word}, {word, 0x1234}, {word & 0xff80ffff, 0x1234}};
        }
        case Format::Sop1: {
            const u32 word = 0xbe800000 | opcode << 8;
            return {{word | 4 << 16 | 8}, {word | 8}, {word | 4 << 16}};
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
            if (gfx10) return {{0xf4000000 | opcode << 18 | 8 << 6 | 2, 0xfa000010}, {0xf4000000 | opcode << 18, 0}};
            const u32 word = 0xc0000000 | opcode << 18;
            return {{word | 1u << 17 | 8 << 6 | 2, 0x10}, {word, 0}};
        }
        case Format::Ds: {
            const unsigned gds = gfx10 ? 17 : 16;
            const u32 word = 0xd8000000 | opcode << (gds + 1);
            std::vector<Words> all;
            for (const u32 second : {0u, 2u, 4u << 8, 12u << 24, 2u | 4u << 8, 2u | 12u << 24, 2u | 4u << 8 | 12u << 24,
                                     2u | 4u << 8 | 8u << 16, 2u | 4u << 8 | 8u << 16 | 12u << 24}) {
                all.push_back({word, second});
                all.push_back({word | 1u << gds, second});
            }
            return all;
        }
        case Format::Flat: {
            std::vector<Words> all;
            for (const u32 second : {2u | 8u << 24, 2u | 4u << 8, 2u | 4u << 8 | 8u << 24, 8u << 24, 4u << 8}) {
                for (const u32 modifiers : {0u, 1u << 16, 2u << 14, 2u << 14 | 1u << 16})
                    all.push_back({0xdc000000 | opcode << 18 | modifiers,
                                   second | (gfx10 ? 0x7d0000 : (modifiers >> 15 & 1) * 0x7f0000)});
            }
            return all;
        }
        case Format::Mubuf: {
            const u32 word = 0xe0000000 | (opcode & 127) << 18 | (opcode >> 7) << 25,
                      operands = 4u << 8 | 2u << 16 | 4u << 24;
            return {{word, operands}, {word | 1u << 14, operands}, {word | 1u << 16, operands & ~0xff00u}, {word, 0}};
        }
        case Format::Mtbuf:
            if (gfx10) return {{0xe8000000 | (opcode & 7) << 16, 4u << 8 | 2u << 16 | 4u << 24 | (opcode >> 3) << 21}};
            return {{0xe8000000 | opcode << 15, 4u << 8 | 2u << 16 | 4u << 24}};
        case Format::Vop3p: {
            const u32 word = (gfx10 ? 0xcc000000 : 0xd3800000) | opcode << 16 | 4;
            return {{word, 262u | 258u << 9 | 264u << 18}, {word, 262u | 258u << 9}, {word | 0x4000, 0x18000106}};
        }
        default: {
            std::vector<Words> all;
            const u32 word = (gfx10 ? 0xd4000000 : 0xd0000000) | opcode << 16;
            for (const u32 second : {262u | 258u << 9 | 264u << 18, 262u | 258u << 9, 262u, 262u | 4u << 9,
                                     262u | 258u << 9 | 8u << 18, 262u | 4u << 9 | 8u << 18, 0u, 4u | 8u << 9}) {
                all.push_back({word | 4, second});
                if (gfx10) all.push_back({word | 126, second});  // a comparison to EXEC
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
                              {Format::Flat, 128},   {Format::Mubuf, 256}, {Format::Mtbuf, 16}};

/// Interpolation is for pixels, which no kernel of a compute queue has.
bool is_graphics(const std::string& text) { return text.find("v_interp_") == 0; }

/// Rows lack the suffix of a form, and those of FLAT carry its prefix for all segments.
bool is_same(const std::string& mnemonic, const std::string& ours) {
    if (ours.find("flat_") == 0) return mnemonic.substr(mnemonic.find('_')) == ours.substr(4);
    return mnemonic == ours || mnemonic == ours + "_e32" || mnemonic == ours + "_e64";
}

void check_coverage(Target target) {
    if (!test_isa::have_llvm_mc(target)) SKIP_BECAUSE(test_isa::llvm_mc_missing(target));
    const Decoder decoder{target};
    std::vector<Words> encodings;
    for (const Wanted& wanted : kWanted) {
        const bool gfx10 = &family_of(target) == &kGfx10;
        const bool top_bit = wanted.format == Format::Mubuf && !gfx10;  // there it is another field
        for (u32 opcode = 0; opcode < (top_bit ? 128 : wanted.opcodes); ++opcode) {
            const std::vector<Words> more = attempts(wanted.format, opcode, gfx10);
            encodings.insert(encodings.end(), more.begin(), more.end());
        }
    }
    const std::vector<std::string> texts = test_isa::llvm_mc(target, encodings);
    unsigned known = 0;
    for (std::size_t n = 0; n < texts.size(); ++n) {
        if (texts[n].empty() || is_graphics(texts[n])) continue;
        const Encoding encoding = family_of(target).encoding_of(encodings[n]);
        const Row* row = decoder.find(encoding.format, encoding.opcode);
        INFO(name(target) << ": " << texts[n]);
        CHECK(row != nullptr);
        if (!row) continue;
        ++known;
        const std::string mnemonic = texts[n].substr(0, texts[n].find(' '));
        CHECK(is_same(mnemonic, mnemonic_of(*row, target)));
    }
    CHECK(known > 600);
}

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
