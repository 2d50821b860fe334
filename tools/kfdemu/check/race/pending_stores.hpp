// Which waves of a work-group have stored to memory and not waited for it.
//
//     PendingStores stores;
//     stores.begin();                                     // a new work-group
//     stores.issue(wave, stores_plainly);                 // each vector memory instruction
//     if (stores.waited(wave, vmcnt)) …                   // each s_waitcnt; it proved the last store
//     if (stores.any(wave)) …
//
// vmcnt counts in order. Source: "Vega" ISA manual, "Manually inserted wait states". Thread safety: that of its
// work-group.
#pragma once

#include <array>
#include <cstdint>

namespace kfdemu::check {

class PendingStores {
  public:
    void begin() { waves_.fill({}); }
    void issue(unsigned wave, bool store) {
        State& state = waves_[wave];
        ++state.issued;
        if (store) state.last_store = state.issued;
    }
    /// Returns whether none is pending now, and was before.
    bool waited(unsigned wave, std::uint32_t vmcnt) {
        const bool before = any(wave);
        State& state = waves_[wave];
        if (state.issued >= vmcnt && state.issued - vmcnt > state.done) state.done = state.issued - vmcnt;
        return before && !any(wave);
    }
    bool any(unsigned wave) const { return waves_[wave].last_store > waves_[wave].done; }

  private:
    struct State {
        std::uint64_t issued = 0, last_store = 0, done = 0;  // numbers of memory instructions, from 1
    };
    std::array<State, 16> waves_{};
};

}  // namespace kfdemu::check
