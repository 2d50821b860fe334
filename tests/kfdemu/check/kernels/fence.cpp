// Work-groups that tell each other about data: with too narrow a fence or none, and with (…_mended) those that the
// memory model wants. `out` has 4096 elements, which begin as zeros. The lines that read too early are marked with the
// kernel's name.
#include "work_groups.hpp"

INLINE void acquire_in_group() { __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); }
INLINE void release_in_group() { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); }
INLINE void compiler_only() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "singlethread"); }
/// Keeps a load from this index in vector memory: the compiler would make it scalar where all lanes agree, even after
/// an acquire, which does not invalidate that cache.
INLINE u32 by_lane(u32 n) {
    asm volatile("" : "+v"(n));
    return n;
}
#ifdef __GFX12__
#define WAIT_FOR_SCALAR "s_wait_kmcnt 0x0"
#else
#define WAIT_FOR_SCALAR "s_waitcnt lgkmcnt(0)"
#endif
INLINE void wait_for_stores() {
#if defined(__GFX10__) || defined(__GFX11__)
    asm volatile("s_waitcnt_vscnt null, 0x0" ::: "memory");
#elif defined(__GFX12__)
    asm volatile("s_wait_storecnt 0x0" ::: "memory");
#else
    asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
#endif
}
INLINE void wait_for(const u32* flag) {
    while (load(flag) == 0) __builtin_amdgcn_s_sleep(1);
}

#define PAIR(name)                                                                     \
    INLINE void name##_body(const u32* in, u32* out, bool mended);                     \
    KERNEL void name(const u32* in, u32* out) { name##_body(in, out, false); }         \
    KERNEL void name##_mended(const u32* in, u32* out) { name##_body(in, out, true); } \
    INLINE void name##_body([[maybe_unused]] const u32* in, [[maybe_unused]] u32* out, bool mended)

/// The first wave of work-group 0 writes an element a lane at 1024.
INLINE bool writes(const u32* in, u32* out) {
    const bool mine = group() == 0 && local_x() < lanes();
    if (mine) out[1024 + local_x()] = in[local_x()];
    return mine;
}
INLINE bool reads() { return group() != 0; }
/// Of the other work-groups: once the flag is set.
INLINE bool sees_flag(const u32* out) {
    if (reads()) wait_for(out + 8);
    return reads();
}

/// A flag that is polled, and no acquire.
PAIR(no_acquire) {
    if (writes(in, out)) {
        release();
        store(out + 8, 1);
    }
    if (!sees_flag(out)) return;
    if (mended) acquire();
    compiler_only();
    out[2048 + item()] = out[1024 + local_x() % lanes()];  // no_acquire
}

/// An acquire for the work-group alone.
PAIR(narrow_acquire) {
    if (writes(in, out)) {
        release();
        store(out + 8, 1);
    }
    if (!sees_flag(out)) return;
    mended ? acquire() : acquire_in_group();
    out[2048 + item()] = out[1024 + local_x() % lanes()];  // narrow_acquire
}

/// An atomic load that looks for what its own work-group has written.
PAIR(narrow_load) {
    if (writes(in, out)) {
        release();
        store(out + 8, 1);
    }
    if (!sees_flag(out)) return;
    const u32* from = out + 1024 + local_x() % lanes();
    out[2048 + item()] = mended ? load(from) : load_in_group(from);  // narrow_load
}

/// An acquire before the flag is seen.
PAIR(early_acquire) {
    if (writes(in, out)) {
        release();
        store(out + 8, 1);
    }
    if (!reads()) return;
    if (!mended) acquire();
    wait_for(out + 8);
    if (mended) acquire();
    compiler_only();
    out[2048 + item()] = out[1024 + local_x() % lanes()];  // early_acquire
}

/// The last work-group, by a counter, sums up: its loads are plain, and relaxed atomics alone are between.
PAIR(relaxed_counter) {
    if (local_x() != 0) return;
    out[16 + group()] = in[group()];
    release();
    const bool last = add(out + 1, 1) == 7;
    if (mended) acquire();
    compiler_only();
    if (!last) return;
    u32 sum = 0;
    for (u32 n = 0; n < 8; ++n) sum += out[by_lane(16 + n)];  // relaxed_counter
    out[0] = sum;
}

/// A lock whose taker does not acquire.
PAIR(lock) {
    if (local_x() != 0) return;
    u32 open = 0;
    while (!__hip_atomic_compare_exchange_strong(out + 4, &open, 1u, __ATOMIC_RELAXED, __ATOMIC_RELAXED, kAgent))
        open = 0;
    if (mended) acquire();
    compiler_only();
    out[64] = out[by_lane(64)] + in[group()];  // lock
    release();
    store(out + 4, 0);
}

#ifdef __OPTIMIZE__
/// A scalar load of what is not constant. Unoptimised code has its address in vector registers.
PAIR(scalar) {
    if (writes(in, out)) {
        release();
        store(out + 8, 1);
    }
    if (!sees_flag(out)) return;
    acquire();
    if (mended) __builtin_amdgcn_s_dcache_inv();
    const u32* from = out + 1024;
    u32 value;
    asm volatile("s_load_dword %0, %1, 0x0\n\t" WAIT_FOR_SCALAR : "=s"(value) : "s"(from) : "memory");  // scalar
    out[2048 + item()] = value;
}
#endif

/// A flag, and no release. Unoptimised code waits for its scratch memory, and so for the store.
PAIR(no_release) {
    if (writes(in, out)) {
        compiler_only();
        if (mended) release();
        store(out + 8, 1);
    }
    if (!sees_flag(out)) return;
    acquire();
    out[2048 + item()] = out[1024 + local_x() % lanes()];  // no_release
}

/// A release for the work-group alone.
PAIR(narrow_release) {
    if (writes(in, out)) {
        mended ? release() : release_in_group();
        store(out + 8, 1);
    }
    if (!sees_flag(out)) return;
    acquire();
    out[2048 + item()] = out[1024 + local_x() % lanes()];  // narrow_release
}

/// A counter is the flag, and no release.
PAIR(counted) {
    if (writes(in, out)) {
        compiler_only();
        if (mended) release();
        add(out + 8, 1);
    }
    if (!sees_flag(out)) return;
    acquire();
    out[2048 + item()] = out[1024 + local_x() % lanes()];  // counted
}

/// A release after the flag.
PAIR(late_release) {
    if (writes(in, out)) {
        if (mended) release();
        compiler_only();
        store(out + 8, 1);
        release();
    }
    if (!sees_flag(out)) return;
    acquire();
    out[2048 + item()] = out[1024 + local_x() % lanes()];  // late_release
}

/// Correct where stores are written through: they have happened when another wave sets the flag.
KERNEL void flag_by_another_wave(const u32* in, u32* out) {
    if (group() == 0) {
        writes(in, out);
        wait_for_stores();
        __builtin_amdgcn_s_barrier();
        if (local_x() == lanes()) store(out + 8, 1);
    }
    if (!sees_flag(out)) return;
    acquire();
    out[2048 + item()] = out[1024 + local_x() % lanes()];
}

/// Correct there: a volatile store is waited for.
KERNEL void volatile_between(const u32* in, u32* out) {
    if (writes(in, out)) {
        *static_cast<volatile u32*>(out + 3200 + local_x()) = 1;
        compiler_only();
        store(out + 8, 1);
    }
    if (!sees_flag(out)) return;
    acquire();
    out[2048 + item()] = out[1024 + local_x() % lanes()];
}

/// Correct: the first wave releases for its work-group, and the second sets the flag with a store pending.
KERNEL void released_by_another_wave(const u32* in, u32* out) {
    if (group() == 0) {
        if (!writes(in, out)) out[3200 + local_x()] = 1;
        barrier();
        if (local_x() < lanes()) release();
        barrier();
        if (local_x() == lanes()) store(out + 8, 1);
    }
    if (!sees_flag(out)) return;
    acquire();
    out[2048 + item()] = out[1024 + local_x() % lanes()];
}
/// Correct: no cache keeps what the reader wants, and the store after it is of no concern.
KERNEL void stored_past_the_cache(const u32* in, u32* out) {
    if (group() == 0 && local_x() < lanes()) {
        store(out + 1024 + local_x(), in[local_x()]);
        wait_for_stores();
        out[3200 + local_x()] = 1;
        compiler_only();
        store(out + 8, 1);
    }
    if (!sees_flag(out)) return;
    acquire();
    out[2048 + item()] = out[1024 + local_x() % lanes()];
}
/// Correct: the reader's loads miss the cache.
KERNEL void atomic_reader(const u32* in, u32* out) {
    if (writes(in, out)) {
        release();
        store(out + 8, 1);
    }
    if (!sees_flag(out)) return;
    out[2048 + item()] = load(out + 1024 + local_x() % lanes());
}
/// Correct: the first wave acquires for its work-group.
KERNEL void acquired_by_another_wave(const u32* in, u32* out) {
    if (writes(in, out)) {
        release();
        store(out + 8, 1);
    }
    if (reads() && local_x() < lanes()) {
        wait_for(out + 8);
        acquire();
    }
    barrier();
    if (reads()) out[2048 + item()] = out[1024 + local_x() % lanes()];
}
/// Correct: handed from work-group to work-group.
KERNEL void relay(const u32* in, u32* out) {
    if (local_x() != 0) return;
    if (group() != 0) wait_for(out + 8 + group());
    acquire();
    out[64] = out[by_lane(64)] + in[group()];
    release();
    store(out + 9 + group(), 1);
}
/// Correct before gfx940: nontemporal loads have GLC, too, and miss the cache.
KERNEL void nontemporal_reader(const u32* in, u32* out) {
    if (writes(in, out)) {
        release();
        store(out + 8, 1);
    }
    if (!sees_flag(out)) return;
    compiler_only();
    out[2048 + item()] = __builtin_nontemporal_load(out + 1024 + local_x() % lanes());
}
/// Correct: what is stored between the release and the flag need not have happened.
KERNEL void store_after_release(const u32* in, u32* out) {
    if (writes(in, out)) {
        release();
        out[3200 + local_x()] = 1;
        compiler_only();
        store(out + 8, 1);
    }
    if (!sees_flag(out)) return;
    acquire();
    out[2048 + item()] = out[1024 + local_x() % lanes()];
}
/// Correct: the same before a counter.
KERNEL void store_before_count(const u32* in, u32* out) {
    if (local_x() != 0) return;
    out[16 + group()] = in[group()];
    release();
    out[3200 + group()] = 1;
    compiler_only();
    const bool last = add(out + 1, 1) == 7;
    acquire();
    if (!last) return;
    u32 sum = 0;
    for (u32 n = 0; n < 8; ++n) sum += out[by_lane(16 + n)];
    out[0] = sum;
}
