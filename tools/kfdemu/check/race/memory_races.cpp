#include "tools/kfdemu/check/race/memory_races.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kfdemu::check {

std::uint64_t MemoryRaces::new_serial() {
    static std::atomic<std::uint64_t> last{0};  // relaxed: only distinct
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

std::uint32_t MemoryRaces::add_group(const GroupId& id) {
    const std::lock_guard lock{mutex_};
    groups_.emplace_back(id);
    return static_cast<std::uint32_t>(groups_.size());
}

MemoryRaces::GroupId MemoryRaces::group_id(std::uint32_t group) const {
    const std::lock_guard lock{mutex_};
    return groups_[group - 1].id;
}

void MemoryRaces::release(std::uint32_t number, std::uint32_t waited) {
    const std::lock_guard lock{mutex_};
    Group& group = groups_[number - 1];
    group.released = next_tick();
    const std::uint32_t before = std::min(waited, group.released);
    const std::uint32_t last = group.published.empty() ? 0 : group.published.back().before;
    if (before > last && group.stored.load(std::memory_order_relaxed) >= last)
        group.published.push_back({before, group.released});
}

void MemoryRaces::wait(std::uint32_t group, unsigned wave, std::uint32_t tick) {
    const std::lock_guard lock{mutex_};
    std::vector<Wait>& waits = groups_[group - 1].waits;
    waits.insert(std::ranges::upper_bound(waits, tick, {}, &Wait::tick), {tick, wave});
}

std::uint32_t MemoryRaces::last_wait(std::uint32_t group, unsigned wave, std::uint32_t tick) const {
    const std::lock_guard lock{mutex_};
    const std::vector<Wait>& waits = groups_[group - 1].waits;
    auto at = std::ranges::upper_bound(waits, tick, {}, &Wait::tick);
    while (at != waits.begin())
        if ((--at)->wave == wave) return at->tick;
    return 0;
}

bool MemoryRaces::released_since(std::uint32_t group, std::uint32_t tick) const {
    const std::lock_guard lock{mutex_};
    return groups_[group - 1].released > tick;
}

std::uint32_t MemoryRaces::published_after(std::uint32_t group, std::uint32_t tick) const {
    const std::lock_guard lock{mutex_};
    const std::vector<Published>& published = groups_[group - 1].published;
    const auto first = std::ranges::upper_bound(published, tick, {}, &Published::before);
    return first == published.end() ? 0 : first->tick;
}

std::atomic<std::uint32_t>& MemoryRaces::last_store(std::uint32_t group) {
    const std::lock_guard lock{mutex_};
    return groups_[group - 1].stored;
}

std::string MemoryRaces::told(const MemoryShadow::Record& access, bool wrote) const {
    const GroupId id = group_id(access.group);
    return fmt::format("{} by lane {} of wave {} of work-group ({}, {}, {})", wrote ? "written" : "read",
                       static_cast<unsigned>(access.lane), static_cast<unsigned>(access.wave), id[0], id[1], id[2]);
}

std::uint16_t MemoryRaces::add_site(const isa::Inst& inst) {
    const std::lock_guard lock{mutex_};
    if (sites_.size() == 65535) return 0;
    const auto [found, added] = site_of_pc_.try_emplace(inst.pc, static_cast<std::uint16_t>(sites_.size()));
    if (added) sites_.push_back(inst);
    return found->second;
}

isa::Inst MemoryRaces::site(std::uint16_t number) const {
    const std::lock_guard lock{mutex_};
    return sites_[number];
}

}  // namespace kfdemu::check
