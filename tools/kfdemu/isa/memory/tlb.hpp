// A cache of the last few address ranges that a work-group accessed, which saves most AddressSpace lookups.
//
//     const Tlb::Entry* entry = translate(wave, va, size_bytes, kRead);    // nullptr: not mapped, or not allowed
//     std::byte* host = entry->at(va);
//
// Thread safety: one thread at a time, the one that runs the work-group and holds the AddressSpace. Renewing the Hold
// invalidates all entries: call flush() then.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tools/kfdemu/isa/wave/wave.hpp"

namespace kfdemu::isa {

struct Tlb {
    struct Entry {
        std::uint64_t begin = 0, size_bytes = 0;
        std::byte* host = nullptr;
        std::uint32_t access = 0;

        KFDEMU_INLINE bool contains(std::uint64_t va, std::uint64_t bytes) const {
            const std::uint64_t from = va - begin;
            return from < size_bytes && bytes <= size_bytes - from;
        }
        KFDEMU_INLINE std::byte* at(std::uint64_t va) const { return host + (va - begin); }
    };
    static constexpr unsigned kEntries = 8, kNear = 48, kPresent = 8;

    /// Where an access of translated code looks first. It may access what starts in the `bytes` bytes from `begin` on.
    struct Near {
        std::uint64_t begin = 0, bytes = 0;
        std::byte* host = nullptr;
    };

    Entry entry[kEntries];
    unsigned victim = 0;
    std::uint64_t refills = 0;
    Near near[kNear];
    std::uint64_t present[kPresent] = {};  // user pages, by first address, that were present at the last query
    unsigned next_present = 0;

    void flush();
};

/// Looks up the range that holds `va` in the AddressSpace and caches it; nullptr if `va` is not mapped.
const Tlb::Entry* refill(Wave& wave, std::uint64_t va) noexcept;

/// The range that holds all of [va, va + bytes) and allows `access`; nullptr if there is none.
KFDEMU_INLINE const Tlb::Entry* translate(Wave& wave, std::uint64_t va, std::uint64_t bytes, std::uint32_t access) {
    const Tlb::Entry* entry = nullptr;
    for (unsigned i = 0; i < Tlb::kEntries && entry == nullptr; ++i)
        if (wave.tlb->entry[i].contains(va, bytes)) entry = &wave.tlb->entry[i];
    if (entry == nullptr) entry = refill(wave, va);
    if (entry == nullptr || !entry->contains(va, bytes)) return nullptr;
    return (entry->access & access) == access ? entry : nullptr;
}

/// One lane's access on the slow path: it may straddle ranges, and if `dword_stride` != 4 its dwords are that far apart
/// (swizzled scratch). False: the address `bad` is not mapped or not allowed; a write has then written nothing from
/// `bad` on.
bool read_lane(Wave& wave, std::uint64_t va, std::uint32_t dword_stride, void* out, unsigned bytes,
               std::uint64_t& bad) noexcept;
bool write_lane(Wave& wave, std::uint64_t va, std::uint32_t dword_stride, const void* in, unsigned bytes,
                std::uint64_t& bad) noexcept;

/// The clocks that s_memrealtime and s_memtime read: the device's clock in ticks, and in nanoseconds.
std::uint64_t reference_clock_ticks();
std::uint64_t shader_clock_ticks();

}  // namespace kfdemu::isa
