// The words of twin.hpp for a GPU: plain C++ of clang 16 and later, or the HIP language of clang 14, whose C++ has no
// kernels. No library and no header of either.
#pragma once

#if defined(__gfx950__)
#define GFX 0x950
#elif defined(__gfx942__)
#define GFX 0x942
#elif defined(__gfx90a__)
#define GFX 0x90a
#elif defined(__gfx908__)
#define GFX 0x908
#elif defined(__gfx906__)
#define GFX 0x906
#else
#define GFX 0x900
#endif
#define CLANG __clang_major__

#if defined(__HIP__)
#pragma clang force_cuda_host_device begin
#define TWIN_KERNEL __attribute__((global))
#define LDS(type, name, count) static __attribute__((shared)) type name[count]
#define TABLE static __attribute__((constant)) const
#else
#define TWIN_KERNEL __attribute__((amdgpu_kernel, visibility("protected")))
#define LDS(type, name, count) static __attribute__((address_space(3), loader_uninitialized)) type name[count]
#define TABLE static const
#endif

#if defined(__AMDGCN__)

#define KERNEL(name, A, B, OUT, ...)                                                           \
    extern "C" TWIN_KERNEL void name([[maybe_unused]] const A* a, [[maybe_unused]] const B* b, \
                                     [[maybe_unused]] OUT* out, [[maybe_unused]] u32 n)
/// A generic pointer to an array of LDS.
#define GENERIC(type, name) ((type*)(name))
#define UNROLL _Pragma("unroll")

static inline u32 local_id() { return __builtin_amdgcn_workitem_id_x(); }
static inline u32 group_id() { return __builtin_amdgcn_workgroup_id_x(); }
static inline u32 group_size() { return __builtin_amdgcn_workgroup_size_x(); }
template <u32 kDimension>
static inline u32 local_id() {
    return kDimension == 0   ? __builtin_amdgcn_workitem_id_x()
           : kDimension == 1 ? __builtin_amdgcn_workitem_id_y()
                             : __builtin_amdgcn_workitem_id_z();
}
template <u32 kDimension>
static inline u32 group_id() {
    return kDimension == 0   ? __builtin_amdgcn_workgroup_id_x()
           : kDimension == 1 ? __builtin_amdgcn_workgroup_id_y()
                             : __builtin_amdgcn_workgroup_id_z();
}
/// The size in the launch; the group at the edge of the grid has fewer items.
template <u32 kDimension>
static inline u32 group_size() {
    return kDimension == 0   ? __builtin_amdgcn_workgroup_size_x()
           : kDimension == 1 ? __builtin_amdgcn_workgroup_size_y()
                             : __builtin_amdgcn_workgroup_size_z();
}
template <u32 kDimension>
static inline u32 grid_size() {
    return kDimension == 0   ? __builtin_amdgcn_grid_size_x()
           : kDimension == 1 ? __builtin_amdgcn_grid_size_y()
                             : __builtin_amdgcn_grid_size_z();
}
static inline void barrier() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

typedef _Float16 f16;
typedef _Float16 f16x2 __attribute__((ext_vector_type(2)));
typedef f32 f32x2 __attribute__((ext_vector_type(2)));
typedef u16 u16x2 __attribute__((ext_vector_type(2)));
typedef i16 i16x2 __attribute__((ext_vector_type(2)));
static inline f32x2 fused_pairs(f32x2 x, f32x2 y, f32x2 z) {
    f32x2 result;
    result[0] = __builtin_fmaf(x[0], y[0], z[0]);
    result[1] = __builtin_fmaf(x[1], y[1], z[1]);
    return result;
}
static inline f16 square_root(f16 v) { return __builtin_amdgcn_sqrth(v); }
/// LLVM before 18 makes V_SQRT_F32 alone of it, which flushes denormals: they are brought into its range.
static inline f32 square_root(f32 v) {
    const bool small = __clang_major__ < 18 && v > -0x1p-96f && v < 0x1p-96f;
    return small ? __builtin_sqrtf(v * 0x1p32f) * 0x1p-16f : __builtin_sqrtf(v);
}

static inline f32 mantissa(f32 v) { return __builtin_amdgcn_frexp_mantf(v); }
static inline i32 exponent(f32 v) { return __builtin_amdgcn_frexp_expf(v); }
static inline f64 mantissa(f64 v) { return __builtin_amdgcn_frexp_mant(v); }
static inline i32 exponent(f64 v) { return __builtin_amdgcn_frexp_exp(v); }
static inline f32 scale(f32 v, i32 by) { return __builtin_amdgcn_ldexpf(v, by); }
static inline f64 scale(f64 v, i32 by) { return __builtin_amdgcn_ldexp(v, by); }
static inline u32 reversed(u32 v) { return __builtin_bitreverse32(v); }
static inline u64 reversed(u64 v) { return __builtin_bitreverse64(v); }

// Inlined even at -O0: clang 16 forgets to return what v_readlane_b32 gave in a function of its own.
#define LANES static inline __attribute__((always_inline))
#if defined(__AMDGCN_WAVEFRONT_SIZE)
LANES u32 wave_lanes() { return __AMDGCN_WAVEFRONT_SIZE; }
#else
LANES u32 wave_lanes() { return u32(__builtin_amdgcn_wavefrontsize()); }
#endif
LANES u64 ballot(bool condition) { return __builtin_amdgcn_uicmp(condition, 0u, 33 /* not equal */); }
/// How many bits of the mask belong to lanes below this one.
LANES u32 bits_below(u64 mask) {
    return __builtin_amdgcn_mbcnt_hi(u32(mask >> 32), __builtin_amdgcn_mbcnt_lo(u32(mask), 0));
}
/// `value` of lane `from` (modulo their number).
LANES u32 shuffle(u32 value, u32 from) { return u32(__builtin_amdgcn_ds_bpermute(i32(from * 4), i32(value))); }
/// Sends `value` to lane `to` (modulo their number). Each lane is sent to by one.
LANES u32 send(u32 value, u32 to) { return u32(__builtin_amdgcn_ds_permute(i32(to * 4), i32(value))); }
/// `value` of a lane that is the same for all.
LANES u32 read_lane(u32 value, u32 from) { return u32(__builtin_amdgcn_readlane(i32(value), i32(from))); }
LANES u32 read_first_lane(u32 value) { return u32(__builtin_amdgcn_readfirstlane(i32(value))); }
template <int kPattern>
LANES u32 swizzle(u32 value) {
    return u32(__builtin_amdgcn_ds_swizzle(i32(value), kPattern));
}
template <int kControl, int kRows, int kBanks, bool kBound>
LANES u32 dpp(u32 old, u32 value) {
    return u32(__builtin_amdgcn_update_dpp(i32(old), i32(value), kControl, kRows, kBanks, kBound));
}
/// Bytes of y (0-3) and x (4-7) by the selector's bytes; 8-11 sign, 12 zero, more 0xff.
static inline u32 permuted_bytes(u32 x, u32 y, u32 selector) { return __builtin_amdgcn_perm(x, y, selector); }
static inline u32 bytes_difference(u32 x, u32 y, u32 sum) { return __builtin_amdgcn_sad_u8(x, y, sum); }
/// x:y as 64 bits, from byte or bit `by` on.
static inline u32 aligned_bytes(u32 x, u32 y, u32 by) { return __builtin_amdgcn_alignbyte(x, y, by); }

template <class T>
static inline T atomic_add(T* to, T v) {
    return __atomic_fetch_add(to, v, __ATOMIC_RELAXED);
}
template <class T>
static inline T atomic_sub(T* to, T v) {
    return __atomic_fetch_sub(to, v, __ATOMIC_RELAXED);
}
template <class T>
static inline T atomic_and(T* to, T v) {
    return __atomic_fetch_and(to, v, __ATOMIC_RELAXED);
}
template <class T>
static inline T atomic_or(T* to, T v) {
    return __atomic_fetch_or(to, v, __ATOMIC_RELAXED);
}
template <class T>
static inline T atomic_xor(T* to, T v) {
    return __atomic_fetch_xor(to, v, __ATOMIC_RELAXED);
}
template <class T>
static inline T atomic_min(T* to, T v) {
    return __atomic_fetch_min(to, v, __ATOMIC_RELAXED);
}
template <class T>
static inline T atomic_max(T* to, T v) {
    return __atomic_fetch_max(to, v, __ATOMIC_RELAXED);
}
template <class T>
static inline T atomic_exchange(T* to, T v) {
    return __atomic_exchange_n(to, v, __ATOMIC_SEQ_CST);
}
template <class T>
static inline bool atomic_replace(T* to, T* expected, T v) {
    return __atomic_compare_exchange_n(to, expected, v, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}
#if defined(__HIP__)
typedef unsigned long builtin_u64;
#else
typedef unsigned long long builtin_u64;
#endif
/// Up to the limit, then 0; down, and from 0 or beyond the limit to the limit.
static inline u32 atomic_increment(u32* to, u32 limit) {
    return __builtin_amdgcn_atomic_inc32(to, limit, __ATOMIC_RELAXED, "agent");
}
static inline u32 atomic_decrement(u32* to, u32 limit) {
    return __builtin_amdgcn_atomic_dec32(to, limit, __ATOMIC_RELAXED, "agent");
}
static inline u64 atomic_increment(u64* to, u64 limit) {
    return __builtin_amdgcn_atomic_inc64(reinterpret_cast<builtin_u64*>(to), limit, __ATOMIC_RELAXED, "agent");
}
static inline u64 atomic_decrement(u64* to, u64 limit) {
    return __builtin_amdgcn_atomic_dec64(reinterpret_cast<builtin_u64*>(to), limit, __ATOMIC_RELAXED, "agent");
}

#else  // HIP's look at the source for the host, which builds nothing
#error "compile with --cuda-device-only"
#endif
