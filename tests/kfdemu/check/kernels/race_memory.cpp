// Work-groups that share memory, without and with (…_mended) what orders their accesses. `out` has 4096 elements, which
// begin as zeros. The lines that race are marked with the kernel's name.
#include "work_groups.hpp"

INLINE void barrier_if(bool mended) {
    if (mended) barrier();
}

#define PAIR(name)                                                                     \
    INLINE void name##_body(const u32* in, volatile u32* out, bool mended);            \
    KERNEL void name(const u32* in, u32* out) { name##_body(in, out, false); }         \
    KERNEL void name##_mended(const u32* in, u32* out) { name##_body(in, out, true); } \
    INLINE void name##_body([[maybe_unused]] const u32* in, [[maybe_unused]] volatile u32* out, bool mended)

/// A shift within one array; the mended one writes to another.
PAIR(shift) {
    u32* to = (u32*)out;
    to[item() + (mended ? 2048 : 0)] = to[item() + 1] + 1;  // shift
}

/// All work-groups write one element.
PAIR(one_element) {
    u32* to = (u32*)out;
    if (local_x() == 0 && (!mended || group() == 0)) to[5] = group() + 1;  // one_element
}

/// A sum without atomics.
PAIR(sum) {
    u32* to = (u32*)out;
    if (local_x() != 0) return;
    if (mended)
        add(to, in[group()]);
    else
        to[0] = to[0] + in[group()];  // sum
}

/// Rows that overlap by one element.
PAIR(overlapping_rows) {
    u32* to = (u32*)out;
    const u32 row = group() * 128;
    to[row + local_x()] = in[local_x()];                             // overlapping_rows
    if (local_x() == 0) to[row + (mended ? 0 : 128)] = group() + 7;  // overlapping_rows
}

/// Turned round in place: each work-group reads what another one writes.
PAIR(reverse) {
    u32* to = (u32*)out;
    const u32 far = to[1023 - item()];           // reverse
    to[item() + (mended ? 1024 : 0)] = far + 1;  // reverse
}

PAIR(narrow) {
    u8* to = (u8*)out;
    to[item()] = static_cast<u8>(in[local_x()]);                 // narrow
    if (local_x() == 127) to[item() + (mended ? 2048 : 1)] = 9;  // narrow
}

/// The last work-group sums up what all have written: it is not the last to run.
PAIR(last_by_number) {
    u32* to = (u32*)out;
    if (local_x() != 0) return;
    to[16 + group()] = in[group()];  // last_by_number
    release();
    const bool last = mended ? add(to + 1, 1) == 7 : group() == 7;
    acquire();
    if (!last) return;
    u32 sum = 0;
    for (u32 n = 0; n < 8; ++n) sum += to[16 + n];  // last_by_number
    to[0] = sum;
}

/// Work-group 0 writes data for the others, which wait for its flag, or do not.
PAIR(flagged) {
    u32* to = (u32*)out;
    if (group() == 0) {
        to[1024 + local_x()] = in[local_x()];  // flagged
        release();
        barrier();
        if (local_x() == 0) store(to + 8, 1);
        return;
    }
    while (mended && load(to + 8) == 0) __builtin_amdgcn_s_sleep(1);
    acquire();
    to[2048 + item()] = to[1024 + local_x()];  // flagged
}

/// Between the waves of each work-group.
PAIR(exchange) {
    u32* to = (u32*)out;
    to[item()] = in[local_x()];  // exchange
    barrier_if(mended);
    const u32 far = to[item() ^ 64];  // exchange
    barrier();
    to[item()] = far;
}

/// A lock that one of two users does not take.
PAIR(locked) {
    u32* to = (u32*)out;
    if (local_x() != 0) return;
    const bool takes = mended || group() != 3;
    u32 open = 0;
    while (takes &&
           !__hip_atomic_compare_exchange_strong(to + 4, &open, 1u, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED, kAgent))
        open = 0;
    to[64] = to[64] + in[group()];  // locked
    release();
    if (takes) store(to + 4, 0);
}

/// A generation of cells that reads its neighbours while they change; the mended one has two buffers.
PAIR(cells) {
    u32* to = (u32*)out;
    const u32 n = item() + 1;
    const u32 sum = to[n - 1] + to[n] + to[n + 1];      // cells
    to[n + (mended ? 2048 : 0)] = sum + in[local_x()];  // cells
}

/// One work-group clears what another one fills.
PAIR(cleared) {
    if (group() == 7) {
        for (u32 n = 0; n < 4; ++n) out[local_x() * 4 + n] = 0x11;  // cleared
    } else if (group() == 2) {
        out[local_x() + (mended ? 512 : 0)] = in[local_x()];  // cleared
    }
}

/// Atomic loads, but of what other work-groups write.
PAIR(scope) {
    u32* to = (u32*)out;
    if (group() == 0) to[1024 + local_x()] = in[local_x()];  // scope
    if (mended && group() != 0) return;
    to[2048 + item()] = __hip_atomic_load(to + 1024 + local_x(), __ATOMIC_RELAXED, kGroup);  // scope
}

/// Correct: a flag among the waves of each work-group.
KERNEL void flag_in_group(const u32* in, u32* out) {
    u32 *flag = out + 512 + group(), *data = out + 1024 + 2 * group();
    if (local_x() == 0) {
        *data = in[group()];
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
        __hip_atomic_store(flag, 1u, __ATOMIC_RELAXED, kGroup);
    }
    if (local_x() != 64) return;
    while (load_in_group(flag) == 0) __builtin_amdgcn_s_sleep(1);
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    out[2048 + group()] = *data;
}
/// Correct: each has its own.
KERNEL void own_elements(const u32* in, u32* out) {
    out[item()] = in[local_x()];
    out[item()] += 1;
}
/// Correct: only atomics.
KERNEL void only_atomics(const u32* in, u32* out) { add(out + (in[local_x()] & 7), 1); }
/// All write one value.
KERNEL void found(const u32* in, u32* out) {
    if (in[local_x()] > 3) out[0] = 1;
}
/// Correct: a flag that is volatile.
KERNEL void volatile_flag(const u32* in, u32* out) {
    volatile u32* flag = out + 8;
    if (item() == 0) {
        out[1024] = in[0];
        release();
        *flag = 1;
    }
    if (local_x() != 0 || group() == 0) return;
    while (*flag == 0) __builtin_amdgcn_s_sleep(1);
    acquire();
    out[2048 + group()] = out[1024];
}
/// Correct: a maximum whose first load is no atomic in the instruction set.
KERNEL void greatest(const u32* in, u32* out) {
    const u32 mine = in[local_x()] + group();
    u32 seen = out[0];
    while (seen < mine &&
           !__hip_atomic_compare_exchange_strong(out, &seen, mine, __ATOMIC_RELAXED, __ATOMIC_RELAXED, kAgent)) {
    }
}
