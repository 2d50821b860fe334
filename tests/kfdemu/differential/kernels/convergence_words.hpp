// The words of convergence_shapes.h: for a GPU by the headers of shared/device, for the host by a model of a wave.
#pragma once

#if defined(__AMDGCN__)

#include <shared/device/device.hpp>

using u32 = uint32_t;

#define NOINLINE [[gnu::noinline]] static
#define INLINE [[gnu::always_inline]] static inline
#define INLINE_MEMBER [[gnu::always_inline]] inline
#define LAMBDA __attribute__((always_inline))
#define FALLTHROUGH [[fallthrough]]
#define LDS_ARRAY(type, name, count) static HSADRV_LDS __attribute__((loader_uninitialized)) type name[count]
#define SHAPE_KERNEL(name) \
    HSADRV_KERNEL void name([[maybe_unused]] const u32* a, [[maybe_unused]] const u32* b, u32* out, u32)

#define CALLING_KERNEL(name) SHAPE_KERNEL(name)

static inline u32 local_id() { return hsadrv::get_local_id(0); }
static inline u32 global_id() { return hsadrv::get_global_id(0); }

#define wave_sum(place, x) hsadrv::wave_reduce_add<u32>(x)
#define wave_scan(place, x) hsadrv::wave_exclusive_scan_add<u32>(x)
#define wave_least(place, x) hsadrv::wave_reduce_min<float>(x)
#define wave_greatest(place, x) hsadrv::wave_reduce_max<float>(x)
#define votes(place, condition) static_cast<u32>(__builtin_popcountll(hsadrv::wave_ballot(condition)))
#define first_lane(place, x) hsadrv::read_first_lane<u32>(((void)(place), x))
#define pull(place, x, from) hsadrv::ds_bpermute<u32>(from, x)
#define push(place, x, to) hsadrv::ds_permute<u32>(to, x)
#define group_barrier() hsadrv::barrier(hsadrv::CLK_LOCAL_MEM_FENCE)
#define lds_add(at, x) hsadrv::atomic_add(at, x)

#else

#include "twin.hpp"

#undef NOINLINE
#define NOINLINE __attribute__((noinline)) static
#define INLINE static inline
#define INLINE_MEMBER inline
#define LAMBDA
#define FALLTHROUGH [[fallthrough]]
#define LDS_ARRAY(type, name, count) LDS(type, name, count)
// Groups of a whole wave and half of one: both ways of reductions.
#define SHAPE_KERNEL(name) KERNEL(name, u32, u32, u32, .items = 960, .group = 96, .from_clang = 16)
// clang 16 leaves out, in a function that is called, the move of what v_readlane_b32 gave to where results are
// returned.
#define CALLING_KERNEL(name) KERNEL(name, u32, u32, u32, .items = 960, .group = 96, .from_clang = 17)

inline const differential::Told& meet(u32 place, u32 value) {
    return differential::HostGroup::running().meet(place, value);
}
inline u32 wave_scan_over(const differential::Told& told, u32 lanes) {
    u32 sum = 0;
    for (u32 l = 0; l < lanes; ++l) sum += told.here(l) ? told.values[l] : 0;
    return sum;
}
inline u32 wave_sum(u32 place, u32 x) { return wave_scan_over(meet(place, x), wave_lanes()); }
inline u32 wave_scan(u32 place, u32 x) { return wave_scan_over(meet(place, x), lane()); }
/// The number for which `better` holds with all others; `none` if all are NaN.
template <class Better>
f32 best_number(const differential::Told& told, f32 none, Better better) {
    for (u32 l = 0; l < wave_lanes(); ++l) {
        const f32 x = bits_as<f32>(told.values[l]);
        if (told.here(l) && x == x && better(x, none)) none = x;
    }
    return none;
}
inline f32 wave_least(u32 place, f32 x) {
    return best_number(meet(place, bits_as<u32>(x)), __builtin_inff(), [](f32 p, f32 q) { return p < q; });
}
inline f32 wave_greatest(u32 place, f32 x) {
    return best_number(meet(place, bits_as<u32>(x)), -__builtin_inff(), [](f32 p, f32 q) { return p > q; });
}
inline u32 votes(u32 place, bool condition) { return wave_scan_over(meet(place, condition), wave_lanes()); }
inline u32 first_lane(u32 place, u32 x) {
    const differential::Told& told = meet(place, x);
    return told.values[u32(__builtin_ctzl(told.lanes))];
}
inline u32 pull(u32 place, u32 x, u32 from) {
    const differential::Told& told = meet(place, x);
    return told.here(from % wave_lanes()) ? told.values[from % wave_lanes()] : 0;
}
/// `to` has an inverse of its own here: local_id() ^ 21 comes from there.
inline u32 push(u32 place, u32 x, [[maybe_unused]] u32 to) { return pull(place, x, local_id() ^ 21); }
inline void group_barrier() { barrier(); }
inline void lds_add(u32* at, u32 x) { atomic_add(at, x); }

#endif
