// Layout checks on the addresses of a wave's active lanes: adjacent, inside a range, a contiguous run of lanes.
//
//     if (contiguous(access.at, access.mask, 4)) ...             // each lane 4 bytes after the one before
//     all_inside<std::uint32_t>(a.at, a.mask, 0, size_bytes, 4)  // no active lane's 4 bytes leave [0, size_bytes)
//
// For executor files only, like lane_access.hpp. Masks are never empty. Thread safety: pure functions.
#pragma once

#include <immintrin.h>

#include "tools/kfdemu/isa/execution/exec.hpp"

namespace kfdemu::isa::KFDEMU_EXECUTOR {
namespace {

KFDEMU_INLINE unsigned first_lane(std::uint64_t mask) { return static_cast<unsigned>(__builtin_ctzll(mask)); }
KFDEMU_INLINE unsigned last_lane(std::uint64_t mask) { return 63u - static_cast<unsigned>(__builtin_clzll(mask)); }
KFDEMU_INLINE bool active(std::uint64_t mask, unsigned lane) { return (mask >> lane & 1) != 0; }
/// Whether the active lanes are consecutive.
KFDEMU_INLINE bool is_run(std::uint64_t mask) {
    const std::uint64_t from_bit_0 = mask >> first_lane(mask);
    return (from_bit_0 & (from_bit_0 + 1)) == 0;
}

/// All ones for an active lane, else 0. In 32-bit halves: lane loops that mix 64-bit masks and 32-bit data do not
/// vectorise.
template <class Address>
KFDEMU_INLINE Address if_active(std::uint32_t half_mask, unsigned lane_in_half) {
    return Address{0} - static_cast<Address>(half_mask >> lane_in_half & 1);
}

/// The OR over all active lanes of value(lane).
template <class Address, class Value>
KFDEMU_INLINE Address any_bits(std::uint64_t mask, Value&& value) {
    Address bits = 0;
    if (mask == kAllLanes) {
        for (unsigned l = 0; l < kLanes; ++l) bits |= value(l);
        return bits;
    }
    KFDEMU_UNROLLED for (unsigned from = 0; from < kLanes; from += 32) {
        const auto half = static_cast<std::uint32_t>(mask >> from);
        for (unsigned l = 0; l < 32; ++l) bits |= value(from + l) & if_active<Address>(half, l);
    }
    return bits;
}

#if defined(__AVX512F__)
// Uses the CPU's lane masks: compilers vectorise such loops with dword masks and reduce them at the end.
KFDEMU_INLINE bool any_above(const std::uint32_t* at, std::uint64_t mask, std::uint32_t begin, std::uint32_t limit) {
    const __m512i first = _mm512_set1_epi32(static_cast<int>(begin)), last = _mm512_set1_epi32(static_cast<int>(limit));
    unsigned found = 0;
    for (unsigned l = 0; l < kLanes; l += 16)
        found |= _mm512_mask_cmpgt_epu32_mask(static_cast<__mmask16>(mask >> l),
                                              _mm512_sub_epi32(_mm512_loadu_si512(at + l), first), last);
    return found != 0;
}
KFDEMU_INLINE bool any_above(const std::uint64_t* at, std::uint64_t mask, std::uint64_t begin, std::uint64_t limit) {
    const __m512i first = _mm512_set1_epi64(static_cast<long long>(begin)),
                  last = _mm512_set1_epi64(static_cast<long long>(limit));
    unsigned found = 0;
    for (unsigned l = 0; l < kLanes; l += 8)
        found |= _mm512_mask_cmpgt_epu64_mask(static_cast<__mmask8>(mask >> l),
                                              _mm512_sub_epi64(_mm512_loadu_si512(at + l), first), last);
    return found != 0;
}
KFDEMU_INLINE bool any_apart(const std::uint32_t* at, std::uint64_t mask, std::uint32_t base, unsigned pitch) {
    const __m512i numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i step = _mm512_set1_epi32(static_cast<int>(16 * pitch));
    __m512i expected = _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(base)),
                                        _mm512_mullo_epi32(numbers, _mm512_set1_epi32(static_cast<int>(pitch))));
    unsigned found = 0;
    for (unsigned l = 0; l < kLanes; l += 16, expected = _mm512_add_epi32(expected, step))
        found |= _mm512_mask_cmpneq_epi32_mask(static_cast<__mmask16>(mask >> l), _mm512_loadu_si512(at + l), expected);
    return found != 0;
}
KFDEMU_INLINE bool any_apart(const std::uint64_t* at, std::uint64_t mask, std::uint64_t base, unsigned pitch) {
    const __m512i step = _mm512_set1_epi64(8 * static_cast<long long>(pitch));
    __m512i expected = _mm512_add_epi64(_mm512_set1_epi64(static_cast<long long>(base)),
                                        _mm512_mullo_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7),
                                                           _mm512_set1_epi64(static_cast<long long>(pitch))));
    unsigned found = 0;
    for (unsigned l = 0; l < kLanes; l += 8, expected = _mm512_add_epi64(expected, step))
        found |= _mm512_mask_cmpneq_epi64_mask(static_cast<__mmask8>(mask >> l), _mm512_loadu_si512(at + l), expected);
    return found != 0;
}
#else
template <class Address>
KFDEMU_INLINE bool any_above(const Address* at, std::uint64_t mask, Address begin, Address limit) {
    const auto outside = [=](unsigned l) -> Address { return static_cast<Address>(at[l] - begin) > limit ? 1 : 0; };
    return any_bits<Address>(mask, outside) != 0;
}
template <class Address>
KFDEMU_INLINE bool any_apart(const Address* at, std::uint64_t mask, Address base, unsigned pitch) {
    const auto apart = [=](unsigned l) -> Address { return at[l] ^ (base + static_cast<Address>(l) * pitch); };
    return any_bits<Address>(mask, apart) != 0;
}
#endif

/// Whether each active lane's data begin `pitch` bytes after those of the lane before.
template <class Address>
[[gnu::noinline]] bool contiguous(const Address* at, std::uint64_t mask, unsigned pitch) {
    const unsigned first = first_lane(mask);
    return !any_apart(at, mask, at[first] - static_cast<Address>(first) * pitch, pitch);
}

/// Whether the data of all active lanes are inside [begin, begin + size).
template <class Address>
[[gnu::noinline]] bool all_inside(const Address* at, std::uint64_t mask, Address begin, Address size, unsigned bytes) {
    return size >= bytes && !any_above(at, mask, begin, static_cast<Address>(size - bytes));
}

}  // namespace
}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
