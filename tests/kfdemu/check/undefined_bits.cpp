// How undefined bits propagate, against all values that the undefined bits may have; and how memory keeps them.
#include "tools/kfdemu/check/init/undefined_bits.hpp"

#include <bit>

#include "tests/kfdemu/dispatch/machine.hpp"
#include "tools/kfdemu/check/init/data_flow.hpp"
#include "tools/kfdemu/check/init/defined_memory.hpp"

using namespace kfdemu::check;
using dispatch_test::Numbers;
using kfdemu::isa::Op;

namespace {

using Compute = std::uint64_t (*)(std::uint64_t a, std::uint64_t b, std::uint64_t c);

std::uint64_t word(std::uint64_t v) { return v & 0xffffffff; }
std::uint64_t permuted(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    std::uint64_t out = 0;
    for (unsigned n = 0; n < 4; ++n) {
        const std::uint64_t s = c >> 8 * n & 0xff, both = a << 32 | b;
        const std::uint64_t sign = (both >> (16 * (s & 3) + 15) & 1) != 0 ? 0xff : 0;
        out |= (s < 8 ? both >> 8 * s & 0xff : s < 12 ? sign : s == 12 ? 0 : 0xff) << 8 * n;
    }
    return out;
}
std::uint64_t field(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    return (a >> (b & 31)) & ((std::uint64_t{1} << (c & 31)) - 1);
}

struct Row {
    Op op;
    Compute compute;
    bool exact;  ///< nothing is undefined that cannot differ
};
constexpr Row kRows[] = {
    {Op::v_mov_b32, [](auto a, auto, auto) { return a; }, true},
    {Op::v_not_b32, [](auto a, auto, auto) { return word(~a); }, true},
    {Op::v_and_b32, [](auto a, auto b, auto) { return a & b; }, true},
    {Op::v_or_b32, [](auto a, auto b, auto) { return a | b; }, true},
    {Op::v_xor_b32, [](auto a, auto b, auto) { return a ^ b; }, true},
    {Op::v_bfi_b32, [](auto a, auto b, auto c) { return (a & b) | (word(~a) & c); }, false},
    {Op::v_and_or_b32, [](auto a, auto b, auto c) { return (a & b) | c; }, true},
    {Op::v_add_u32, [](auto a, auto b, auto) { return word(a + b); }, false},
    {Op::v_sub_u32, [](auto a, auto b, auto) { return word(a - b); }, false},
    {Op::v_subrev_u32, [](auto a, auto b, auto) { return word(b - a); }, false},
    {Op::v_add3_u32, [](auto a, auto b, auto c) { return word(a + b + c); }, false},
    {Op::v_lshl_add_u32, [](auto a, auto b, auto c) { return word((a << (b & 31)) + c); }, false},
    {Op::v_lshlrev_b32, [](auto a, auto b, auto) { return word(b << (a & 31)); }, false},
    {Op::v_lshrrev_b32, [](auto a, auto b, auto) { return b >> (a & 31); }, false},
    {Op::v_alignbit_b32, [](auto a, auto b, auto c) { return word((a << 32 | b) >> (c & 31)); }, false},
    {Op::v_bfe_u32, field, false},
    {Op::v_perm_b32, permuted, false},
    {Op::v_mul_lo_u32, [](auto a, auto b, auto) { return word(a * b); }, false},
    {Op::v_mul_u32_u24, [](auto a, auto b, auto) { return word((a & 0xffffff) * (b & 0xffffff)); }, false},
    {Op::v_mad_u64_u32, [](auto a, auto b, auto c) { return a * b + c; }, false},
    {Op::v_bcnt_u32_b32, [](auto a, auto b, auto) { return word(static_cast<unsigned>(std::popcount(a)) + b); }, false},
    {Op::v_ffbl_b32,
     [](auto a, auto, auto) {
         return a == 0 ? word(~std::uint64_t{0}) : static_cast<std::uint64_t>(std::countr_zero(a));
     },
     false},
};

/// A few undefined bits, in one or two of three operands.
struct Sample {
    std::uint64_t value[3], undefined[3] = {};
    explicit Sample(Numbers& random) {
        for (std::uint64_t& v : value) v = word(random.next() >> 7) >> (random.next() >> 20 & 31);
        for (unsigned n = 0; n < 5; ++n)
            undefined[random.next() >> 11 & 1] |= std::uint64_t{1} << (random.next() >> 13 & 31);
        if ((random.next() >> 9 & 3) == 0) undefined[2] = undefined[0], undefined[0] = 0;
    }
    /// The operands with their undefined bits taken from `filling`.
    void fill(std::uint64_t filling, std::uint64_t* out) const {
        for (unsigned n = 0; n < 3; ++n) {
            out[n] = value[n] & ~undefined[n];
            for (std::uint64_t rest = undefined[n]; rest != 0; rest &= rest - 1, filling >>= 1)
                if ((filling & 1) != 0) out[n] |= rest & (0 - rest);
        }
    }
    unsigned count() const {
        return static_cast<unsigned>(std::popcount(undefined[0]) + std::popcount(undefined[1]) +
                                     std::popcount(undefined[2]));
    }
    Bits bits(unsigned n) const { return {value[n], undefined[n]}; }
};

/// Calls test(a, b, c) for each value of the operands.
template <class Test>
void for_each_filling(const Sample& sample, Test&& test) {
    for (std::uint64_t filling = 0; filling < std::uint64_t{1} << sample.count(); ++filling) {
        std::uint64_t v[3];
        sample.fill(filling, v);
        test(v[0], v[1], v[2]);
    }
}

}  // namespace

TEST_CASE("bits of results that differ are undefined; of moves and logic, no others", "[check][init]") {
    for (const Row& row : kRows) {
        Numbers random{static_cast<std::uint64_t>(row.op)};
        for (unsigned n = 0; n < 2000; ++n) {
            const Sample sample{random};
            const Bits result = flow_of(row.op).result({sample.bits(0), sample.bits(1), sample.bits(2), {}, 0});
            std::uint64_t least = ~std::uint64_t{0}, most = 0;
            for_each_filling(sample, [&](auto a, auto b, auto c) {
                const std::uint64_t value = row.compute(a, b, c);
                least &= value, most |= value;
            });
            const std::uint64_t differs = least ^ most;
            INFO(kfdemu::isa::rows()[index(row.op)].name
                 << " " << std::hex << sample.value[0] << "/" << sample.undefined[0] << " " << sample.value[1] << "/"
                 << sample.undefined[1] << " " << sample.value[2] << "/" << sample.undefined[2]);
            REQUIRE((differs & ~result.undefined) == 0);
            if (row.exact) REQUIRE(differs == result.undefined);
        }
    }
}

TEST_CASE("comparisons, carries and conditions are undefined exactly if they may differ", "[check][init]") {
    Numbers random{5};
    for (unsigned n = 0; n < 20000; ++n) {
        const Sample sample{random};
        const Bits a = sample.bits(0), b = sample.bits(1);
        bool equal[2] = {}, below[2] = {}, below_signed[2] = {}, carry[2] = {}, borrow[2] = {}, nonzero[2] = {};
        for_each_filling(sample, [&](auto x, auto y, auto) {
            equal[x == y] = below[x < y] = nonzero[x != 0] = true;
            below_signed[static_cast<std::int32_t>(x) < static_cast<std::int32_t>(y)] = true;
            carry[x + y > 0xffffffff] = borrow[y > x] = true;
        });
        const auto differs = [](const bool* seen) { return seen[0] && seen[1]; };
        INFO(std::hex << a.value << "/" << a.undefined << " " << b.value << "/" << b.undefined);
        REQUIRE(equality_is_undefined(a, b) == differs(equal));
        REQUIRE(nonzero_is_undefined(a) == differs(nonzero));
        REQUIRE(carry_is_undefined(a, b, {}, 32) == differs(carry));
        REQUIRE(borrow_is_undefined(a, b, {}) == differs(borrow));
        REQUIRE(order_is_undefined(a, b, false, 32) == differs(below));
        REQUIRE(order_is_undefined(a, b, true, 32) == differs(below_signed));
    }
}

TEST_CASE("memory is undefined until it is stored to, and again in the next work-group", "[check][init]") {
    DefinedMemory memory;
    const Undefined defined[2] = {}, half{0xff00, 7};
    Undefined found[2];
    for (const bool all : {false, true}) {
        memory.begin(2, 64);
        memory.load(1, 8, 8, found);
        REQUIRE(found[0].bits == ~0u);
        REQUIRE(found[1].bits == ~0u);
        REQUIRE(found[0].origin == 0);
        if (all) memory.define_all();
        REQUIRE(memory.any() == !all);
        memory.store(1, 8, 8, defined);
        memory.store(1, 9, 2, &half);
        memory.load(1, 8, 8, found);
        REQUIRE(found[0].bits == 0xff0000);
        REQUIRE(found[0].origin == 7);
        REQUIRE(found[1].bits == 0);
        memory.load(0, 8, 4, found);
        REQUIRE((found[0].bits == 0) == all);
        memory.store(1, 8, 4, defined);
        REQUIRE(memory.any() == !all);
        memory.load(1, 62, 4, found);  // outside
        REQUIRE(found[0].bits == 0);
    }
}
