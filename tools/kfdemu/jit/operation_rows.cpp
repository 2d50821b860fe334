#include "operation_rows.hpp"

#include <array>

namespace kfdemu::jit {
namespace {

using isa::Op;

struct Row {
    Op op;
    Entry entry;
};

constexpr Row rows[] = {
    {Op::v_mov_b32, {Lane::move, 1}},
    {Op::v_not_b32, {Lane::negate, 1}},
    {Op::v_cndmask_b32, {Lane::select, 2}},
    {Op::v_add_f32, {Lane::add_f, 2}},
    {Op::v_sub_f32, {Lane::sub_f, 2}},
    {Op::v_subrev_f32, {Lane::sub_f, 2, Order::reversed}},
    {Op::v_mul_f32, {Lane::mul_f, 2}},
    {Op::v_fma_f32, {Lane::fma_f, 3}},
    {Op::v_fmac_f32, {Lane::fma_f, 2, Order::with_dst}},
    {Op::v_mad_f32, {Lane::mad_f, 3}},
    {Op::v_madak_f32, {Lane::mad_f, 3}},
    {Op::v_madmk_f32, {Lane::mad_f, 3}},
    {Op::v_mac_f32, {Lane::mad_f, 2, Order::with_dst}},
    {Op::v_min_f32, {Lane::min_f, 2}},
    {Op::v_max_f32, {Lane::max_f, 2}},
    {Op::v_rndne_f32, {Lane::round_f, 1, Order::straight, 8}},
    {Op::v_floor_f32, {Lane::round_f, 1, Order::straight, 9}},
    {Op::v_ceil_f32, {Lane::round_f, 1, Order::straight, 10}},
    {Op::v_trunc_f32, {Lane::round_f, 1, Order::straight, 11}},
    {Op::v_cvt_f32_i32, {Lane::convert_i, 1}},
    {Op::v_cvt_f32_u32, {Lane::convert_u, 1}},
    {Op::v_add_u32, {Lane::add, 2}},
    {Op::v_sub_u32, {Lane::sub, 2}},
    {Op::v_subrev_u32, {Lane::sub, 2, Order::reversed}},
    {Op::v_and_b32, {Lane::bit_and, 2}},
    {Op::v_or_b32, {Lane::bit_or, 2}},
    {Op::v_xor_b32, {Lane::bit_xor, 2}},
    {Op::v_min_i32, {Lane::min_i, 2}},
    {Op::v_max_i32, {Lane::max_i, 2}},
    {Op::v_min_u32, {Lane::min_u, 2}},
    {Op::v_max_u32, {Lane::max_u, 2}},
    {Op::v_lshrrev_b32, {Lane::shift_right, 2, Order::reversed}},
    {Op::v_ashrrev_i32, {Lane::shift_right_signed, 2, Order::reversed}},
    {Op::v_lshlrev_b32, {Lane::shift_left, 2, Order::reversed}},
    {Op::v_mul_lo_u32, {Lane::mul_low, 2}},
    {Op::v_mul_hi_u32, {Lane::mul_high, 2}},
    {Op::v_add_u16, {Lane::add_16, 2}},
    {Op::v_sub_u16, {Lane::sub_16, 2}},
    {Op::v_subrev_u16, {Lane::sub_16, 2, Order::reversed}},
    {Op::v_mul_lo_u16, {Lane::mul_16, 2}},
    {Op::v_mul_u32_u24, {Lane::mul_u24, 2}},
    {Op::v_mad_u32_u24, {Lane::mad_u24, 3}},
    {Op::v_alignbit_b32, {Lane::align_bits, 3}},
    {Op::v_bfi_b32, {Lane::insert_bits, 3}},
    {Op::v_bfe_u32, {Lane::extract, 3}},
    {Op::v_lshl_add_u32, {Lane::shift_left_add, 3}},
    {Op::v_add_lshl_u32, {Lane::add_shift_left, 3}},
    {Op::v_add3_u32, {Lane::add3, 3}},
    {Op::v_lshl_or_b32, {Lane::shift_left_or, 3}},
    {Op::v_and_or_b32, {Lane::and_or, 3}},
    {Op::v_or3_b32, {Lane::or3, 3}},
    {Op::v_xad_u32, {Lane::xor_add, 3}},
    {Op::v_add_co_u32, {Lane::add_carry, 2}},
    {Op::v_sub_co_u32, {Lane::sub_carry, 2}},
    {Op::v_subrev_co_u32, {Lane::sub_carry, 2, Order::reversed}},
    {Op::v_addc_co_u32, {Lane::add_with_carry, 2}},
    {Op::v_subb_co_u32, {Lane::sub_with_carry, 2}},
    {Op::v_subbrev_co_u32, {Lane::sub_with_carry, 2, Order::reversed}},
    {Op::v_cmp_lt_f32, {Lane::compare_f, 2, Order::straight, 0x11}},
    {Op::v_cmp_eq_f32, {Lane::compare_f, 2, Order::straight, 0x00}},
    {Op::v_cmp_le_f32, {Lane::compare_f, 2, Order::straight, 0x12}},
    {Op::v_cmp_gt_f32, {Lane::compare_f, 2, Order::straight, 0x1e}},
    {Op::v_cmp_lg_f32, {Lane::compare_f, 2, Order::straight, 0x0c}},
    {Op::v_cmp_ge_f32, {Lane::compare_f, 2, Order::straight, 0x1d}},
    {Op::v_cmp_o_f32, {Lane::compare_f, 2, Order::straight, 0x07}},
    {Op::v_cmp_u_f32, {Lane::compare_f, 2, Order::straight, 0x03}},
    {Op::v_cmp_nge_f32, {Lane::compare_f, 2, Order::straight, 0x19}},
    {Op::v_cmp_nlg_f32, {Lane::compare_f, 2, Order::straight, 0x08}},
    {Op::v_cmp_ngt_f32, {Lane::compare_f, 2, Order::straight, 0x1a}},
    {Op::v_cmp_nle_f32, {Lane::compare_f, 2, Order::straight, 0x16}},
    {Op::v_cmp_neq_f32, {Lane::compare_f, 2, Order::straight, 0x04}},
    {Op::v_cmp_nlt_f32, {Lane::compare_f, 2, Order::straight, 0x15}},
    {Op::v_cmp_lt_i32, {Lane::compare_i, 2, Order::straight, 1}},
    {Op::v_cmp_eq_i32, {Lane::compare_i, 2, Order::straight, 2}},
    {Op::v_cmp_le_i32, {Lane::compare_i, 2, Order::straight, 3}},
    {Op::v_cmp_gt_i32, {Lane::compare_i, 2, Order::straight, 4}},
    {Op::v_cmp_ne_i32, {Lane::compare_i, 2, Order::straight, 5}},
    {Op::v_cmp_ge_i32, {Lane::compare_i, 2, Order::straight, 6}},
    {Op::v_cmp_lt_u32, {Lane::compare_u, 2, Order::straight, 1}},
    {Op::v_cmp_eq_u32, {Lane::compare_u, 2, Order::straight, 2}},
    {Op::v_cmp_le_u32, {Lane::compare_u, 2, Order::straight, 3}},
    {Op::v_cmp_gt_u32, {Lane::compare_u, 2, Order::straight, 4}},
    {Op::v_cmp_ne_u32, {Lane::compare_u, 2, Order::straight, 5}},
    {Op::v_cmp_ge_u32, {Lane::compare_u, 2, Order::straight, 6}},
    {Op::v_cmp_lt_i16, {Lane::compare_i16, 2, Order::straight, 1}},
    {Op::v_cmp_eq_i16, {Lane::compare_i16, 2, Order::straight, 2}},
    {Op::v_cmp_le_i16, {Lane::compare_i16, 2, Order::straight, 3}},
    {Op::v_cmp_gt_i16, {Lane::compare_i16, 2, Order::straight, 4}},
    {Op::v_cmp_ne_i16, {Lane::compare_i16, 2, Order::straight, 5}},
    {Op::v_cmp_ge_i16, {Lane::compare_i16, 2, Order::straight, 6}},
    {Op::v_cmp_lt_u16, {Lane::compare_u16, 2, Order::straight, 1}},
    {Op::v_cmp_eq_u16, {Lane::compare_u16, 2, Order::straight, 2}},
    {Op::v_cmp_le_u16, {Lane::compare_u16, 2, Order::straight, 3}},
    {Op::v_cmp_gt_u16, {Lane::compare_u16, 2, Order::straight, 4}},
    {Op::v_cmp_ne_u16, {Lane::compare_u16, 2, Order::straight, 5}},
    {Op::v_cmp_ge_u16, {Lane::compare_u16, 2, Order::straight, 6}},
};

}  // namespace

const Entry* entry_of(Op op) {
    static const auto all = [] {
        std::array<const Entry*, isa::kRowCount> filled{};
        for (const Row& row : rows) filled[isa::index(row.op)] = &row.entry;
        return filled;
    }();
    return all[isa::index(op)];
}

}  // namespace kfdemu::jit
