// Loads whose wait the compiler cannot know of: in inline assembly, inlined into another function.
#include "../../dispatch/kernels/kernel.hpp"

static inline u32 load_late(const u32* from) {
    u32 loaded;
    asm volatile("global_load_dword %0, %1, off" : "=v"(loaded) : "v"(from));
    return loaded;
}

static inline u32 load_in_time(const u32* from) {
    u32 loaded;
#ifdef __GFX12__
#define WAIT "s_wait_loadcnt 0x0"
#else
#define WAIT "s_waitcnt vmcnt(0)"
#endif
    asm volatile("global_load_dword %0, %1, off\n\t" WAIT : "=v"(loaded) : "v"(from));
    return loaded;
}

KERNEL void late(const u32* in, u32* out) {
    const u32 n = local_x();
    const u32 loaded = load_late(in + n);
    out[n] = loaded + 1;
}

KERNEL void in_time(const u32* in, u32* out) {
    const u32 n = local_x();
    const u32 loaded = load_in_time(in + n);
    out[n] = loaded + 1;
}

/// The same finding again and again.
KERNEL void late_often(const u32* in, u32* out) {
    for (u32 round = 0; round < 20000; ++round) out[local_x()] = load_late(in + local_x()) + 1;
}
