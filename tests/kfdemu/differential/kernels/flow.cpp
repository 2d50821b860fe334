// Divergent branches, loops, calls and stacks.
#define UNIT "flow"
#include "twin.hpp"

/// A machine of sixteen operations, each lane with its own program.
KERNEL(interpreter, u32, u32, u32, .a = 16) {
    const u32 i = global_id();
    u32 x = b[i], y = 1, at = 0;
    for (u32 step = 0; step < 60; ++step) {
        const u32 word = a[i * 16 + at];
        at = (at + 1) % 16;
        switch (word >> 5 & 15) {
            case 0:
                x += word;
                break;
            case 1:
                x -= y;
                break;
            case 2:
                x *= 3;
                break;
            case 3:
                y ^= x;
                break;
            case 4:
                y = rotate_left(y, word);
                break;
            case 5:
                at = word >> 9 & 15;
                break;
            case 6:
                if (x & 1) at = (at + 3) % 16;
                break;
            case 7:
                x = x / (y | 1);
                [[fallthrough]];
            case 8:
                y += 5;
                break;
            case 9: {
                const u32 t = x;
                x = y;
                y = t;
            } break;
            case 10:
                x = ~x;
                break;
            case 11:
                y = x > y ? x : y;
                break;
            case 12:
                x = x << 4 | x >> 28;
                break;
            case 13:
                if (y == 0) step = 60;
                break;
            default:
                y -= word;
        }
    }
    out[i] = x ^ y;
}

KERNEL(loop_nest, u32, u32, u32) {
    const u32 i = global_id();
    u32 sum = 0;
    for (u32 p = 0; p < (a[i] & 15); ++p) {
        for (u32 q = p; q < 12; ++q) {
            if ((q * p + i) % 5 == 0) continue;
            u32 r = b[i] & 31;
            while (r > q) {
                sum = sum * 7 + r * p;
                if ((sum & 0xff) == 0x55) goto out_of_all;
                r -= 3 + (q & 1);
                if (r > 40) break;
            }
        }
    }
out_of_all:
    out[i] = sum;
}

KERNEL(divergent_branches, u32, u32, u32) {
    const u32 i = global_id(), x = a[i], y = b[i];
    u32 r = 0;
    if (x & 1) {
        if (y & 1) {
            r = x * 3;
            if (x > y)
                r ^= y;
            else
                r += 9;
        } else if (lane() < 20) {
            r = y / 3;
        }
    } else {
        for (u32 k = 0; k < lane() % 7; ++k) r += (y >> k & 1) ? x : k;
        if (r > 1000 && (x & 2)) r = r % 1000;
    }
    if (lane() == 63 || (x & 64)) r += 17;
    out[i] = r;
}

/// Jumps into the middle of loops: unstructured control flow.
KERNEL(state_machine, u32, u32, u32) {
    const u32 i = global_id();
    u32 x = a[i], y = b[i], fuel = 100;
    if (x & 1) goto second;
first:
    x = x * 5 + 1;
    if (fuel-- == 0) goto end;
    if (x & 8) goto third;
second:
    y += x >> 3;
    if (fuel-- == 0) goto end;
    if (y & 4) goto first;
third:
    x ^= y;
    if (fuel-- == 0) goto end;
    if (x & 16) goto second;
    if (y & 32) goto first;
    y = y * 3 + 7;
    goto third;
end:
    out[i] = x + y;
}

NOINLINE static u32 ackermann(u32 m, u32 x) {
    if (m == 0) return x + 1;
    return x == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, x - 1));
}
KERNEL(recursion, u32, u32, u32, .items = 128, .stack_bytes = 16384) {
    out[global_id()] = ackermann(a[global_id()] % 3, b[global_id()] % 6);
}

NOINLINE static void sort_range(i32* values, i32 first, i32 last) {
    if (first >= last) return;
    const i32 pivot = values[(first + last) / 2];
    i32 left = first, right = last;
    while (left <= right) {
        while (values[left] < pivot) ++left;
        while (values[right] > pivot) --right;
        if (left > right) break;
        const i32 t = values[left];
        values[left++] = values[right];
        values[right--] = t;
    }
    sort_range(values, first, right);
    sort_range(values, left, last);
}
KERNEL(quicksort, i32, i32, i32, .items = 128, .a = 24, .out = 24, .stack_bytes = 16384) {
    const u32 i = global_id();
    i32 mine[24];
    for (u32 k = 0; k < 24; ++k) mine[k] = a[i * 24 + k];
    sort_range(mine, 0, 23);
    for (u32 k = 0; k < 24; ++k) out[i * 24 + k] = mine[k];
}

NOINLINE static u32 is_odd(u32 v);
NOINLINE static u32 is_even(u32 v) { return v == 0 ? 1 : is_odd(v - 1) * 3; }
NOINLINE static u32 is_odd(u32 v) { return v == 0 ? 0 : is_even(v - 1) + 1; }
KERNEL(mutual_recursion, u32, u32, u32, .items = 128, .stack_bytes = 16384) {
    out[global_id()] = is_even(a[global_id()] % 23);
}

NOINLINE static u32 twice(u32 v) { return v * 2; }
NOINLINE static u32 square(u32 v) { return v * v; }
NOINLINE static u32 negative(u32 v) { return 0 - v; }
NOINLINE static u32 turned(u32 v) { return rotate_left(v, 11); }
KERNEL(function_pointers, u32, u32, u32, .stack_bytes = 16384) {
    u32 (*const functions[])(u32) = {twice, square, negative, turned};
    const u32 i = global_id();
    u32 v = a[i];
    for (u32 k = 0; k < 6; ++k) v = functions[b[i] >> 2 * k & 3](v) + k;
    out[i] = v;
}

struct Figure {
    u32 size;
    virtual u32 area() const { return size; }
    virtual u32 outline() const { return size * 4; }
};
struct Square : Figure {
    u32 area() const override { return size * size; }
};
struct Circle final : Figure {
    u32 area() const override { return size * size * 355 / 113; }
    u32 outline() const override { return size * 710 / 113; }
};
NOINLINE static u32 sum_of(const Figure* figure) { return figure->area() + figure->outline(); }
KERNEL(virtual_functions, u32, u32, u32, .a_values = differential::Values::Tame, .stack_bytes = 16384) {
    const u32 i = global_id();
    Figure plain;
    Square square;
    Circle circle;
    plain.size = square.size = circle.size = a[i];
    const Figure* figure = &plain;
    if (b[i] % 3 == 1) figure = &square;
    if (b[i] % 3 == 2) figure = &circle;
    out[i] = sum_of(figure) + sum_of(&square);
}

/// More values alive than there are registers.
KERNEL(spills, u32, u32, u32, .items = 128, .a = 160, .out = 2) {
    const u32 i = global_id();
    u32 v[160];
    UNROLL for (u32 k = 0; k < 160; ++k) v[k] = a[i * 160 + k];
    u32 sum = b[i], mixed = 0;
    UNROLL for (u32 k = 0; k < 160; ++k) v[k] = v[k] * v[(k * 37 + 11) % 160] + k;
    if (b[i] & 1) {
        UNROLL for (u32 k = 0; k < 160; ++k) sum = sum * 31 + v[159 - k];
    }
    UNROLL for (u32 k = 0; k < 160; ++k) mixed = (mixed ^ v[k]) * 16777619u;
    out[i * 2] = sum;
    out[i * 2 + 1] = mixed;
}

KERNEL(stack_arrays, u32, u64, u64, .a = 8) {
    const u32 i = global_id();
    u8 bytes[64];
    u16 shorts[32];
    u64 longs[16];
    for (u32 k = 0; k < 64; ++k) bytes[(k * 5 + i) % 64] = u8(a[i * 8 + k % 8] >> k / 8);
    for (u32 k = 0; k < 32; ++k) shorts[(k + a[i * 8]) % 32] = u16(bytes[k] * 257 + bytes[63 - k]);
    for (u32 k = 0; k < 16; ++k) longs[(k * 3 + a[i * 8 + 1]) % 16] = b[i] * shorts[k] + shorts[31 - k];
    u64 sum = 0;
    for (u32 k = 0; k < 16; ++k) sum = sum * 33 + longs[(k + i) % 16];
    out[i] = sum;
}

struct Matrix {
    i32 at[3][3];
};
NOINLINE static Matrix product(Matrix x, Matrix y) {
    Matrix r;
    for (u32 i = 0; i < 3; ++i)
        for (u32 j = 0; j < 3; ++j) {
            u32 sum = 0;
            for (u32 k = 0; k < 3; ++k) sum += u32(x.at[i][k]) * u32(y.at[k][j]);
            r.at[i][j] = i32(sum);
        }
    return r;
}
KERNEL(structs_by_value, i32, i32, i32, .a = 9, .out = 9, .stack_bytes = 16384) {
    const u32 i = global_id();
    Matrix m, power = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    for (u32 k = 0; k < 9; ++k) m.at[k / 3][k % 3] = a[i * 9 + k];
    for (u32 e = u32(b[i]) & 31; e != 0; e >>= 1) {
        if (e & 1) power = product(power, m);
        m = product(m, m);
    }
    for (u32 k = 0; k < 9; ++k) out[i * 9 + k] = power.at[k / 3][k % 3];
}

NOINLINE static u64 many(u32 p0, u64 p1, u16 p2, u8 p3, f32 p4, f64 p5, u32 p6, u64 p7, u32 p8, u64 p9, u32 p10,
                         u64 p11, u32 p12, u64 p13, u32 p14, u64 p15, u32 p16, u64 p17, u32 p18, u64 p19, u32 p20,
                         u64 p21, u32 p22, u64 p23) {
    return (p0 + p1 * 3 + p2 * 5 + p3 * 7 + u64(p4) + u64(p5) + p6 * 2 + p7) ^
           (p8 + p9 * 11 + p10 + p11 * 13 + p12 + p13 + p14 + p15 * 17) ^
           (p16 + p17 + p18 * 19 + p19 + p20 + p21 * 23 + p22 + p23);
}
KERNEL(many_arguments, u32, u64, u64, .stack_bytes = 16384) {
    const u32 i = global_id(), x = a[i];
    const u64 w = b[i];
    out[i] = many(x, w, u16(x), u8(w), f32(x & 0xffff), f64(x), x + 1, w + 1, x + 2, w + 2, x + 3, w + 3, x + 4, w + 4,
                  x + 5, w + 5, x + 6, w + 6, x + 7, w + 7, x + 8, w + 8, x + 9, w + 9);
}

KERNEL(early_return, u32, u32, u32) {
    const u32 i = global_id();
    out[i] = 1;
    if (a[i] & 1) return;
    out[i] = 2;
    for (u32 k = 0; k < 20; ++k) {
        if ((a[i] >> k) % 7 == 3) return;
        out[i] += k;
    }
    out[i] ^= b[i];
}

KERNEL(n_queens, u32, u32, u32, .items = 64) {
    const u32 i = global_id(), size = 6, all = (1u << size) - 1;
    u32 columns[8], left[8], right[8], free[8], count = 0, row = 0;
    columns[0] = left[0] = right[0] = 0;
    free[0] = all & ~(a[i] & 3);
    for (;;) {
        if (free[row] == 0) {
            if (row == 0) break;
            --row;
            continue;
        }
        const u32 bit = free[row] & (0 - free[row]);
        free[row] ^= bit;
        if (row + 1 == size) {
            ++count;
            continue;
        }
        columns[row + 1] = columns[row] | bit;
        left[row + 1] = (left[row] | bit) << 1;
        right[row + 1] = (right[row] | bit) >> 1;
        ++row;
        free[row] = all & ~(columns[row] | left[row] | right[row]);
    }
    out[i] = count * 100 + (b[i] & 7);
}

KERNEL(binary_search, u32, u32, u32, .b = 1) {
    const u32 i = global_id();
    TABLE u32 kSorted[] = {1,     5,     9,        77,       255,      256,      4096, 65535,
                           65536, 99999, 1u << 20, 1u << 24, 1u << 30, 1u << 31, ~1u,  ~0u};
    u32 low = 0, high = 16;
    while (low < high) {
        const u32 middle = (low + high) / 2;
        if (kSorted[middle] < a[i])
            low = middle + 1;
        else
            high = middle;
    }
    out[i] = low;
}

#undef UNIT
