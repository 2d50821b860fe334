// What the rules of hazards.cpp call an instruction, by its row.
//
// Pure. Thread safety: any thread.
#pragma once

#include "tools/kfdemu/check/wait/hazard.hpp"

namespace kfdemu::check::row_kinds {

using namespace isa;

inline bool is_salu(const Row& row) {
    return row.format == Format::Sop1 || row.format == Format::Sop2 || row.format == Format::Sopk;
}
inline bool compares_to_exec(const Row& row) { return row.format == Format::Vopc && row.is(kWritesExec); }
inline bool writes_scalar(const Row& row) {
    return row.format == Format::Vopc || (is_valu(row) && (row.is(kCarryOut) || row.dst == Type::s32));
}
inline bool sets_register(const Row& row) { return is_op(row, Op::s_setreg_b32) || is_op(row, Op::s_setreg_imm32_b32); }
/// The hardware reads the data of a store of more than 8 bytes one state late.
inline bool stores_late(const Row& row) {
    return is_vector_memory(row) && (row.is(kStore) || row.is(kAtomic)) && dwords(row.src[1]) > 2;
}
inline bool scales_quotient(const Row& row) { return is_op(row, Op::v_div_fmas_f32) || is_op(row, Op::v_div_fmas_f64); }
inline bool selects_lane(const Row& row) { return is_op(row, Op::v_readlane_b32) || is_op(row, Op::v_writelane_b32); }
inline bool uses_register(const Row& row) { return is_op(row, Op::s_getreg_b32) || sets_register(row); }
inline bool may_use_m0(const Row& row) {
    return row.format == Format::Ds || row.format == Format::Flat || row.format == Format::Mubuf ||
           is_op(row, Op::s_movrels_b32) || is_op(row, Op::s_movrels_b64) || is_op(row, Op::s_movreld_b32) ||
           is_op(row, Op::s_movreld_b64) || is_op(row, Op::s_sendmsg) || is_op(row, Op::s_sendmsghalt) ||
           is_op(row, Op::s_ttracedata);
}

/// What a function does not know of its callers and callees: LLVM does not look across them, and what it compiles would
/// be reported.
inline bool leaves_function(const Row& row) {
    return is_op(row, Op::s_swappc_b64) || is_op(row, Op::s_setpc_b64) || is_op(row, Op::s_call_b64);
}
/// What lets a float atomic end.
inline bool ends_atomic(const Row& row) {
    return is_valu(row) || is_op(row, Op::s_waitcnt) || is_op(row, Op::s_waitcnt_vscnt) ||
           is_op(row, Op::s_waitcnt_vmcnt) || is_op(row, Op::s_waitcnt_expcnt) || is_op(row, Op::s_waitcnt_lgkmcnt) ||
           is_op(row, Op::s_wait_idle);
}
inline bool is_float_atomic(const Row& row) { return is_vector_memory(row) && row.is(kAtomic) && is_float(row.dst); }
inline bool sets_denormals(const Row& row) { return is_op(row, Op::s_denorm_mode); }
inline bool is_dot(const Row& row) { return row.is(kDot); }
inline bool is_memory(const Row& row) { return is_vector_memory(row) || row.format == Format::Ds; }
/// What waits until the VALU is done, s_waitcnt_depctr as it says.
inline bool ends_valu(const Row& row) { return is_memory(row) || is_op(row, Op::s_waitcnt_depctr); }
inline bool is_matrix(const Row& row) { return row.is(kMatrix); }
inline bool is_dgemm(const Row& row) { return is_matrix(row) && row.shape.matrix.of == Matrix::Of::Double; }
inline bool is_small_dgemm(const Row& row) { return is_dgemm(row) && row.shape.matrix.rows == 4; }
inline bool is_sgemm(const Row& row) { return is_matrix(row) && !is_dgemm(row); }
inline bool is_xdl(const Row& row) { return is_sgemm(row) && row.shape.matrix.of != Matrix::Of::Single; }
inline bool is_not_xdl(const Row& row) { return is_matrix(row) && !is_xdl(row); }
inline bool multiplies_tiles(const Row& row) { return row.multiplies_tiles(); }
inline bool is_transcendental(const Row& row) { return row.is(kTranscendental); }
inline bool is_other_unit(const Row& row) { return is_valu(row) && !is_transcendental(row); }
inline bool reads_lane(const Row& row) { return row.is(kFirstLane) || is_op(row, Op::v_readlane_b32); }
inline bool names_lane(const Row& row) { return reads_lane(row) || is_op(row, Op::v_writelane_b32); }
inline bool takes_matrices(const Row& row) { return is_matrix(row) || row.is(kScales); }
inline bool swaps_rows(const Row& row) {
    return is_op(row, Op::v_permlane16_swap_b32) || is_op(row, Op::v_permlane32_swap_b32);
}
inline bool rounds_pair_by_random(const Row& row) {
    return is_op(row, Op::v_cvt_scalef32_sr_pk_fp4_f32) || is_op(row, Op::v_cvt_scalef32_sr_pk_fp4_f16) ||
           is_op(row, Op::v_cvt_scalef32_sr_pk_fp4_bf16);
}
inline bool is_other_valu(const Row& row) { return is_valu(row) && !is_matrix(row); }
inline bool moves_accumulator(const Row& row) { return row.is(kAccumulator); }
inline bool fuses_doubles(const Row& row) { return is_op(row, Op::v_fma_f64) || is_op(row, Op::v_fmac_f64); }
inline bool is_plain_valu(const Row& row) { return is_other_valu(row) && !is_dot(row); }
inline bool to_accumulator(const Row& row) { return is_matrix(row) || is_op(row, Op::v_accvgpr_write_b32); }
inline bool to_vgpr(const Row& row) { return is_valu(row) && !to_accumulator(row); }  // on gfx908
inline bool uses_vectors(const Row& row) { return is_other_valu(row) || is_memory(row); }

}  // namespace kfdemu::check::row_kinds
