// The expected results of opencl.cl: OpenCL C 2.0's definitions, written again.
#define UNIT "opencl"
#include "twin.hpp"

#include <limits>

namespace {

template <class To>
i64 saturated(long double v) {
    using Limits = std::numeric_limits<To>;
    if (v <= static_cast<long double>(Limits::min())) return i64(Limits::min());
    if (v >= static_cast<long double>(Limits::max())) return i64(Limits::max());
    return i64(v);
}
long double even(long double v) { return std::rint(v); }

/// The float at or next to v, on the given side.
f32 rounded(i64 v, int towards) {
    const f32 nearest = f32(v);
    const long double error = static_cast<long double>(nearest) - static_cast<long double>(v);
    if (towards == 0) towards = v < 0 ? 1 : -1;
    if (towards < 0 && error > 0) return std::nextafter(nearest, -HUGE_VALF);
    if (towards > 0 && error < 0) return std::nextafter(nearest, HUGE_VALF);
    return nearest;
}

/// The half at or next to v, on the given side; 0 is towards zero.
f32 half_rounded(f32 v, int towards) {
    if (v != v) return v;
    const u16 bits = differential::half_bits(v);
    const f32 nearest = differential::half_value(bits);
    if (nearest == v) return nearest;
    if (towards == 0) towards = v < 0 ? 1 : -1;
    if ((towards < 0) != (nearest > v)) return nearest;
    // One step away from what was too far.
    const bool grows = (towards > 0) == (v > 0);
    if (bits == 0x8000 && !grows) return nearest;
    return differential::half_value(u16(grows ? bits + 1 : bits - 1));
}

}  // namespace

KERNEL(cl_conversions, f32, f64, i64, .out = 16, .from_clang = 15) {
    const u32 i = global_id();
    // The library returns the least number for NaN; OpenCL requires 0.
    const f32 x = std::isnan(a[i]) ? 0 : a[i];
    const f64 y = std::isnan(b[i]) ? 0 : b[i];
    i64* o = out + i * 16;
    o[0] = saturated<i8>(std::trunc(x));
    o[1] = saturated<u8>(even(x));
    o[2] = saturated<i16>(std::ceil(x));
    o[3] = saturated<u16>(std::floor(x));
    o[4] = saturated<i32>(even(x));
    o[5] = saturated<u32>(std::trunc(x));
    o[6] = saturated<i32>(std::floor(y));
    o[7] = saturated<u32>(std::ceil(y));
    o[8] = saturated<i8>(saturated<i32>(std::trunc(y)));
    o[9] = saturated<u8>(bits_as<i32>(x));
    o[10] = saturated<i16>(bits_as<i32>(x));
    o[11] = saturated<u32>(bits_as<i64>(y));
    o[12] = i64(smaller(bits_as<u64>(y), u64{0x7fffffff}));
    o[13] = bits_as<u32>(rounded(bits_as<i32>(x), 0));
    o[14] = bits_as<u32>(rounded(bits_as<u32>(x), 1));
    o[15] = bits_as<u32>(rounded(bits_as<i32>(x), -1));
}

KERNEL(cl_vectors, i32, i32, i32, .a = 16, .b = 16, .out = 32, .a_values = differential::Values::Tame,
       .b_values = differential::Values::Tame, .from_clang = 15) {
    const u32 i = global_id();
    i32 t[16], u[8], o[32] = {};
    const i32 *p = a + i * 16, *q = a + i * 16 + 1, *r = a + i * 16 + 4, *s = a + i * 16 + 8;
    for (u32 k = 0; k < 16; ++k) t[k] = b[i * 16 + k];
    for (u32 k = 0; k < 4; ++k) t[2 * k] = t[2 * k + 1] + r[k];
    i32 high[8];
    for (u32 k = 0; k < 8; ++k) high[k] = t[8 + 7 - k] ^ s[k];
    for (u32 k = 0; k < 8; ++k) t[8 + k] = high[k];
    const i32 added[] = {p[0], p[1], q[0], q[1], q[2], r[0], r[1], r[2]};
    for (u32 k = 0; k < 8; ++k) t[2 * k] += added[k];
    for (u32 k = 0; k < 16; ++k) t[k] = t[k] > 100 ? -t[k] : t[k];
    for (u32 k = 0; k < 8; ++k) t[k] = t[k] < s[k] ? t[k] : s[k] * 3;
    for (u32 k = 0; k < 16; ++k) o[k] = t[k];
    const u32 order[] = {15, 3, 8, 1, 0, 12, 7, 7};
    for (u32 k = 0; k < 8; ++k) u[k] = t[order[k]];
    const i32 first = i32(rotate_left(u32(u[1]), 3)), second = i32(rotate_left(u32(u[2]), 29));
    u[0] = first;
    u[3] = second;
    for (u32 k = 0; k < 8; ++k) o[16 + k] = u[k];
    for (u32 k = 0; k < 3; ++k) o[24 + k] = larger(u[k], q[k]);
    for (u32 k = 0; k < 2; ++k) o[28 + k] = p[k] > r[2 + k] ? -1 : 0;
    bool any = false;
    for (u32 k = 0; k < 16; ++k) any |= t[k] > u[0];
    o[27] = any + (t[0] < p[0] && t[1] < p[1]) * 2;
    o[30] = (r[0] & ~r[2]) | (r[1] & r[2]);
    o[31] = (r[0] & 255) + (r[1] & 255) * 2 + (r[2] & 255) * 3 + (r[3] & 255) * 4;
    for (u32 k = 0; k < 32; ++k) out[i * 32 + k] = o[k];
}

namespace {
template <class T>
u32 in_range(i64 v) {
    return u32(saturated<T>(static_cast<long double>(v)));
}
}  // namespace
KERNEL(cl_integers, i32, i32, u32, .out = 24, .from_clang = 15) {
    __extension__ typedef __int128 i128;
    const u32 i = global_id();
    const i64 x = a[i], y = b[i], ux = u32(a[i]), uy = u32(b[i]);
    u32* o = out + i * 24;
    o[0] = u32(x * y >> 32);
    o[1] = u32(u64(ux) * u64(uy) >> 32);
    o[2] = u32((x * y >> 32) + x);
    o[3] = in_range<i32>(x * y + y);
    o[4] = u32(smaller(u64(ux) * u64(uy) + u64(ux), u64{0xffffffff}));
    o[5] = u32((x + y) >> 1);
    o[6] = u32((ux + uy + 1) >> 1);
    o[7] = in_range<i32>(x + y);
    o[8] = in_range<i32>(x - y);
    o[9] = in_range<u32>(ux + uy);
    o[10] = in_range<u32>(ux - uy);
    // The library's difference is undefined where it overflows, and clang 19 makes use of that.
    o[11] = u32(std::abs((x >> 1) - (y >> 1)));
    o[12] = u32(x < 0 ? -x : x);
    o[13] = u32(x == 0 ? 32 : __builtin_clz(u32(x))) + u32(y == 0 ? 32 : __builtin_ctz(u32(y))) * 100;
    o[14] = u32(__builtin_popcount(u32(x)));
    o[15] = u32(u16(x)) << 16 | u16(y);
    o[16] = u32((i32(u32(x) << 8) >> 8) * i64(i32(u32(y) << 8) >> 8));
    o[17] = u32((ux & 0xffffff) * (uy & 0xffffff) + ux);
    o[18] = in_range<i8>(i8(x) + i8(y)) & 255;
    o[19] = in_range<u16>(u16(x) - u16(y));
    o[20] = u32((i16(x) + i16(y)) >> 1);
    o[21] = u8(x) * u8(y) >> 8;
    o[22] = u32(smaller(larger(x, i64{-1000}), i64{1000}));
    const i128 sum = i128{x} * (i64{1} << 32) + i128{y} * (i64{1} << 32);
    const i128 most = std::numeric_limits<i64>::max(), least = std::numeric_limits<i64>::min();
    o[23] = u32(i128{x * (1 << 20)} * i128{y * (1 << 17)} >> 64) ^ u32(sum > most ? most : sum < least ? least : sum);
}

KERNEL(cl_work_items, u32, u32, u32, .grid = {30, 7, 3}, .groups = {16, 2, 2}, .out = 20, .from_clang = 15) {
    const auto &size = place().full_size, &grid = place().grid, &group = place().id, there = place().size();
    u32 at[3] = {local_id<0>(), local_id<1>(), local_id<2>()}, global[3];
    for (u32 d = 0; d < 3; ++d) global[d] = group[d] * size[d] + at[d];
    u32* o = out + (global[0] + grid[0] * (global[1] + grid[1] * global[2])) * 20;
    for (u32 d = 0; d < 3; ++d) {
        o[d] = global[d];
        o[3 + d] = at[d];
        o[6 + d] = group[d];
        o[9 + d] = there[d];
        o[12 + d] = size[d];
        o[15 + d] = (grid[d] + size[d] - 1) / size[d] * 1000 + grid[d];
    }
    o[18] = 3 + 10;
    o[19] = at[0] + size[0] * (at[1] + size[1] * at[2]);  // the library counts as in a whole group
}

static u32 group_lds[256], group_count;
KERNEL(cl_group_sum, u32, u32, u32, .grid = {500, 1, 1}, .groups = {200, 1, 1}, .from_clang = 15) {
    const u32 l = local_id(), size = place().size()[0];
    if (l == 0) group_count = 0;
    group_lds[l] = a[global_id()];
    barrier();
    u32 sum = 0;
    for (u32 k = 0; k < size; k += 5) sum = sum * 7 + group_lds[(l + k) % size];
    group_count += b[global_id()] & 15;
    barrier();
    out[global_id()] = sum + group_count;
}

KERNEL(cl_atomics, i32, i32, i32, .out = 8, .out_random = true, .from_clang = 15) {
    const u32 i = global_id();
    i32* o = out + i * 8;
    o[4] = atomic_add(o, a[i]);
    o[5] = atomic_max(o + 1, a[i]);
    i32 expected = i & 1 ? o[2] : a[i];
    o[6] = atomic_replace(o + 2, &expected, b[i]);
    const i32 old = atomic_exchange(o + 3, expected);
    o[7] = old ^ atomic_add(o, 1);
    o[1] = i32(smaller(u32(o[1]), u32(b[i])));
}

static i32 all_a[256], all_b[256];
KERNEL(cl_collectives, i32, i32, i32, .group = 256, .out = 12, .from_clang = 15) {
    const u32 i = global_id(), l = local_id();
    all_a[l] = a[i];
    all_b[l] = b[i];
    barrier();
    u32 sum = 0, before_b = 0, sum_b = 0;
    i32 most = all_a[0], most_b = all_b[0], wave_most = -0x7fffffff - 1;
    u32 least = u32(all_b[0]);
    u64 wide = 0;
    bool any = false, all = true;
    i32* o = out + i * 12;
    for (u32 k = 0; k < 256; ++k) {
        sum += u32(all_a[k]);
        most = larger(most, all_a[k]);
        least = smaller(least, u32(all_b[k]));
        any |= all_a[k] == 77;
        all &= all_a[k] != all_b[k];
        if (k < l) before_b += u32(all_b[k]);
        if (k <= l) {
            most_b = larger(most_b, all_b[k]);
            wide += u64(i64(all_a[k])) << 20;
        }
        if (k == l) o[3] = i32(sum);
        if (k / 64 == l / 64) {
            sum_b += u32(all_b[k]);
            if (k < l) wave_most = larger(wave_most, all_a[k]);
        }
    }
    o[0] = i32(sum);
    o[1] = most;
    o[2] = i32(least);
    o[4] = i32(before_b);
    o[5] = most_b;
    o[6] = all_a[100];
    o[7] = any + all * 2;
    o[8] = i32(u32(i64(wide) >> 16));
    o[9] = i32(sum_b);
    o[10] = wave_most;
    o[11] = i32(u32(all_b[l / 64 * 64 + 17]) + l);
    barrier();
}

KERNEL(cl_halves, f16, f32, f32, .out = 8, .from_clang = 15) {
    const u32 i = global_id();
    f32* o = out + i * 8;
    o[0] = a[i];
    o[1] = half_rounded(b[i], 0);
    o[2] = f16(b[i]);
    o[3] = half_rounded(b[i], 1);
    o[4] = half_rounded(b[i], -1);
    o[5] = f16(b[i]);
    o[6] = f16(a[i] * f16(2.0f));
    o[7] = f16(f16(b[i]) * f16(3.0f));
}

KERNEL(cl_geometry, f32, f32, f32, .a = 4, .b = 4, .out = 12, .a_values = differential::Values::Tame,
       .b_values = differential::Values::Tame, .from_clang = 15) {
    const u32 i = global_id();
    const f32 *x = a + i * 4, *y = b + i * 4;
    f32* o = out + i * 12;
    for (u32 k = 0; k < 3; ++k) {
        // The library fuses one of the products.
        const f32 p = x[(k + 2) % 3] * y[(k + 1) % 3];
        o[k] = std::fma(x[(k + 1) % 3], y[(k + 2) % 3], -p);
    }
    o[3] = 0;
    o[4] = std::floor(x[0]) + std::ceil(y[0]);
    o[5] = std::fma(x[0], y[0], x[1]);
    o[6] = std::fmin(std::fmax(x[2], -100.0f), 100.0f);
    o[7] = f32(y[3] < x[3] ? 0 : 1) + f32((x[0] > 0) - (x[0] < 0)) * 2;
    o[8] = std::fmin(x[0], y[1]) - std::fmax(x[1], y[2]);
    o[9] = std::fmin(x[2] - std::floor(x[2]), 0x1.fffffep-1f);
    o[10] = std::floor(x[2]);
    int e;
    const f32 m = std::frexp(x[3], &e);
    o[11] = m * 4 + f32(e);
}

KERNEL(cl_generic, i32, i32, i32, .out = 3, .a_values = differential::Values::Tame,
       .b_values = differential::Values::Tame, .from_clang = 15) {
    static const i16 steps[] = {3, 1, 4, 1, 5, 9, 2, 6};
    static const i32 numbers[] = {10, 20, 30, 40};
    const u32 i = global_id();
    i32 mine = a[i], lds = b[i];
    out[i * 3] = a[i] ^ b[i];
    i32* where = a[i] % 3 == 0 ? &mine : a[i] % 3 == 1 ? &lds : out + i * 3;
    *where += i8(b[i]);
    out[i * 3 + 1] = a[i] * steps[b[i] & 7] + b[i] - i16(a[i]) + numbers[b[i] & 3];
    out[i * 3 + 2] = mine * 3 + lds + (a[i] % 3 == 1) + (a[i] % 3 == 0) * 2;
}

#undef UNIT
