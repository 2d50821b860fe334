// Kernels whose `in` has 100 bytes; LDS has 256.
#include "kernel.inc"

// Compilers widen scalar loads to their alignment.
begin silent_widened
  s_load_dwordx4 s[8:11], s[4:5], 96
  s_waitcnt lgkmcnt(0)
end silent_widened

begin across_the_end
  s_load_dwordx4 s[8:11], s[4:5], 88
  s_waitcnt lgkmcnt(0)
end across_the_end

begin buffer_scalar
  resource
  s_buffer_load_dword s12, s[8:11], 100
  s_waitcnt lgkmcnt(0)
end buffer_scalar

// The buffer ends with the allocation: what is beyond reads as zero.
begin silent_buffer
  resource
  s_mov_b32 s10, 100
  v_mov_b32 v2, 88
  s_buffer_load_dwordx4 s[12:15], s[8:11], 96
  buffer_load_dwordx4 v[4:7], v2, s[8:11], NO_OFFSET offen
  s_waitcnt vmcnt(0) & lgkmcnt(0)
end silent_buffer

// The buffer's end, at 104, cuts the load, not before the allocation's.
begin buffer_cut
  resource
  s_mov_b32 s10, 104
  v_mov_b32 v2, 96
  buffer_load_dwordx4 v[4:7], v2, s[8:11], NO_OFFSET offen
  s_waitcnt vmcnt(0)
end buffer_cut

begin append
  s_mov_b32 m0, 0
  s_nop 0
  ds_append v1 offset:256
  s_waitcnt lgkmcnt(0)
end append, 256

begin silent_append
  s_mov_b32 m0, 252
  s_nop 0
  ds_append v1
  s_waitcnt lgkmcnt(0)
end silent_append, 256

begin by_lane
  s_mov_b32 m0, 260 - 4 * LANES
  s_nop 0
  ds_read_addtid_b32 v1
  s_waitcnt lgkmcnt(0)
end by_lane, 256

// Four dwords of a buffer that ends after three: uses the first, or the third.
.macro cut_load name, used
begin \name
  resource
  s_mov_b32 s10, 12
  v_mov_b32 v1, 0
  buffer_load_dwordx4 v[4:7], v1, s[8:11], NO_OFFSET offen
  s_waitcnt vmcnt(0)
  v_add_u32 \used, 1, \used
  global_store_dword v0, \used, s[6:7]
end \name
.endm
cut_load cut_first, v4
cut_load cut_third, v6

#ifdef GFX10
// Records of 8 bytes, so many from 16 bytes before the end of `in` on, and which of OOB_SELECT says what is outside.
.macro records count, oob_select
  resource
  s_add_u32 s8, s4, 84
  s_or_b32 s9, s5, 8 << 16
  s_mov_b32 s10, \count
  s_mov_b32 s11, RESOURCE_FORMAT & ~(3 << 28) | \oob_select << 28
.endm
.macro load_record name, count, oob_select, index, offset
begin \name
  records \count, \oob_select
  v_mov_b32 v2, \index
  v_mov_b32 v3, \offset
  buffer_load_dword v1, v[2:3], s[8:11], NO_OFFSET idxen offen
  s_waitcnt vmcnt(0)
end \name
.endm
load_record silent_beyond_record, 100, 0, 2, 8
load_record silent_beyond_bytes, 16, 3, 2, 4
load_record within_record, 100, 0, 2, 4
load_record beyond_record, 100, 1, 2, 8
load_record any_record, 1, 2, 2, 4
#endif
