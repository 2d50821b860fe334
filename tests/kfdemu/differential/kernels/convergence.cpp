// Operations that speak to other lanes, in every shape of control flow: the headers of shared/device on the device, and
// on the host a model in which the lanes that come to the same place meet.
#define UNIT "convergence"
#include "convergence_words.hpp"

#include "convergence_operations.h"

/// Minima and maxima among NaN, at every fourth lane and wherever the input has them; which zero it is is not told.
SHAPE_KERNEL(least_and_greatest) {
    const u32 i = global_id();
    const float x = (b[i] & 3) == 0 ? __builtin_nanf("") : __builtin_bit_cast(float, a[i]);
    u32 r = __builtin_bit_cast(u32, wave_least(1, x) + 0.0f);
    if (b[i] & 4) r += 3 * __builtin_bit_cast(u32, wave_greatest(2, x) + 0.0f);
    if ((b[i] & 3) == 0) r += 5 * __builtin_bit_cast(u32, wave_least(3, x));  // only NaN
    out[i] = r;
}

// And in constructs of C++: lambdas and templates.

template <class F>
INLINE u32 applied(bool condition, u32 x, F f) {
    if (condition) x += 7;
    const u32 r = f(x);
    if (condition) x = r * 3;
    return x + r;
}

SHAPE_KERNEL(sum_in_a_lambda) {
    const u32 i = global_id(), x = a[i], y = b[i];
    out[i] = applied((x & 1) != 0, y, [](u32 v) LAMBDA { return wave_sum(1, v); });
}

SHAPE_KERNEL(first_in_a_lambda) {
    const u32 i = global_id(), x = a[i], y = b[i];
    u32 place = 0;
    const auto next = [&](u32 v) LAMBDA { return first_lane(++place, v); };
    u32 r = next(y);
    if (x & 1) r += next(y) * 3;
    place = 2;
    out[i] = r + next(y) * 5;
}

SHAPE_KERNEL(barrier_in_a_lambda) {
    LDS_ARRAY(u32, lambda_lds, 96);
    const u32 i = global_id(), l = local_id(), x = a[i];
    lambda_lds[l] = 3;
    out[i] = applied((x & 1) != 0, b[i], [&](u32 v) LAMBDA {
        if (x & 2) lambda_lds[l] = v;
        group_barrier();
        return (x & 2) != 0 ? lambda_lds[95 - l] : v;
    });
}

template <u32 kDepth>
INLINE u32 descend(u32 x, u32 y) {
    if constexpr (kDepth == 0) {
        return y;
    } else {
        if (x & 1) y += pull((5 - kDepth), y, local_id() + kDepth);
        return y * 3 + descend<kDepth - 1>(x >> 1, y);
    }
}
SHAPE_KERNEL(pull_in_templates) {
    const u32 i = global_id();
    out[i] = descend<4>(a[i], b[i]);
}

struct Counter {
    u32 sum;
    INLINE_MEMBER void add(u32 place, u32 x) {
        if (x & 1) sum += wave_scan(place, x);
        sum ^= votes(place + 1, (x & 2) != 0);
    }
};
SHAPE_KERNEL(scan_in_members) {
    const u32 i = global_id();
    Counter counter{b[i]};
    counter.add(1, a[i]);
    if (a[i] & 4) counter.add(3, counter.sum);
    out[i] = counter.sum;
}
