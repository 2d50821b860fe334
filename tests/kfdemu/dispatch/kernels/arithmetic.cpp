// Each operation of arithmetic.hpp as a kernel.
#include "kernel.hpp"

#pragma clang fp contract(off)
#include "arithmetic.hpp"

#define DEFINE(name, expression)                                                      \
    KERNEL void k_##name(const u64* a, const u64* b, const u64* c, u64* out, u32 n) { \
        const u32 i = global_x();                                                     \
        if (i < n) out[i] = op_##name(a[i], b[i], c[i]);                              \
    }
OPERATIONS(DEFINE)
