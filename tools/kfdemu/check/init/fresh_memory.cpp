#include "tools/kfdemu/check/init/fresh_memory.hpp"

namespace kfdemu::check {
namespace {

std::uint32_t pattern(std::uint64_t va) {
    std::uint64_t mixed = (va >> 2) * 0x9e3779b97f4a7c15;
    mixed ^= mixed >> 29;
    mixed *= 0xbf58476d1ce4e5b9;
    return 0xff800001u | static_cast<std::uint32_t>(mixed >> 40);
}

void fill(std::byte* host, std::uint64_t va, std::uint64_t bytes) {
    for (std::uint64_t n = 0; n + 4 <= bytes; n += 4) {
        const std::uint32_t word = pattern(va + n);
        std::memcpy(host + n, &word, sizeof word);
    }
}

}  // namespace

void fill_fresh(std::byte* host, std::uint64_t va, std::uint64_t bytes) {
    constexpr std::uint64_t kFront = 16 << 20, kBack = 64 << 10;
    if (bytes <= kFront + kBack) return fill(host, va, bytes);
    fill(host, va, kFront);
    fill(host + bytes - kBack, va + bytes - kBack, kBack);
}

bool FreshMemory::holds_pattern(std::uint64_t va) const { return range_.contains(va, 4) && word(va) == pattern(va); }

bool FreshMemory::is_fresh(const AddressSpace& space, std::uint64_t va, bool part) {
    const bool same = space_ == &space && generation_ == space.generation();
    if (!same || !range_.contains(va, 4)) {
        space_ = &space, generation_ = space.generation();
        const AddressSpace::Range* found = space.find(va);
        // The program may unmap its own pages at any time; they are no device memory.
        const bool usable = found != nullptr && !found->user_pages && found->allows(kRead);
        range_ = usable ? *found : AddressSpace::Range{};
    }
    return holds_pattern(va) && (holds_pattern(va - 4) || (!part && holds_pattern(va + 4)));
}

}  // namespace kfdemu::check
