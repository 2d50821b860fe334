// Writes to LDS that are not waited for before the barrier, or that come after its first step, and their mended twins.
#include "kernel.inc"

.macro body fix
  ds_write_b32 v0, v0
.if \fix
  s_waitcnt lgkmcnt(0)
.endif
  s_barrier
  v_xor_b32 v1, 0x100, v0
  ds_read_b32 v1, v1
  s_waitcnt lgkmcnt(0)
  global_store_dword v0, v1, s[6:7]
.endm

begin late_write
  body 0
end late_write, 512

begin late_write_mended
  body 1
end late_write_mended, 512

#ifdef GFX12
.macro write
  ds_write_b32 v0, v0
  s_waitcnt lgkmcnt(0)
.endm
.macro signal_body fix
.if \fix
  write
.endif
  s_barrier_signal -1
.if !\fix
  write
.endif
  s_barrier_wait -1
  v_xor_b32 v1, 0x100, v0
  ds_read_b32 v1, v1
  s_waitcnt lgkmcnt(0)
  global_store_dword v0, v1, s[6:7]
.endm

begin write_after_signal
  signal_body 0
end write_after_signal, 512

begin write_after_signal_mended
  signal_body 1
end write_after_signal_mended, 512
#endif
