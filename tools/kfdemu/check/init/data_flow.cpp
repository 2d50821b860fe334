#include "tools/kfdemu/check/init/data_flow.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace kfdemu::check {
namespace {

/// Everything from the lowest undefined bit on: what carries may reach.
std::uint64_t upwards(std::uint64_t undefined) { return undefined | (0 - undefined); }

Bits narrow(Bits a, unsigned width) { return {a.value & low_bits(width), a.undefined & low_bits(width)}; }
/// One bit that depends on all of `a`, or a small number.
Bits all_or_nothing(bool undefined, unsigned width) { return {0, undefined ? low_bits(width) : 0}; }

Bits first(const Operands& o) { return o.a; }
Bits complement(const Operands& o) { return logical_not(o.a, 32); }
Bits complement64(const Operands& o) { return logical_not(o.a, 64); }
Bits and_of(const Operands& o) { return logical_and(o.a, o.b); }
Bits or_of(const Operands& o) { return logical_or(o.a, o.b); }
Bits xor_of(const Operands& o) { return logical_xor(o.a, o.b); }
template <unsigned width>
Bits and_not(const Operands& o) {
    return logical_and(o.a, logical_not(o.b, width));
}
template <unsigned width>
Bits not_and(const Operands& o) {
    return logical_and(logical_not(o.a, width), o.b);
}
template <unsigned width>
Bits not_or(const Operands& o) {
    return logical_or(logical_not(o.a, width), o.b);
}
template <unsigned width>
Bits or_not(const Operands& o) {
    return logical_or(o.a, logical_not(o.b, width));
}
template <Bits (*inner)(const Operands&), unsigned width>
Bits inverted(const Operands& o) {
    return logical_not(inner(o), width);
}
Bits and_or(const Operands& o) { return logical_or(logical_and(o.a, o.b), o.c); }
Bits or_three(const Operands& o) { return logical_or(logical_or(o.a, o.b), o.c); }
Bits xor_three(const Operands& o) { return logical_xor(logical_xor(o.a, o.b), o.c); }
/// Undefined where the table has ones and zeros at the places that the bits may name.
Bits by_table(const Operands& o) {
    std::uint64_t ones = 0, zeros = 0;
    for (unsigned place = 0; place < 8; ++place) {
        const auto may_be = [](Bits v, bool one) { return one ? v.most() : ~v.least(); };
        const std::uint64_t here =
            may_be(o.a, (place & 4) != 0) & may_be(o.b, (place & 2) != 0) & may_be(o.c, (place & 1) != 0);
        ((o.table >> place & 1) != 0 ? ones : zeros) |= here;
    }
    return {ones, ones & zeros};
}
Bits insert_field(const Operands& o) {
    return logical_or(logical_and(o.a, o.b), logical_and(logical_not(o.a, 32), o.c));
}
Bits reversed(const Operands& o) {
    const auto turned = [](std::uint64_t v) {
        std::uint64_t out = 0;
        for (unsigned n = 0; n < 32; ++n) out |= (v >> n & 1) << (31 - n);
        return out;
    };
    return {turned(o.a.value), turned(o.a.undefined)};
}

template <unsigned width>
Bits sum(const Operands& o) {
    return add(o.a, o.b, width);
}
template <unsigned width>
Bits difference(const Operands& o) {
    return subtract(o.a, o.b, width);
}
Bits difference_reversed(const Operands& o) { return subtract(o.b, o.a, 32); }
Bits sum_with_carry(const Operands& o) { return add(add(o.a, o.b, 32), narrow(o.carry, 1), 32); }
Bits difference_with_carry(const Operands& o) { return subtract(subtract(o.a, o.b, 32), narrow(o.carry, 1), 32); }
Bits difference_reversed_with_carry(const Operands& o) {
    return subtract(subtract(o.b, o.a, 32), narrow(o.carry, 1), 32);
}
Bits sum_of_three(const Operands& o) { return add(add(o.a, o.b, 32), o.c, 32); }
Bits xor_sum(const Operands& o) { return add(logical_xor(o.a, o.b), o.c, 32); }
Bits shifted_sum(const Operands& o) { return add(shift_left(o.a, o.b, 32), o.c, 32); }
Bits sum_shifted(const Operands& o) { return shift_left(add(o.a, o.b, 32), o.c, 32); }
Bits shifted_or(const Operands& o) { return logical_or(shift_left(o.a, o.b, 32), o.c); }
template <unsigned places>
Bits scaled_sum(const Operands& o) {
    return add(shift_left(o.a, {places, 0}, 32), o.b, 32);
}

Bits product_of(Bits a, Bits b, unsigned width) {
    const bool zero = (a.value == 0 && !a.any()) || (b.value == 0 && !b.any());
    return {a.value * b.value & low_bits(width), zero ? 0 : upwards(a.undefined | b.undefined) & low_bits(width)};
}
template <unsigned width>
Bits product(const Operands& o) {
    return product_of(o.a, o.b, width);
}
/// Of signed numbers, the undefined bits too: an undefined sign is all bits above.
template <bool is_signed>
Bits widened(Bits a, unsigned width) {
    a = narrow(a, width);
    if (!is_signed) return a;
    return {static_cast<std::uint64_t>(sign_extended(a.value, width)),
            static_cast<std::uint64_t>(sign_extended(a.undefined, width))};
}
template <bool is_signed>
Bits product24(const Operands& o) {
    return product_of(widened<is_signed>(o.a, 24), widened<is_signed>(o.b, 24), 32);
}
template <bool is_signed>
Bits product24_sum(const Operands& o) {
    return add(product24<is_signed>(o), o.c, 32);
}
template <bool is_signed>
Bits product64_sum(const Operands& o) {
    return add(product_of(widened<is_signed>(o.a, 32), widened<is_signed>(o.b, 32), 64), o.c, 64);
}

template <unsigned width>
Bits left_by_b(const Operands& o) {
    return shift_left(o.a, o.b, width);
}
template <unsigned width>
Bits right_by_b(const Operands& o) {
    return shift_right(o.a, o.b, width);
}
template <unsigned width>
Bits right_signed_by_b(const Operands& o) {
    return shift_right_signed(o.a, o.b, width);
}
/// Vector shifts have the distance in source 0.
template <unsigned width>
Bits left_by_a(const Operands& o) {
    return shift_left(o.b, o.a, width);
}
template <unsigned width>
Bits right_by_a(const Operands& o) {
    return shift_right(o.b, o.a, width);
}
template <unsigned width>
Bits right_signed_by_a(const Operands& o) {
    return shift_right_signed(o.b, o.a, width);
}

/// `offset` and `size` have the bits that the instruction reads only.
Bits extract(Bits v, Bits offset, Bits size, bool is_signed, unsigned width) {
    if (offset.any() || size.any()) return all_or_nothing(v.any() || v.value != 0, width);
    const auto bits = static_cast<unsigned>(std::min<std::uint64_t>(size.value, width));
    if (bits == 0) return {};
    // Of a signed field beyond the last bit, the sign is that of the whole.
    const Bits part = narrow(is_signed ? shift_right_signed(v, offset, width) : shift_right(v, offset, width), bits);
    if (!is_signed) return part;
    return {static_cast<std::uint64_t>(sign_extended(part.value, bits)) & low_bits(width),
            static_cast<std::uint64_t>(sign_extended(part.undefined, bits)) & low_bits(width)};
}
template <bool is_signed>
Bits field(const Operands& o) {
    return extract(o.a, narrow(o.b, 5), narrow(o.c, 5), is_signed, 32);
}
/// The offset is in bits 4:0 or 5:0 of source 1, the width in bits 22:16.
template <bool is_signed, unsigned width>
Bits scalar_field(const Operands& o) {
    return extract(o.a, narrow(o.b, width == 32 ? 5 : 6), narrow(shift_right(o.b, {16, 0}, 32), 7), is_signed, width);
}
template <unsigned unit>
Bits aligned(const Operands& o) {
    const Bits both{o.a.value << 32 | o.b.value, o.a.undefined << 32 | o.b.undefined};
    const Bits by = unit == 8 ? shift_left(narrow(o.c, 2), {3, 0}, 32) : narrow(o.c, 5);
    return narrow(shift_right(both, by, 64), 32);
}
Bits permuted(const Operands& o) {
    const std::uint64_t value = o.a.value << 32 | o.b.value, undefined = o.a.undefined << 32 | o.b.undefined;
    Bits result;
    for (unsigned n = 0; n < 4; ++n) {
        const std::uint64_t selector = o.c.value >> 8 * n & 0xff;
        std::uint64_t byte = 0;
        if ((o.c.undefined >> 8 * n & 0xff) != 0)
            byte = 0xff;
        else if (selector < 8)
            byte = undefined >> 8 * selector & 0xff, result.value |= (value >> 8 * selector & 0xff) << 8 * n;
        else if (selector < 12)
            byte = (undefined >> (16 * (selector & 3) + 15) & 1) != 0 ? 0xff : 0;
        result.undefined |= byte << 8 * n;
    }
    return result;
}
template <unsigned number>
Bits byte_number(const Operands& o) {
    return all_or_nothing((o.a.undefined >> 8 * number & 0xff) != 0, 32);
}
Bits conditional(const Operands& o) { return select(o.carry, o.b, o.a); }  // v_cndmask: source 1 if set
Bits scalar_select(const Operands& o) { return select(o.carry, o.a, o.b); }

Bits counted(Bits a, Bits b) {
    const unsigned least = static_cast<unsigned>(std::popcount(a.least())),
                   most = static_cast<unsigned>(std::popcount(a.most()));
    const Bits count{least, least == most ? 0 : low_bits(std::bit_width(most))};
    return add(count, b, 32);
}
Bits count_ones(const Operands& o) { return counted(o.a, o.b); }
Bits count_ones_alone(const Operands& o) { return counted(o.a, {}); }
template <bool high>
Bits count_below(const Operands& o) {
    const unsigned lanes = high ? (o.lane < 32 ? 0 : o.lane - 32) : (o.lane < 32 ? o.lane : 32);
    return counted(narrow(o.a, lanes), o.b);
}
/// The number of the lowest one is defined if no undefined bit is below it.
template <unsigned width>
Bits lowest_one(const Operands& o) {
    const std::uint64_t sure = o.a.least();
    const std::uint64_t below = sure == 0 ? low_bits(width) : (sure & (0 - sure)) - 1;
    return all_or_nothing((o.a.undefined & below) != 0, 32);
}
Bits pack(Bits low, Bits high) {
    return {(low.value & 0xffff) | (high.value << 16 & 0xffff0000),
            (low.undefined & 0xffff) | (high.undefined << 16 & 0xffff0000)};
}
Bits packed_results(const Operands& o) { return pack(all_or_nothing(o.a.any(), 16), all_or_nothing(o.b.any(), 16)); }
Bits packed_halves(const Operands& o) { return pack(narrow(o.a, 16), narrow(o.b, 16)); }
Bits packed_ll(const Operands& o) { return pack(o.a, o.b); }
Bits packed_lh(const Operands& o) { return pack(o.a, shift_right(o.b, {16, 0}, 32)); }
Bits packed_hl(const Operands& o) { return pack(shift_right(o.a, {16, 0}, 32), o.b); }
Bits packed_hh(const Operands& o) { return pack(shift_right(o.a, {16, 0}, 32), shift_right(o.b, {16, 0}, 32)); }
template <unsigned width>
Bits sign_extension(const Operands& o) {
    return extract(o.a, {}, {width, 0}, true, 32);
}
template <unsigned width>
Bits zero_extension(const Operands& o) {
    return extract(o.a, {}, {width, 0}, false, 32);
}
template <bool set, unsigned width>
Bits one_bit(const Operands& o) {  // c is the old value
    if ((o.a.undefined & (width - 1)) != 0) return all_or_nothing(true, width);
    const std::uint64_t bit = std::uint64_t{1} << (o.a.value & (width - 1));
    return {set ? o.c.value | bit : o.c.value & ~bit, o.c.undefined & ~bit};
}

template <bool is_signed>
Bits least(const Operands& o) {
    if (order_is_undefined(o.a, o.b, is_signed, 32)) return {0, low_bits(32)};
    const std::uint64_t turn = is_signed ? 1u << 31 : 0;
    return (o.a.value ^ turn) < (o.b.value ^ turn) ? o.a : o.b;
}
template <bool is_signed>
Bits greatest(const Operands& o) {
    if (order_is_undefined(o.b, o.a, is_signed, 32)) return {0, low_bits(32)};
    const std::uint64_t turn = is_signed ? 1u << 31 : 0;
    return (o.b.value ^ turn) < (o.a.value ^ turn) ? o.a : o.b;
}
Bits conditional_move(const Operands& o) { return select(o.carry, o.a, o.c); }

// Whether SCC, a carry or a comparison is undefined.

bool nonzero(const Operands&, Bits result) { return nonzero_is_undefined(result); }
bool equality(const Operands& o, Bits) { return equality_is_undefined(o.a, o.b); }
template <bool is_signed, unsigned width>
bool order(const Operands& o, Bits) {
    return order_is_undefined(o.a, o.b, is_signed, width);
}
template <bool is_signed, unsigned width>
bool order_turned(const Operands& o, Bits) {
    return order_is_undefined(o.b, o.a, is_signed, width);
}
template <unsigned width>
bool bit_of(const Operands& o, Bits) {
    return (shift_right(o.a, o.b, width).undefined & 1) != 0;
}
bool carry_of_sum(const Operands& o, Bits) { return carry_is_undefined(o.a, o.b, {}, 32); }
bool carry_of_sum_with_carry(const Operands& o, Bits) { return carry_is_undefined(o.a, o.b, o.carry, 32); }
bool borrow(const Operands& o, Bits) { return borrow_is_undefined(o.a, o.b, {}); }
bool borrow_reversed(const Operands& o, Bits) { return borrow_is_undefined(o.b, o.a, {}); }
bool borrow_with_carry(const Operands& o, Bits) { return borrow_is_undefined(o.a, o.b, o.carry); }
bool borrow_reversed_with_carry(const Operands& o, Bits) { return borrow_is_undefined(o.b, o.a, o.carry); }

// What a row's flow column says.

Bits no_bits(const Operands&) { return {}; }
bool never(const Operands&, Bits) { return false; }

constexpr RowFlow whole;
constexpr RowFlow defined{no_bits, never};
constexpr RowFlow moves(Bits (*result)(const Operands&)) {
    return {result, nullptr, true, false, result == packed_halves ? packed_results : result};
}
constexpr RowFlow computes(Bits (*result)(const Operands&)) {
    return {result, nullptr, false, false, result == packed_results ? result : nullptr};
}
constexpr RowFlow compares(bool (*rule)(const Operands&, Bits)) { return {no_bits, rule}; }
constexpr RowFlow sets_exec(Bits (*result)(const Operands&)) { return {result, never, false, true}; }

constexpr RowFlow kFlows[] = {
#define KFDEMU_ROW(format, opcodes, name, on, dst, a, b, c, attributes, shape, flow, code) flow,
#include "tools/kfdemu/isa/rows/rows.inc"
#undef KFDEMU_ROW
};

}  // namespace

const RowFlow& flow_of(isa::Op op) { return kFlows[isa::index(op)]; }

}  // namespace kfdemu::check
