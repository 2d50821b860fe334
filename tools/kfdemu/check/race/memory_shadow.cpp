#include "tools/kfdemu/check/race/memory_shadow.hpp"

#include <unistd.h>

namespace kfdemu::check {
namespace {

// Relaxed: counters alone. The limit may be exceeded by a page for each thread.
std::atomic<std::size_t> all_bytes{0}, chosen_limit{0};

std::size_t limit() {
    if (const std::size_t chosen = chosen_limit.load(std::memory_order_relaxed); chosen != 0) return chosen;
    static const auto quarter =
        static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) / 4 * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return quarter;
}

}  // namespace

MemoryShadow::~MemoryShadow() {
    all_bytes.fetch_sub(bytes_.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

void MemoryShadow::set_limit(std::size_t bytes) { chosen_limit.store(bytes, std::memory_order_relaxed); }

MemoryShadow::Page* MemoryShadow::page(std::uint64_t va) {
    const std::uint64_t number = va / Page::kBytes;
    Shard& shard = shards_[number % shards_.size()];
    const std::lock_guard lock{shard.mutex};
    const auto found = shard.pages.find(number);
    if (found != shard.pages.end()) return found->second.get();
    if (all_bytes.load(std::memory_order_relaxed) + sizeof(Page) > limit()) return nullptr;
    all_bytes.fetch_add(sizeof(Page), std::memory_order_relaxed);
    bytes_.fetch_add(sizeof(Page), std::memory_order_relaxed);
    return (shard.pages[number] = std::make_unique<Page>()).get();
}

}  // namespace kfdemu::check
