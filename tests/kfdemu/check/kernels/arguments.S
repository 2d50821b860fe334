// Reads of a kernel's 16 bytes of arguments, and beyond them.
#include "kernel.inc"

begin beyond_arguments
  s_load_dword s8, s[0:1], 0x14
  s_waitcnt lgkmcnt(0)
end beyond_arguments

begin within_arguments
  s_load_dwordx4 s[8:11], s[0:1], 0x8
  s_waitcnt lgkmcnt(0)
end within_arguments
