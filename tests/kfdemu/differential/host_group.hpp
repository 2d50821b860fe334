// A work-group on the host: each work-item is a context of its own, and one runs at a time.
//
//     HostGroup::run(group, 256, [&] { kernel(a, b, out, n); });
//
// A work-item runs until it ends, meets a barrier or exchanges values with its wave. Past a barrier go all work-items
// that have not ended, together; past an exchange the 64 of a wave. When nobody can go on the kernel is wrong, and run
// throws.
// Not thread-safe: one group at a time in a process.
#pragma once

#include <ucontext.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace differential {

using Lanes = std::array<std::uint32_t, 64>;

class HostGroup {
  public:
    static void run(std::uint32_t id, std::uint32_t size, const std::function<void()>& kernel);

    /// The group whose work-item calls.
    static HostGroup& running();
    std::uint32_t item() const { return current_; }
    std::uint32_t id() const { return id_; }
    std::uint32_t size() const { return static_cast<std::uint32_t>(items_.size()); }

    void barrier() { wait(State::AtBarrier); }
    /// What each lane of this wave gives. Borrows: the group, until the lane's next exchange but one.
    const Lanes& exchange(std::uint32_t value);

  private:
    enum class State { Ready, AtBarrier, AtExchange, Ended };
    struct Item {
        ucontext_t context;
        State state = State::Ready;
        std::uint32_t exchanges = 0;
    };

    HostGroup(std::uint32_t id, std::uint32_t size, const std::function<void()>& kernel);
    static void enter();
    void wait(State state);
    void run_to_end();
    bool release(std::size_t first, std::size_t count, State waiting);

    std::uint32_t id_, current_ = 0;
    const std::function<void()>& kernel_;
    ucontext_t scheduler_;
    std::vector<Item> items_;
    std::unique_ptr<char[]> stacks_;
    std::vector<std::array<Lanes, 2>> waves_;  ///< of this exchange and of the one before
};

/// The lane that a DPP_CTRL reads for a lane, -1 where there is none.
int dpp_source(int control, int lane);

}  // namespace differential
