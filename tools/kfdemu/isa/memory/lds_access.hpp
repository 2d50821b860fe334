// Moves data between VGPRs and the work-group's LDS. Reads outside the LDS return 0, writes there are dropped ("Vega"
// ISA manual, "LDS: Out-of-Range Addressing").
//
//     lds_load<2>(wave, access, lanes_of(wave, inst.dst));
//
// For executor files only, like lane_access.hpp. A work-group runs on one thread, so LDS needs no host atomics.
#pragma once

#include "tools/kfdemu/isa/memory/lane_access.hpp"

namespace kfdemu::isa::KFDEMU_EXECUTOR {
namespace {

KFDEMU_INLINE bool lds_has(const Wave& wave, std::uint32_t at, unsigned bytes) {
    return bytes <= wave.lds_size_bytes && at <= wave.lds_size_bytes - bytes;
}
KFDEMU_INLINE bool lds_has_all(const Wave& wave, const LdsAccess& a, unsigned bytes) {
    return all_inside<std::uint32_t>(a.at, a.mask, 0, wave.lds_size_bytes, bytes);
}

template <unsigned N>
[[gnu::noinline]] void lds_load_checked(const Wave& wave, const LdsAccess& a, std::uint32_t* dst) {
    for_each_lane(a.mask, [&](unsigned l) {
        const bool has = lds_has(wave, a.at[l], N * 4);
        for (unsigned k = 0; k < N; ++k)
            dst[k * kLanes + l] = has ? read_as<std::uint32_t>(wave.lds + a.at[l] + k * 4) : 0;
    });
}

template <unsigned N>
[[gnu::noinline]] void lds_store_checked(const Wave& wave, const LdsAccess& a, const std::uint32_t* src) {
    for_each_lane(a.mask, [&](unsigned l) {
        if (!lds_has(wave, a.at[l], N * 4)) return;
        for (unsigned k = 0; k < N; ++k) write_as(wave.lds + a.at[l] + k * 4, src[k * kLanes + l]);
    });
}

template <unsigned N>
void lds_load(const Wave& wave, const LdsAccess& a, std::uint32_t* dst) {
    if (!lds_has_all(wave, a, N * 4)) return lds_load_checked<N>(wave, a, dst);
    const std::byte* lds = wave.lds;
    if (contiguous(a.at, a.mask, N * 4)) return load_block<N>(lds + a.at[first_lane(a.mask)], a.mask, dst);
    if constexpr (N == 1) {
        gather_dwords<std::uint32_t>(lds, 0, a.at, a.mask, dst);
    } else {
        for_each_lane(a.mask, [=, &a](unsigned l) {
            const std::byte* from = lds + a.at[l];
            for (unsigned k = 0; k < N; ++k) dst[k * kLanes + l] = read_as<std::uint32_t>(from + k * 4);
        });
    }
}

template <unsigned N>
void lds_store(const Wave& wave, const LdsAccess& a, const std::uint32_t* src) {
    if (!lds_has_all(wave, a, N * 4)) return lds_store_checked<N>(wave, a, src);
    std::byte* lds = wave.lds;
    if (is_run(a.mask) && contiguous(a.at, a.mask, N * 4))
        return store_block<N>(lds + a.at[first_lane(a.mask)], a.mask, src);
    if constexpr (N == 1) {
        scatter_dwords<std::uint32_t>(lds, 0, a.at, a.mask, src);
    } else {
        for_each_lane(a.mask, [=, &a](unsigned l) {
            std::byte* to = lds + a.at[l];
            for (unsigned k = 0; k < N; ++k) write_as(to + k * 4, src[k * kLanes + l]);
        });
    }
}

template <class T>
void lds_load_small(const Wave& wave, const LdsAccess& a, std::uint32_t* values) {
    const std::byte* lds = wave.lds;
    const std::uint32_t size = wave.lds_size_bytes;
    for_each_lane(a.mask, [=, &a](unsigned l) {
        const bool has = size >= sizeof(T) && a.at[l] <= size - sizeof(T);
        values[l] = has ? static_cast<std::uint32_t>(std::int32_t{read_as<T>(lds + a.at[l])}) : 0;
    });
}

template <class T>
void lds_store_small(const Wave& wave, const LdsAccess& a, const std::uint32_t* src, unsigned shift) {
    std::byte* lds = wave.lds;
    const std::uint32_t size = wave.lds_size_bytes;
    for_each_lane(a.mask, [=, &a](unsigned l) {
        if (size >= sizeof(T) && a.at[l] <= size - sizeof(T)) write_as(lds + a.at[l], static_cast<T>(src[l] >> shift));
    });
}

/// Op (atomics.hpp) on one lane's T; `b` is the second operand, if the operation has one.
template <class Op>
KFDEMU_INLINE typename Op::T lds_atomic(const Wave& wave, std::uint32_t at, typename Op::T a, typename Op::T b) {
    using T = typename Op::T;
    if (!lds_has(wave, at, sizeof(T))) return 0;
    const T old = read_as<T>(wave.lds + at);
    write_as<T>(wave.lds + at, Op::combine(old, a, b));
    return old;
}

}  // namespace
}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
