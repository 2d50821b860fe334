// What the work-groups of one dispatch share to find their races in memory: the shadow, and which of them has
// synchronised when.
//
//     MemoryRaces races;                                           // one for a dispatch
//     std::uint32_t group = races.add_group({x, y, z});
//     races.release(group);                                        // an atomic, a fence, a flag that others see
//     if (!races.released_since(group, tick)) …
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
#include <unordered_map>

#include "../gfx9/inst.hpp"
#include "memory_shadow.hpp"

namespace kfdemu::check {

class MemoryRaces {
  public:
    using GroupId = std::array<std::uint32_t, 3>;

    std::uint32_t add_group(const GroupId& id);
    GroupId group_id(std::uint32_t group) const;

    /// Grows with each synchronisation of any work-group.
    std::uint32_t tick() const { return tick_.load(std::memory_order_relaxed); }
    std::uint32_t next_tick() { return tick_.fetch_add(1, std::memory_order_relaxed) + 1; }
    void release(std::uint32_t group);
    bool released_since(std::uint32_t group, std::uint32_t tick) const;

    std::uint16_t add_site(const gfx9::Inst& inst);
    gfx9::Inst site(std::uint16_t number) const;

    MemoryShadow shadow;
    const std::uint64_t serial = new_serial();  ///< no other object has it

  private:
    static std::uint64_t new_serial();
    struct Group {
        GroupId id{};
        std::uint32_t released = 0;  ///< tick of its last release
    };

    // Relaxed: records and releases are published by the locks of pages and of this.
    std::atomic<std::uint32_t> tick_{1};
    mutable std::mutex mutex_;
    std::deque<Group> groups_;
    std::deque<gfx9::Inst> sites_;
    std::unordered_map<std::uint64_t, std::uint16_t> site_of_pc_;
};

}  // namespace kfdemu::check
