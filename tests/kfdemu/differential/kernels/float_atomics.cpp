// Atomics of floating-point numbers: instructions where a target has them, loops of compare-and-exchange where not.
// Sums are of small whole numbers, exact in any order.
#define UNIT "float_atomics"
#include "twin.hpp"

#if defined(__AMDGCN__)
#define GLOBAL(T) __attribute__((address_space(1))) T*
#define SHARED(T) __attribute__((address_space(3))) T*

template <class T>
static inline T float_add(T* to, T v) {
    return __hip_atomic_fetch_add(to, v, __ATOMIC_RELAXED, 4 /* agent */);
}
template <class T>
static inline void float_add_only(T* to, T v) {
    (void)__hip_atomic_fetch_add(to, v, __ATOMIC_RELAXED, 4);
}
#if GFX == 0x908 && CLANG == 16
/// Which clang 16 cannot select at -O1.
static inline void float_add_only(f32* to, f32 v) {
    asm volatile("global_atomic_add_f32 %0, %1, off\n\ts_waitcnt vmcnt(0)" : : "v"(to), "v"(v) : "memory");
}
#endif
static inline f32 shared_add(f32* to, f32 v) { return __builtin_amdgcn_ds_faddf((SHARED(f32))to, v, 0, 0, false); }
static inline f32 shared_min(f32* to, f32 v) { return __builtin_amdgcn_ds_fminf((SHARED(f32))to, v, 0, 0, false); }
static inline f32 shared_max(f32* to, f32 v) { return __builtin_amdgcn_ds_fmaxf((SHARED(f32))to, v, 0, 0, false); }
#if HAS_GFX(90a)
static inline f64 shared_add(f64* to, f64 v) { return __builtin_amdgcn_ds_atomic_fadd_f64((SHARED(f64))to, v); }
static inline f64 global_min(f64* to, f64 v) { return __builtin_amdgcn_global_atomic_fmin_f64((GLOBAL(f64))to, v); }
static inline f64 global_max(f64* to, f64 v) { return __builtin_amdgcn_global_atomic_fmax_f64((GLOBAL(f64))to, v); }
// From clang 22 on it has a type of its own.
#define FLAT(T) __attribute__((address_space(0))) T*
static inline f64 generic_add(f64* to, f64 v) { return __builtin_amdgcn_flat_atomic_fadd_f64((FLAT(f64))to, v); }
static inline f64 generic_min(f64* to, f64 v) { return __builtin_amdgcn_flat_atomic_fmin_f64((FLAT(f64))to, v); }
static inline f64 generic_max(f64* to, f64 v) { return __builtin_amdgcn_flat_atomic_fmax_f64((FLAT(f64))to, v); }
#endif
#if HAS_GFX(908)
/// One instruction on a raw buffer: the Vega ISA manual, "Buffer Resource".
#define ON_BUFFER(instruction, address_high, records, ...)                                                \
    asm volatile(                                                                                         \
        "s_nop 0\n\tv_readfirstlane_b32 s36, %2\n\tv_readfirstlane_b32 s37, %3\n\t"                       \
        "v_readfirstlane_b32 s38, %4\n\t"                                                                 \
        "s_mov_b32 s39, 0x00027000\n\ts_nop 4\n\t" instruction "\n\ts_waitcnt vmcnt(0)"                   \
        : "+v"(v)                                                                                         \
        : "v"(at), "v"(u32(u64(base))), "v"((u32(u64(base) >> 32) & 0xffff) | address_high), "v"(records) \
        : "memory", "s36", "s37", "s38", "s39")
static inline void global_add_halves(u32* to, u32 v) {
    asm volatile("global_atomic_pk_add_f16 %0, %1, off\n\ts_waitcnt vmcnt(0)" : : "v"(to), "v"(v) : "memory");
}
static inline void buffer_add(f32* base, u32 bytes, u32 at, f32 v) {
    ON_BUFFER("buffer_atomic_add_f32 %0, %1, s[36:39], 0 offen offset:4", 0u, bytes);
}
static inline void buffer_add_halves(u32* base, u32 bytes, u32 at, u32 v) {
    ON_BUFFER("buffer_atomic_pk_add_f16 %0, %1, s[36:39], 0 offen offset:4", 0u, bytes);
}
#endif
#if HAS_GFX(90a)
#if HAS_GFX(942)
#define RETURNS "sc0"
#else
#define RETURNS "glc"
#endif
/// Records of 8 bytes, which the index counts.
#define BUFFER_ATOMIC(name, operation)                                                                        \
    static inline f64 name(f64* base, u32 bytes, u32 at, f64 v) {                                             \
        ON_BUFFER("buffer_atomic_" operation "_f64 %0, %1, s[36:39], 0 idxen " RETURNS, 8u << 16, bytes / 8); \
        return v;                                                                                             \
    }
BUFFER_ATOMIC(buffer_add, "add")
BUFFER_ATOMIC(buffer_min, "min")
BUFFER_ATOMIC(buffer_max, "max")
#endif

#else

template <class T>
static T float_add(T* to, T v) {
    return replaced(to, T(*to + v));
}
template <class T>
static void float_add_only(T* to, T v) {
    *to += v;
}
#define shared_add float_add
#define shared_min atomic_min
#define shared_max atomic_max
#define generic_add float_add
#define generic_min atomic_min
#define generic_max atomic_max
#define global_min atomic_min
#define global_max atomic_max
static void global_add_halves(u32* to, u32 v) {
    f16x2 sum = bits_as<f16x2>(*to) + bits_as<f16x2>(v);
    *to = u32(bits_as<u16>(sum[0])) | u32(bits_as<u16>(sum[1])) << 16;
}
/// Stores outside the buffer are dropped.
static void buffer_add(f32* base, u32 bytes, u32 offset, f32 v) {
    if (offset + 8 <= bytes) base[offset / 4 + 1] += v;
}
static void buffer_add_halves(u32* base, u32 bytes, u32 offset, u32 v) {
    if (offset + 8 <= bytes) global_add_halves(base + offset / 4 + 1, v);
}
static f64 buffer_add(f64* base, u32 bytes, u32 index, f64 v) {
    return index < bytes / 8 ? float_add(base + index, v) : 0;
}
static f64 buffer_min(f64* base, u32 bytes, u32 index, f64 v) {
    return index < bytes / 8 ? atomic_min(base + index, v) : 0;
}
static f64 buffer_max(f64* base, u32 bytes, u32 index, f64 v) {
    return index < bytes / 8 ? atomic_max(base + index, v) : 0;
}

#endif

template <class T>
static inline void add_alone(const i16* a, const i16* b, T* out) {
    const u32 i = global_id();
    T* mine = out + i * 3;
    *mine = T(a[i]);
    mine[1] = float_add(mine, T(b[i]));
    mine[2] = float_add(mine, T(0.5f));
}
KERNEL(f32_add, i16, i16, f32, .out = 3) { add_alone(a, b, out); }
KERNEL(f64_add, i16, i16, f64, .out = 3) { add_alone(a, b, out); }

/// All add to a few addresses; the old values are unused.
KERNEL(f32_histogram, i16, u16, f32, .items = 1024, .group = 128) {
    const u32 i = global_id();
    float_add_only(out + b[i] % 7, f32(a[i]));
    float_add_only(out + 7 + lane() % 3, f32(a[i] & 1));
}
KERNEL(f64_histogram, i16, u16, f64, .items = 1024, .group = 128) {
    const u32 i = global_id();
    float_add_only(out + b[i] % 7, f64(a[i]) * 0x1p20);
    if (a[i] & 1) float_add_only(out + 7 + lane() % 3, 1.0);
}

LDS(f32, sums_lds, 64 * 3 + 4);
KERNEL(lds_f32, f32, f32, f32, .out = 7, .a_values = differential::Values::Tame,
       .b_values = differential::Values::Tame) {
    const u32 i = global_id(), l = local_id();
    f32 *lds = GENERIC(f32, sums_lds), *mine = lds + l * 3, *all = lds + 64 * 3;
    if (l < 4) all[l] = f32(l);
    for (u32 k = 0; k < 3; ++k) mine[k] = a[i] * f32(k + 1);
    barrier();
    f32* o = out + i * 7;
    o[0] = shared_add(mine, b[i]);
    o[1] = shared_min(mine + 1, b[i]);
    o[2] = shared_max(mine + 2, b[i]);
    for (u32 k = 0; k < 3; ++k) o[3 + k] = mine[k];
    shared_add(all, f32(i32(b[i])));
    shared_min(all + 1, b[i]);
    shared_max(all + 2, b[i]);
    barrier();
    o[6] = all[l % 4];
}

#if HAS_GFX(908)
/// Whole numbers below 1024 in halves.
static inline u32 small_halves(i16 v) {
    const f16 low = f16(f32(v & 7)), high = f16(f32((v >> 3) & 7) - 4);
    return u32(bits_as<u16>(low)) | u32(bits_as<u16>(high)) << 16;
}
KERNEL(packed_halves, i16, u16, u32, .items = 512, .group = 128, .from_gfx = 0x908) {
    global_add_halves(out + b[global_id()] % 16, small_halves(a[global_id()]));
}
KERNEL(buffer_f32, i16, u16, f32, .items = 512, .group = 128, .from_gfx = 0x908) {
    buffer_add(out, 128, u32(b[global_id()]) % 40 * 4, f32(a[global_id()]));
}
KERNEL(buffer_halves, i16, u16, u32, .items = 512, .group = 128, .from_gfx = 0x908) {
    buffer_add_halves(out, 128, u32(b[global_id()]) % 40 * 4, small_halves(a[global_id()]));
}
#endif

#if HAS_GFX(90a)
LDS(f64, doubles_lds, 64 * 3);
KERNEL(lds_f64, i16, i16, f64, .items = 512, .group = 64, .out = 4, .from_gfx = 0x90a) {
    const u32 i = global_id(), l = local_id();
    f64* mine = GENERIC(f64, doubles_lds) + l;
    mine[0] = f64(a[i]);
    mine[64] = 0;
    barrier();
    out[i * 4] = shared_add(mine, f64(b[i]) * 0x1p30);
    shared_add(GENERIC(f64, doubles_lds) + 64 + b[i] % 5 + 5, f64(a[i]));
    barrier();
    out[i * 4 + 1] = mine[0];
    out[i * 4 + 2] = mine[64];
}

KERNEL(f64_min_max, f64, f64, f64, .out = 4, .a_values = differential::Values::Tame,
       .b_values = differential::Values::Tame, .from_gfx = 0x90a) {
    const u32 i = global_id();
    f64* mine = out + i * 4;
    mine[0] = mine[1] = a[i];
    mine[2] = global_min(mine, b[i]);
    mine[3] = global_max(mine + 1, b[i]);
}

LDS(f64, generic_lds, 3 * 64);
/// Lanes of one instruction with pointers to LDS and to memory.
KERNEL(f64_generic, f64, i16, f64, .out = 6, .a_values = differential::Values::Tame, .from_gfx = 0x90a) {
    const u32 i = global_id(), l = local_id();
    f64* mine = b[i] & 1 ? GENERIC(f64, generic_lds) + l * 3 : out + i * 6;
    mine[0] = f64(i32(a[i]));
    mine[1] = mine[2] = a[i];
    const f64 sum = generic_add(mine, f64(b[i])), least = generic_min(mine + 1, f64(b[i])),
              most = generic_max(mine + 2, f64(b[i]));
    for (u32 k = 0; k < 3; ++k) out[i * 6 + k] = mine[k];
    out[i * 6 + 3] = sum;
    out[i * 6 + 4] = least;
    out[i * 6 + 5] = most;
}

KERNEL(buffer_f64, f64, i16, f64, .out = 6, .a_values = differential::Values::Tame, .from_gfx = 0x90a) {
    const u32 i = global_id();
    f64* mine = out + i * 6;
    mine[0] = f64(i32(a[i]));
    mine[1] = mine[2] = a[i];
    // The last group's are out of the buffer.
    const u32 bytes = (n - 64) * 48;
    mine[3] = buffer_add(out, bytes, i * 6, f64(b[i]));
    mine[4] = buffer_min(out, bytes, i * 6 + 1, f64(b[i]));
    mine[5] = buffer_max(out, bytes, i * 6 + 2, f64(b[i]));
}
#endif

#undef UNIT
