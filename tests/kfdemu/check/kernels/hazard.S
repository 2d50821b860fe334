// Kernels in which two instructions follow each other too closely, each with its mended twin NAME_mended.
#include "kernel.inc"

#ifdef GFX11
#define FLAG src_scc
#else
#define FLAG src_vccz
#endif
#ifdef GFX12
#define ANOTHER HW_REG_HW_ID1
#else
#define ANOTHER HW_REG_GPR_ALLOC
#endif
#ifdef GFX940
#define STORED_LATE 2
#else
#define STORED_LATE 1
#endif

.macro scalar_address_body fix
  v_mov_b32 v1, s6
  settle
  v_readfirstlane_b32 s8, v1
  s_mov_b32 s9, s7
  states \fix, 4
  global_store_dword v0, v1, s[8:9]
.endm
pair scalar_address

.macro scalar_offset_body fix
  resource
  v_mov_b32 v1, 0
  settle
  v_readlane_b32 s12, v1, 3
  states \fix, 5
  buffer_load_dword v1, v0, s[8:11], s12 offen
  store_v1
.endm
pair scalar_offset

.macro neighbour_body fix
  v_mov_b32 v1, v0
  states \fix, 2
  v_mov_b32_dpp v1, v1 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0
  store_v1
.endm
pair neighbour

.macro neighbour_of_active_body fix
  v_mov_b32 v1, v0
  v_cmpx_eq_u32 TO_VCC v0, v0
  states \fix, 5
  v_mov_b32_dpp v1, v1 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0
  store_v1
.endm
pair neighbour_of_active

.macro quotient_body fix
  v_mov_b32 v1, 1.0
  v_cmp_eq_u32 vcc, v0, v0
  states \fix, 4
  v_div_fmas_f32 v1, v1, v1, v1
  store_v1
.endm
pair quotient

.macro lane_read_body fix
  v_mov_b32 v1, 7
  settle
  v_readfirstlane_b32 s8, v1
  states \fix, 4
  v_readlane_b32 s9, v1, s8
  settle
  v_mov_b32 v1, s9
  store_v1
.endm
pair lane_read

.macro lane_written_body fix
  v_mov_b32 v1, 7
  settle
  v_readfirstlane_b32 s8, v1
  states \fix, 4
  v_writelane_b32 v1, 5, s8
  store_v1
.endm
pair lane_written

.macro flag_as_data_body fix
  v_cmp_eq_u32 vcc, v0, v0
  states \fix, 5
  v_mov_b32 v1, FLAG
  store_v1
.endm
pair flag_as_data

.macro mode_read_body fix
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1
  states \fix, 2
  s_getreg_b32 s8, hwreg(HW_REG_MODE, 0, 4)
  v_mov_b32 v1, s8
  store_v1
.endm
pair mode_read

.macro mode_set_body fix
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1
  states \fix, 2
  s_setreg_b32 hwreg(HW_REG_MODE, 0, 2), s4
.endm
pair mode_set

.macro relative_body fix
  s_mov_b32 m0, 1
  states \fix, 1
  s_movrels_b32 s8, s4
  v_mov_b32 v1, s8
  store_v1
.endm
pair relative

.macro overwritten_body fix
  v_mov_b32 v4, 1
  global_store_dwordx4 v0, v[2:5], s[6:7]
  states \fix, STORED_LATE
  v_mov_b32 v4, 2
.endm
pair overwritten

#ifdef GFX11
// Scalar instructions are no wait states.
.macro product_of_product_body fix
  v_wmma_f32_16x16x16_f16 TILE(24), FACTOR(8), FACTOR(8), 0
  s_nop 7
.if \fix
  v_nop
.endif
  v_wmma_f32_16x16x16_f16 TILE(16), FACTOR(8), FACTOR(24), 0
.endm
pair product_of_product

// D may be the next C.
begin silent_sum_of_products
  v_wmma_f32_16x16x16_f16 TILE(24), FACTOR(8), FACTOR(8), 0
  v_wmma_f32_16x16x16_f16 TILE(24), FACTOR(8), FACTOR(8), TILE(24)
  v_wmma_f16_16x16x16_f16 HALF_TILE(24), FACTOR(8), FACTOR(8), HALF_TILE(24)
  v_wmma_f16_16x16x16_f16 HALF_TILE(24), FACTOR(8), FACTOR(8), HALF_TILE(24)
end silent_sum_of_products

// One of the five is transcendental, and a wait for other units is none.
.macro transcendental_body fix
  v_rcp_f32 v1, v0
  v_rcp_f32 v3, v0
#ifndef GFX12
  s_waitcnt_depctr depctr_sa_sdst(0)
#endif
.rept 4 + \fix
  v_mov_b32 v2, 1
.endr
  v_add_f32 v1, v1, v1
  store_v1
.endm
pair transcendental

// Two more of that unit; memory; the wait for it; and the other half of a register.
begin silent_transcendentals
  v_rcp_f32 v1, v0
  v_rcp_f32 v2, v0
  v_rcp_f32 v3, v0
  v_add_f32 v1, v1, v1
  v_rcp_f32 v1, v0
  ds_write_b32 v0, v0
  v_add_f32 v1, v1, v1
#ifndef GFX12
  v_rcp_f32 v1, v0
  s_waitcnt_depctr depctr_va_vdst(0)
  v_add_f32 v1, v1, v1
  .long 0x7e02a901 // v_rcp_f16_e32 v1.l, v1.l
  .long 0x65030281 // v_add_f16_e32 v1.h, 1, v1.h
#endif
  s_waitcnt lgkmcnt(0)
  store_v1
end silent_transcendentals, 512
#endif

// Correct kernels that a coarser model would report.

// SALU results reach vector memory.
begin silent_salu
  s_mov_b64 s[8:9], s[6:7]
  global_store_dword v0, v0, s[8:9]
end silent_salu

// What is overwritten is not stored; two dwords are read in time; with an offset in a register, all are.
begin silent_stores
  resource
  s_mov_b32 s8, s6
  s_mov_b32 s9, s7
  s_mov_b32 s12, 0
  global_store_dwordx4 v0, v[2:5], s[6:7]
  v_mov_b32 v6, 2
  global_store_dwordx2 v0, v[2:3], s[6:7]
  v_mov_b32 v2, 2
  buffer_store_dwordx4 v[2:5], v0, s[8:11], s12 offen
  v_mov_b32 v2, 2
end silent_stores

// Another register, another lane select.
begin silent_others
  v_mov_b32 v2, 3
  settle
  v_readfirstlane_b32 s8, v2
  v_readlane_b32 s9, v2, s12
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1
  s_getreg_b32 s9, hwreg(ANOTHER)
  v_mov_b32_dpp v1, v0 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0
end silent_others

#ifdef GFX10
.macro denormals_body fix
  global_atomic_fmin v0, v0, s[6:7]
  states \fix, 3
  s_denorm_mode 0
.endm
pair denormals

// Integer atomics; and what lets the atomic leave.
begin silent_denormals
  global_atomic_smin v0, v0, s[6:7]
  s_denorm_mode 0
  global_atomic_fmin v0, v0, s[6:7]
  v_mov_b32 v1, v0
  s_denorm_mode 0
  global_atomic_fmin v0, v0, s[6:7]
  s_waitcnt_vscnt null, 0x0
  s_denorm_mode 0
end silent_denormals
#endif
