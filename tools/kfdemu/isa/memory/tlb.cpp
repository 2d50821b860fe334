#include "tools/kfdemu/isa/memory/tlb.hpp"

#include <algorithm>
#include <cstring>

#include "tools/kfdemu/base/abi.hpp"
#include "tools/kfdemu/base/address_space.hpp"
#include "tools/kfdemu/base/clock.hpp"
#include "tools/kfdemu/base/page.hpp"

namespace kfdemu::isa {
namespace {

/// The address of byte `index` of an access at `va`: dwords are `dword_stride` apart, bytes of a dword adjacent.
std::uint64_t byte_address(std::uint64_t va, std::uint32_t dword_stride, unsigned index) {
    const std::uint64_t from_dword = (va & 3) + index;
    return (va & ~std::uint64_t{3}) + (from_dword >> 2) * dword_stride + (from_dword & 3);
}

template <class Move>
bool by_pieces(Wave& wave, std::uint64_t va, std::uint32_t dword_stride, unsigned bytes, std::uint32_t access,
               std::uint64_t& bad, Move&& move) {
    if (dword_stride == 4)
        if (const Tlb::Entry* entry = translate(wave, va, bytes, access)) {
            move(entry->at(va), 0, bytes);
            return true;
        }
    for (unsigned done = 0; done < bytes;) {
        const std::uint64_t at = byte_address(va, dword_stride, done);
        const unsigned rest_of_dword = std::min<unsigned>(bytes - done, 4 - static_cast<unsigned>(at & 3));
        const Tlb::Entry* entry = translate(wave, at, rest_of_dword, access);
        const unsigned piece = entry != nullptr ? rest_of_dword : 1;
        if (entry == nullptr) entry = translate(wave, at, 1, access);
        if (entry == nullptr) {
            bad = at;
            return false;
        }
        move(entry->at(at), done, piece);
        done += piece;
    }
    return true;
}

}  // namespace

void Tlb::flush() {
    for (Entry& e : entry) e = {};
    for (Near& n : near) n = {};
    for (std::uint64_t& begin : present) begin = 0;
}

/// Cached until the next flush: the query costs more than the rest of a refill.
static bool present(Tlb& tlb, const AddressSpace::Range& range) {
    if (!range.user_pages) return true;
    for (std::uint64_t begin : tlb.present)
        if (begin == range.begin) return true;
    if (!range.present()) return false;
    tlb.present[tlb.next_present] = range.begin;
    tlb.next_present = (tlb.next_present + 1) % Tlb::kPresent;
    return true;
}

static AddressSpace::Range page_of(const AddressSpace::Range& range, std::uint64_t va) {
    const std::uint64_t begin = va & ~(kPage - 1);
    AddressSpace::Range page = range;
    page.begin = std::max(range.begin, begin);
    page.end = std::min(range.end, begin + kPage);
    page.host = range.at(page.begin);
    return page;
}

/// An access that straddles the end of a cached range misses, too.
static const Tlb::Entry* cached(const Tlb& tlb, const AddressSpace::Range& range) {
    for (const Tlb::Entry& entry : tlb.entry)
        if (entry.begin == range.begin && entry.size_bytes == range.end - range.begin) return &entry;
    return nullptr;
}

const Tlb::Entry* refill(Wave& wave, std::uint64_t va) noexcept {
    const AddressSpace::Range* found = wave.memory->find(va);
    if (found == nullptr) return nullptr;
    Tlb& tlb = *wave.tlb;
    if (const Tlb::Entry* entry = cached(tlb, *found)) return entry;
    AddressSpace::Range range = *found;
    if (!present(tlb, range)) {
        // The program has unmapped a part. KFD then invalidates registered memory as a whole (amdgpu_vm's user pages),
        // and shared virtual memory page by page (kfd_svm.c).
        if (range.allocation != abi::kSvmAllocation) return nullptr;
        range = page_of(range, va);
        if (const Tlb::Entry* entry = cached(tlb, range)) return entry;
        if (!range.present()) return nullptr;
    }
    Tlb::Entry& entry = tlb.entry[tlb.victim];
    tlb.victim = (tlb.victim + 1) % Tlb::kEntries;
    ++tlb.refills;
    entry = {range.begin, range.end - range.begin, range.host, range.access};
    return &entry;
}

bool read_lane(Wave& wave, std::uint64_t va, std::uint32_t dword_stride, void* out, unsigned bytes,
               std::uint64_t& bad) noexcept {
    return by_pieces(wave, va, dword_stride, bytes, kRead, bad,
                     [&](const std::byte* host, unsigned done, unsigned piece) {
                         std::memcpy(static_cast<std::byte*>(out) + done, host, piece);
                     });
}

bool write_lane(Wave& wave, std::uint64_t va, std::uint32_t dword_stride, const void* in, unsigned bytes,
                std::uint64_t& bad) noexcept {
    return by_pieces(wave, va, dword_stride, bytes, kWrite, bad, [&](std::byte* host, unsigned done, unsigned piece) {
        std::memcpy(host, static_cast<const std::byte*>(in) + done, piece);
    });
}

std::uint64_t reference_clock_ticks() { return clock::now(); }
std::uint64_t shader_clock_ticks() { return clock::now_ns(); }

}  // namespace kfdemu::isa
