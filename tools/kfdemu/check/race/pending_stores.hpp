// Which waves of a work-group have stored to memory and not waited for it.
//
//     PendingStores stores;
//     stores.begin();                                     // a new work-group
//     stores.issue(wave, PendingStores::Does::Stores);    // each instruction that the counter of stores counts
//     if (stores.waited(wave, waits.stores).stores) …     // each s_waitcnt; it proved the last store
//     if (stores.any(wave)) …
//
// What writes a cache back is waited for as stores are (CacheModel).
// The counter counts in order (Counters). Source: "Vega" ISA manual, "Manually inserted wait states". Thread safety:
// that of its work-group.
#pragma once

#include <array>
#include <cstdint>

#include "tools/kfdemu/check/race/group_order.hpp"

namespace kfdemu::check {

class PendingStores {
  public:
    enum class Does : std::uint8_t { Nothing, Stores, WritesBack };
    /// What a wait has proved that was pending before it.
    struct Proved {
        bool stores = false, writeback = false;  ///< the last ones
    };

    void begin() { waves_.fill({}); }
    void issue(unsigned wave, Does does) {
        State& state = waves_[wave];
        ++state.issued;
        if (does == Does::Stores) state.last_store = state.issued;
        if (does == Does::WritesBack) state.last_writeback = state.issued;
    }
    Proved waited(unsigned wave, std::uint32_t most) {
        State& state = waves_[wave];
        const std::uint64_t before = state.done;
        if (state.issued >= most && state.issued - most > state.done) state.done = state.issued - most;
        const auto proved = [&](std::uint64_t number) { return number > before && number <= state.done; };
        return {proved(state.last_store), proved(state.last_writeback)};
    }
    bool any(unsigned wave) const { return waves_[wave].last_store > waves_[wave].done; }

  private:
    struct State {
        // Numbers of memory instructions, from 1.
        std::uint64_t issued = 0, done = 0, last_store = 0, last_writeback = 0;
    };
    std::array<State, GroupOrder::kMaxWaves> waves_{};
};

}  // namespace kfdemu::check
