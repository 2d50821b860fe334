#include "memory_races.hpp"

namespace kfdemu::check {

std::uint64_t MemoryRaces::new_serial() {
    static std::atomic<std::uint64_t> last{0};  // relaxed: only distinct
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

std::uint32_t MemoryRaces::add_group(const GroupId& id) {
    const std::lock_guard lock{mutex_};
    groups_.push_back({id, 0});
    return static_cast<std::uint32_t>(groups_.size());
}

MemoryRaces::GroupId MemoryRaces::group_id(std::uint32_t group) const {
    const std::lock_guard lock{mutex_};
    return groups_[group - 1].id;
}

void MemoryRaces::release(std::uint32_t group) {
    const std::lock_guard lock{mutex_};
    groups_[group - 1].released = next_tick();
}

bool MemoryRaces::released_since(std::uint32_t group, std::uint32_t tick) const {
    const std::lock_guard lock{mutex_};
    return groups_[group - 1].released > tick;
}

std::uint16_t MemoryRaces::add_site(const gfx9::Inst& inst) {
    const std::lock_guard lock{mutex_};
    if (sites_.size() == 65535) return 0;
    const auto [found, added] = site_of_pc_.try_emplace(inst.pc, static_cast<std::uint16_t>(sites_.size()));
    if (added) sites_.push_back(inst);
    return found->second;
}

gfx9::Inst MemoryRaces::site(std::uint16_t number) const {
    const std::lock_guard lock{mutex_};
    return sites_[number];
}

}  // namespace kfdemu::check
