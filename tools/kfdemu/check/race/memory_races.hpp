// What the work-groups of one dispatch share to find their races in memory: the shadow, and which of them has
// synchronised when.
//
//     MemoryRaces races{target};                                   // one for a dispatch
//     std::uint32_t group = races.add_group({x, y, z});
//     races.release(group, MemoryRaces::kAll);                     // an atomic, a flag that others see
//     if (!races.released_since(group, tick)) …                    // not ordered
//     if (races.published_after(group, tick) == 0) …               // ordered, but maybe not in the L2 cache
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
    /// The wave that does it has waited for the stores of before the tick `waited`; kAll: for all of its stores.
    void release(std::uint32_t group, std::uint32_t waited);
    static constexpr std::uint32_t kAll = ~std::uint32_t{0};
    /// A wave has waited for all of its stores of before that tick.
    void wait(std::uint32_t group, unsigned wave, std::uint32_t tick);
    /// When it last had, at that tick; 0: never.
    std::uint32_t last_wait(std::uint32_t group, unsigned wave, std::uint32_t tick) const;
    bool released_since(std::uint32_t group, std::uint32_t tick) const;
    /// When the group first released what it wrote at that tick, having waited for it; 0: it has not.
    std::uint32_t published_after(std::uint32_t group, std::uint32_t tick) const;
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
    struct Wait {
        std::uint32_t tick = 0;
        unsigned wave = 0;
    };
    struct Published {
        std::uint32_t before = 0;  ///< stores of earlier ticks have happened
        std::uint32_t tick = 0;    ///< of the release
    };
    struct Group {
        explicit Group(const GroupId& of) : id{of} {}
        GroupId id;
        std::uint32_t released = 0;            ///< tick of its last release
        std::atomic<std::uint32_t> stored{0};  ///< and of its last store
        std::vector<Wait> waits;               ///< in the order of their ticks
        std::vector<Published> published;      ///< both ticks grow
    };

    // Relaxed: records and releases are published by the locks of pages and of this.
    std::atomic<std::uint32_t> tick_{1};
    mutable std::mutex mutex_;
    std::deque<Group> groups_;
    std::deque<isa::Inst> sites_;
    std::unordered_map<std::uint64_t, std::uint16_t> site_of_pc_;
};

}  // namespace kfdemu::check
