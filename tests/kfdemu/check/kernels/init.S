// Kernels that use a value which nothing wrote, each with its mended twin NAME_mended. `fix`: 1 in the twin.
#include "kernel.inc"

.macro if_fixed fix, instruction:vararg
.if \fix
  \instruction
.endif
.endm
.macro store register
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  global_store_dword v0, \register, s[6:7]
.endm

.macro vector_address_body fix
  if_fixed \fix, v_mov_b32 v2, 0
  v_add_u32 v1, v2, v0
  global_load_dword v3, v1, s[4:5]
  store v3
.endm
pair vector_address

.macro scalar_address_body fix
  if_fixed \fix, s_mov_b32 s20, 0
  s_load_dword s8, s[4:5], s20
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v1, s8
  store v1
.endm
pair scalar_address

#ifdef GFX940
// Of two registers.
.macro stack_address_body fix
  if_fixed \fix, v_mov_b32 v2, 0
  s_mov_b32 s20, 0
  v_and_b32 v2, 4, v2
  scratch_store_dword v2, v0, s20
  store v0
.endm
begin stack_address
  stack_address_body 0
end stack_address, 0, 64
begin stack_address_mended
  stack_address_body 1
end stack_address_mended, 0, 64
#endif

// The last word of a buffer resource.
.macro resource_word_body fix
  s_mov_b32 s8, s4
  s_mov_b32 s9, s5
  s_mov_b32 s10, -1
  if_fixed \fix, s_mov_b32 s11, RESOURCE_FORMAT
  buffer_load_dword v1, v0, s[8:11], NO_OFFSET offen
  store v1
.endm
pair resource_word

.macro branch_scc_body fix
  if_fixed \fix, s_mov_b32 s20, 0
  v_mov_b32 v1, 0
  s_cmp_eq_u32 s20, 0
  s_cbranch_scc1 1f
  v_mov_b32 v1, 1
1:
  store v1
.endm
pair branch_scc

.macro branch_vcc_body fix
  if_fixed \fix, v_mov_b32 v2, 0
  v_mov_b32 v1, 0
  v_cmp_eq_u32 vcc, 1, v2
  s_cbranch_vccnz 1f
  v_mov_b32 v1, 1
1:
  store v1
.endm
pair branch_vcc

.macro branch_sum_body fix
  if_fixed \fix, s_mov_b32 s20, 1
  v_mov_b32 v1, 0
  s_lshl_b32 s21, s20, 4
  s_add_u32 s21, s21, 3
  s_and_b32 s21, s21, 0xf0
  s_cbranch_scc1 1f
  v_mov_b32 v1, 1
1:
  store v1
.endm
pair branch_sum

.macro set_exec_body fix
  if_fixed \fix, v_mov_b32 v2, 64
  v_cmp_gt_u32 vcc, v2, v0
  s_and_saveexec_mask MASK(8, 9), vcc
  store v0
.endm
pair set_exec

.macro compare_exec_body fix
  if_fixed \fix, v_mov_b32 v2, 64
  v_cmpx_gt_u32 TO_VCC v2, v0
  store v0
.endm
pair compare_exec

.macro lds_sum_body fix
  if_fixed \fix, ds_write_b32 v0, v0
  s_waitcnt lgkmcnt(0)
  ds_read_b32 v1, v0
  s_waitcnt lgkmcnt(0)
  v_add_u32 v2, 1, v1
  store v2
.endm
pair lds_sum, 256

.macro lds_copy_body fix
  if_fixed \fix, ds_write_b64 v0, v[0:1]
  s_waitcnt lgkmcnt(0)
  ds_read_b64 v[2:3], v0
  s_waitcnt lgkmcnt(0)
  global_store_dwordx2 v0, v[2:3], s[6:7]
.endm
pair lds_copy, 1024

// Only half of what is read was written.
.macro lds_byte_body fix
  ds_write_b8 v0, v0
  if_fixed \fix, ds_write_b8 v0, v0 offset:1
  s_waitcnt lgkmcnt(0)
  ds_read_i16 v1, v0
  s_waitcnt lgkmcnt(0)
  v_add_u32 v2, 1, v1
  store v2
.endm
pair lds_byte, 256

.macro lds_atomic_body fix
  v_mov_b32 v1, 1
  if_fixed \fix, ds_write_b32 v0, v1
  ds_add_u32 v0, v1
  s_waitcnt lgkmcnt(0)
  ds_read_b32 v2, v0
  store v2
.endm
pair lds_atomic, 256

// Lanes 0 to 7 of v2 are written.
.macro lane_body fix
  v_mov_b32 v1, 0
  s_mov_mask exec, 0xff
  v_mov_b32 v2, 0
  s_mov_mask exec, -1
  v_readlane_b32 s8, v2, 9 - 6 * \fix
  s_load_dword s9, s[4:5], s8
  store v1
.endm
pair lane

.macro all_lanes_body fix
  if_fixed \fix, v_mov_b32 v2, 0
  s_mov_mask exec, 0xffff
  v_mov_b32 v2, 1
  s_mov_mask exec, -1
  v_add_u32 v1, 1, v2
  store v1
.endm
pair all_lanes

// Lane 8 gets the value of lane 7.
.macro neighbour_body fix
  s_mov_mask exec, 0xff00
  v_mov_b32 v2, 1
  if_fixed \fix, s_mov_mask exec, -1
  if_fixed \fix, v_mov_b32 v2, 1
  s_mov_mask exec, 0xff80
  v_mov_b32 v1, 0
  v_add_u32_dpp v1, v2, v1 row_shr:1 row_mask:0xf bank_mask:0xf
  s_mov_mask exec, 0xff00
  store v1
.endm
pair neighbour

.macro permute_body fix
  if_fixed \fix, v_mov_b32 v2, 0
  s_mov_mask exec, 0xff
  v_mov_b32 v2, 1
  s_mov_mask exec, -1
  v_xor_b32 v3, 0xfc, v0
  ds_bpermute_b32 v1, v3, v2
  s_waitcnt lgkmcnt(0)
  global_load_dword v1, v1, s[4:5]
  store v1
.endm
pair permute

.macro half_body fix
  if_fixed \fix, v_mov_b32 v1, 0
  global_load_short_d16 v1, v0, s[4:5]
  s_waitcnt vmcnt(0)
  v_add_u32 v2, 1, v1
  store v2
.endm
pair half

.macro word_select_body fix
  global_load_short_d16 v1, v0, s[4:5]
  s_waitcnt vmcnt(0)
#ifdef GFX11
  v_mov_b32 v2, 0
  v_add_nc_u16 v2, v1, v1 op_sel:[0,1-\fix,0]
#else
.if \fix
  v_add_u32_sdwa v2, v1, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_0 src1_sel:WORD_0
.else
  v_add_u32_sdwa v2, v1, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_0 src1_sel:WORD_1
.endif
#endif
  store v2
.endm
pair word_select

.macro packed_body fix
  global_load_short_d16 v1, v0, s[4:5]
  s_waitcnt vmcnt(0)
  v_pk_add_u16 v2, v1, v1
.if \fix
  global_store_short v0, v2, s[6:7]
.else
  global_store_short_d16_hi v0, v2, s[6:7]
.endif
.endm
pair packed

// Bits 7:0 of v2 are shifted out in the twin.
.macro bits_body fix
  v_and_b32 v1, 0xff, v2
  v_lshrrev_b32 v1, 4 + 4 * \fix, v1
  v_add_u32 v1, 1, v1
  store v1
.endm
pair bits

.macro carry_body fix
  if_fixed \fix, v_mov_b32 v2, 0
  v_mov_b32 v4, 0
  v_mov_b32 v5, s5
  v_add_co_u32 v1, vcc, v0, v2
  v_addc_co_u32 v3, vcc, v4, v5, vcc
  v_mov_b32 v2, s4
  global_load_dword v1, v[2:3], off
  store v1
.endm
pair carry

// The high half of the addend is undefined; the twin uses the low half of the sum only.
.macro wide_sum_body fix
  v_mov_b32 v4, 0
  v_mad_u64_u32 v[2:3], MASK(8, 9), v0, v0, v[4:5]
.if \fix
  store v2
.else
  store v3
.endif
.endm
pair wide_sum

.macro cndmask_body fix
  v_cmp_eq_u32 vcc, v0, v0
.if \fix
  v_cndmask_b32 v1, v2, v0, vcc
.else
  v_cndmask_b32 v1, v0, v2, vcc
.endif
  v_add_u32 v1, 1, v1
  store v1
.endm
pair cndmask

.macro register_number_body fix
  if_fixed \fix, s_mov_b32 m0, 0
  s_movrels_b32 s8, s4
  v_mov_b32 v1, s8
  store v1
.endm
pair register_number

// Only the x work-group and work-item numbers are asked for.
#ifdef GFX12
#define GROUP_X ttmp9
#define GROUP_Y ttmp7
#else
#define GROUP_X s2
#define GROUP_Y s3
#endif
.macro group_y_body fix
.if \fix
  s_add_u32 s8, GROUP_X, GROUP_X
.else
  s_add_u32 s8, GROUP_Y, GROUP_Y
.endif
  v_mov_b32 v1, s8
  store v1
.endm
pair group_y

.macro stored_byte_body fix
  if_fixed \fix, v_mov_b32 v1, 1
  global_store_byte v0, v1, s[6:7]
.endm
pair stored_byte

.macro atomic_data_body fix
  if_fixed \fix, v_mov_b32 v1, 1
  global_atomic_add v0, v1, s[6:7]
.endm
pair atomic_data

#ifdef GFX10
// Lane 0 of each row gets lane 9 of the other, which nothing wrote.
.macro other_row_body fix
  s_mov_b32 s8, 9 - 6 * \fix
  s_mov_b32 s9, 0
  s_mov_mask exec, 0x000f000f
  v_mov_b32 v2, 0
  s_mov_mask exec, 0x00010001
  v_permlanex16_b32 v1, v2, s8, s9 op_sel:[1,0]
  global_load_dword v1, v1, s[4:5]
  store v1
.endm
pair other_row

// Of the numbers of lanes, that of lane 8 is not written.
.macro lane_numbers_body fix
  s_mov_b32 s8, 0
  if_fixed \fix, s_mov_b32 s9, 0
  v_permlane16_b32 v1, v0, s8, s9
  store v1
.endm
pair lane_numbers

.macro eight_lanes_body fix
  s_mov_mask exec, 0x0f0f0f0f
  v_mov_b32 v2, 1
  if_fixed \fix, s_mov_mask exec, -1
  if_fixed \fix, v_mov_b32 v2, 1
  s_mov_mask exec, 0x0f0f0f0f
  v_mov_b32_dpp v1, v2 dpp8:[7,6,5,4,3,2,1,0] fi:1
  store v1
.endm
pair eight_lanes

.macro vector_number_body fix
  v_mov_b32 v1, 0
  if_fixed \fix, s_mov_b32 m0, 0
  v_movreld_b32 v1, v0
  store v1
.endm
pair vector_number

// v3, which M0 selects.
.macro moved_body fix
  s_mov_b32 m0, 2
  if_fixed \fix, v_mov_b32 v3, 1
  v_movrels_b32 v1, v1
  store v1
.endm
pair moved

.macro sum_of_three_body fix
  if_fixed \fix, v_mov_b32 v2, 1
  v_xor3_b32 v1, v0, v2, v0
  v_add3_u32 v1, v1, v0, 1
  store v1
.endm
pair sum_of_three

// XNACK_MASK and FLAT_SCRATCH are SGPRs like others.
.macro high_scalar_body fix
  if_fixed \fix, s_mov_b32 s104, 0
  s_load_dword s8, s[4:5], s104
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v1, s8
  store v1
.endm
pair high_scalar
#endif

#ifdef GFX11
// The number of a short format's register says which half of v2 is moved to v1.h: clang 19 has no name for it.
.macro upper_half_body fix
  v_mov_b32 v1, 0
  global_load_short_d16 v2, v0, s[4:5]
  s_waitcnt vmcnt(0)
  .long 0x7f023982 - 0x80 * \fix
  store v1
.endm
pair upper_half

// v2's lower half is undefined, and goes to v1. Clang 19 has no name for v_swap_b16.
.macro swapped_halves_body fix
  v_mov_b32 v1, 0
  if_fixed \fix, v_mov_b32 v2, 0
  v_and_b32 v2, 0xffff, v2
  .long 0x7f02cd02 // v_swap_b16 v1.h, v2.l
  v_add_u32 v1, 1, v1
  store v1
.endm
pair swapped_halves

begin silent_swapped_halves
  v_mov_b32 v1, 0
  v_and_b32 v2, 0xffff, v2
  .long 0x7f02cd82 // v_swap_b16 v1.h, v2.h
  v_add_u32 v1, 1, v1
  store v1
end silent_swapped_halves

// Products of ones. A's row 5, which lane 5 has, is undefined unless EXEC has the lane; on GFX12, a part of it.
.macro multiply_tiles exec_of_a
  s_mov_b32 exec_lo, \exec_of_a
.irp n, 8, 9, 10, 11, 12, 13, 14, 15
  v_mov_b32 v\n, 0x3c003c00
.endr
  s_mov_mask exec, -1
.irp n, 16, 17, 18, 19, 20, 21, 22, 23
  v_mov_b32 v\n, 0x3c003c00
.endr
  v_wmma_f32_16x16x16_f16 TILE(24), FACTOR(8), FACTOR(16), 0
.endm
// Row 5 of D.
.macro tiles_body fix
  multiply_tiles ~(0x20 * (1 - \fix))
#if defined GFX12 && defined WAVE32
  s_mov_b32 exec_lo, 0xffff
  store v29
#elif defined GFX12
  s_mov_b32 exec_lo, 0
  s_mov_b32 exec_hi, 0xffff
  store v25
#elif defined WAVE32
  s_mov_b32 exec_lo, 0xffff0000
  store v26
#else
  s_mov_b32 exec_lo, 0xffff0000
  s_mov_b32 exec_hi, 0
  store v25
#endif
.endm
pair tiles

// Row 0.
begin silent_tiles
  multiply_tiles ~0x20
  store v24
end silent_tiles

#ifdef WAVE32
// The second operation reads v2 before the first writes it.
.macro dual_body fix
  if_fixed \fix, v_mov_b32 v3, 0
  v_mov_b32 v2, 0
  v_dual_mov_b32 v2, v3 :: v_dual_add_nc_u32 v5, v0, v2
  store v5
  store v2
.endm
pair dual

begin silent_dual
  v_mov_b32 v2, 0
  v_dual_mov_b32 v2, v3 :: v_dual_and_b32 v5, 0, v2
  store v5
end silent_dual
#endif
#endif

#ifdef HAS_MATRIX
// One row of A, in lane 5, is undefined: column 0 of D is in lane 0.
.macro matrix_body fix
  v_mov_b32 v2, 1.0
  s_mov_mask exec, 0x0f
  v_mov_b32 v1, 1.0
  s_mov_mask exec, -1
  v_accvgpr_write_b32 a0, v2
  v_accvgpr_write_b32 a1, v2
  v_accvgpr_write_b32 a2, v2
  v_accvgpr_write_b32 a3, v2
  s_nop 1
  v_mfma_f32_4x4x1f32 a[0:3], v1, v2, a[0:3]
  s_nop 7
  s_nop 7
  v_accvgpr_read_b32 v3, a0
.if \fix
  s_mov_mask exec, 0x0f
.endif
  store v3
.endm
pair matrix
#endif

#ifdef GFX950
.macro ones
  v_mov_b32 v4, 1.0
  v_mov_b32 v5, 1.0
  v_mov_b32 v6, 1.0
  v_mov_b32 v7, 1.0
.endm
.macro scales_body fix
  ones
  if_fixed \fix, v_mov_b32 v2, 127
  v_mov_b32 v3, 127
  s_nop 3
  v_mfma_scale_f32_16x16x128_f8f6f4 v[8:11], v[4:7], v[4:7], 0, v2, v3 op_sel_hi:[0,0,0] cbsz:4 blgp:4
  s_nop 15
  store v8
.endm
pair scales
#endif

// Correct kernels that a coarser model would report.

#ifdef GFX950
// Undefined scales are those of one product, whose result nothing uses.
begin silent_scales
  ones
  v_mov_b32 v3, 127
  s_nop 3
  v_mfma_scale_f32_16x16x128_f8f6f4 v[8:11], v[4:7], v[4:7], 0, v2, v3 op_sel_hi:[0,0,0] cbsz:4 blgp:4
  v_mfma_scale_f32_16x16x128_f8f6f4 v[12:15], v[4:7], v[4:7], 0, v3, v3 op_sel_hi:[0,0,0] cbsz:4 blgp:4
  v_mfma_f32_16x16x16_f16 v[16:19], v[4:5], v[4:5], 0
  s_nop 15
  v_add_u32 v12, v12, v16
  store v12
end silent_scales

// The undefined bits are masked, or both values of the table's bit are the same.
begin silent_table
  v_bitop3_b32 v1, v2, 0, v0 bitop3:0xe2
  v_bitop3_b32 v1, v1, v2, v2 bitop3:0xf0
  global_load_dword v1, v1, s[4:5]
  store v1
end silent_table
#endif

begin silent_xor
  v_xor_b32 v1, v2, v2
  v_sub_u32 v3, v4, v4
  v_add_u32 v1, v1, v3
  v_add_u32 v1, v1, v0
  global_load_dword v1, v1, s[4:5]
  s_xor_b32 s8, s20, s20
  s_load_dword s9, s[4:5], s8
  store v1
end silent_xor

// The lanes of vcc that EXEC leaves out are undefined.
begin silent_masks
  s_mov_mask exec, 0xff
  v_cmp_eq_u32 MASK(8, 9), v0, v0
  s_mov_mask exec, -1
  s_andn2_mask MASK(20, 21), MASK(20, 21), exec
  s_and_mask MASK(8, 9), MASK(8, 9), exec
  s_or_mask MASK(20, 21), MASK(20, 21), MASK(8, 9)
  s_and_saveexec_mask MASK(10, 11), MASK(20, 21)
  store v0
end silent_masks

// The branch is taken whatever the undefined bits are.
begin silent_known_bits
  s_or_b32 s8, s20, 0x100
  s_cbranch_scc1 1f
  s_nop 0
1:
  s_and_b32 s8, s20, 0xf
  s_cmp_lt_u32 s8, 16
  s_cbranch_scc1 2f
  s_nop 0
2:
  s_cmp_eq_u32 s8, 0x80
  s_cbranch_scc1 3f
  s_nop 0
3:
  v_or_b32 v1, 0x100, v2
  v_cmp_ne_u32 vcc, 0, v1
  s_and_saveexec_mask MASK(10, 11), vcc
  store v0
end silent_known_bits

// A structure of a defined and an undefined dword is copied.
begin silent_padding
  v_mov_b32 v2, v0
  v_mov_b32 v3, v5
  v_lshlrev_b32 v6, 1, v0
  ds_write_b64 v6, v[2:3]
  s_waitcnt lgkmcnt(0)
  ds_read_b64 v[8:9], v6
  s_waitcnt lgkmcnt(0)
  v_and_b32 v0, 0xf8, v0
  global_store_dwordx2 v0, v[8:9], s[6:7]
end silent_padding, 512

begin silent_bytes
  s_mov_b32 s8, 0x0c0c0100
  v_perm_b32 v1, v2, v0, s8
  v_bfe_u32 v1, v1, 2, 6
  v_lshlrev_b32 v1, 2, v1
  v_and_b32 v1, 0x3c, v1
  v_lshlrev_b32 v3, 24, v2
  v_lshrrev_b32 v3, 24, v3
  v_lshrrev_b32 v3, 8, v3
  v_add_u32 v1, v1, v3
  global_load_dword v1, v1, s[4:5]
  store v1
end silent_bytes

// Constants, M0 and EXEC are moved to registers that M0 names.
begin silent_moved
  s_mov_b32 m0, 2
  settle
  s_movreld_b32 s8, 5
  s_movreld_b32 s9, 0x12345
  s_movreld_b32 s12, m0
  s_movreld_b64 s[14:15], -1
  s_movreld_b32 s18, exec_lo
  s_add_u32 s10, s10, s11
  s_add_u32 s10, s10, s14
  s_add_u32 s10, s10, s17
  s_add_u32 s10, s10, s20
  v_mov_b32 v1, s10
  store v1
end silent_moved

// A mask of 64 lanes is EXEC, whichever half of it is written; in waves of 32 the other half is a number.
.macro half_exec_body fix
  if_fixed \fix, s_mov_b32 s20, -1
  s_mov_b32 exec_lo, s20
  store v0
.endm
pair half_exec
begin silent_exec_high
  s_mov_b32 s20, -1
#ifndef WAVE32
  s_mov_b32 s21, -1
#endif
#undef exec
  s_mov_b64 exec, s[20:21]
#ifdef WAVE32
#define exec exec_lo
#endif
  store v0
end silent_exec_high

#ifdef GFX10
// The last register is one that M0 can name.
begin silent_last_register
  s_mov_b32 m0, 255
  v_movreld_b32 v0, v0
  v_mov_b32 v1, v255
  store v1
  v_mov_b32 v255, v0
  v_movrels_b32 v1, v0
  store v1
end silent_last_register, 0, 0, 256

#ifndef GFX12
// The loop's register is what it saves of EXEC.
begin silent_halves
  v_mov_b32 v1, v0
  s_subvector_loop_begin s8, 2f
1:
  v_add_u32 v1, 1, v1
  s_subvector_loop_end s8, 1b
2:
  store v1
end silent_halves
#endif
#endif

// s_cselect and s_cmov with a defined condition.
begin silent_scalar_choice
  s_cmp_eq_u32 s4, s4
  s_cselect_b32 s8, 0, s20
  s_cmov_b32 s20, 0
  s_add_u32 s8, s8, s20
  s_load_dword s9, s[4:5], s8
  store v0
end silent_scalar_choice
