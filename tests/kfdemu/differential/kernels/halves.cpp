// Half precision and the packed instructions of two 16-bit values.
#define UNIT "halves"
#include "twin.hpp"

KERNEL(f16_arithmetic, f16, f16, f16, .out = 4) {
    const u32 i = global_id();
    const f16 x = a[i], y = b[i];
    out[i * 4] = x + y;
    out[i * 4 + 1] = x - y;
    out[i * 4 + 2] = x * y;
    out[i * 4 + 3] = -x * y + f16(x - y);
}

KERNEL(f16_divide, f16, f16, f16, .items = 1024) { out[global_id()] = f16(a[global_id()] / b[global_id()]); }

KERNEL(f16_square_root, f16, f16, f16, .items = 1024) { out[global_id()] = square_root(a[global_id()]); }

KERNEL(f16_compare, f16, f16, u32) {
    const u32 i = global_id();
    const f16 x = a[i], y = b[i];
    out[i] = u32(x < y) | u32(x <= y) << 1 | u32(x > y) << 2 | u32(x >= y) << 3 | u32(x == y) << 4 | u32(x != y) << 5 |
             u32(!(x < y)) << 6 | u32(!(x > y)) << 7;
}

KERNEL(f16_select, f16, f16, f16, .out = 2) {
    const u32 i = global_id();
    const f16 x = a[i], y = b[i];
    out[i * 2] = x < y ? x : y;
    out[i * 2 + 1] = x > y ? f16(-x) : y;
}

KERNEL(f16_convert, f32, f16, f32, .out = 3) {
    const u32 i = global_id();
    out[i * 3] = f32(f16(a[i]));
    out[i * 3 + 1] = f32(b[i]) * 3.1f + a[i];
    const f32 x = f32(b[i]);
    out[i * 3 + 2] = x == x && x < 32000 && x > -32000 ? f32(i16(x)) : -7;
}

KERNEL(f16_from_integers, i16, u16, f16, .out = 3) {
    const u32 i = global_id();
    out[i * 3] = f16(f32(a[i]));
    out[i * 3 + 1] = f16(f32(b[i]));
    out[i * 3 + 2] = f16(f32(i8(a[i])) * 0.125f);
}

KERNEL(f16_packed, f16, f16, f16, .a = 2, .b = 2, .out = 8) {
    const u32 i = global_id();
    f16x2 x, y;
    x[0] = a[i * 2];
    x[1] = a[i * 2 + 1];
    y[0] = b[i * 2];
    y[1] = b[i * 2 + 1];
    f16x2 sum = x + y, product = x * y, both = -x * y, chain = (x - y) * x;
    f16x2* to[] = {&sum, &product, &both, &chain};
    for (u32 k = 0; k < 4; ++k) {
        out[i * 8 + k * 2] = (*to[k])[0];
        out[i * 8 + k * 2 + 1] = (*to[k])[1];
    }
}

/// Sums of products in single precision, as v_fma_mix_f32 (gfx906: v_fma_mix, gfx900: v_mad_mix) might do them.
KERNEL(f16_mixed, f16, f16, f32, .a = 4, .b = 4) {
    const u32 i = global_id();
    f32 sum = 0;
    for (u32 k = 0; k < 4; ++k) sum = __builtin_fmaf(f32(a[i * 4 + k]), f32(b[i * 4 + k]), sum);
    out[i] = sum;
}

KERNEL(u16_packed, u16, u16, u16, .a = 2, .b = 2, .out = 14) {
    const u32 i = global_id();
    u16x2 x, y, by;
    x[0] = a[i * 2];
    x[1] = a[i * 2 + 1];
    y[0] = b[i * 2];
    y[1] = b[i * 2 + 1];
    by[0] = y[0] & 15;
    by[1] = y[1] & 15;
    u16x2 results[] = {x + y, x - y, x * y, x << by, x >> by, x & y, x ^ y};
    for (u32 k = 0; k < 7; ++k) {
        out[i * 14 + k * 2] = results[k][0];
        out[i * 14 + k * 2 + 1] = results[k][1];
    }
}

KERNEL(i16_packed, i16, i16, i16, .a = 2, .b = 2, .out = 6) {
    const u32 i = global_id();
    i16x2 x, by;
    for (int k = 0; k < 2; ++k) {
        x[k] = a[i * 2 + u32(k)];
        by[k] = i16(b[i * 2 + u32(k)] & 15);
    }
    i16x2 shifted = x >> by;
    for (u32 k = 0; k < 2; ++k) {
        const i16 p = a[i * 2 + k], q = b[i * 2 + k];
        out[i * 6 + k] = shifted[int(k)];
        out[i * 6 + 2 + k] = smaller(p, q);
        out[i * 6 + 4 + k] = larger(p, q);
    }
}

/// bfloat16: the upper half of a float, rounded to even.
KERNEL(bf16_convert, f32, f32, u16, .out = 2) {
    const u32 i = global_id();
    for (u32 k = 0; k < 2; ++k) {
        const f32 v = k == 0 ? a[i] : a[i] * b[i];
        const u32 bits = bits_as<u32>(v);
        out[i * 2 + k] = v != v ? 0x7fc0 : u16((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    }
}

KERNEL(f16_dot, f16, f16, f16, .a = 16, .b = 16, .a_values = differential::Values::Tame,
       .b_values = differential::Values::Tame) {
    const u32 i = global_id();
    f16 sum = f16(0.0f);
    for (u32 k = 0; k < 16; ++k) sum += f16(a[i * 16 + k] * b[i * 16 + k]);
    out[i] = sum;
}

#undef UNIT
