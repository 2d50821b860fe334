// The GPU's constant clock, which time stamps count.
#if defined(__GFX12__)
#define READ_CLOCK "s_sendmsg_rtn_b64 %0, sendmsg(MSG_RTN_GET_REALTIME)\n\ts_wait_kmcnt 0x0"
#elif defined(__GFX11__)
#define READ_CLOCK "s_sendmsg_rtn_b64 %0, sendmsg(MSG_RTN_GET_REALTIME)\n\ts_waitcnt lgkmcnt(0)"
#else
#define READ_CLOCK "s_memrealtime %0\n\ts_waitcnt lgkmcnt(0)"
#endif

__kernel void read_clock(__global ulong* ticks) {
    ulong now;
    __asm__ volatile(READ_CLOCK : "=s"(now));
    *ticks = now;
}
