/* Shapes of control flow around an operation that speaks to other lanes: who is there decides what it gives.
 *
 *     #define OPERATION sum                      // the kernels are sum_before, sum_inside, …
 *     #define OP(place, x) wave_sum(place, x)
 *     #include "convergence_shapes.h"
 *
 * Included once for each operation, in C++, in OpenCL C and on the host, where the places, which grow as lanes go on,
 * say which of them meet. The comments name what compilers do that take the operation for any other. */

/* Duplicated into both sides. */
SHAPE(before) {
    const u32 i = global_id(), x = a[i], r = OP(1, x);
    if (x & 1)
        out[i] = r;
    else
        out[i] = r * 3 + 1;
}

/* Sunk into the side that wants it. */
SHAPE(for_some) {
    const u32 i = global_id(), x = a[i], r = OP(1, x);
    if (x & 1) out[i] = r * 5;
}

SHAPE(inside) {
    const u32 i = global_id();
    u32 x = a[i];
    if (x & 1) x = OP(1, x) + 3;
    out[i] = x;
}

/* Threaded: a copy after each side. */
SHAPE(after) {
    const u32 i = global_id();
    u32 x = a[i];
    if (x & 1)
        x = x * 3 + b[i];
    else
        x += 7;
    out[i] = OP(1, x);
}

/* Split by its operand: a call for each constant. */
SHAPE(after_constants) {
    const u32 i = global_id(), x = a[i];
    u32 r = 1;
    if (x & 1) {
        out[i] = x;
        r = 2;
    }
    out[i] += OP(1, r);
}

/* Threaded between two equal conditions. */
SHAPE(between) {
    const u32 i = global_id(), x = a[i];
    u32 r = b[i];
    if (x & 1) out[i] = r;
    const u32 y = OP(1, r);
    if (x & 1) out[i] += y;
}

SHAPE(between_opposites) {
    const u32 i = global_id(), x = a[i], c = x & 1;
    u32 r = b[i];
    if (c) r += out[i] + 11;
    r = OP(1, r);
    if (!c) r ^= b[i];
    out[i] = r;
}

SHAPE(between_nested) {
    const u32 i = global_id(), x = a[i], y = b[i];
    u32 r = x;
    if (x & 1) {
        if (y & 1) r = r * 9 + 1;
        r += OP(1, r);
        if (y & 1) r ^= 0x55;
    }
    r += OP(2, r);
    if (x & 1) r += 13;
    out[i] = r;
}

/* Hoisted out of both sides, or sunk below them: one in place of two. */
SHAPE(both_sides) {
    const u32 i = global_id(), x = a[i], y = b[i];
    u32 r;
    if (x & 1)
        r = OP(1, y);
    else
        r = OP(2, y) + 1;
    out[i] = r;
}

SHAPE(both_sides_alike) {
    const u32 i = global_id(), x = a[i], y = b[i];
    u32 r = 0;
    if (x & 1) {
        r = OP(1, y);
    } else {
        r = OP(2, y);
    }
    out[i] = r;
}

/* The second taken for the first, whose operand is the same. */
SHAPE(twice) {
    const u32 i = global_id(), x = a[i], y = b[i];
    u32 r = OP(1, y);
    if (x & 1) r += 3 * OP(2, y);
    if (x & 2) r += 5 * OP(3, y);
    out[i] = r;
}

SHAPE(twice_the_other_way) {
    const u32 i = global_id(), x = a[i], y = b[i];
    u32 r = 0;
    if (x & 1) r = OP(1, y);
    out[i] = r + 3 * OP(2, y);
}

SHAPE(switched) {
    const u32 i = global_id(), x = a[i], y = b[i];
    u32 r = 0;
    switch (x & 3) {
        case 0:
            r = OP(1, y);
            break;
        case 1:
            r = OP(2, y) + 1;
            break;
        case 2:
            break;
        default:
            r = OP(3, y + 1);
    }
    out[i] = r + OP(4, r);
}

SHAPE(falling_through) {
    const u32 i = global_id(), x = a[i], y = b[i];
    u32 r = y;
    switch (x & 3) {
        case 0:
            r = OP(1, r);
            FALLTHROUGH;
        case 1:
            r += OP(2, r);
            FALLTHROUGH;
        case 2:
            r ^= OP(3, r);
            break;
        default:
            break;
    }
    out[i] = OP(4, r);
}

/* Unrolled, rotated, peeled. */
SHAPE(looped) {
    const u32 i = global_id(), x = a[i];
    u32 r = b[i];
    for (u32 k = 0; k < (x & 7); ++k) r += OP(1 + k, r + k);
    out[i] = r ^ OP(10, r);
}

/* Hoisted out of the loop. */
SHAPE(looped_on_the_same) {
    const u32 i = global_id(), x = a[i], y = b[i];
    u32 r = 0;
    for (u32 k = 0; k < (x & 7); ++k) r = r * 3 + OP(1 + k, y);
    out[i] = r;
}

/* Sunk out of the loop, where only the last is wanted. */
SHAPE(last_of_a_loop) {
    const u32 i = global_id(), x = a[i], y = b[i];
    u32 r = 1;
    for (u32 k = 0; k < 1 + (x & 7); ++k) r = OP(1 + k, y + k);
    out[i] = r;
}

SHAPE(left_in_the_middle) {
    const u32 i = global_id(), x = a[i];
    u32 r = b[i];
    for (u32 k = 0;; ++k) {
        r += OP(1 + k, r ^ k);
        if (k >= (x & 7)) break;
        r = r * 3 + 1;
    }
    out[i] = r ^ OP(10, r);
}

/* Two ways back to the head: no loop in the loop. */
SHAPE(continued) {
    const u32 i = global_id(), x = a[i];
    u32 r = b[i];
    for (u32 k = 0; k < 3 + (a[0] & 3); ++k) {
        if (x >> k & 1) continue;
        r += OP(1 + k, r + k);
    }
    out[i] = r;
}

SHAPE(nested_loops) {
    const u32 i = global_id(), x = a[i], y = b[i];
    u32 r = x ^ y;
    for (u32 k = 0; k < (x & 3); ++k) {
        for (u32 l = 0; l < (y & 3); ++l) r += OP(1 + k * 8 + l, r);
        r ^= OP(5 + k * 8, r);
    }
    out[i] = r;
}

/* Lanes that are done wait for the others. With a break in place of `left` the second would be outside of the loop,
 * where all lanes meet that left it, one after the other (LLVM issue 62477). */
SHAPE(left_in_turn) {
    const u32 i = global_id(), x = a[i];
    u32 r = b[i], left = 0;
    for (u32 k = 0; k < 4 + (a[0] & 3); ++k) {
        if (left) continue;
        r += OP(1 + 2 * k, r);
        if (k < (x & 3)) continue;
        r ^= OP(2 + 2 * k, r) * 3;
        left = 1;
    }
    out[i] = r;
}

SHAPE(returned_early) {
    const u32 i = global_id(), x = a[i];
    if (x & 1) {
        out[i] = 4;
        return;
    }
    out[i] = OP(1, b[i]);
}

SHAPE(returned_from_a_loop) {
    const u32 i = global_id(), x = a[i];
    u32 r = b[i];
    for (u32 k = 0; k < 3 + (b[0] & 3); ++k) {
        if (((x >> k) & 3) == 3) {
            out[i] = r;
            return;
        }
        r += OP(1 + k, r);
    }
    out[i] = r * 3;
}

/* The same for all: a branch of the scalar unit. */
SHAPE(uniform_branch) {
    const u32 i = global_id(), y = b[i];
    u32 r;
    if (a[0] & 1)
        r = OP(1, y);
    else
        r = OP(2, y + 1);
    if (a[0] & 1) r += 3;
    out[i] = r;
}

SHAPE(in_a_condition) {
    const u32 i = global_id(), x = a[i], y = b[i];
    u32 r = 1;
    if ((x & 1) && (OP(1, y) & 2)) r = 2;
    if ((x & 2) || (OP(2, y) & 1)) r += 4;
    out[i] = r + ((x & 4) ? OP(3, y) : y);
}

/* In functions of the user's own: called, inlined. */
NOINLINE u32 HELPER(called)(u32 place, u32 x) { return OP(place, x) + place * 0; }
CALLING_SHAPE(called) {
    const u32 i = global_id(), x = a[i], y = b[i];
    u32 r;
    if (x & 1)
        r = HELPER(called)(1, y);
    else
        r = HELPER(called)(2, y);
    out[i] = r + HELPER(called)(3, y);
}

NOINLINE u32 HELPER(divergent)(u32 place, u32 x, u32 y) {
    if (x & 1) y += OP(place, y);
    y ^= OP(place + 1, y);
    if (x & 1) y += 5;
    return y;
}
CALLING_SHAPE(called_twice) {
    const u32 i = global_id(), x = a[i], y = b[i];
    u32 r = HELPER(divergent)(1, x, y);
    if (x & 2) r = HELPER(divergent)(3, x >> 2, r);
    out[i] = r;
}

INLINE u32 HELPER(inlined)(u32 place, u32 x) { return OP(place, x) * 3; }
SHAPE(inlined) {
    const u32 i = global_id(), x = a[i], y = b[i];
    u32 r = y;
    if (x & 1) {
        out[i] = r;
        r += x;
    }
    r = HELPER(inlined)(1, r);
    if (x & 1)
        r += HELPER(inlined)(2, y);
    else
        r += HELPER(inlined)(3, y);
    out[i] = r;
}
