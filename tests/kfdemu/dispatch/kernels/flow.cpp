// Waves that wait for each other, and kernels that do not end well.
#include "kernel.hpp"

/// The last wave releases the others, which spin on LDS.
KERNEL void spin(u32* out) {
    LDS u32 flag;
    if (local_x() == 0) __hip_atomic_store(&flag, 0u, __ATOMIC_RELAXED, kWorkgroup);
    barrier();
    const u32 waves = __builtin_amdgcn_workgroup_size_x() / lanes(), wave = local_x() / lanes();
    while (__hip_atomic_load(&flag, __ATOMIC_ACQUIRE, kWorkgroup) != waves - 1 - wave) {
    }
    out[global_x()] = wave;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __hip_atomic_store(&flag, waves - wave, __ATOMIC_RELEASE, kWorkgroup);
}

/// Each group waits for the one before it.
KERNEL void chain(u32* flags, u32* out) {
    const u32 group = __builtin_amdgcn_workgroup_id_x();
    if (group > 0)
        while (__hip_atomic_load(&flags[group - 1], __ATOMIC_ACQUIRE, kAgent) == 0) __builtin_amdgcn_s_sleep(1);
    if (local_x() == 0) {
        out[group] = (group > 0 ? out[group - 1] : 0) + group;
        __hip_atomic_store(&flags[group], 1u, __ATOMIC_RELEASE, kAgent);
    }
}

/// Some waves leave before the barrier.
KERNEL void early_exit(u32* out) {
    LDS u32 sum;
    if (local_x() == 0) sum = 0;
    barrier();
    if (local_x() >= 128) return;
    __hip_atomic_fetch_add(&sum, 1u, __ATOMIC_RELAXED, kWorkgroup);
    barrier();
    out[local_x()] = sum;
}

/// What waits for memory, and for the other waves.
#ifdef __GFX12__
#define WAIT_TEXT "s_wait_loadcnt_dscnt 0x0\n\ts_wait_storecnt 0x0"
#define BARRIER_TEXT "s_barrier_signal -1\n\ts_barrier_wait -1"
#else
#define WAIT_TEXT "s_waitcnt vmcnt(0) lgkmcnt(0)"
#define BARRIER_TEXT "s_barrier"
#endif
/// A separate s_barrier, which the compiler never merges with another.
#define BARRIER(name) asm volatile(WAIT_TEXT "\n\t" BARRIER_TEXT " ; " name ::: "memory")

/// Waves of even numbers wait at one barrier, those of odd numbers at another.
KERNEL void barriers_apart(u32* out) {
    LDS u32 came[4];
    const u32 wave = __builtin_amdgcn_readfirstlane(local_x() / lanes());
    came[wave] = 0;
    BARRIER("first");
    came[wave] = wave + 1;
    if (wave % 2 == 0) {
        BARRIER("even");
    } else {
        BARRIER("odd");
    }
    out[local_x()] = came[0] * 1000 + came[1] * 100 + came[2] * 10 + came[3];
}

/// Lanes of wave 0 diverge and execute two barriers where wave 1 executes one, so that wave 0 is one barrier late.
KERNEL void barriers_doubled(u32* out) {
    LDS u32 done;
    const u32 wave = __builtin_amdgcn_readfirstlane(local_x() / lanes());
    done = 0;
    BARRIER("first");
    u32 way;
    if (wave != 0 || local_x() % 2 == 0) {
        way = 1;
        BARRIER("then");
    } else {
        way = 2;
        BARRIER("else");
    }
    BARRIER("after");
    if (wave == 1) {
        for (u32 i = 0; i < 1000; ++i) __builtin_amdgcn_s_sleep(1);
        done = 7;
        return;
    }
    // Wave 1 was here when wave 0 reached "else": wave 0 is released when wave 1 has ended.
    out[local_x()] = done * 10 + way;
}

/// A wave reaches a barrier without an active lane.
KERNEL void barrier_without_lanes(u32* out) {
    LDS u32 value;
    const u32 wave = __builtin_amdgcn_readfirstlane(local_x() / lanes());
    if (wave == 1) {
        u64 exec;
        asm volatile("s_mov_b64 %0, exec\n\ts_mov_b64 exec, 0\n\t" BARRIER_TEXT "\n\ts_mov_b64 exec, %0"
                     : "=s"(exec)::"memory");
        BARRIER("second of wave 1");
    } else {
        value = 5;
        BARRIER("first of wave 0");
        BARRIER("second of wave 0");
    }
    out[local_x()] = value;
}

#ifdef __GFX12__
/// Wave 0 signals twice: of two waves, that opens the barrier. out: the barrier's state, and SCC, which was 0 and 1
/// before, after each signal.
KERNEL void split_barrier(u32* out) {
    const u32 wave = __builtin_amdgcn_readfirstlane(local_x() / lanes());
    if (wave == 0) {
        u32 state, first, second;
        asm volatile(
            "s_cmp_lg_u32 0, 0\n\ts_barrier_signal_isfirst -1\n\ts_cselect_b32 %1, 1, 0\n\t"
            "s_get_barrier_state %0, -1\n\ts_wait_kmcnt 0x0\n\t"
            "s_cmp_eq_u32 0, 0\n\ts_barrier_signal_isfirst -1\n\ts_cselect_b32 %2, 1, 0\n\ts_barrier_wait -1\n\t"
            "s_barrier_signal 0\n\ts_barrier_wait 0"
            : "=s"(state), "=s"(first), "=s"(second)::"scc", "memory");
        out[0] = state;
        out[1] = first;
        out[2] = second;
        __hip_atomic_store(out + 3, 1u, __ATOMIC_RELEASE, kAgent);
    } else {
        while (__hip_atomic_load(out + 3, __ATOMIC_RELAXED, kAgent) == 0) __builtin_amdgcn_s_sleep(1);
    }
}
#endif

KERNEL void endless(u32* out) {
    for (;;) {
        __hip_atomic_fetch_add(out, 1u, __ATOMIC_RELAXED, kAgent);
        if (__hip_atomic_load(out + 1, __ATOMIC_RELAXED, kAgent) != 0) return;
    }
}

KERNEL void store_at(u32* where, u32 lane) {
    if (local_x() == lane) *(volatile u32*)where = 1;
}
KERNEL void load_at(const u32* where, u32 lane, u32* out) {
    if (local_x() == lane) out[0] = *(const volatile u32*)where;
}
KERNEL void load_uniform(const u64* where, u64* out) {
    if (global_x() == 0) *out = *where;
}
KERNEL void atomic_at(u32* where) { __hip_atomic_fetch_add(where, 1u, __ATOMIC_RELAXED, kAgent); }
KERNEL void trap() { __builtin_trap(); }
KERNEL void debug_trap(u32* out) {
    __builtin_debugtrap();
    out[global_x()] = 5;
}
KERNEL void illegal() { asm volatile(".long 0xbeff7f00"); }
KERNEL void jump(u64 where) { reinterpret_cast<void (*)()>(where)(); }
KERNEL void message(u32* out) {
    __builtin_amdgcn_s_sendmsg(1, 17);
    out[local_x()] = 1;
}
