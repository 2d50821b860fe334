// Matrix products by MFMA and dot products, as compilers use them; on targets without, by plain loops.
#include "kernel.hpp"

typedef float Floats4 __attribute__((ext_vector_type(4)));
typedef float Floats16 __attribute__((ext_vector_type(16)));
typedef double Doubles4 __attribute__((ext_vector_type(4)));
typedef _Float16 Halves4 __attribute__((ext_vector_type(4)));
typedef i32 Bytes32 __attribute__((ext_vector_type(8)));

/// One wave makes one tile of 32 x 32.
KERNEL void matmul_f32(const float* a, const float* b, float* c, u32 n) {
    const u32 l = local_x(), row = __builtin_amdgcn_workgroup_id_y() * 32,
              column = __builtin_amdgcn_workgroup_id_x() * 32;
    Floats16 sum = {};
#if HAS_MFMA
    for (u32 k = 0; k < n; k += 2)
        sum = __builtin_amdgcn_mfma_f32_32x32x2f32(a[(row + l % 32) * n + k + l / 32],
                                                   b[(k + l / 32) * n + column + l % 32], sum, 0, 0, 0);
#else
    for (u32 r = 0; r < 16; ++r)
        for (u32 k = 0; k < n; ++k)
            sum[r] += a[(row + 8 * (r / 4) + 4 * (l / 32) + r % 4) * n + k] * b[k * n + column + l % 32];
#endif
    for (u32 r = 0; r < 16; ++r) c[(row + 8 * (r / 4) + 4 * (l / 32) + r % 4) * n + column + l % 32] = sum[r];
}

/// One wave makes one tile of 16 x 16.
KERNEL void matmul_f16(const float* a, const float* b, float* c, u32 n) {
    const u32 l = local_x(), row = __builtin_amdgcn_workgroup_id_y() * 16,
              column = __builtin_amdgcn_workgroup_id_x() * 16;
    Floats4 sum = {};
#if HAS_MFMA
    for (u32 k = 0; k < n; k += 16) {
        Halves4 left, right;
        for (u32 e = 0; e < 4; ++e) {
            left[e] = static_cast<_Float16>(a[(row + l % 16) * n + k + l / 16 * 4 + e]);
            right[e] = static_cast<_Float16>(b[(k + l / 16 * 4 + e) * n + column + l % 16]);
        }
        sum = __builtin_amdgcn_mfma_f32_16x16x16f16(left, right, sum, 0, 0, 0);
    }
#else
    for (u32 r = 0; r < 4; ++r)
        for (u32 k = 0; k < n; ++k) sum[r] += a[(row + 4 * (l / 16) + r) * n + k] * b[k * n + column + l % 16];
#endif
    for (u32 r = 0; r < 4; ++r) c[(row + 4 * (l / 16) + r) * n + column + l % 16] = sum[r];
}

KERNEL void matmul_f64(const float* a, const float* b, float* c, u32 n) {
    const u32 l = local_x(), row = __builtin_amdgcn_workgroup_id_y() * 16,
              column = __builtin_amdgcn_workgroup_id_x() * 16;
    Doubles4 sum = {};
#if HAS_MFMA_F64
    for (u32 k = 0; k < n; k += 4)
        sum = __builtin_amdgcn_mfma_f64_16x16x4f64(static_cast<double>(a[(row + l % 16) * n + k + l / 16]),
                                                   static_cast<double>(b[(k + l / 16) * n + column + l % 16]), sum, 0,
                                                   0, 0);
#if defined(__gfx950__)
    // Where paths join, clang 22 counts the wait states of one of them (GCNHazardRecognizer's getWaitStatesSince visits
    // each block once), and gfx950 wants more than what the code before the first use has.
    asm volatile("s_nop 15\n\ts_nop 2" : "+v"(sum));
#endif
#else
    for (u32 r = 0; r < 4; ++r)
        for (u32 k = 0; k < n; ++k)
            sum[r] += static_cast<double>(a[(row + 4 * r + l / 16) * n + k] * b[k * n + column + l % 16]);
#endif
    for (u32 r = 0; r < 4; ++r) c[(row + 4 * r + l / 16) * n + column + l % 16] = static_cast<float>(sum[r]);
}

KERNEL void dot_bytes(const i32* a, const i32* b, i32* c) {
    const u32 i = global_x();
#if defined(__gfx906__) || defined(__gfx908__) || defined(__gfx90a__)
    c[i] = __builtin_amdgcn_sdot4(a[i], b[i], c[i], false);
#else
    for (u32 shift = 0; shift < 32; shift += 8)
        c[i] += static_cast<signed char>(a[i] >> shift) * static_cast<signed char>(b[i] >> shift);
#endif
}

#if HAS_MFMA
/// c = a b, both with the depth contiguous. One wave makes one tile of 32 x 32, and `multiply` adds the products of a
/// `Part`, which is what a lane holds of each.
template <class Part, class Element, class Multiply>
inline void gemm_tile(const Element* a, const Element* b, float* c, u32 n, Multiply multiply) {
    constexpr u32 kEach = sizeof(Part) / sizeof(Element);
    const u32 l = local_x(), row = __builtin_amdgcn_workgroup_id_y() * 32,
              column = __builtin_amdgcn_workgroup_id_x() * 32;
    const Element *left = a + (row + l % 32) * n + l / 32 * kEach, *right = b + (column + l % 32) * n + l / 32 * kEach;
    Floats16 sum = {};
    for (u32 k = 0; k < n; k += 2 * kEach)
        sum = multiply(*reinterpret_cast<const Part*>(left + k), *reinterpret_cast<const Part*>(right + k), sum);
    for (u32 r = 0; r < 16; ++r) c[(row + 8 * (r / 4) + 4 * (l / 32) + r % 4) * n + column + l % 32] = sum[r];
}
#endif

KERNEL void gemm_f16([[maybe_unused]] const _Float16* a, [[maybe_unused]] const _Float16* b, [[maybe_unused]] float* c,
                     [[maybe_unused]] u32 n) {
#if HAS_MFMA
    gemm_tile<Halves4>(a, b, c, n, [](Halves4 left, Halves4 right, Floats16 sum) {
        return __builtin_amdgcn_mfma_f32_32x32x8f16(left, right, sum, 0, 0, 0);
    });
#endif
}

KERNEL void gemm_fp8([[maybe_unused]] const u8* a, [[maybe_unused]] const u8* b, [[maybe_unused]] float* c,
                     [[maybe_unused]] u32 n) {
#if defined(__gfx950__)
    gemm_tile<Bytes32>(a, b, c, n, [](Bytes32 left, Bytes32 right, Floats16 sum) {
        return __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(left, right, sum, 0, 0, 0, 0, 0, 0);
    });
#elif defined(__gfx942__)
    gemm_tile<i64>(a, b, c, n, [](i64 left, i64 right, Floats16 sum) {
        return __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(left, right, sum, 0, 0, 0);
    });
#endif
}
