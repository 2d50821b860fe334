#include "memory_shadow.hpp"

#include <unistd.h>

namespace kfdemu::check {
namespace {

std::atomic<std::uint64_t> in_use{0};  // bytes of all shadows; relaxed: only a sum

std::uint64_t limit() {
    static const std::uint64_t bytes =
        static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) / 4;
    return bytes;
}

}  // namespace

MemoryShadow::~MemoryShadow() {
    in_use.fetch_sub(reserved_.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

bool MemoryShadow::reserve() {
    if (in_use.fetch_add(sizeof(Page), std::memory_order_relaxed) + sizeof(Page) <= limit()) {
        reserved_.fetch_add(sizeof(Page), std::memory_order_relaxed);
        return true;
    }
    in_use.fetch_sub(sizeof(Page), std::memory_order_relaxed);
    partial_.store(true, std::memory_order_relaxed);
    return false;
}

}  // namespace kfdemu::check
