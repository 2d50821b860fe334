// Where a stretch uses and sets each value, in order: what the register allocation looks ahead to.
//
//     if (uses.is_dead(value, now)) …   // no later operation needs what it holds
//
// Pure. Thread safety: none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <vector>

namespace kfdemu::jit {

class ValueUses {
  public:
    static constexpr std::size_t kNever = ~std::size_t{0};

    void use(unsigned value, std::size_t at) { of_[value].push_back({at, true}); }
    void set(unsigned value, std::size_t at) { of_[value].push_back({at, false}); }
    /// From operation `now` on: the next use, kNever if it is set before or never used.
    std::size_t next_use(unsigned value, std::size_t now) const {
        const Event* const next = from(value, now);
        return next != nullptr && next->uses ? next->at : kNever;
    }
    /// Whether the value is set again before it is used.
    bool is_dead(unsigned value, std::size_t now) const {
        const Event* const next = from(value, now);
        return next != nullptr && !next->uses;
    }

  private:
    struct Event {
        std::size_t at;
        bool uses;
    };
    const Event* from(unsigned value, std::size_t now) const {
        const auto found = of_.find(value);
        if (found == of_.end()) return nullptr;
        const auto& events = found->second;
        const auto next = std::lower_bound(events.begin(), events.end(), now,
                                           [](const Event& event, std::size_t at) { return event.at < at; });
        return next == events.end() ? nullptr : &*next;
    }
    std::unordered_map<unsigned, std::vector<Event>> of_;
};

}  // namespace kfdemu::jit
