// Double precision.
#define UNIT "doubles"
#include "twin.hpp"

KERNEL(f64_arithmetic, f64, f64, f64, .out = 4) {
    const u32 i = global_id();
    const f64 x = a[i], y = b[i];
    out[i * 4] = x + y;
    out[i * 4 + 1] = x - y;
    out[i * 4 + 2] = x * y;
    out[i * 4 + 3] = -x * y + (x - y) * 0.3;
}

KERNEL(f64_divide, f64, f64, f64, .items = 1024, .out = 3) {
    const u32 i = global_id();
    out[i * 3] = a[i] / b[i];
    out[i * 3 + 1] = 1.0 / b[i];
    out[i * 3 + 2] = a[i] / 3.0;
}

KERNEL(f64_square_root, f64, f64, f64, .items = 1024) { out[global_id()] = __builtin_sqrt(a[global_id()]); }

KERNEL(f64_fused, f64, f64, f64, .a = 2, .out = 2) {
    const u32 i = global_id();
    out[i * 2] = __builtin_fma(a[i * 2], b[i], a[i * 2 + 1]);
    out[i * 2 + 1] = __builtin_fma(-a[i * 2], b[i], 1.0);
}

KERNEL(f64_compare, f64, f64, u32) {
    const u32 i = global_id();
    const f64 x = a[i], y = b[i];
    out[i] = u32(x < y) | u32(x <= y) << 1 | u32(x > y) << 2 | u32(x >= y) << 3 | u32(x == y) << 4 | u32(x != y) << 5 |
             u32(!(x < y)) << 6 | u32(!(x >= y)) << 7 | u32(__builtin_isunordered(x, y)) << 8 |
             u32(__builtin_fabs(x) == __builtin_inf()) << 9;
}

KERNEL(f64_select, f64, f64, f64, .out = 4) {
    const u32 i = global_id();
    const f64 x = a[i], y = b[i];
    out[i * 4] = x < y ? x : y;
    out[i * 4 + 1] = x > y ? -x : __builtin_fabs(y);
    out[i * 4 + 2] = x < -1 ? -1 : x > 1 ? 1 : x;
    out[i * 4 + 3] = x != x ? 0 : __builtin_copysign(x, y);
}

KERNEL(f64_round, f64, f64, f64, .out = 4) {
    const u32 i = global_id();
    out[i * 4] = __builtin_floor(a[i]);
    out[i * 4 + 1] = __builtin_ceil(a[i]);
    out[i * 4 + 2] = __builtin_trunc(a[i]);
    out[i * 4 + 3] = __builtin_rint(a[i]);
}

KERNEL(f64_parts, f64, i32, f64, .out = 3) {
    const u32 i = global_id();
    const f64 x = a[i];
    const bool finite = __builtin_fabs(x) < __builtin_inf();
    out[i * 3] = finite ? mantissa(x) : 0;
    out[i * 3 + 1] = f64(exponent(x));
    out[i * 3 + 2] = scale(x, b[i] % 2200);
}

KERNEL(f64_to_integers, f64, f64, u64, .out = 4) {
    const u32 i = global_id();
    const f64 x = a[i] == a[i] ? a[i] : 0;
    out[i * 4] = u32(i32(x < -2147483648.0 ? -2147483648.0 : x > 2147483647.0 ? 2147483647.0 : x));
    out[i * 4 + 1] = u32(x < 0 ? 0 : x > 4294967295.0 ? 4294967295.0 : x);
    out[i * 4 + 2] = u64(i64(x < -9223372036854775808.0  ? -9223372036854775808.0
                             : x > 9223372036854774784.0 ? 9223372036854774784.0
                                                         : x));
    out[i * 4 + 3] = u64(x < 0 ? 0 : x > 18446744073709549568.0 ? 18446744073709549568.0 : x);
}

KERNEL(f64_from_integers, u32, u64, f64, .out = 4) {
    const u32 i = global_id();
    out[i * 4] = f64(a[i]) * 0.5;
    out[i * 4 + 1] = f64(i32(a[i]));
    out[i * 4 + 2] = f64(b[i]);
    out[i * 4 + 3] = f64(i64(b[i]));
}

KERNEL(f64_and_f32, f64, f32, f64, .out = 2) {
    const u32 i = global_id();
    out[i * 2] = f64(f32(a[i]));
    out[i * 2 + 1] = f64(b[i]) + f64(f32(a[i]) * b[i]);
}

KERNEL(f64_denormals, f64, f64, f64) {
    const u32 i = global_id();
    f64 x = a[i] * 1e-160, y = b[i] * 1e-165;
    for (u32 k = 0; k < 8; ++k) {
        x = x * 0.37 + y * 1e-150;
        y = y * 0.5 - x * 0.25;
    }
    out[i] = x + y;
}

KERNEL(julia, f64, f64, u32, .items = 1024, .group = 128) {
    const u32 i = global_id();
    f64 x = f64(i % 32) / 12 - 1.3, y = f64(i / 32) / 12 - 1.3;
    u32 steps = 0;
    for (; steps < 150 && x * x + y * y < 4; ++steps) {
        const f64 t = x * x - y * y - 0.8;
        y = 2 * x * y + 0.156;
        x = t;
    }
    out[i] = steps;
}

KERNEL(f64_horner, f64, f64, f64, .b = 8, .a_values = differential::Values::Tame,
       .b_values = differential::Values::Tame) {
    const u32 i = global_id();
    f64 sum = 0;
    for (u32 k = 0; k < 8; ++k) sum = sum * (a[i] / 1000) + b[i * 8 + k];
    out[i] = sum;
}

KERNEL(f64_solve, f64, f64, f64, .items = 64, .a = 16, .b = 4, .out = 4, .a_values = differential::Values::Tame,
       .b_values = differential::Values::Tame) {
    const u32 i = global_id();
    f64 m[4][5];
    for (u32 r = 0; r < 4; ++r) {
        for (u32 c = 0; c < 4; ++c) m[r][c] = a[i * 16 + r * 4 + c];
        m[r][4] = b[i * 4 + r];
    }
    for (u32 c = 0; c < 4; ++c) {
        u32 pivot = c;
        for (u32 r = c + 1; r < 4; ++r)
            if (__builtin_fabs(m[r][c]) > __builtin_fabs(m[pivot][c])) pivot = r;
        for (u32 k = 0; k < 5; ++k) {
            const f64 t = m[c][k];
            m[c][k] = m[pivot][k];
            m[pivot][k] = t;
        }
        for (u32 r = 0; r < 4; ++r) {
            if (r == c) continue;
            const f64 factor = m[r][c] / m[c][c];
            for (u32 k = c; k < 5; ++k) m[r][k] -= factor * m[c][k];
        }
    }
    for (u32 r = 0; r < 4; ++r) out[i * 4 + r] = m[r][4] / m[r][r];
}

#undef UNIT
