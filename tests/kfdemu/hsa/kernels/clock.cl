// The GPU's constant clock, which time stamps count.
#ifdef __GFX11__
#define READ_CLOCK "s_sendmsg_rtn_b64 %0, sendmsg(MSG_RTN_GET_REALTIME)"
#else
#define READ_CLOCK "s_memrealtime %0"
#endif

__kernel void read_clock(__global ulong* ticks) {
    ulong now;
    __asm__ volatile(READ_CLOCK "\n\ts_waitcnt lgkmcnt(0)" : "=s"(now));
    *ticks = now;
}
