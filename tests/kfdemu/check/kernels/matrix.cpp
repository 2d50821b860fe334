// What compilers make of matrix instructions of each size: chains, independent ones, results as factors, as parts, in
// memory and in LDS, across functions and branches. Correct, whatever the values.
#include "../../dispatch/kernels/kernel.hpp"

typedef float F2 __attribute__((ext_vector_type(2)));
typedef float F4 __attribute__((ext_vector_type(4)));
typedef float F16 __attribute__((ext_vector_type(16)));
typedef float F32 __attribute__((ext_vector_type(32)));
typedef double D4 __attribute__((ext_vector_type(4)));
typedef _Float16 H4 __attribute__((ext_vector_type(4)));
typedef _Float16 H8 __attribute__((ext_vector_type(8)));

/// An instruction by its builtin, and how many elements of the result a lane has.
#define INSTRUCTION(name, Sum_, Factor_, count_, builtin)             \
    struct name {                                                     \
        typedef Sum_ Sum;                                             \
        typedef Factor_ Factor;                                       \
        static constexpr u32 count = count_;                          \
        static inline Sum multiply(Factor a, Factor b, Sum c) {       \
            return __builtin_amdgcn_mfma_##builtin(a, b, c, 0, 0, 0); \
        }                                                             \
    };
INSTRUCTION(By4, F4, float, 4, f32_4x4x1f32)
INSTRUCTION(By16, F4, float, 4, f32_16x16x4f32)
INSTRUCTION(By16Blocks, F16, float, 16, f32_16x16x1f32)
INSTRUCTION(By32, F16, float, 16, f32_32x32x2f32)
INSTRUCTION(By32Blocks, F32, float, 32, f32_32x32x1f32)
#if HAS_MFMA_F64
INSTRUCTION(Doubles, D4, double, 4, f64_16x16x4f64)
INSTRUCTION(SmallDoubles, double, double, 1, f64_4x4x4f64)
#endif
#if defined(__gfx942__)
/// With factors that are made of floats.
#define INSTRUCTION_OF(name, Sum_, count_, ...)                                                                       \
    struct name {                                                                                                     \
        typedef Sum_ Sum;                                                                                             \
        typedef float Factor;                                                                                         \
        static constexpr u32 count = count_;                                                                          \
        static inline Sum multiply([[maybe_unused]] float a, [[maybe_unused]] float b, Sum c) { return __VA_ARGS__; } \
    };
static inline H4 halves_of(float x) { return H4{_Float16(x), 1, _Float16(x), 2}; }
static inline H8 more_halves_of(float x) { return H8{_Float16(x), 1, _Float16(x), 2, 3, _Float16(x), 4, 5}; }
static inline long bytes_of(float x) { return __builtin_bit_cast(int, x) & 0x3f3f3f3f; }
INSTRUCTION_OF(Halves, F4, 4, __builtin_amdgcn_mfma_f32_16x16x16f16(halves_of(a), halves_of(b), c, 0, 0, 0))
INSTRUCTION_OF(HalfBlocks, F32, 32, __builtin_amdgcn_mfma_f32_32x32x4f16(halves_of(a), halves_of(b), c, 0, 0, 0))
INSTRUCTION_OF(Bytes, F16, 16, __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(bytes_of(a), bytes_of(b), c, 0, 0, 0))
INSTRUCTION_OF(Singles, F4, 4, __builtin_amdgcn_mfma_f32_16x16x8_xf32(F2{a, b}, F2{b, a}, c, 0, 0, 0))
INSTRUCTION_OF(Sparse, F4, 4,
               __builtin_amdgcn_smfmac_f32_16x16x32_f16(halves_of(a), more_halves_of(b), c,
                                                        __builtin_bit_cast(int, a) & 0x44444444, 0, 0))
#endif

template <class M>
static inline float get(const typename M::Sum& sum, u32 n) {
    if constexpr (M::count == 1)
        return static_cast<float>(sum);
    else
        return static_cast<float>(sum[n]);
}
template <class M>
static inline typename M::Sum first_sum(const float* in) {
    typename M::Sum sum;
    if constexpr (M::count == 1)
        sum = in[local_x()];
    else
        for (u32 n = 0; n < M::count; ++n) sum[n] = in[n * 64 + local_x()];
    return sum;
}
template <class M>
static inline void store(float* out, const typename M::Sum& sum) {
    for (u32 n = 0; n < M::count; ++n) out[n * 64 + local_x()] = get<M>(sum, n);
}

template <class M>
static inline void chain(const float* in, float* out) {
    const typename M::Factor a = in[local_x()], b = in[local_x() + 64];
    typename M::Sum sum = first_sum<M>(in);
    for (u32 n = 0; n < 3; ++n) sum = M::multiply(a, b, sum);
    store<M>(out, sum);
}

template <class M>
static inline void independent(const float* in, float* out) {
    const typename M::Factor a = in[local_x()], b = in[local_x() + 64];
    typename M::Sum x = first_sum<M>(in), y = first_sum<M>(in + 64);
    x = M::multiply(a, b, x);
    y = M::multiply(b, a, y);
    x = M::multiply(a, a, x);
    y = M::multiply(b, b, y);
    store<M>(out, x * y + x);
}

/// Results are factors at once, and old addends are used again.
template <class M>
static inline void factors(const float* in, float* out) {
    const typename M::Factor a = in[local_x()], b = in[local_x() + 64];
    const typename M::Sum addend = first_sum<M>(in);
    const typename M::Sum x = M::multiply(a, b, addend);
    const typename M::Sum y = M::multiply(static_cast<typename M::Factor>(get<M>(x, 0)), b, addend);
    store<M>(out, M::multiply(a, static_cast<typename M::Factor>(get<M>(y, M::count - 1)), addend * x));
}

template <class M>
static inline void loop(const float* in, float* out, u32 turns) {
    LDS float shared[64];
    typename M::Sum sum = first_sum<M>(in);
    for (u32 turn = 0; turn < turns; ++turn) {
        shared[local_x()] = get<M>(sum, turn % M::count);
        barrier();
        const typename M::Factor a = shared[local_x() ^ 1], b = in[turn * 64 + local_x()];
        barrier();
        sum = M::multiply(a, b, sum);
        if (turn % 2 == 1) sum += sum;
    }
    store<M>(out, sum);
}

/// A result that one of two paths has just made.
template <class M>
static inline void branches(const float* in, float* out, u32 turns) {
    const typename M::Factor a = in[local_x()], b = in[local_x() + 64];
    typename M::Sum sum = first_sum<M>(in);
    if (turns > 2)
        sum = M::multiply(a, b, sum);
    else if (turns > 1)
        sum = M::multiply(b, a, sum + sum);
    if (local_x() < 40) out[local_x()] = get<M>(sum, 0);
    if (turns > 3) sum = M::multiply(static_cast<typename M::Factor>(get<M>(sum, 0)), b, sum);
    store<M>(out, sum);
}

template <class M>
NOINLINE static typename M::Sum called(typename M::Factor a, typename M::Factor b, typename M::Sum sum) {
    return M::multiply(static_cast<typename M::Factor>(get<M>(sum, 0)) * a, b, sum);
}
template <class M>
static inline void calls(const float* in, float* out) {
    const typename M::Factor a = in[local_x()], b = in[local_x() + 64];
    typename M::Sum sum = called<M>(a, b, M::multiply(a, b, first_sum<M>(in)));
    store<M>(out, called<M>(b, a, sum + sum));
}

#define KERNELS(M)                                                                                    \
    KERNEL void M##_chain(const float* in, float* out, u32) { chain<M>(in, out); }                    \
    KERNEL void M##_independent(const float* in, float* out, u32) { independent<M>(in, out); }        \
    KERNEL void M##_factors(const float* in, float* out, u32) { factors<M>(in, out); }                \
    KERNEL void M##_loop(const float* in, float* out, u32 turns) { loop<M>(in, out, turns); }         \
    KERNEL void M##_branches(const float* in, float* out, u32 turns) { branches<M>(in, out, turns); } \
    KERNEL void M##_calls(const float* in, float* out, u32) { calls<M>(in, out); }
KERNELS(By4)
KERNELS(By16)
KERNELS(By16Blocks)
KERNELS(By32)
KERNELS(By32Blocks)
#if HAS_MFMA_F64
KERNELS(Doubles)
KERNELS(SmallDoubles)
#endif
#if defined(__gfx942__)
KERNELS(Halves)
KERNELS(HalfBlocks)
KERNELS(Bytes)
KERNELS(Singles)
KERNELS(Sparse)
#endif

/// Of several sizes: parts of a result are the addends of smaller ones, and the other way round.
KERNEL void parts(const float* in, float* out, u32) {
    const float a = in[local_x()], b = in[local_x() + 64];
    const H4 halves = {_Float16(a), _Float16(b), _Float16(a), _Float16(b)};
    F16 wide = By32::multiply(a, b, first_sum<By32>(in));
    F4 narrow = By4::multiply(a, b, wide.lo.lo);
    narrow = __builtin_amdgcn_mfma_f32_16x16x16f16(halves, halves, narrow, 0, 0, 0);
    wide.hi.lo = By4::multiply(b, a, narrow);
    wide = By16Blocks::multiply(b, a, wide);
    narrow += By16::multiply(wide[3], b, wide.lo.hi);
    store<By4>(out, narrow);
    store<By32>(out + 256, By32::multiply(narrow[1], a, wide));
#if HAS_MFMA_F64
    D4 doubles = Doubles::multiply(a, b, first_sum<Doubles>(in));
    double one = SmallDoubles::multiply(a, b, doubles[1]);
    one = SmallDoubles::multiply(b, doubles[2], one);
    one = one * a + b;
    store<SmallDoubles>(out + 64, SmallDoubles::multiply(one, a, one));
    store<Doubles>(out + 512, Doubles::multiply(one, doubles[0], doubles));
    const float last = static_cast<float>(doubles[3]);
    store<By4>(out + 1024, By4::multiply(last, a, F4{last, a, b, last}));
#endif
}
