// A random program's number types, equal on host and device.
#pragma once

#ifdef __AMDGCN__
#define ON_DEVICE 1
#else
#define ON_DEVICE 0
#endif
// Clang before 16 knows kernels in HIP's language, not in C++.
#ifdef __HIP__
#pragma clang force_cuda_host_device begin
#endif

typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned u32;
typedef long i64;
typedef unsigned long u64;
typedef _Float16 f16;
typedef float f32;
typedef double f64;
typedef u8 u8x4 __attribute__((ext_vector_type(4)));
typedef u16 u16x2 __attribute__((ext_vector_type(2)));
typedef i16 i16x2 __attribute__((ext_vector_type(2)));
typedef u32 u32x2 __attribute__((ext_vector_type(2)));
typedef u32 u32x4 __attribute__((ext_vector_type(4)));
typedef f16 f16x2 __attribute__((ext_vector_type(2)));
typedef f32 f32x2 __attribute__((ext_vector_type(2)));

#if ON_DEVICE
#define FN static inline __attribute__((always_inline, unused))
#else
#define FN static inline __attribute__((unused))
#endif
#define NOINLINE static __attribute__((noinline, unused))

template <class T>
inline constexpr bool is_signed = T(-1) < T(0);
template <class T>
inline constexpr u32 width = sizeof(T) * 8;

// One NaN for all: IEEE 754 leaves sign and payload of an operation's NaN open (6.2.3, 6.3).
FN u16 bits(f16 x) { return x != x ? u16(0x7e00) : __builtin_bit_cast(u16, x); }
FN u32 bits(f32 x) { return x != x ? 0x7fc00000u : __builtin_bit_cast(u32, x); }
FN u64 bits(f64 x) { return x != x ? 0x7ff8000000000000ul : __builtin_bit_cast(u64, x); }
FN f16 as_f16(u16 x) { return __builtin_bit_cast(f16, (x & 0x7fff) > 0x7c00 ? u16(0x7e00) : x); }
FN f32 as_f32(u32 x) { return __builtin_bit_cast(f32, (x & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : x); }
FN f64 as_f64(u64 x) {
    return __builtin_bit_cast(f64, (x & ~0ul >> 1) > 0x7ff0000000000000ul ? 0x7ff8000000000000ul : x);
}

/// Two words of results for each variable.
template <class T>
FN void put(u64* out, T x) {
    out[0] = static_cast<u64>(x);
    out[1] = 0;
}
FN void put(u64* out, f16 x) { put(out, bits(x)); }
FN void put(u64* out, f32 x) { put(out, bits(x)); }
FN void put(u64* out, f64 x) { put(out, bits(x)); }
FN void put(u64* out, u8x4 x) { put(out, u32(x[0]) | u32(x[1]) << 8 | u32(x[2]) << 16 | u32(x[3]) << 24); }
FN void put(u64* out, u16x2 x) { put(out, u32(x[0]) | u32(x[1]) << 16); }
FN void put(u64* out, i16x2 x) { put(out, u32(u16(x[0])) | u32(u16(x[1])) << 16); }
FN void put(u64* out, u32x2 x) { put(out, u64(x[0]) | u64(x[1]) << 32); }
FN void put(u64* out, f16x2 x) { put(out, u32(bits(x[0])) | u32(bits(x[1])) << 16); }
FN void put(u64* out, f32x2 x) { put(out, u64(bits(x[0])) | u64(bits(x[1])) << 32); }
FN void put(u64* out, u32x4 x) {
    out[0] = u64(x[0]) | u64(x[1]) << 32;
    out[1] = u64(x[2]) | u64(x[3]) << 32;
}
