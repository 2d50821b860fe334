// Kernels in which an instruction follows a matrix instruction too closely, or one follows another that a matrix
// instruction needs, each with its mended twin NAME_mended. AccVGPRs are all that both targets give results to.
#include "kernel.inc"

#if defined(GFX940)
#define BY_TARGET(gfx908, gfx90a, gfx940) gfx940
#elif defined(ACCUM_OFFSET)
#define BY_TARGET(gfx908, gfx90a, gfx940) gfx90a
#else
#define BY_TARGET(gfx908, gfx90a, gfx940) gfx908
#endif

// What is later on gfx950.
#if defined(GFX950)
#define LATE(gfx940, gfx950) gfx950
#else
#define LATE(gfx940, gfx950) gfx940
#endif

// Factors in v1 and v2, long ago.
.macro factors
  v_mov_b32 v1, 1.0
  v_mov_b32 v2, 2.0
  s_nop 3
.endm

// A vector instruction makes a lane mask or a factor.

.macro exec_body fix
  factors
  v_cmpx_eq_u32 vcc, v0, v0
  states \fix, 4
  v_mfma_f32_4x4x1f32 a[0:3], v1, v2, a[0:3]
.endm
pair exec

.macro vector_factor_body fix
  factors
  v_mov_b32 v2, 3.0
  states \fix, 2
  v_mfma_f32_4x4x1f32 a[0:3], v1, v2, a[0:3]
.endm
pair vector_factor

// The result is read: by a move of each size, as a factor, in part as an addend.

.macro read_body fix, instruction, registers, states
  factors
  \instruction a[0:\registers-1], v1, v2, a[0:\registers-1]
  states \fix, \states
  v_accvgpr_read_b32 v1, a1
.endm
.macro read_4_body fix
  read_body \fix, v_mfma_f32_4x4x1f32, 4, BY_TARGET(4, 5, 4)
.endm
pair read_4
.macro read_16_body fix
  read_body \fix, v_mfma_f32_16x16x4f32, 4, BY_TARGET(10, 11, 10)
.endm
pair read_16
.macro read_32_body fix
  read_body \fix, v_mfma_f32_32x32x2f32, 16, BY_TARGET(18, 19, 18)
.endm
pair read_32

.macro factor_body fix
  factors
  v_mfma_f32_4x4x1f32 a[0:3], v1, v2, a[0:3]
  states \fix, BY_TARGET(4, 5, 4)
  v_mfma_f32_4x4x1f32 a[4:7], a1, v2, a[4:7]
.endm
pair factor

.macro addend_part_body fix
  factors
  v_mfma_f32_16x16x4f32 a[0:3], v1, v2, a[0:3]
  states \fix, BY_TARGET(2, 8, 8)
  v_mfma_f32_32x32x2f32 a[0:15], v1, v2, a[0:15]
.endm
pair addend_part

// The result is overwritten, and the addend.

.macro overwritten_body fix
  factors
  v_mfma_f32_16x16x4f32 a[0:3], v1, v2, a[0:3]
  states \fix, BY_TARGET(7, 11, 10)
  v_accvgpr_write_b32 a3, v1
.endm
pair overwritten

.macro addend_overwritten_body fix
  factors
  v_mfma_f32_16x16x4f32 a[4:7], v1, v2, a[0:3]
  states \fix, BY_TARGET(5, 7, 1)
  v_accvgpr_write_b32 a3, v1
.endm
pair addend_overwritten

.macro long_addend_overwritten_body fix
  factors
  v_mfma_f32_32x32x2f32 a[16:31], v1, v2, a[0:15]
  states \fix, BY_TARGET(13, 15, 1)
  v_accvgpr_write_b32 a0, v1
.endm
pair long_addend_overwritten, 0, 48

// Without any wait.
.macro at_once_body fix
  factors
  v_mfma_f32_32x32x2f32 a[0:15], v1, v2, a[0:15]
.if \fix
  pass_states BY_TARGET(18, 19, 18)
.endif
  v_accvgpr_read_b32 v1, a15
.endm
pair at_once

#ifdef ACCUM_OFFSET

.macro double_factors
  v_mov_b32 v2, 0
  v_mov_b32 v3, 0
  s_nop 1
.endm

.macro stored_body fix
  factors
  v_mfma_f32_16x16x4f32 v[4:7], v1, v2, 0
  states \fix, BY_TARGET(0, 11, 10)
  global_store_dword v0, v5, s[6:7]
.endm
pair stored

.macro loaded_body fix
  factors
  v_mfma_f32_4x4x1f32 v[4:7], v1, v2, 0
  states \fix, BY_TARGET(0, 5, 4)
  global_load_dword v5, v0, s[4:5]
.endm
pair loaded

.macro address_body fix
  double_factors
  v_mfma_f32_4x4x1f32 v[4:7], v2, v3, 0
  states \fix, BY_TARGET(0, 5, 4)
  ds_read_b32 v1, v7
.endm
pair address, 64

.macro lane_body fix
  factors
  v_mfma_f32_4x4x1f32 v[4:7], v1, v2, 0
  states \fix, BY_TARGET(0, 5, 4)
  v_readlane_b32 s8, v5, 7
.endm
pair lane

.macro doubles_read_body fix
  double_factors
  v_mfma_f64_16x16x4f64 v[4:11], v[2:3], v[2:3], 0
  states \fix, LATE(11, 19)
  v_mov_b32 v1, v11
.endm
pair doubles_read

.macro doubles_stored_body fix
  double_factors
  v_mfma_f64_16x16x4f64 v[4:11], v[2:3], v[2:3], 0
  states \fix, 18
  global_store_dword v0, v5, s[6:7]
.endm
pair doubles_stored

.macro small_doubles_stored_body fix
  double_factors
  v_mfma_f64_4x4x4f64 v[4:5], v[2:3], v[2:3], 0
  states \fix, 9
  global_store_dword v0, v5, s[6:7]
.endm
pair small_doubles_stored

.macro small_doubles_factor_body fix
  double_factors
  v_mfma_f64_4x4x4f64 v[4:5], v[2:3], v[2:3], 0
  states \fix, 6
  v_mfma_f64_4x4x4f64 v[6:7], v[2:3], v[4:5], 0
.endm
pair small_doubles_factor

.macro small_doubles_chain_body fix
  double_factors
  v_mfma_f64_4x4x4f64 v[4:5], v[2:3], v[2:3], 0
  states \fix, 4
  v_mfma_f64_4x4x4f64 v[4:5], v[2:3], v[2:3], v[4:5]
.endm
pair small_doubles_chain

.macro doubles_part_body fix
  double_factors
  v_mfma_f64_16x16x4f64 a[0:7], v[2:3], v[2:3], 0
  states \fix, LATE(9, 17)
  v_mfma_f64_4x4x4f64 a[0:1], v[2:3], v[2:3], a[0:1]
.endm
pair doubles_part

.macro singles_as_doubles_body fix
  double_factors
  v_mfma_f32_16x16x4f32 a[0:3], v2, v3, a[0:3]
  states \fix, BY_TARGET(0, 9, 8)
  v_mfma_f64_4x4x4f64 a[0:1], v[2:3], v[2:3], a[0:1]
.endm
pair singles_as_doubles

.macro fused_doubles_body fix
  double_factors
  v_mfma_f64_4x4x4f64 v[4:5], v[2:3], v[2:3], 0
  states \fix, 2
  v_fma_f64 v[8:9], v[2:3], v[2:3], v[2:3]
.endm
pair fused_doubles

#ifndef GFX940
// Of a vector instruction that a matrix instruction hides, memory gets the old value.
.macro hidden_body fix
  double_factors
  v_mov_b32 v1, 7
  v_mfma_f64_4x4x4f64 v[4:5], v[2:3], v[2:3], 0
  states \fix, 1
  global_store_dword v0, v1, s[6:7]
.endm
pair hidden
#endif

.macro dot_body fix
  factors
  v_dot2_f32_f16 v1, v1, v2, v2
  states \fix, 3
  v_add_u32 v3, v2, v1
.endm
pair dot

.macro dot_factor_body fix
  factors
  v_dot2_f32_f16 v1, v2, v2, v2
  states \fix, 3
  v_dot2_f32_f16 v3, v2, v1, v2
.endm
pair dot_factor

.macro dot_overwritten_body fix
  factors
  v_dot2_f32_f16 v1, v2, v2, v2
  states \fix, 3
  global_load_dword v1, v0, s[4:5]
.endm
pair dot_overwritten

#ifdef GFX940

// Those that are not of F32 or doubles take two passes (4x4), four or eight (of one block), eight or sixteen.
.macro halves_read_body fix
  double_factors
  v_mfma_f32_16x16x16_f16 a[0:3], v[2:3], v[2:3], a[0:3]
  states \fix, LATE(7, 8)
  v_accvgpr_read_b32 v1, a1
.endm
pair halves_read
.macro blocks_read_body fix
  double_factors
  v_mfma_f32_32x32x4_2b_f16 a[0:31], v[2:3], v[2:3], a[0:31]
  states \fix, LATE(19, 20)
  v_accvgpr_read_b32 v1, a1
.endm
pair blocks_read, 0, 48
.macro bytes_addend_body fix
  double_factors
  v_mfma_f32_32x32x16_fp8_fp8 a[0:15], v[2:3], v[2:3], a[0:15]
  states \fix, LATE(9, 10)
  v_mfma_f32_16x16x16_f16 a[0:3], v[2:3], v[2:3], a[0:3]
.endm
pair bytes_addend
.macro halves_addend_overwritten_body fix
  double_factors
  v_mfma_f32_16x16x16_f16 a[4:7], v[2:3], v[2:3], a[0:3]
  states \fix, 3
  v_accvgpr_write_b32 a3, v1
.endm
pair halves_addend_overwritten
.macro sparse_read_body fix
  double_factors
  v_mov_b32 v10, 0
  s_nop 3
  v_smfmac_f32_16x16x32_f16 v[4:7], v[2:3], v[12:15], v10
  states \fix, LATE(7, 8)
  v_mov_b32 v1, v4
.endm
pair sparse_read
.macro sparse_index_body fix
  double_factors
  v_mov_b32 v10, 0
  s_nop 3
  v_mfma_f32_16x16x16_f16 v[4:7], v[2:3], v[2:3], 0
  states \fix, LATE(7, 8)
  v_smfmac_f32_16x16x32_f16 v[12:15], v[2:3], v[16:19], v4
.endm
pair sparse_index

#if defined(GFX950)
.macro bytes_of_formats_read_body fix
  double_factors
  v_mfma_f32_16x16x128_f8f6f4 a[0:3], v[16:23], v[24:31], a[0:3]
  states \fix, 12
  v_accvgpr_read_b32 v1, a1
.endm
pair bytes_of_formats_read
.macro nibbles_of_formats_read_body fix
  double_factors
  v_mfma_f32_16x16x128_f8f6f4 a[0:3], v[16:19], v[24:27], a[0:3] cbsz:4 blgp:4
  states \fix, 8
  v_accvgpr_read_b32 v1, a1
.endm
pair nibbles_of_formats_read
.macro scale_written_body fix
  double_factors
  v_mov_b32 v10, 127
  states \fix, 2
  v_mfma_scale_f32_16x16x128_f8f6f4 a[0:3], v[16:23], v[24:31], a[0:3], v10, v11
.endm
pair scale_written
.macro scaled_factor_body fix
  double_factors
  v_mov_b32 v16, 1.0
  states \fix, 2
  v_mfma_scale_f32_16x16x128_f8f6f4 a[0:3], v[16:23], v[24:31], a[0:3], v10, v11
.endm
pair scaled_factor
.macro scaled_chain_body fix
  double_factors
  v_mfma_f32_16x16x128_f8f6f4 v[4:7], v[16:19], v[24:27], 0 cbsz:4 blgp:4
  states \fix, 8
  v_mfma_scale_f32_16x16x128_f8f6f4 a[0:3], v[4:7], v[24:27], a[0:3], v10, v11 cbsz:4 blgp:4
.endm
pair scaled_chain
.macro swapped_body fix
  v_mov_b32 v1, 5
  states \fix, 2
  v_permlane32_swap_b32 v2, v1
.endm
pair swapped
.macro pair_by_random_read_body fix
  double_factors
  v_cvt_scalef32_sr_pk_fp4_f32 v1, v[2:3], v0, 1.0
  states \fix, 1
  v_mov_b32 v2, v1
.endm
pair pair_by_random_read
#endif

// Without matrices.
.macro quotient_read_body fix
  v_rcp_f32 v1, v0
  states \fix, 1
  v_mov_b32 v2, v1
.endm
pair quotient_read
.macro part_read_body fix
  v_mov_b32_sdwa v1, v0 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0
  states \fix, 1
  v_mov_b32 v2, v1
.endm
pair part_read
.macro byte_read_body fix
  v_cvt_sr_fp8_f32 v1, v0, v0 op_sel:[0,0,1,0]
  states \fix, 1
  v_mov_b32 v2, v1
.endm
pair byte_read
.macro last_byte_read_body fix
  v_cvt_sr_bf8_f32 v1, v0, v0 op_sel:[0,0,1,1]
  states \fix, 1
  v_mov_b32 v2, v1
.endm
pair last_byte_read
.macro scalar_read_body fix
  v_readlane_b32 s8, v0, 5
  states \fix, 2
  v_add_u32 v1, s8, v0
.endm
pair scalar_read
.macro first_lane_body fix
  v_mov_b32 v1, v0
  states \fix, 1
  v_readfirstlane_b32 s8, v1
.endm
pair first_lane

// A mask is none of these.
begin silent_mask
  v_cmp_eq_u32 vcc, v0, v0
  v_cndmask_b32 v1, 0, v0, vcc
  v_add_co_u32 v2, vcc, s4, v0
  v_addc_co_u32 v3, vcc, 0, v0, vcc
end silent_mask

#endif

#else

.macro exec_of_move_body fix
  v_cmpx_eq_u32 vcc, v0, v0
  states \fix, 4
  v_accvgpr_write_b32 a0, 0
.endm
pair exec_of_move

.macro vector_moved_body fix
  v_mov_b32 v2, 3.0
  states \fix, 2
  v_accvgpr_write_b32 a0, v2
.endm
pair vector_moved

.macro moved_read_body fix
  s_nop 0
  v_accvgpr_write_b32 a0, v0
  states \fix, 3
  v_accvgpr_read_b32 v1, a0
.endm
pair moved_read

.macro moved_addend_body fix
  factors
  v_accvgpr_write_b32 a3, v0
  states \fix, 1
  v_mfma_f32_4x4x1f32 a[0:3], v1, v2, a[0:3]
.endm
pair moved_addend

.macro moved_factor_body fix
  factors
  v_accvgpr_write_b32 a3, v0
  states \fix, 3
  v_mfma_f32_4x4x1f32 a[4:7], v1, a3, a[4:7]
.endm
pair moved_factor

.macro moved_stored_body fix
  v_accvgpr_read_b32 v1, a0
  states \fix, 2
  global_store_dword v0, v1, s[6:7]
.endm
pair moved_stored

.macro hidden_body fix
  s_nop 0
  v_mov_b32 v1, 7
  v_accvgpr_write_b32 a0, v0
  states \fix, 1
  global_store_dword v0, v1, s[6:7]
.endm
pair hidden

#endif

// Correct kernels that a coarser model would report.

// Addends in the same registers are forwarded, of other sizes too.
begin silent_long_chain
  factors
  v_mfma_f32_32x32x2f32 a[0:15], v1, v2, a[0:15]
  v_mfma_f32_32x32x2f32 a[0:15], v1, v2, a[0:15]
  v_mfma_f32_32x32x2f32 a[0:15], v1, v2, a[0:15]
end silent_long_chain
begin silent_chain
  factors
  v_mfma_f32_4x4x1f32 a[0:3], v1, v2, a[0:3]
  settle
  v_mfma_f32_16x16x4f32 a[4:7], v1, v2, a[0:3]
  v_mfma_f32_4x4x1f32 a[0:3], v1, v2, a[4:7]
end silent_chain

// Other registers; factors may be overwritten.
begin silent_independent
  factors
  v_mfma_f32_16x16x4f32 a[0:3], v1, v2, a[0:3]
  v_mfma_f32_16x16x4f32 a[4:7], v1, v2, a[4:7]
  v_accvgpr_write_b32 a8, 0
  v_mov_b32 v1, 5
  v_mov_b32 v2, 5
  s_nop 1
  v_accvgpr_read_b32 v1, a8
  s_nop 1
  global_store_dword v0, v1, s[6:7]
end silent_independent

// Matrix instructions finish in order, so the last one that wrote decides.
begin silent_last
  factors
  v_mfma_f32_16x16x4f32 a[0:3], v1, v2, a[0:3]
  v_mfma_f32_4x4x1f32 a[0:3], v1, v2, a[0:3]
  pass_states BY_TARGET(4, 5, 4)
  v_accvgpr_read_b32 v1, a3
end silent_last

// Rules end at calls and returns.
begin silent_call
  factors
  s_getpc_b64 s[8:9]
0:
  s_add_u32 s8, s8, 1f-0b
  s_addc_u32 s9, s9, 0
  v_mfma_f32_4x4x1f32 a[0:3], v1, v2, a[0:3]
  s_swappc_b64 s[10:11], s[8:9]
  v_mfma_f32_4x4x1f32 a[4:7], v1, v2, a[4:7]
  s_branch 2f
1:
  v_accvgpr_read_b32 v1, a0
  v_mov_b32 v2, 1.0
  s_setpc_b64 s[10:11]
2:
end silent_call

// Instructions in between count, s_nop or not.
begin silent_others
  factors
  v_mfma_f32_4x4x1f32 a[0:3], v1, v2, a[0:3]
  s_mov_b32 s8, 0
  s_mov_b32 s9, 0
  v_mov_b32 v3, 0
  v_mov_b32 v4, 0
  v_mov_b32 v5, 0
  v_accvgpr_read_b32 v1, a3
end silent_others

#ifdef ACCUM_OFFSET
begin silent_doubles
  double_factors
  v_mfma_f64_16x16x4f64 a[0:7], v[2:3], v[2:3], 0
  v_mfma_f64_16x16x4f64 a[0:7], v[2:3], v[2:3], a[0:7]
#ifdef GFX940
  v_mfma_f32_4x4x4_16b_f16 a[0:3], v[2:3], v[2:3], a[0:3]
#else
  v_mfma_f32_4x4x1f32 a[0:3], v2, v3, a[0:3]
#endif
  s_nop 1
  v_fma_f64 v[8:9], v[2:3], v[2:3], v[2:3]
end silent_doubles

begin silent_dot
  factors
  v_dot2_f32_f16 v1, v2, v2, v2
  v_dot2_f32_f16 v1, v2, v2, v1
  v_mfma_f32_4x4x1f32 v[4:7], v1, v2, 0
end silent_dot

#ifndef GFX940
// Hidden, but two states ago, or something else.
begin silent_hidden
  double_factors
  v_mov_b32 v1, 7
  s_nop 0
  v_mfma_f64_4x4x4f64 v[4:5], v[2:3], v[2:3], 0
  global_store_dword v0, v1, s[6:7]
  v_mov_b32 v1, 7
  v_mfma_f64_4x4x4f64 v[4:5], v[2:3], v[2:3], 0
  global_store_dword v0, v2, s[6:7]
end silent_hidden
#endif
#endif
