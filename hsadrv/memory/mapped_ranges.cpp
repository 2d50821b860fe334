#include "hsadrv/memory/mapped_ranges.hpp"

#include <map>
#include <mutex>

#include "hsadrv/base/lock_rank.hpp"

namespace hsadrv::detail::mapped_ranges {
namespace {

struct Book {
    Ranked<std::mutex, LockRank::leaf> mutex;
    std::map<const std::byte*, PointerInfo> ranges;
};

// Never destroyed: a mapping in static storage may end at any time.
Book& book() {
    static auto* const book = new Book;
    return *book;
}

}  // namespace

void enter(void* data, std::size_t size_bytes, std::span<const AgentRef> gpus) {
    PointerInfo info;
    info.kind = PointerInfo::Kind::other;
    info.owner = gpus.front();
    info.agent_base = data;
    info.size_bytes = size_bytes;
    info.accessible.assign(gpus.begin(), gpus.end());
    auto& [mutex, ranges] = book();
    const std::lock_guard lock(mutex);
    ranges.insert_or_assign(static_cast<const std::byte*>(data), std::move(info));
}

void leave(void* data) noexcept {
    auto& [mutex, ranges] = book();
    const std::lock_guard lock(mutex);
    ranges.erase(static_cast<const std::byte*>(data));
}

std::optional<PointerInfo> info(const void* pointer) {
    const auto* const at = static_cast<const std::byte*>(pointer);
    auto& [mutex, ranges] = book();
    const std::lock_guard lock(mutex);
    auto found = ranges.upper_bound(at);
    if (found == ranges.begin()) return std::nullopt;
    --found;
    if (static_cast<std::size_t>(at - found->first) >= found->second.size_bytes) return std::nullopt;
    return found->second;
}

}  // namespace hsadrv::detail::mapped_ranges
