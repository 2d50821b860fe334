// Work-groups that share LDS, with barriers between.
#define UNIT "lds"
#include "twin.hpp"

LDS(u32, reversed_lds, 256);
KERNEL(lds_reverse, u32, u32, u32, .group = 256) {
    reversed_lds[local_id()] = a[global_id()];
    barrier();
    out[global_id()] = reversed_lds[255 - local_id()] + b[global_id()];
}

LDS(u32, sum_lds, 256);
KERNEL(lds_reduction, u32, u32, u32, .group = 256) {
    sum_lds[local_id()] = a[global_id()];
    barrier();
    for (u32 half = 128; half != 0; half /= 2) {
        if (local_id() < half) sum_lds[local_id()] += sum_lds[local_id() + half];
        barrier();
    }
    out[global_id()] = sum_lds[0] - b[global_id()];
}

LDS(f32, float_sum_lds, 128);
KERNEL(lds_float_reduction, f32, f32, f32, .group = 128, .a_values = differential::Values::Tame,
       .b_values = differential::Values::Tame) {
    float_sum_lds[local_id()] = a[global_id()] * b[global_id()];
    for (u32 half = 64; half != 0; half /= 2) {
        barrier();
        if (local_id() < half) float_sum_lds[local_id()] += float_sum_lds[local_id() + half];
    }
    barrier();
    out[global_id()] = float_sum_lds[0] + a[global_id()];
}

LDS(u32, scan_lds, 512);
KERNEL(lds_scan, u32, u32, u32, .group = 256) {
    const u32 l = local_id();
    u32 from = 0;
    scan_lds[l] = a[global_id()];
    barrier();
    for (u32 by = 1; by < 256; by *= 2) {
        const u32 to = 256 - from;
        scan_lds[to + l] = scan_lds[from + l] + (l >= by ? scan_lds[from + l - by] : 0);
        from = to;
        barrier();
    }
    out[global_id()] = scan_lds[from + l];
}

LDS(u64, blelloch_lds, 256);
KERNEL(lds_tree_scan, u64, u64, u64, .group = 128, .a = 2, .out = 2) {
    const u32 l = local_id();
    blelloch_lds[2 * l] = a[2 * global_id()];
    blelloch_lds[2 * l + 1] = a[2 * global_id() + 1];
    u32 step = 1;
    for (u32 active = 128; active != 0; active /= 2, step *= 2) {
        barrier();
        if (l < active) blelloch_lds[step * (2 * l + 2) - 1] += blelloch_lds[step * (2 * l + 1) - 1];
    }
    barrier();
    if (l == 0) blelloch_lds[255] = 0;
    for (u32 active = 1; active < 256; active *= 2) {
        step /= 2;
        barrier();
        if (l < active) {
            const u64 t = blelloch_lds[step * (2 * l + 1) - 1];
            blelloch_lds[step * (2 * l + 1) - 1] = blelloch_lds[step * (2 * l + 2) - 1];
            blelloch_lds[step * (2 * l + 2) - 1] += t;
        }
    }
    barrier();
    out[2 * global_id()] = blelloch_lds[2 * l];
    out[2 * global_id() + 1] = blelloch_lds[2 * l + 1];
}

/// A 16 by 16 tile of a product of 32 by 32.
template <class T>
static inline void multiply_tile(const T* a, const T* b, T* out, T* left, T* right) {
    const u32 row = local_id() / 16, column = local_id() % 16, top = group_id() / 2 * 16, side = group_id() % 2 * 16;
    T sum = 0;
    for (u32 k = 0; k < 32; k += 16) {
        left[row * 17 + column] = a[(top + row) * 32 + k + column];
        right[row * 17 + column] = b[(k + row) * 32 + side + column];
        barrier();
        for (u32 j = 0; j < 16; ++j) sum += left[row * 17 + j] * right[j * 17 + column];
        barrier();
    }
    out[(top + row) * 32 + side + column] = sum;
}
LDS(f32, left_f32, 16 * 17);
LDS(f32, right_f32, 16 * 17);
KERNEL(matmul_f32, f32, f32, f32, .items = 1024, .group = 256, .a_values = differential::Values::Tame,
       .b_values = differential::Values::Tame) {
    multiply_tile<f32>(a, b, out, GENERIC(f32, left_f32), GENERIC(f32, right_f32));
}
LDS(f64, left_f64, 16 * 17);
LDS(f64, right_f64, 16 * 17);
KERNEL(matmul_f64, f64, f64, f64, .items = 1024, .group = 256, .a_values = differential::Values::Tame,
       .b_values = differential::Values::Tame) {
    multiply_tile<f64>(a, b, out, GENERIC(f64, left_f64), GENERIC(f64, right_f64));
}
LDS(u32, left_u32, 16 * 17);
LDS(u32, right_u32, 16 * 17);
KERNEL(matmul_u32, u32, u32, u32, .items = 1024, .group = 256) {
    multiply_tile<u32>(a, b, out, GENERIC(u32, left_u32), GENERIC(u32, right_u32));
}

LDS(f32, stencil_lds, 18 * 18);
KERNEL(stencil, f32, f32, f32, .items = 1024, .group = 256, .a_values = differential::Values::Tame) {
    const u32 x0 = group_id() % 2 * 16, y0 = group_id() / 2 * 16;
    for (u32 k = local_id(); k < 18 * 18; k += 256) {
        const i32 x = i32(x0 + k % 18) - 1, y = i32(y0 + k / 18) - 1;
        const u32 cx = u32(smaller(larger(x, 0), 31)), cy = u32(smaller(larger(y, 0), 31));
        stencil_lds[k] = a[cy * 32 + cx];
    }
    barrier();
    const u32 lx = local_id() % 16, ly = local_id() / 16, at = (ly + 1) * 18 + lx + 1;
    const f32 sum = stencil_lds[at - 1] + stencil_lds[at + 1] + stencil_lds[at - 18] + stencil_lds[at + 18];
    out[(y0 + ly) * 32 + x0 + lx] = stencil_lds[at] * 0.5f + sum * 0.125f;
}

LDS(u8, life_lds, 256);
KERNEL(game_of_life, u8, u8, u8, .group = 256) {
    const u32 l = local_id(), x = l % 16, y = l / 16;
    u8 alive = a[global_id()] & 1;
    for (u32 round = 0; round < 6; ++round) {
        life_lds[l] = alive;
        barrier();
        u32 around = 0;
        for (u32 k = 0; k < 9; ++k)
            if (k != 4) around += life_lds[(y + 15 + k / 3) % 16 * 16 + (x + 15 + k % 3) % 16];
        barrier();
        alive = around == 3 || (around == 2 && alive);
    }
    out[global_id()] = u8(alive * 3 + 1);
}

LDS(i32, bitonic_lds, 256);
KERNEL(bitonic_sort, i32, i32, i32, .group = 256) {
    const u32 l = local_id();
    bitonic_lds[l] = a[global_id()];
    for (u32 size = 2; size <= 256; size *= 2)
        for (u32 by = size / 2; by != 0; by /= 2) {
            barrier();
            const u32 other = l ^ by;
            if (other > l) {
                const i32 x = bitonic_lds[l], y = bitonic_lds[other];
                if ((x > y) == ((l & size) == 0)) {
                    bitonic_lds[l] = y;
                    bitonic_lds[other] = x;
                }
            }
        }
    barrier();
    out[global_id()] = bitonic_lds[l];
}

LDS(u64, merge_lds, 128);
KERNEL(odd_even_sort, u64, u64, u64, .items = 256, .group = 128) {
    const u32 l = local_id();
    merge_lds[l] = a[global_id()];
    for (u32 round = 0; round < 128; ++round) {
        barrier();
        if (l % 2 == round % 2 && l < 127 && merge_lds[l] > merge_lds[l + 1]) {
            const u64 t = merge_lds[l];
            merge_lds[l] = merge_lds[l + 1];
            merge_lds[l + 1] = t;
        }
    }
    barrier();
    out[global_id()] = merge_lds[l];
}

LDS(u32, radix_lds, 256);
LDS(u32, radix_ones, 256);
KERNEL(radix_sort, u32, u32, u32, .group = 256) {
    const u32 l = local_id();
    u32 key = a[global_id()] & 0xffff;
    for (u32 bit = 0; bit < 16; ++bit) {
        radix_ones[l] = key >> bit & 1;
        barrier();
        u32 below = 0, ones = 0;
        for (u32 k = 0; k < 256; ++k) {
            ones += radix_ones[k];
            below += k < l ? radix_ones[k] : 0;
        }
        const u32 to = (key >> bit & 1) ? 256 - ones + below : l - below;
        radix_lds[to] = key;
        barrier();
        key = radix_lds[l];
    }
    out[global_id()] = key;
}

LDS(u32, histogram_lds, 64);
KERNEL(histogram, u8, u32, u32, .group = 256, .a = 8) {
    if (local_id() < 64) histogram_lds[local_id()] = 0;
    barrier();
    for (u32 k = 0; k < 8; ++k) atomic_add<u32>(GENERIC(u32, histogram_lds) + (a[global_id() * 8 + k] & 63), 1);
    barrier();
    out[global_id()] = histogram_lds[local_id() % 64] * 7 + local_id() / 64;
}

LDS(f32, fft_real, 256);
LDS(f32, fft_imaginary, 256);
/// b holds arbitrary numbers in place of cosines and sines; only the butterflies are tested.
KERNEL(fft, f32, f32, f32, .group = 256, .out = 2, .a_values = differential::Values::Tame,
       .b_values = differential::Values::Tame) {
    const u32 l = local_id(), from = reversed(l) >> 24;
    f32 re = a[group_id() * 256 + from], im = b[group_id() * 256 + from];
    for (u32 size = 2; size <= 256; size *= 2) {
        fft_real[l] = re;
        fft_imaginary[l] = im;
        barrier();
        const u32 half = size / 2, k = l % half;
        // cos and sin of k/size of a turn by Taylor's series, good enough for the shape of it.
        const f32 angle = -6.28318531f * f32(k) / f32(size), square = angle * angle;
        const f32 c = 1 - square / 2 * (1 - square / 12 * (1 - square / 30 * (1 - square / 56 * (1 - square / 90))));
        const f32 s = angle * (1 - square / 6 * (1 - square / 20 * (1 - square / 42 * (1 - square / 72))));
        const u32 even = l / size * size + k, odd = even + half;
        const f32 tr = fft_real[odd] * c - fft_imaginary[odd] * s, ti = fft_real[odd] * s + fft_imaginary[odd] * c;
        const f32 sign = l % size < half ? 1.0f : -1.0f;
        re = fft_real[even] + sign * tr;
        im = fft_imaginary[even] + sign * ti;
        barrier();
    }
    out[global_id() * 2] = re;
    out[global_id() * 2 + 1] = im;
}

alignas(16) LDS(u32, widths_lds, 1024);
KERNEL(lds_widths, u32, u32, u32, .group = 128, .a = 8, .out = 8) {
    const u32 l = local_id(), i = global_id();
    u32* words = GENERIC(u32, widths_lds);
    u8* bytes = reinterpret_cast<u8*>(words);
    for (u32 k = 0; k < 8; ++k) words[l * 8 + k] = a[i * 8 + k];
    barrier();
    const u32 other = (l * 5 + 3) % 128;
    u32 sums[8];
    sums[0] = bytes[other * 32 + 1] + bytes[other * 32 + 30] * 256u;
    sums[1] = u32(i32(reinterpret_cast<i8*>(bytes)[other * 32 + 3]));
    sums[2] = reinterpret_cast<u16*>(words)[other * 16 + 5];
    sums[3] = u32(i32(reinterpret_cast<i16*>(words)[other * 16 + 6]));
    u64 wide;
    __builtin_memcpy(&wide, __builtin_assume_aligned(words + other * 8 + 4, 8), 8);
    sums[4] = u32(wide) ^ u32(wide >> 32);
    u32 four[4];
    __builtin_memcpy(four, __builtin_assume_aligned(words + other * 8, 16), 16);
    sums[5] = four[0] + four[1] * 3 + four[2] * 5 + four[3] * 7;
    barrier();
    bytes[l * 32 + 2] = u8(sums[0]);
    reinterpret_cast<u16*>(words)[l * 16 + 9] = u16(sums[5]);
    __builtin_memcpy(__builtin_assume_aligned(words + l * 8 + 6, 8), &wide, 8);
    barrier();
    sums[6] = words[other * 8] + words[other * 8 + 4];
    sums[7] = words[other * 8 + 6] ^ words[other * 8 + 7];
    for (u32 k = 0; k < 8; ++k) out[i * 8 + k] = sums[k];
}

LDS(u32, transpose_lds, 16 * 17);
KERNEL(transpose, u32, u32, u32, .items = 1024, .group = 256) {
    const u32 x = local_id() % 16, y = local_id() / 16, gx = group_id() % 2 * 16, gy = group_id() / 2 * 16;
    transpose_lds[y * 17 + x] = a[(gy + y) * 32 + gx + x];
    barrier();
    out[(gx + y) * 32 + gy + x] = transpose_lds[x * 17 + y] ^ b[0];
}

#undef UNIT
