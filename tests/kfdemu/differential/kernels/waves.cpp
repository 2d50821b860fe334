// Communication between the lanes of a wave.
#define UNIT "waves"
#include "twin.hpp"

KERNEL(ballots, u32, u32, u64, .group = 128, .out = 2) {
    const u32 i = global_id();
    out[i * 2] = ballot(a[i] > b[i]);
    out[i * 2 + 1] = ballot((a[i] & 1) != 0) ^ bits_below(ballot(b[i] < 1000));
}

KERNEL(compaction, u32, u32, u32, .group = 64) {
    const u32 i = global_id(), base = i - lane();
    const bool taken = a[i] % 3 == 0;
    const u64 mask = ballot(taken);
    if (taken)
        out[base + bits_below(mask)] = a[i];
    else
        out[base + wave_lanes() - 1 - bits_below(~mask)] = ~b[i];
}

KERNEL(shuffles, u32, u32, u32, .out = 3) {
    const u32 i = global_id();
    out[i * 3] = shuffle(a[i], b[i]);
    out[i * 3 + 1] = shuffle(a[i], lane() ^ 21) + shuffle(b[i], lane() + 5);
    out[i * 3 + 2] = send(a[i], lane() * 5 + 3);
}

KERNEL(read_lanes, u32, u32, u32, .out = 2) {
    const u32 i = global_id();
    const u32 first = read_first_lane(a[i]);
    out[i * 2] = first + read_lane(b[i], first & (wave_lanes() - 1));
    u32 sum = 0;
    for (u32 k = 0; k < wave_lanes(); k += 7) sum = sum * 3 + read_lane(a[i], k);
    out[i * 2 + 1] = sum;
}

KERNEL(swizzles, u32, u32, u32, .out = 5) {
    const u32 i = global_id();
    out[i * 5] = swizzle<0x041f>(a[i]);               // lane ^ 1
    out[i * 5 + 1] = swizzle<0x7c1f>(a[i]);           // lane ^ 31: mirrored
    out[i * 5 + 2] = swizzle<(5 << 5 | 0x18)>(a[i]);  // lane & 24 | 5: broadcast in eights
    out[i * 5 + 3] = swizzle<(0x8000 | 0x1b)>(a[i]);  // quads reversed
    out[i * 5 + 4] = swizzle<(0x8000 | 0x4e)>(b[i]);  // pairs exchanged
}

KERNEL(dpp_rows, u32, u32, u32, .out = 9) {
    const u32 i = global_id(), old = b[i];
    out[i * 9] = dpp<0x1b, 15, 15, true>(old, a[i]);        // quad_perm 3,2,1,0
    out[i * 9 + 1] = dpp<0x101, 15, 15, true>(old, a[i]);   // row_shl 1
    out[i * 9 + 2] = dpp<0x113, 15, 15, false>(old, a[i]);  // row_shr 3
    out[i * 9 + 3] = dpp<0x125, 15, 15, false>(old, a[i]);  // row_ror 5
    out[i * 9 + 4] = dpp<0x140, 15, 15, false>(old, a[i]);  // row_mirror
    out[i * 9 + 5] = dpp<0x141, 15, 15, false>(old, a[i]);  // row_half_mirror
    out[i * 9 + 6] = dpp<0x118, 15, 12, false>(old, a[i]);  // row_shr 8, two banks
    out[i * 9 + 7] = dpp<0xb1, 5, 15, false>(old, a[i]);    // quad_perm 1,0,3,2, two rows
    out[i * 9 + 8] = a[i] + dpp<0x111, 15, 15, true>(0, a[i]) * 3;
}

// GFX10, which clang 14 does not name, GFX11 and GFX12 have none of them.
#if !defined(__GFX10__) && !defined(__GFX11__) && !defined(__GFX12__) && !defined(__gfx1030__)
KERNEL(dpp_waves, u32, u32, u32, .out = 6, .before_gfx = 0x1000) {
    const u32 i = global_id(), old = b[i];
    out[i * 6] = dpp<0x130, 15, 15, false>(old, a[i]);      // wave_shl 1
    out[i * 6 + 1] = dpp<0x134, 15, 15, false>(old, a[i]);  // wave_rol 1
    out[i * 6 + 2] = dpp<0x138, 15, 15, true>(old, a[i]);   // wave_shr 1
    out[i * 6 + 3] = dpp<0x13c, 15, 15, false>(old, a[i]);  // wave_ror 1
    out[i * 6 + 4] = dpp<0x142, 10, 15, false>(old, a[i]);  // row_bcast 15
    out[i * 6 + 5] = dpp<0x143, 12, 15, false>(old, a[i]);  // row_bcast 31
}

/// The sum of all lanes below and of this one, as LLVM's atomic optimizer scans a wave.
KERNEL(scan_by_dpp, u32, u32, u32, .before_gfx = 0x1000) {
    const u32 i = global_id();
    u32 v = a[i];
    v += dpp<0x111, 15, 15, false>(0, v);
    v += dpp<0x112, 15, 15, false>(0, v);
    v += dpp<0x114, 15, 15, false>(0, v);
    v += dpp<0x118, 15, 15, false>(0, v);
    v += dpp<0x142, 10, 15, false>(0, v);
    v += dpp<0x143, 12, 15, false>(0, v);
    out[i] = v ^ b[i];
}
#endif

KERNEL(scan_by_shuffles, i32, i32, i32, .group = 256) {
    const u32 i = global_id();
    u32 sum = u32(a[i]);
    i32 most = b[i];
    for (u32 by = 1; by < wave_lanes(); by *= 2) {
        const u32 below = shuffle(sum, lane() - by);
        const i32 other = i32(shuffle(u32(most), lane() - by));
        if (lane() >= by) {
            sum += below;
            most = larger(most, other);
        }
    }
    out[i] = i32(sum ^ u32(most));
}

KERNEL(wave_reduction, f32, f32, f32, .group = 128, .a_values = differential::Values::Tame) {
    const u32 i = global_id();
    f32 v = a[i];
    for (u32 by = wave_lanes() / 2; by != 0; by /= 2) v += bits_as<f32>(shuffle(bits_as<u32>(v), lane() ^ by));
    out[i] = v;
}

KERNEL(wave_sort, u32, u32, u32) {
    const u32 i = global_id(), l = lane();
    u32 v = a[i];
    for (u32 size = 2; size <= wave_lanes(); size *= 2)
        for (u32 by = size / 2; by != 0; by /= 2) {
            const u32 other = shuffle(v, l ^ by);
            const bool up = (l & size) == 0, low = (l & by) == 0;
            v = up == low ? smaller(v, other) : larger(v, other);
        }
    out[i] = v;
}

KERNEL(wave_matmul, f32, f32, f32, .group = 64, .a_values = differential::Values::Tame,
       .b_values = differential::Values::Tame) {
    const u32 i = global_id(), row = lane() / 8, column = lane() % 8;
    f32 sum = 0;
    for (u32 k = 0; k < 8; ++k)
        sum += bits_as<f32>(shuffle(bits_as<u32>(a[i]), row * 8 + k)) *
               bits_as<f32>(shuffle(bits_as<u32>(b[i]), k * 8 + column));
    out[i] = sum;
}

KERNEL(votes, u32, u32, u32) {
    const u32 i = global_id();
    u32 rounds = 0, v = a[i];
    // All lanes stay until the last has arrived.
    while (ballot(v > 3) != 0 && rounds < 64) {
        v = v > 3 ? v / 2 + (v & 1) : v;
        ++rounds;
    }
    out[i] = rounds * 8 + v;
}

#undef UNIT
