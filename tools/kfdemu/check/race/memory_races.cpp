#include "tools/kfdemu/check/race/memory_races.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

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

void MemoryRaces::release(std::uint32_t number, const Release& how) {
    const std::lock_guard lock{mutex_};
    Group& group = groups_[number - 1];
    group.released = next_tick();
    publish(group.published, group, std::min(how.waited, group.released));
    if (how.waited != kAll)
        for (Wave& wave : group.waves) publish(wave.published, group, wave.last_wait(how.when));
    const auto later = std::ranges::upper_bound(group.written_back, how.when, {}, &Done::tick);
    if (later != group.written_back.begin()) publish(group.kept, group, std::prev(later)->before);
}

void MemoryRaces::publish(std::vector<Done>& published, const Group& group, std::uint32_t before) {
    const std::uint32_t last = published.empty() ? 0 : published.back().before;
    if (before > last && group.stored.load(std::memory_order_relaxed) >= last)
        published.push_back({before, group.released});
}

void MemoryRaces::wait(std::uint32_t group, unsigned wave) {
    const std::lock_guard lock{mutex_};
    std::vector<Wave>& waves = groups_[group - 1].waves;
    if (waves.size() <= wave) waves.resize(wave + 1);
    waves[wave].waits.push_back(next_tick());
}

std::uint32_t MemoryRaces::Wave::last_wait(std::uint32_t tick) const {
    const auto later = std::ranges::upper_bound(waits, tick);
    return later == waits.begin() ? 0 : *std::prev(later);
}

std::uint32_t MemoryRaces::last_wait(std::uint32_t group, unsigned wave, std::uint32_t tick) const {
    const std::lock_guard lock{mutex_};
    const std::vector<Wave>& waves = groups_[group - 1].waves;
    return wave < waves.size() ? waves[wave].last_wait(tick) : 0;
}

void MemoryRaces::wrote_back(std::uint32_t group, std::uint32_t before) {
    const std::lock_guard lock{mutex_};
    std::vector<Done>& done = groups_[group - 1].written_back;
    if (done.empty() || done.back().before < before) done.push_back({before, next_tick()});
}

bool MemoryRaces::released_since(std::uint32_t group, std::uint32_t tick) const {
    const std::lock_guard lock{mutex_};
    return groups_[group - 1].released > tick;
}

std::uint32_t MemoryRaces::first_after(const std::vector<Done>& published, std::uint32_t tick) {
    const auto first = std::ranges::upper_bound(published, tick, {}, &Done::before);
    return first == published.end() ? 0 : first->tick;
}

std::uint32_t MemoryRaces::published_after(const MemoryShadow::Record& store) const {
    const std::lock_guard lock{mutex_};
    const Group& group = groups_[store.group - 1];
    if (store.kept != 0) return first_after(group.kept, store.tick);
    const std::uint32_t by_any = first_after(group.published, store.tick);
    const std::uint32_t by_own =
        store.wave < group.waves.size() ? first_after(group.waves[store.wave].published, store.tick) : 0;
    return by_any == 0 || by_own == 0 ? std::max(by_any, by_own) : std::min(by_any, by_own);
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
