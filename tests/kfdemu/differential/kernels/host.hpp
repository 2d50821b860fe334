// The words of twin.hpp for the host, where KERNEL defines a test case that compares the two.
#pragma once

#include <cmath>
#include <cstdint>

#include "../differential.hpp"
#include "../host_group.hpp"
#include "../host_half.hpp"

#define GFX 0xfff
#define EVERY_GFX 1
#define CLANG 99
#define LDS(type, name, count) static type name[count]
#define GENERIC(type, name) (name)
#define TABLE static const
#define UNROLL

#define KERNEL(name, A, B, OUT, ...)                                                                                  \
    static void name(const A* a, const B* b, OUT* out, u32 n);                                                        \
    TEST_CASE(UNIT ": " #name, "[differential][" UNIT "]") {                                                          \
        differential::check({UNIT, #name, differential::kind<A>, differential::kind<B>, differential::kind<OUT>,      \
                             differential::Options{__VA_ARGS__}, [](const void* a, const void* b, void* out, u32 n) { \
                                 name(static_cast<const A*>(a), static_cast<const B*>(b), static_cast<OUT*>(out), n); \
                             }});                                                                                     \
    }                                                                                                                 \
    static void name([[maybe_unused]] const A* a, [[maybe_unused]] const B* b, [[maybe_unused]] OUT* out,             \
                     [[maybe_unused]] u32 n)

using differential::f16;
using differential::f16x2;
using differential::f32x2;
using differential::i16x2;
using differential::square_root;
static inline f32 square_root(f32 v) { return __builtin_sqrtf(v); }
using differential::u16x2;

inline const differential::Place& place() { return differential::HostGroup::running().place(); }
inline u32 local_id() { return differential::HostGroup::running().item(); }
inline u32 group_id() { return place().id[0]; }
inline u32 group_size() { return place().full_size[0]; }
template <u32 kDimension>
u32 local_id() {
    return differential::HostGroup::running().item(kDimension);
}
template <u32 kDimension>
u32 group_id() {
    return place().id[kDimension];
}
template <u32 kDimension>
u32 group_size() {
    return place().full_size[kDimension];
}
template <u32 kDimension>
u32 grid_size() {
    return place().grid[kDimension];
}
inline void barrier() { differential::HostGroup::running().barrier(); }

inline f32x2 fused_pairs(f32x2 x, f32x2 y, f32x2 z) { return {std::fma(x[0], y[0], z[0]), std::fma(x[1], y[1], z[1])}; }
inline f32 mantissa(f32 v) {
    int e;
    return std::frexp(v, &e);
}
inline f64 mantissa(f64 v) {
    int e;
    return std::frexp(v, &e);
}
inline i32 exponent(f32 v) {
    int e = 0;
    return std::isfinite(v) ? (std::frexp(v, &e), e) : 0;
}
inline i32 exponent(f64 v) {
    int e = 0;
    return std::isfinite(v) ? (std::frexp(v, &e), e) : 0;
}
inline f32 scale(f32 v, i32 by) { return std::ldexp(v, by); }
inline f64 scale(f64 v, i32 by) { return std::ldexp(v, by); }
inline u64 reversed(u64 v) {
    u64 result = 0;
    for (int bit = 0; bit < 64; ++bit) result |= (v >> bit & 1) << (63 - bit);
    return result;
}
inline u32 reversed(u32 v) { return u32(reversed(u64{v}) >> 32); }

// Communication between lanes: each gives its value, and all see all.
inline u32 wave_lanes() { return differential::wave_shape.lanes; }
inline const differential::Lanes& all_lanes(u32 value) { return differential::HostGroup::running().exchange(value); }
inline u64 ballot(bool condition) {
    const auto& lanes = all_lanes(condition);
    u64 mask = 0;
    for (u32 l = 0; l < wave_lanes(); ++l) mask |= u64{lanes[l]} << l;
    return mask;
}
inline u32 bits_below(u64 mask) { return u32(__builtin_popcountl(mask & ((u64{1} << local_id() % wave_lanes()) - 1))); }
/// The lane that lane l means.
inline u32 permuted(u32 l, u32 lane) {
    const u32 among = differential::wave_shape.permuted;
    return (l & ~(among - 1)) | (lane & (among - 1));
}
inline u32 shuffle(u32 value, u32 from) { return all_lanes(value)[permuted(local_id() % wave_lanes(), from)]; }
inline u32 send(u32 value, u32 to) {
    const auto values = all_lanes(value);
    const auto& to_lanes = all_lanes(to);
    for (u32 l = 0; l < wave_lanes(); ++l)
        if (permuted(l, to_lanes[l]) == local_id() % wave_lanes()) return values[l];
    return 0;
}
inline u32 read_lane(u32 value, u32 from) { return all_lanes(value)[from]; }
inline u32 read_first_lane(u32 value) { return all_lanes(value)[0]; }
/// DS_SWIZZLE_B32 (Vega ISA, "LDS instructions"): a quad's permutation, or and, or, xor of the lane within 32.
template <int kPattern>
u32 swizzle(u32 value) {
    const u32 l = local_id() % wave_lanes();
    const u32 from = kPattern & 0x8000
                         ? (l & ~3u) | (kPattern >> 2 * (l & 3) & 3)
                         : (l & 32) | (((l & (kPattern & 31)) | (kPattern >> 5 & 31)) ^ (kPattern >> 10 & 31));
    return all_lanes(value)[from];
}
/// Data parallel primitives (Vega ISA, "Data Parallel Primitives"): DPP_CTRL names the lane that is read.
template <int kControl, int kRows, int kBanks, bool kBound>
u32 dpp(u32 old, u32 value) {
    const int from = differential::dpp_source(kControl, int(local_id() % wave_lanes()));
    const auto& lanes = all_lanes(value);
    const u32 l = local_id() % wave_lanes();
    if (!(kRows >> l / 16 & 1) || !(kBanks >> l % 16 / 4 & 1)) return old;
    if (from < 0) return kBound ? 0 : old;
    return lanes[u32(from)];
}
/// V_PERM_B32 (Vega ISA): the selector's bytes choose among those of y (0-3) and x (4-7), signs, zero and ones.
inline u32 permuted_bytes(u32 x, u32 y, u32 selector) {
    const u64 both = u64{x} << 32 | y;
    u32 result = 0;
    for (u32 byte = 0; byte < 4; ++byte) {
        const u32 s = selector >> 8 * byte & 0xff;
        u32 v = 0xff;
        if (s < 8)
            v = u32(both >> 8 * s & 0xff);
        else if (s < 12)
            v = both >> (16 * (s - 8) + 15) & 1 ? 0xff : 0;
        else if (s == 12)
            v = 0;
        result |= v << 8 * byte;
    }
    return result;
}
inline u32 bytes_difference(u32 x, u32 y, u32 sum) {
    for (u32 byte = 0; byte < 32; byte += 8) {
        const i32 d = i32(x >> byte & 0xff) - i32(y >> byte & 0xff);
        sum += u32(d < 0 ? -d : d);
    }
    return sum;
}
inline u32 aligned_bytes(u32 x, u32 y, u32 by) { return u32((u64{x} << 32 | y) >> 8 * (by & 3)); }

// One work-item runs at a time, so the operation is atomic.
template <class T>
T replaced(T* at, T with) {
    const T old = *at;
    *at = with;
    return old;
}
template <class T>
T wrapped(T to, T v, int sign) {
    return T(std::uint64_t(to) + std::uint64_t(sign) * std::uint64_t(v));
}
template <class T>
T atomic_add(T* to, T v) {
    return replaced(to, wrapped(*to, v, 1));
}
template <class T>
T atomic_sub(T* to, T v) {
    return replaced(to, wrapped(*to, v, -1));
}
template <class T>
T atomic_and(T* to, T v) {
    return replaced(to, T(*to & v));
}
template <class T>
T atomic_or(T* to, T v) {
    return replaced(to, T(*to | v));
}
template <class T>
T atomic_xor(T* to, T v) {
    return replaced(to, T(*to ^ v));
}
template <class T>
T atomic_min(T* to, T v) {
    return replaced(to, v < *to ? v : *to);
}
template <class T>
T atomic_max(T* to, T v) {
    return replaced(to, *to < v ? v : *to);
}
template <class T>
T atomic_exchange(T* to, T v) {
    return replaced(to, v);
}
template <class T>
bool atomic_replace(T* to, T* expected, T v) {
    if (*to == *expected) {
        *to = v;
        return true;
    }
    *expected = *to;
    return false;
}
template <class T>
T atomic_increment(T* to, T limit) {
    return replaced(to, *to >= limit ? T{0} : T(*to + 1));
}
template <class T>
T atomic_decrement(T* to, T limit) {
    return replaced(to, *to == 0 || *to > limit ? limit : T(*to - 1));
}
