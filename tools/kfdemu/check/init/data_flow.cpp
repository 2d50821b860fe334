#include "data_flow.hpp"

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
Bits or_not(const Operands& o) {
    return logical_or(o.a, logical_not(o.b, width));
}
template <Bits (*inner)(const Operands&), unsigned width>
Bits inverted(const Operands& o) {
    return logical_not(inner(o), width);
}
Bits and_or(const Operands& o) { return logical_or(logical_and(o.a, o.b), o.c); }
Bits or_three(const Operands& o) { return logical_or(logical_or(o.a, o.b), o.c); }
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
Bits packed_hh(const Operands& o) { return pack(shift_right(o.a, {16, 0}, 32), shift_right(o.b, {16, 0}, 32)); }
template <unsigned width>
Bits sign_extension(const Operands& o) {
    return extract(o.a, {}, {width, 0}, true, 32);
}
template <bool set, unsigned width>
Bits one_bit(const Operands& o) {  // c is the old value
    if ((o.a.undefined & (width - 1)) != 0) return all_or_nothing(true, width);
    const std::uint64_t bit = std::uint64_t{1} << (o.a.value & (width - 1));
    return {set ? o.c.value | bit : o.c.value & ~bit, o.c.undefined & ~bit};
}

struct Entry {
    isa::Op op;
    Meaning meaning;
    bool moves = false;
};
using enum isa::Op;

constexpr Entry kEntries[] = {
    {v_mov_b32, first, true},
    {v_accvgpr_mov_b32, first, true},
    {v_accvgpr_read_b32, first, true},
    {v_accvgpr_write_b32, first, true},
    {s_mov_b32, first, true},
    {s_mov_b64, first, true},
    {v_not_b32, complement, true},
    {s_not_b32, complement, true},
    {s_not_b64, complement64, true},
    {v_bfrev_b32, reversed, true},
    {s_brev_b32, reversed, true},
    {v_and_b32, and_of, true},
    {s_and_b32, and_of, true},
    {s_and_b64, and_of, true},
    {v_or_b32, or_of, true},
    {s_or_b32, or_of, true},
    {s_or_b64, or_of, true},
    {v_xor_b32, xor_of, true},
    {s_xor_b32, xor_of, true},
    {s_xor_b64, xor_of, true},
    {v_xnor_b32, inverted<xor_of, 32>, true},
    {s_xnor_b32, inverted<xor_of, 32>, true},
    {s_xnor_b64, inverted<xor_of, 64>, true},
    {s_nand_b32, inverted<and_of, 32>, true},
    {s_nand_b64, inverted<and_of, 64>, true},
    {s_nor_b32, inverted<or_of, 32>, true},
    {s_nor_b64, inverted<or_of, 64>, true},
    {s_andn2_b32, and_not<32>, true},
    {s_andn2_b64, and_not<64>, true},
    {s_orn2_b32, or_not<32>, true},
    {s_orn2_b64, or_not<64>, true},
    {v_and_or_b32, and_or, true},
    {v_or3_b32, or_three, true},
    {v_bfi_b32, insert_field, true},
    {v_lshl_or_b32, shifted_or, true},
    {v_lshlrev_b32, left_by_a<32>, true},
    {v_lshrrev_b32, right_by_a<32>, true},
    {v_ashrrev_i32, right_signed_by_a<32>, true},
    {v_lshlrev_b64, left_by_a<64>, true},
    {v_lshrrev_b64, right_by_a<64>, true},
    {v_ashrrev_i64, right_signed_by_a<64>, true},
    {v_lshlrev_b16, left_by_a<16>, true},
    {v_lshrrev_b16, right_by_a<16>, true},
    {v_ashrrev_i16, right_signed_by_a<16>, true},
    {s_lshl_b32, left_by_b<32>, true},
    {s_lshr_b32, right_by_b<32>, true},
    {s_ashr_i32, right_signed_by_b<32>, true},
    {s_lshl_b64, left_by_b<64>, true},
    {s_lshr_b64, right_by_b<64>, true},
    {s_ashr_i64, right_signed_by_b<64>, true},
    {v_bfe_u32, field<false>, true},
    {v_bfe_i32, field<true>, true},
    {s_bfe_u32, scalar_field<false, 32>, true},
    {s_bfe_i32, scalar_field<true, 32>, true},
    {s_bfe_u64, scalar_field<false, 64>, true},
    {s_bfe_i64, scalar_field<true, 64>, true},
    {s_sext_i32_i8, sign_extension<8>, true},
    {s_sext_i32_i16, sign_extension<16>, true},
    {v_alignbit_b32, aligned<1>, true},
    {v_alignbyte_b32, aligned<8>, true},
    {v_perm_b32, permuted, true},
    {v_cndmask_b32, conditional, true},
    {s_cselect_b32, scalar_select, true},
    {s_cselect_b64, scalar_select, true},
    {v_pack_b32_f16, packed_halves, true},
    {s_pack_ll_b32_b16, packed_ll, true},
    {s_pack_lh_b32_b16, packed_lh, true},
    {s_pack_hh_b32_b16, packed_hh, true},
    {s_bitset0_b32, one_bit<false, 32>, true},
    {s_bitset0_b64, one_bit<false, 64>, true},
    {s_bitset1_b32, one_bit<true, 32>, true},
    {s_bitset1_b64, one_bit<true, 64>, true},
    {v_add_u32, sum<32>},
    {v_add_co_u32, sum<32>},
    {v_add_i32, sum<32>},
    {v_add_u16, sum<16>},
    {s_add_u32, sum<32>},
    {s_add_i32, sum<32>},
    {v_addc_co_u32, sum_with_carry},
    {s_addc_u32, sum_with_carry},
    {v_sub_u32, difference<32>},
    {v_sub_co_u32, difference<32>},
    {v_sub_i32, difference<32>},
    {v_sub_u16, difference<16>},
    {s_sub_u32, difference<32>},
    {s_sub_i32, difference<32>},
    {v_subrev_u32, difference_reversed},
    {v_subrev_co_u32, difference_reversed},
    {v_subb_co_u32, difference_with_carry},
    {s_subb_u32, difference_with_carry},
    {v_subbrev_co_u32, difference_reversed_with_carry},
    {v_add3_u32, sum_of_three},
    {v_xad_u32, xor_sum},
    {v_lshl_add_u32, shifted_sum},
    {v_add_lshl_u32, sum_shifted},
    {s_lshl1_add_u32, scaled_sum<1>},
    {s_lshl2_add_u32, scaled_sum<2>},
    {s_lshl3_add_u32, scaled_sum<3>},
    {s_lshl4_add_u32, scaled_sum<4>},
    {v_mul_lo_u32, product<32>},
    {s_mul_i32, product<32>},
    {v_mul_lo_u16, product<16>},
    {v_mul_u32_u24, product24<false>},
    {v_mul_i32_i24, product24<true>},
    {v_mad_u32_u24, product24_sum<false>},
    {v_mad_i32_i24, product24_sum<true>},
    {v_mad_u64_u32, product64_sum<false>},
    {v_mad_i64_i32, product64_sum<true>},
    {v_cvt_f32_ubyte0, byte_number<0>},
    {v_cvt_f32_ubyte1, byte_number<1>},
    {v_cvt_f32_ubyte2, byte_number<2>},
    {v_cvt_f32_ubyte3, byte_number<3>},
    {v_bcnt_u32_b32, count_ones},
    {s_bcnt1_i32_b32, count_ones_alone},
    {s_bcnt1_i32_b64, count_ones_alone},
    {v_mbcnt_lo_u32_b32, count_below<false>},
    {v_mbcnt_hi_u32_b32, count_below<true>},
    {v_ffbl_b32, lowest_one<32>},
    {s_ff1_i32_b32, lowest_one<32>},
    {s_ff1_i32_b64, lowest_one<64>},
    {v_cvt_pkrtz_f16_f32, packed_results},
    {v_cvt_pknorm_i16_f32, packed_results},
    {v_cvt_pknorm_u16_f32, packed_results},
    {v_cvt_pk_u16_u32, packed_results},
    {v_cvt_pk_i16_i32, packed_results},
};

const Entry* entry_of(isa::Op op) {
    static const auto table = [] {
        std::array<const Entry*, isa::kRowCount> all{};
        for (const Entry& entry : kEntries) all[isa::index(entry.op)] = &entry;
        return all;
    }();
    return table[isa::index(op)];
}

}  // namespace

Meaning meaning_of(isa::Op op) {
    const Entry* entry = entry_of(op);
    return entry == nullptr ? nullptr : entry->meaning;
}
bool only_moves(isa::Op op) {
    const Entry* entry = entry_of(op);
    return entry != nullptr && entry->moves;
}

}  // namespace kfdemu::check
