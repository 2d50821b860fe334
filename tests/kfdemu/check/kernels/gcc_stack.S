// Saves of registers that nothing wrote, as GCC's functions begin with them: to the stack, which is in memory, from the
// stack pointer s[16:17] on. The comment is what tells that GCC compiled it.
#include "kernel.inc"

.macro save to
  v_mov_b32 v4, \to
  v_mov_b32 v5, s7
  v_add_co_u32 v4, vcc, v0, v4
  v_addc_co_u32 v5, vcc, 0, v5, vcc
  global_store_dword v[4:5], v22, off
.endm

begin to_stack
  s_mov_b32 s16, s6
  s_mov_b32 s17, s7
  save s16
end to_stack

begin to_memory
  s_add_u32 s16, s6, 0x400
  s_addc_u32 s17, s7, 0
  save s6
end to_memory

#ifdef BY_GCC
.section .comment,"MS",@progbits,1
.asciz "GCC: (GNU) 14.2.0"
#endif
