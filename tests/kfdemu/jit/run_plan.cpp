// Which instructions are translated together.
#include "tools/kfdemu/jit/run_plan.hpp"

#include "tests/kfdemu/isa/machine.hpp"
#include "tests/support/catch.hpp"

using namespace test_isa;
using namespace kfdemu::jit;

namespace {

struct Page {
    explicit Page(std::vector<u32> words, Target target = Target::gfx90a, unsigned lanes = kfdemu::isa::kMostLanes) {
        words.push_back(0xbf810000);
        slots.resize(words.size() + 2);
        Decoder{target, kfdemu::isa::best_level(), lanes}.decode_page(kCodeBase, words, slots);
        found = stretches(slots, {Width::bits512, lanes});
    }
    std::vector<Inst> slots;
    std::vector<Stretch> found;
};

const auto add = vop2("v_add_u32", 0, v(1), 0);

}  // namespace

TEST_CASE("a stretch ends at what is not translated", "[jit]") {
    const Page page(add + add + sop2("s_cselect_b32", 0, 1, 2) + add + add + add);
    REQUIRE(page.found.size() == 2);
    CHECK(page.found[0].insts.size() == 2);
    CHECK(page.found[0].end == &page.slots[2]);
    CHECK(page.found[1].insts.front() == &page.slots[3]);
    CHECK(page.found[1].end == &page.slots[6]);
}

TEST_CASE("a branch's target begins a stretch", "[jit]") {
    // s_cbranch_scc0 back to the second instruction
    const Page page(add + add + add + std::vector<u32>{0xbf840000u | 0xfffdu});
    REQUIRE(page.found.size() == 1);
    CHECK(page.found[0].insts.front() == &page.slots[1]);
    CHECK(page.found[0].end == &page.slots[3]);
}

TEST_CASE("one operation is not worth it, and waits are part of a stretch", "[jit]") {
    CHECK(Page(add).found.empty());
    const Page page(add + sopp("s_nop") + sopp("s_waitcnt") + add);
    REQUIRE(page.found.size() == 1);
    CHECK(page.found[0].insts.size() == 4);
    CHECK(page.found[0].ops.size() == 2);
}

TEST_CASE("a scalar that becomes a number is that number from there on", "[jit]") {
    const auto from_s3 = vop2("v_add_u32", 0, 3, 0);
    const Page page(from_s3 + sop1("s_mov_b32", 3, 128 + 5) + from_s3);
    REQUIRE(page.found.size() == 1);
    const Stretch& stretch = page.found[0];
    REQUIRE(stretch.ops.size() == 2);
    CHECK(stretch.ops[0].source[0].kind == Source::Kind::scalar);
    CHECK(stretch.ops[1].source[0].kind == Source::Kind::number);
    CHECK(stretch.ops[1].source[0].number == 5);
    CHECK(stretch.numbers == std::map<std::uint16_t, std::uint32_t>{{3, 5}});
}

TEST_CASE("a mask is no scalar in its stretch, and scalars no mask", "[jit]") {
    const auto compare = vop2("v_cmp_lt_u32", 0, v(1), 0);  // sets VCC
    CHECK(Page(add + compare + vop2("v_add_u32", 0, 106, 0) + add).found.size() == 2);
    CHECK(Page(add + compare + vop2("v_cndmask_b32", 0, v(1), 2) + add).found.size() == 1);
    const auto number = sop1("s_mov_b32", 4, 129);
    CHECK(Page(add + add + number + vop3("v_cndmask_b32", 0, v(1), v(2), 4) + add).found.size() == 2);
}

TEST_CASE("in waves of 32 lanes a mask is one SGPR, and its neighbour a scalar", "[jit]") {
    const Target navi = Target::gfx1030;
    const auto sum = vop2("v_add_u32", 0, v(1), 0, navi);
    const auto compare = vop2("v_cmp_lt_u32", 0, v(1), 0, navi);  // sets VCC
    const auto neighbour = vop2("v_add_u32", 0, 107, 0, navi);
    const auto set = [](u32 sgpr) { return std::vector<u32>{0xbe800300 | sgpr << 16 | 129}; };  // s_mov_b32 sgpr, 1
    const auto select = vop3("v_cndmask_b32", 0, v(1), v(2), 4, 0, 0, navi);
    const auto count = [&](const std::vector<u32>& words, unsigned lanes) {
        return Page(words, navi, lanes).found.size();
    };
    if (!kfdemu::isa::is_built(32)) return;
    CHECK(count(sum + compare + neighbour + sum, 64) == 2);
    CHECK(count(sum + compare + neighbour + sum, 32) == 1);
    CHECK(count(sum + sum + set(5) + select + sum, 64) == 2);
    CHECK(count(sum + sum + set(5) + select + sum, 32) == 1);
    CHECK(count(sum + sum + set(4) + select + sum, 32) == 2);
}

TEST_CASE("packed operations are two, unless each needs what the other sets", "[jit]") {
    // Swapped halves: op_sel 1, op_sel_hi 0.
    const auto swapped = [](u32 d) { return vop3("v_pk_add_f32", d, v(2), v(4), 0, 1u << 11, 1u << 28); };
    CHECK(Page(swapped(6) + add).found.size() == 1);
    CHECK(Page(swapped(2) + add).found.empty());
}

TEST_CASE("a global store ends a stretch, in which no global load is", "[jit]") {
    const auto load = std::vector<u32>{0xdc508000, 0x02000000 | 0x7fu << 16 | 4},
               store = std::vector<u32>{0xdc708000, 2u << 8 | 0x7fu << 16 | 4};
    const Page page(add + add + load + add + add + store + add + add);
    REQUIRE(page.found.size() == 3);
    CHECK(page.found[0].end == &page.slots[4]);  // after the load
    CHECK(page.found[0].has(Lane::load_global));
    CHECK(page.found[1].begin == &page.slots[4]);
    CHECK(page.found[1].end == &page.slots[8]);
    CHECK(page.found[1].has(Lane::store_global));
    CHECK(page.found[2].end == &page.slots[10]);
    // What others are to see in order, and accesses alone, stay with the interpreter.
    const auto with = [](std::vector<u32> words, u32 flag) { return words[0] |= flag, words; };
    constexpr u32 glc = 1u << 16, slc = 1u << 17, flat = 2u << 14;
    for (const u32 flag : {glc, slc}) CHECK_FALSE(Page(add + add + with(load, flag)).found[0].has(Lane::load_global));
    auto flat_load = load;
    flat_load[0] &= ~flat;
    CHECK_FALSE(Page(add + add + flat_load).found[0].has(Lane::load_global));
    CHECK(Page(load + load + load).found.empty());
}

TEST_CASE("scalars come first, if nothing before them uses what they set", "[jit]") {
    const auto scalar = sop2("s_add_u32", 4, 5, 6), from_s4 = vop2("v_add_u32", 0, 4, 0);
    const Page early(add + scalar + from_s4);
    REQUIRE(early.found.size() == 1);
    CHECK(early.found[0].scalars.size() == 1);
    CHECK(early.found[0].insts.size() == 2);
    CHECK(early.found[0].instructions() == 3);
    CHECK(Page(add + from_s4 + scalar + from_s4 + add).found.size() == 2);
    // A load that cannot be repeated is not first: it replaces its base, or another scalar instruction precedes it.
    const auto load = [](u32 dst, u32 base) { return std::vector<u32>{0xc0020000u | dst << 6 | base / 2, 0}; };
    CHECK(Page(add + load(4, 8) + add).found.size() == 1);
    CHECK(Page(add + add + load(8, 8) + add + add).found.size() == 2);
    CHECK(Page(add + add + scalar + load(7, 8) + add + add).found.size() == 2);
    CHECK(Page(add + add + load(4, 8) + load(8, 10) + add + add).found.size() == 2);
}

TEST_CASE("room in front of a kernel does not begin its stretch", "[jit]") {
    const Page page(sopp("s_nop") + sopp("s_nop") + add + add);
    REQUIRE(page.found.size() == 1);
    CHECK(page.found[0].begin == &page.slots[2]);
}
