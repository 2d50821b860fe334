// Which waves of a work-group have stored to memory and not waited for it.
//
//     PendingStores stores;
//     stores.begin();                                     // a new work-group
//     stores.issue(wave, PendingStores::Does::Stores);    // each vector memory instruction
//     if (stores.waited(wave, vmcnt)) …                   // each s_waitcnt; it proved the last store
//     if (stores.any(wave)) …
//
// What a cache keeps is proved by a wait for what writes the cache back (CacheModel).
// vmcnt counts in order. Source: "Vega" ISA manual, "Manually inserted wait states". Thread safety: that of its
// work-group.
#pragma once

#include <array>
#include <cstdint>

namespace kfdemu::check {

class PendingStores {
  public:
    enum class Does : std::uint8_t { Nothing, Stores, StoresInCache, WritesBack };

    void begin() { waves_.fill({}); }
    void issue(unsigned wave, Does does) {
        State& state = waves_[wave];
        ++state.issued;
        if (does == Does::StoresInCache) state.kept = true;
        if (does == Does::WritesBack && !state.kept) return;
        if (does == Does::WritesBack) state.kept = false;
        if (does == Does::Stores || does == Does::WritesBack) state.last_store = state.issued;
    }
    /// Returns whether none that has left the cache is pending now, and was before.
    bool waited(unsigned wave, std::uint32_t vmcnt) {
        State& state = waves_[wave];
        const bool before = state.last_store > state.done;
        if (state.issued >= vmcnt && state.issued - vmcnt > state.done) state.done = state.issued - vmcnt;
        return before && state.last_store <= state.done;
    }
    bool any(unsigned wave) const { return waves_[wave].kept || waves_[wave].last_store > waves_[wave].done; }

  private:
    struct State {
        std::uint64_t issued = 0, last_store = 0, done = 0;  // numbers of memory instructions, from 1
        bool kept = false;                                   // in a cache that was not written back since
    };
    std::array<State, 16> waves_{};
};

}  // namespace kfdemu::check
