// A write to LDS that is not waited for before the barrier, and its mended twin.
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
