// The GPU's constant clock, which time stamps count.
__kernel void read_clock(__global ulong* ticks) {
    ulong now;
    __asm__ volatile("s_memrealtime %0\n\ts_waitcnt lgkmcnt(0)" : "=s"(now));
    *ticks = now;
}
