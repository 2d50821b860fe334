// What the work-groups of one dispatch share to find their races in memory: the shadow, and which of them has
// synchronised when.
//
//     MemoryRaces races{target};                                   // one for a dispatch
//     std::uint32_t group = races.add_group({x, y, z});
//     races.release(group, {});                                    // an atomic, a flag that others see
//     if (!races.released_since(group, tick)) …                    // not ordered
//     if (races.published_after(record) == 0) …                    // ordered, but maybe not in the L2 cache
//
// Work-groups of a dispatch are unordered, unless both have synchronised in between: then what came before in the one
// is taken to be ordered before what comes after in the other, whichever addresses they used. Thread safety: every
// function, any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "tools/kfdemu/check/race/cache_model.hpp"
#include "tools/kfdemu/check/race/memory_shadow.hpp"
#include "tools/kfdemu/isa/encodings/inst.hpp"

namespace kfdemu::check {

class MemoryRaces {
  public:
    using GroupId = std::array<std::uint32_t, 3>;

    explicit MemoryRaces(isa::Target target) : caches{cache_model(target)} {}

    const CacheModel caches;  ///< of the GPU

    std::uint32_t add_group(const GroupId& id);
    GroupId group_id(std::uint32_t group) const;

    /// Grows with each synchronisation of any work-group.
    std::uint32_t tick() const { return tick_.load(std::memory_order_relaxed); }
    std::uint32_t next_tick() { return tick_.fetch_add(1, std::memory_order_relaxed) + 1; }
    static constexpr std::uint32_t kAll = ~std::uint32_t{0};
    struct Release {
        std::uint32_t waited = kAll;  ///< the wave has waited for the stores of before this tick; kAll: for all
        std::uint32_t when = kAll;    ///< tick at which it synchronised; kAll: now
    };
    /// A wave releases its group's stores: those that itself or the storing wave has waited for, and those in a cache
    /// that any wave of the group has written back.
    void release(std::uint32_t group, const Release& how);
    /// A wave has waited for all of its stores.
    void wait(std::uint32_t group, unsigned wave);
    /// When it last had, at that tick; 0: never.
    std::uint32_t last_wait(std::uint32_t group, unsigned wave, std::uint32_t tick) const;
    /// What the cache kept of the group's stores before that tick is written back.
    void wrote_back(std::uint32_t group, std::uint32_t before);
    bool released_since(std::uint32_t group, std::uint32_t tick) const;
    /// When the group first released that store, having waited for it or for its write-back; 0: it has not.
    std::uint32_t published_after(const MemoryShadow::Record& store) const;
    /// Tick of the group's last store; only its own worker sets it. Relaxed: release() takes a lock.
    std::atomic<std::uint32_t>& last_store(std::uint32_t group);

    /// "written by lane 3 of wave 0 of work-group (1, 0, 0)".
    std::string told(const MemoryShadow::Record& access, bool wrote) const;
    std::uint16_t add_site(const isa::Inst& inst);
    isa::Inst site(std::uint16_t number) const;

    MemoryShadow shadow;
    std::atomic<bool> invalidated{false};       ///< a wave has invalidated a cache; relaxed: read after the end
    std::atomic<bool> looks_for_others{false};  ///< atomics, volatile or polling loads; relaxed: likewise
    const std::uint64_t serial = new_serial();  ///< no other object has it

  private:
    static std::uint64_t new_serial();
    struct Done {
        std::uint32_t before = 0;  ///< stores of earlier ticks have happened
        std::uint32_t tick = 0;    ///< when that was known
    };
    struct Wave {
        std::vector<std::uint32_t> waits;  ///< ticks
        std::vector<Done> published;       ///< of its stores, because it has waited for them itself

        std::uint32_t last_wait(std::uint32_t tick) const;
    };
    struct Group {
        explicit Group(const GroupId& of) : id{of} {}
        GroupId id;
        std::uint32_t released = 0;            ///< tick of its last release
        std::atomic<std::uint32_t> stored{0};  ///< and of its last store
        std::vector<Wave> waves;               ///< as far as any has waited
        std::vector<Done> written_back;        ///< both ticks grow, here and below
        std::vector<Done> published;           ///< of stores that no cache keeps
        std::vector<Done> kept;                ///< of others
    };
    static void publish(std::vector<Done>& published, const Group& group, std::uint32_t before);
    static std::uint32_t first_after(const std::vector<Done>& published, std::uint32_t tick);

    // Relaxed: records and releases are published by the locks of pages and of this.
    std::atomic<std::uint32_t> tick_{1};
    mutable std::mutex mutex_;
    std::deque<Group> groups_;
    std::deque<isa::Inst> sites_;
    std::unordered_map<std::uint64_t, std::uint16_t> site_of_pc_;
};

}  // namespace kfdemu::check
