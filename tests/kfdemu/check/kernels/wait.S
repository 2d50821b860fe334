// Kernels whose s_waitcnt is missing or too weak, each with its mended twin NAME_mended. `fix`: 1 in the twin.
#include "kernel.inc"

#ifdef GFX12
#define RETURNS th:TH_ATOMIC_RETURN
#elif defined GFX940
#define RETURNS sc0
#else
#define RETURNS glc
#endif

.macro wait_if fix, vm=63, lgkm=15
.if \fix
  s_waitcnt vmcnt(\vm) & lgkmcnt(\lgkm)
.endif
.endm

.macro global_load_body fix
  global_load_dword v1, v0, s[4:5]
  wait_if \fix, 0
  v_add_u32 v2, 1, v1
  global_store_dword v0, v2, s[6:7]
.endm
pair global_load

.macro second_of_two_body fix
  global_load_dword v1, v0, s[4:5]
  global_load_dword v2, v0, s[4:5] offset:4
  s_waitcnt vmcnt(1)
  v_add_u32 v1, 1, v1
  wait_if \fix, 0
  v_add_u32 v1, v1, v2
  global_store_dword v0, v1, s[6:7]
.endm
pair second_of_two

.macro lds_read_body fix
  ds_write_b32 v0, v0
  s_waitcnt lgkmcnt(0)
  ds_read_b32 v1, v0
  wait_if \fix, 63, 0
  v_add_u32 v1, 1, v1
  global_store_dword v0, v1, s[6:7]
.endm
pair lds_read, 256

.macro scalar_load_body fix
  s_load_dword s8, s[4:5], 0x0
  wait_if \fix, 63, 0
  s_add_u32 s8, s8, 1
  v_mov_b32 v1, s8
  global_store_dword v0, v1, s[6:7]
.endm
pair scalar_load

// Scalar loads arrive in any order: lgkmcnt(1) proves neither.
.macro scalar_order_body fix
  s_load_dword s8, s[4:5], 0x0
  s_load_dword s9, s[4:5], 0x4
  s_waitcnt lgkmcnt(1)
  wait_if \fix, 63, 0
  v_mov_b32 v1, s8
  s_waitcnt lgkmcnt(0)
  global_store_dword v0, v1, s[6:7]
.endm
pair scalar_order

// LDS and scalar memory share a counter: with both outstanding, lgkmcnt(1) does not prove the older one.
.macro mixed_counter_body fix
  ds_read_b32 v1, v0
  s_load_dword s8, s[4:5], 0x0
  s_waitcnt lgkmcnt(1)
  wait_if \fix, 63, 0
  v_add_u32 v1, 1, v1
  s_waitcnt lgkmcnt(0)
  global_store_dword v0, v1, s[6:7]
.endm
pair mixed_counter, 256

.macro overwritten_body fix
  global_load_dword v1, v0, s[4:5]
  wait_if \fix, 0
  v_mov_b32 v1, 7
  s_waitcnt vmcnt(0)
  global_store_dword v0, v1, s[6:7]
.endm
pair overwritten

.macro buffer_load_body fix
  resource
  buffer_load_dwordx2 v[2:3], v0, s[8:11], NO_OFFSET offen
  wait_if \fix, 0
  v_add_u32 v1, 1, v3
  global_store_dword v0, v1, s[6:7]
.endm
pair buffer_load

.macro flat_load_body fix
  v_mov_b32 v3, s5
  v_add_co_u32 v2, vcc, s4, v0
  v_addc_co_u32 v3, vcc, 0, v3, vcc
  flat_load_dword v1, v[2:3]
  s_waitcnt lgkmcnt(0)
  wait_if \fix, 0
  v_add_u32 v1, 1, v1
  global_store_dword v0, v1, s[6:7]
.endm
pair flat_load

// FLAT to LDS arrives with lgkmcnt.
.macro flat_to_lds_body fix
  ds_write_b32 v0, v0
  s_waitcnt lgkmcnt(0)
  s_mov_b64 s[8:9], src_shared_base
  v_mov_b32 v2, v0
  v_mov_b32 v3, s9
  flat_load_dword v1, v[2:3]
  s_waitcnt vmcnt(0)
  wait_if \fix, 63, 0
  v_add_u32 v1, 1, v1
  global_store_dword v0, v1, s[6:7]
.endm
pair flat_to_lds, 256

.macro permute_body fix
  ds_bpermute_b32 v1, v0, v0
  wait_if \fix, 63, 0
  v_add_u32 v1, 1, v1
  global_store_dword v0, v1, s[6:7]
.endm
pair permute

.macro atomic_body fix
  v_mov_b32 v2, 1
  global_atomic_add v1, v0, v2, s[6:7] RETURNS
  wait_if \fix, 0
  v_add_u32 v1, 1, v1
  global_store_dword v0, v1, s[6:7] offset:4
.endm
pair atomic

.macro second_half_body fix
  ds_read2_b32 v[2:3], v0 offset1:1
  wait_if \fix, 63, 0
  v_mov_b32 v1, v3
  global_store_dword v0, v1, s[6:7]
.endm
pair second_half, 512

.macro stored_body fix
  global_load_dword v1, v0, s[4:5]
  wait_if \fix, 0
  global_store_dword v0, v1, s[6:7]
.endm
pair stored

.macro address_body fix
  global_load_dword v1, v0, s[4:5]
  wait_if \fix, 0
  global_load_dword v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  global_store_dword v0, v2, s[6:7]
.endm
pair address

.macro read_lane_body fix
  global_load_dword v1, v0, s[4:5]
  wait_if \fix, 0
  v_readlane_b32 s8, v1, 5
  settle
  v_mov_b32 v1, s8
  s_waitcnt vmcnt(0)
  global_store_dword v0, v1, s[6:7]
.endm
pair read_lane

.macro carry_mask_body fix
  s_load_mask vcc, s[4:5], 0x0
  wait_if \fix, 63, 0
  v_cndmask_b32 v1, 1, v0, vcc
  global_store_dword v0, v1, s[6:7]
.endm
pair carry_mask

.macro half_body fix
  global_load_short_d16 v1, v0, s[4:5]
  global_load_short_d16_hi v1, v0, s[4:5] offset:2
  s_waitcnt vmcnt(1)
  wait_if \fix, 0
  v_add_u32 v1, 1, v1
  global_store_dword v0, v1, s[6:7]
.endm
pair half

.macro neighbour_body fix
  global_load_dword v1, v0, s[4:5]
  wait_if \fix, 0
  v_mov_b32_dpp v2, v1 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0
  global_store_dword v0, v2, s[6:7]
.endm
pair neighbour

// The wait is in the other arm of a branch.
.macro branch_body fix
  global_load_dword v1, v0, s[4:5]
  s_cmp_eq_u32 s4, 0
  s_cbranch_scc0 1f
  s_waitcnt vmcnt(0)
1:
  wait_if \fix, 0
  v_add_u32 v1, 1, v1
  global_store_dword v0, v1, s[6:7]
.endm
pair branch

.macro stored_scratch_body fix
  s_mov_b32 s8, 0
  ds_read_b64 v[2:3], v0
  wait_if \fix, 63, 0
  ds_write_b64 v0, v[2:3]
  s_waitcnt lgkmcnt(0)
.endm
pair stored_scratch, 1024

.macro relative_body fix
  s_mov_b32 m0, 4
  s_load_dwordx4 s[8:11], s[4:5], 0x0
  wait_if \fix, 63, 0
  s_movrels_b32 s12, s5
  v_mov_b32 v1, s12
  s_waitcnt lgkmcnt(0)
  global_store_dword v0, v1, s[6:7]
.endm
pair relative

#ifdef HAS_MATRIX
.macro matrix_body fix
  global_load_dword v1, v0, s[4:5]
  v_mov_b32 v2, 0
  s_nop 1
  wait_if \fix, 0
  v_mfma_f32_4x4x1f32 a[0:3], v1, v2, a[0:3]
  s_nop 7
  v_accvgpr_read_b32 v1, a0
  s_nop 1
  s_waitcnt vmcnt(0)
  global_store_dword v0, v1, s[6:7]
.endm
pair matrix
#endif

// Correct kernels that a coarser model would report.

// Two loads into one register arrive in order.
begin silent_in_order
  global_load_dword v1, v0, s[4:5]
  global_load_dword v1, v0, s[4:5] offset:4
  s_waitcnt vmcnt(0)
  global_store_dword v0, v1, s[6:7]
end silent_in_order

// A FLAT load from memory arrives with vmcnt.
begin silent_flat
  v_mov_b32 v3, s5
  v_add_co_u32 v2, vcc, s4, v0
  v_addc_co_u32 v3, vcc, 0, v3, vcc
  flat_load_dword v1, v[2:3]
  s_waitcnt vmcnt(0)
  global_store_dword v0, v1, s[6:7]
end silent_flat

// The load does not write the lanes that are read.
begin silent_other_lanes
  v_mov_b32 v1, 0
  s_mov_mask exec, 0xff
  global_load_dword v1, v0, s[4:5]
  s_mov_mask exec, 0xff00
  global_store_dword v0, v1, s[6:7]
  s_mov_mask exec, -1
  s_waitcnt vmcnt(0)
  global_store_dword v0, v1, s[6:7]
end silent_other_lanes

#ifdef GFX10
// Stores and atomics that return nothing have a counter of their own.
.macro counts_no_stores_body fix
  global_load_dword v1, v0, s[4:5]
  global_store_dword v0, v0, s[6:7]
  global_atomic_add v0, v0, s[6:7]
  s_waitcnt vmcnt(1)
  wait_if \fix, 0
  global_store_dword v0, v1, s[6:7]
.endm
pair counts_no_stores

// NULL, or an SGPR, is added to what each counter may have.
.macro own_instruction_body fix
  ds_read_b32 v1, v0
  s_mov_b32 s8, 1
  s_waitcnt_vmcnt null, 0x0
  s_waitcnt_vscnt null, 0x0
#ifdef GFX11
  s_waitcnt_lgkmcnt null, 0x1
#else
  s_waitcnt_lgkmcnt s8, 0x0
#endif
.if \fix
  s_waitcnt_lgkmcnt null, 0x0
.endif
  v_add_u32 v1, 1, v1
  global_store_dword v0, v1, s[6:7]
.endm
pair own_instruction, 256

.macro vector_relative_body fix
  global_load_dword v3, v0, s[4:5]
  s_mov_b32 m0, 2
  wait_if \fix, 0
  v_movrels_b32 v1, v1
  s_waitcnt vmcnt(0)
  global_store_dword v0, v1, s[6:7]
.endm
pair vector_relative

// Lanes of other rows are read.
.macro other_row_body fix
  v_mov_b32 v1, 0
  s_mov_mask exec, 0xffff
  global_load_dword v1, v0, s[4:5]
  s_mov_mask exec, 0xffff0000
  wait_if \fix, 0
  v_permlanex16_b32 v2, v1, s4, s5 op_sel:[1,0]
  s_waitcnt vmcnt(0)
  global_store_dword v0, v2, s[6:7]
.endm
pair other_row
#endif

#ifdef GFX12
.macro barrier_state_body fix
  s_get_barrier_state s8, -1
  wait_if \fix, 63, 0
  v_mov_b32 v1, s8
  global_store_dword v0, v1, s[6:7]
.endm
pair barrier_state
#endif

#ifdef GFX11
.macro answer_body fix
  s_sendmsg_rtn_b64 s[8:9], sendmsg(MSG_RTN_GET_REALTIME)
  wait_if \fix, 63, 0
  v_mov_b32 v1, s8
  global_store_dword v0, v1, s[6:7]
.endm
pair answer

.macro tiles_body fix
  global_load_dword v9, v0, s[4:5]
  wait_if \fix, 0
  v_wmma_f32_16x16x16_f16 TILE(24), FACTOR(16), FACTOR(8), 0
  s_waitcnt vmcnt(0)
.endm
pair tiles

#ifdef WAVE32
.macro second_operation_body fix
  global_load_dword v1, v0, s[4:5]
  wait_if \fix, 0
  v_dual_mov_b32 v4, v0 :: v_dual_mov_b32 v5, v1
  s_waitcnt vmcnt(0)
  global_store_dword v0, v5, s[6:7]
.endm
pair second_operation
#endif
#endif

// Later stores count, too; on GFX10, later loads.
#ifdef GFX10
#define LATER global_load_dword v2, v0, s[6:7]
#else
#define LATER global_store_dword v0, v0, s[6:7]
#endif
begin silent_counts_later
  global_load_dword v1, v0, s[4:5]
  LATER
  LATER
  s_waitcnt vmcnt(2)
  global_store_dword v0, v1, s[6:7]
end silent_counts_later

// No more than 63 are outstanding: the hardware stalls.
begin silent_many
  global_load_dword v1, v0, s[4:5]
.rept 63
  LATER
.endr
  v_add_u32 v1, 1, v1
end silent_many

// LDS in order after a scalar load: what is outstanding cannot be the first read.
begin silent_lds_in_order
  s_load_dword s8, s[4:5], 0x0
  ds_read_b32 v1, v0
  ds_read_b32 v2, v0 offset:4
  s_waitcnt lgkmcnt(1)
  global_store_dword v0, v1, s[6:7]
  s_waitcnt lgkmcnt(0)
end silent_lds_in_order, 512

#ifdef GFX10
// One SGPR is a mask: the load's is not written.
begin silent_one_register
  s_load_dword s9, s[4:5], 0x0
  v_cmp_ne_u32 MASK(10, 11), v0, v0
#ifdef WAVE32
  v_cmp_ne_u32 s8, v0, v0
#endif
  s_waitcnt lgkmcnt(0)
end silent_one_register

// The lanes that load are read by those that do not.
.macro inactive_lanes_body fix
  v_mov_b32 v2, 0
  s_mov_mask MASK(10, 11), exec
  s_mov_mask exec, ODD_LANES
  global_load_dword v1, v0, s[4:5]
  s_mov_mask exec, EVEN_LANES
.if \fix
  s_waitcnt vmcnt(0)
.endif
  v_mov_b32_dpp v2, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf fi:1
  s_mov_mask exec, MASK(10, 11)
  s_waitcnt vmcnt(0)
.endm
pair inactive_lanes

// The lanes that load are not read by others.
begin silent_inactive_lanes
  s_mov_mask MASK(10, 11), exec
  s_mov_mask exec, ODD_LANES
  global_load_dword v1, v0, s[4:5]
  s_mov_mask exec, EVEN_LANES
  v_mov_b32_dpp v2, v1 quad_perm:[0,0,2,2] row_mask:0xf bank_mask:0xf fi:1
  s_mov_mask exec, MASK(10, 11)
  s_waitcnt vmcnt(0)
end silent_inactive_lanes

// The wait's own register, which GFX11's has not.
#ifndef GFX11
.macro counted_by_register_body fix
  s_load_dword s20, s[4:5], 0x0
.if \fix
  s_waitcnt lgkmcnt(0)
.endif
  s_waitcnt_vscnt s20, 0x0
  s_waitcnt lgkmcnt(0)
.endm
pair counted_by_register
#endif

// FLAT returns in order with LDS and with memory.
begin silent_flat_in_order
  v_mov_b32 v3, s5
  v_add_co_u32 v2, vcc, s4, v0
  v_addc_co_u32 v3, vcc, 0, v3, vcc
  s_mov_b64 s[8:9], src_shared_base
  v_mov_b32 v4, v0
  v_mov_b32 v5, s9
  ds_read_b32 v1, v0
  flat_load_dword v6, v[4:5]
  flat_load_dword v7, v[2:3]
  s_waitcnt vmcnt(1) & lgkmcnt(1)
  v_add_u32 v1, v1, v6
  s_waitcnt vmcnt(0)
  global_store_dword v0, v7, s[6:7]
  s_waitcnt lgkmcnt(0)
end silent_flat_in_order, 256

// The loaded value is discarded.
begin silent_null
  s_load_dword null, s[4:5], 0x0
  s_mov_b32 null, s4
  s_waitcnt lgkmcnt(0)
end silent_null
#endif
