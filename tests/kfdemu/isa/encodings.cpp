// Decoding and disassembly against llvm-mc, and the table against itself.
#include <map>
#include <set>

#include "tests/kfdemu/isa/samples.hpp"
#include "tests/support/catch.hpp"
#include "tools/kfdemu/isa/encodings/decode.hpp"
#include "tools/kfdemu/isa/encodings/family.hpp"
#include "tools/kfdemu/isa/text/disassemble.hpp"

using namespace kfdemu::isa;
using test_isa::Words;

namespace {

std::string hex(const Words& words) {
    std::string text;
    char word[16];
    for (const std::uint32_t w : words) {
        std::snprintf(word, sizeof word, "%08x ", w);
        text += word;
    }
    return text;
}

/// kfdemu's text; "" for an unknown instruction.
std::string our_text(const Decoder& decoder, const Words& words) {
    const Inst inst = decoder.decode(0x1000, words);
    if (inst.row == Decoder::kNoRow) return "";
    if (inst.size != words.size()) return "uses another number of dwords";
    return disassemble(decoder.target(), inst);
}

/// Some of GFX11 are known to newer ones alone, which name halves of registers that llvm-mc 19 does not.
test_isa::Version version_for(const Row& row, Target target) {
    for (const Op newer : {Op::v_swap_b16, Op::v_dual_dot2acc_f32_bf16, Op::s_endpgm_ordered_ps_done})
        if (&row == &rows()[index(newer)] && &family_of(target) == &kGfx11) return test_isa::Version::newest;
    return test_isa::version_for(target);
}

void compare_rows(Target target, unsigned width, test_isa::Version version) {
    if (!test_isa::have_llvm_mc(version)) SKIP_BECAUSE(test_isa::llvm_mc_missing(version));
    if (!is_built(width)) SKIP_BECAUSE("no executor of " + std::to_string(width) + " lanes is built: -Dwidths=64,32");
    const Decoder decoder{target, best_level(), width};
    std::vector<Words> encodings;
    std::vector<const Row*> of;
    for (const Row& row : rows()) {
        if (!row.on(target) || (row.format == Format::Vopd && width != 32)) continue;
        if (version_for(row, target) != version) continue;
        for (Words& words : test_isa::samples(row, target, width)) {
            encodings.push_back(std::move(words));
            of.push_back(&row);
        }
    }
    const std::vector<std::string> theirs = test_isa::llvm_mc(target, encodings, width, version);
    std::map<const Row*, unsigned> agreed;
    for (std::size_t n = 0; n < encodings.size(); ++n) {
        INFO(of[n]->name << " " << hex(encodings[n]) << "on " << name(target));
        const std::string ours = our_text(decoder, encodings[n]);
        CHECK(ours == theirs[n]);
        agreed[of[n]] += ours == theirs[n] && !ours.empty();
    }
    for (const auto& [row, count] : agreed) {
        INFO(row->name << " on " << name(target));
        CHECK(count != 0);
    }
}
void compare_rows(Target target, unsigned width = kMostLanes) {
    compare_rows(target, width, test_isa::version_for(target));
}

}  // namespace

TEST_CASE("every row decodes and prints as llvm-mc does on gfx900", "[isa][encodings]") {
    compare_rows(Target::gfx900);
}
TEST_CASE("every row decodes and prints as llvm-mc does on gfx906", "[isa][encodings]") {
    compare_rows(Target::gfx906);
}
TEST_CASE("every row decodes and prints as llvm-mc does on gfx908", "[isa][encodings]") {
    compare_rows(Target::gfx908);
}
TEST_CASE("every row decodes and prints as llvm-mc does on gfx90a", "[isa][encodings]") {
    compare_rows(Target::gfx90a);
}
TEST_CASE("every row decodes and prints as llvm-mc does on gfx942", "[isa][encodings]") {
    compare_rows(Target::gfx942);
}
TEST_CASE("every row decodes and prints as llvm-mc does on gfx950", "[isa][encodings]") {
    compare_rows(Target::gfx950);
}

TEST_CASE("every row decodes and prints as llvm-mc does on gfx1030, in waves of 64 lanes", "[isa][encodings]") {
    compare_rows(Target::gfx1030);
}
TEST_CASE("every row decodes and prints as llvm-mc does on gfx1030, in waves of 32 lanes", "[isa][encodings]") {
    compare_rows(Target::gfx1030, 32);
}

TEST_CASE("every row decodes and prints as llvm-mc does on gfx1100, in waves of 64 lanes", "[isa][encodings]") {
    compare_rows(Target::gfx1100);
}
TEST_CASE("every row decodes and prints as llvm-mc does on gfx1100, in waves of 32 lanes", "[isa][encodings]") {
    compare_rows(Target::gfx1100, 32);
}
TEST_CASE("every row decodes and prints as llvm-mc does on gfx1151, in waves of 64 lanes", "[isa][encodings]") {
    compare_rows(Target::gfx1151);
}
TEST_CASE("every row decodes and prints as llvm-mc does on gfx1151, in waves of 32 lanes", "[isa][encodings]") {
    compare_rows(Target::gfx1151, 32);
}
TEST_CASE("rows that only the newest llvm-mc knows decode and print as it does", "[isa][encodings]") {
    for (const Target target : {Target::gfx1100, Target::gfx1151})
        for (const unsigned width : {64u, 32u}) compare_rows(target, width, test_isa::Version::newest);
}

TEST_CASE("every row decodes and prints as llvm-mc does on gfx1201, in waves of 64 lanes", "[isa][encodings]") {
    compare_rows(Target::gfx1201);
}
TEST_CASE("every row decodes and prints as llvm-mc does on gfx1201, in waves of 32 lanes", "[isa][encodings]") {
    compare_rows(Target::gfx1201, 32);
}

TEST_CASE("no two rows claim the same opcode of a target", "[isa][table]") {
    for (const Target target : kTargets) {
        std::map<std::pair<Format, unsigned>, const char*> claimed;
        const auto claim = [&](Format format, unsigned opcode, const Row& row) {
            const auto [other, fresh] = claimed.try_emplace({format, opcode}, row.name);
            INFO(name(target) << ": " << name(format) << " opcode " << opcode << ", " << row.name << " and "
                              << other->second);
            CHECK(fresh);
        };
        for (const Row& row : rows()) {
            if (!row.on(target)) continue;
            claim(row.format, opcode_of(row, target), row);
            if (row.is(kNoVop3)) continue;
            if (row.format == Format::Vopc) claim(Format::Vop3, opcode_of(row, target), row);
            const Family& family = family_of(target);
            const unsigned opcode = opcode_of(row, target);
            if (row.format == Format::Vop2) claim(Format::Vop3, opcode + family.vop2_in_vop3, row);
            if (row.format == Format::Vop1) claim(Format::Vop3, opcode + family.vop1_in_vop3, row);
        }
    }
}

TEST_CASE("mnemonics are unique", "[isa][table]") {
    std::set<std::string> names;
    for (const Row& row : rows()) {
        INFO(row.name);
        CHECK(names.insert(row.name).second);
    }
}
