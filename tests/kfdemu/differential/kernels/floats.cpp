// Single precision: IEEE 754's operations are exact in every bit, denormals included.
#define UNIT "floats"
#include "twin.hpp"

KERNEL(f32_arithmetic, f32, f32, f32, .out = 4) {
    const u32 i = global_id();
    const f32 x = a[i], y = b[i];
    out[i * 4] = x + y;
    out[i * 4 + 1] = x - y;
    out[i * 4 + 2] = x * y;
    out[i * 4 + 3] = x * y + (x - y) * 0.3f;
}

KERNEL(f32_divide, f32, f32, f32, .items = 1024, .out = 3) {
    const u32 i = global_id();
    out[i * 3] = a[i] / b[i];
    out[i * 3 + 1] = 1.0f / b[i];
    out[i * 3 + 2] = a[i] / 3.0f;
}

KERNEL(f32_square_root, f32, f32, f32, .items = 1024) { out[global_id()] = square_root(a[global_id()]); }

KERNEL(f32_fused, f32, f32, f32, .a = 2, .out = 3) {
    const u32 i = global_id();
    out[i * 3] = __builtin_fmaf(a[i * 2], b[i], a[i * 2 + 1]);
    out[i * 3 + 1] = __builtin_fmaf(-a[i * 2], b[i], 1.0f);
    out[i * 3 + 2] = __builtin_fmaf(a[i * 2], a[i * 2], -b[i]);
}

KERNEL(f32_compare, f32, f32, u32) {
    const u32 i = global_id();
    const f32 x = a[i], y = b[i];
    u32 bits = 0;
    bits |= u32(x < y) | u32(x <= y) << 1 | u32(x > y) << 2 | u32(x >= y) << 3 | u32(x == y) << 4 | u32(x != y) << 5;
    bits |= u32(!(x < y)) << 6 | u32(!(x <= y)) << 7 | u32(!(x > y)) << 8 | u32(!(x >= y)) << 9;
    bits |= u32(__builtin_isunordered(x, y)) << 10 | u32(__builtin_islessgreater(x, y)) << 11;
    bits |= u32(x != x) << 12 | u32(__builtin_fabsf(x) == __builtin_inff()) << 13 |
            u32(__builtin_fabsf(y) < 1.17549435e-38f) << 14;
    out[i] = bits;
}

KERNEL(f32_select, f32, f32, f32, .out = 4) {
    const u32 i = global_id();
    const f32 x = a[i], y = b[i];
    out[i * 4] = x < y ? x : y;
    out[i * 4 + 1] = x > y ? -x : __builtin_fabsf(y);
    out[i * 4 + 2] = x < -1 ? -1 : x > 1 ? 1 : x;
    out[i * 4 + 3] = x != x ? 0 : __builtin_copysignf(x, y);
}

KERNEL(f32_round, f32, f32, f32, .out = 4) {
    const u32 i = global_id();
    out[i * 4] = __builtin_floorf(a[i]);
    out[i * 4 + 1] = __builtin_ceilf(a[i]);
    out[i * 4 + 2] = __builtin_truncf(a[i]);
    out[i * 4 + 3] = __builtin_rintf(a[i]);
}

KERNEL(f32_parts, f32, i32, f32, .out = 3) {
    const u32 i = global_id();
    const f32 x = a[i];
    const bool finite = __builtin_fabsf(x) < __builtin_inff();
    out[i * 3] = finite ? mantissa(x) : 0;
    out[i * 3 + 1] = f32(exponent(x));
    const i32 by = b[i] % 300;
    out[i * 3 + 2] = scale(x, by);
}

KERNEL(f32_to_integers, f32, f32, u64, .out = 5) {
    const u32 i = global_id();
    const f32 x = a[i] == a[i] ? a[i] : 0;
    out[i * 5] = u32(i32(x < -2147483648.0f ? -2147483648.0f : x > 2147483520.0f ? 2147483520.0f : x));
    out[i * 5 + 1] = u32(x < 0 ? 0 : x > 4294967040.0f ? 4294967040.0f : x);
    out[i * 5 + 2] = u64(i64(x < -9223372036854775808.0f  ? -9223372036854775808.0f
                             : x > 9223371487098961920.0f ? 9223371487098961920.0f
                                                          : x));
    out[i * 5 + 3] = u64(x < 0 ? 0 : x > 18446742974197923840.0f ? 18446742974197923840.0f : x);
    out[i * 5 + 4] = u32(u8(x < 0     ? 0
                            : x > 255 ? 255
                                      : x))
                         << 16 |
                     u16(i16(x < -32768  ? -32768
                             : x > 32767 ? 32767
                                         : x));
}

KERNEL(f32_from_integers, u32, u64, f32, .out = 6) {
    const u32 i = global_id();
    out[i * 6] = f32(a[i]);
    out[i * 6 + 1] = f32(i32(a[i]));
    out[i * 6 + 2] = f32(b[i]);
    out[i * 6 + 3] = f32(i64(b[i]));
    out[i * 6 + 4] = f32(u8(a[i] >> 8)) + f32(u8(a[i] >> 24)) * 0.25f;
    out[i * 6 + 5] = f32(i16(a[i])) / 8;
}

KERNEL(f32_denormals, f32, f32, f32, .out = 2) {
    const u32 i = global_id();
    f32 x = a[i] * 1e-20f, y = b[i] * 1e-25f;
    for (u32 k = 0; k < 8; ++k) {
        x = x * 0.37f + y;
        y = y * 0.5f - x * 0.25f;
    }
    out[i * 2] = x;
    out[i * 2 + 1] = y;
}

/// e^x by reduction and a polynomial.
static inline f32 exponential(f32 x) {
    if (x > 88) return __builtin_inff();
    if (!(x > -87)) return 0;
    const f32 k = __builtin_rintf(x * 1.44269504f);
    const f32 r = __builtin_fmaf(k, -0.693147182f, x);
    f32 p = 0.00138888889f;
    p = p * r + 0.00833333377f;
    p = p * r + 0.0416666679f;
    p = p * r + 0.166666672f;
    p = p * r + 0.5f;
    p = p * r + 1;
    p = p * r + 1;
    return scale(p, i32(k));
}
KERNEL(f32_polynomials, f32, f32, f32, .out = 2) {
    const u32 i = global_id();
    out[i * 2] = exponential(a[i]);
    out[i * 2 + 1] = 1.0f / (1.0f + exponential(-b[i]));
}

KERNEL(f32_compensated_sum, f32, f32, f32, .items = 128, .a = 32, .a_values = differential::Values::Tame) {
    const u32 i = global_id();
    f32 sum = 0, lost = 0;
    for (u32 k = 0; k < 32; ++k) {
        const f32 term = a[i * 32 + k] - lost, next = sum + term;
        lost = next - sum - term;
        sum = next;
    }
    out[i] = sum + lost * b[i];
}

KERNEL(mandelbrot, f32, f32, u32, .items = 1024, .group = 256) {
    const u32 i = global_id();
    const f32 cx = f32(i % 32) / 12.0f - 2, cy = f32(i / 32) / 12.0f - 1.3f;
    f32 x = 0, y = 0;
    u32 steps = 0;
    while (steps < 200 && x * x + y * y < 4) {
        const f32 t = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = t;
        ++steps;
    }
    out[i] = steps;
}

KERNEL(n_body, f32, f32, f32, .items = 128, .a = 3, .out = 3, .a_values = differential::Values::Tame) {
    const u32 i = global_id();
    f32 force[3] = {0, 0, 0};
    for (u32 j = 0; j < n; ++j) {
        f32 d[3], square = 0.01f;
        for (u32 k = 0; k < 3; ++k) {
            d[k] = a[j * 3 + k] - a[i * 3 + k];
            square += d[k] * d[k];
        }
        const f32 inverse = 1.0f / __builtin_sqrtf(square * square * square);
        for (u32 k = 0; k < 3; ++k) force[k] += d[k] * inverse;
    }
    for (u32 k = 0; k < 3; ++k) out[i * 3 + k] = force[k];
}

KERNEL(newton_root, f32, f32, f32, .a_values = differential::Values::Tame) {
    const u32 i = global_id();
    const f32 goal = __builtin_fabsf(a[i]) + 0.5f;
    f32 x = goal;
    for (u32 k = 0; k < 40; ++k) {
        const f32 next = (2 * x + goal / (x * x)) / 3;
        if (next == x) break;
        x = next;
    }
    out[i] = x;
}

/// Two at a time: gfx90a has packed instructions of single precision.
KERNEL(f32_packed, f32, f32, f32, .a = 4, .b = 2, .out = 10) {
    const u32 i = global_id();
    f32x2 x, y, z;
    for (int k = 0; k < 2; ++k) {
        x[k] = a[i * 4 + u32(k)];
        z[k] = a[i * 4 + 2 + u32(k)];
        y[k] = b[i * 2 + u32(k)];
    }
    f32x2 sum = x + y, product = x * z, both = -x * y + z, chain = (x - z) * y - x, fused = fused_pairs(x, -y, z);
    f32x2* to[] = {&sum, &product, &both, &chain, &fused};
    for (u32 k = 0; k < 5; ++k) {
        out[i * 10 + k * 2] = (*to[k])[0];
        out[i * 10 + k * 2 + 1] = (*to[k])[1];
    }
}

#undef UNIT
