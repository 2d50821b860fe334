// A work-group on the host: each work-item is a separate context, and one runs at a time.
//
//     HostGroup::run_grid({1024, 1, 1}, {256, 1, 1}, [&] { kernel(a, b, out, n); });
//
// A work-item runs until it ends, meets a barrier or exchanges values with its wave. Past a barrier go all work-items
// that have not ended, together; past an exchange those of a wave; past a meeting those lanes of a wave that are at
// the same place, the lowest place first. If no work-item can continue, the kernel is wrong and run throws. Not
// thread-safe:
// one group at a time in a process.
#pragma once

#include <ucontext.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace differential {

using Lanes = std::array<std::uint32_t, 64>;

/// Lanes of a wave of the twins, and among how many beside each other DS_PERMUTE and DS_BPERMUTE move values.
struct WaveShape {
    std::uint32_t lanes = 64, permuted = 64;
    bool operator==(const WaveShape&) const = default;
};
extern WaveShape wave_shape;
using Extent = std::array<std::uint32_t, 3>;

/// The values of the lanes that met.
struct Told {
    Lanes values{};
    std::uint64_t lanes = 0;  ///< bit i: lane i is there
    bool here(std::uint32_t lane) const { return lanes >> lane & 1; }
};

/// A group's position. Its items and waves are numbered over the items inside the grid.
struct Place {
    Extent id, grid, full_size;
    Extent size() const;
};

class HostGroup {
  public:
    /// Every group of the grid, one after the other.
    static void run_grid(const Extent& grid, const Extent& size, const std::function<void()>& kernel);
    static void run(const Place& place, const std::function<void()>& kernel);

    /// The calling work-item's group.
    static HostGroup& running();
    std::uint32_t item() const { return current_; }
    const Place& place() const { return place_; }
    std::uint32_t item(unsigned dimension) const;
    std::uint32_t size() const { return static_cast<std::uint32_t>(items_.size()); }

    void barrier() { wait(State::AtBarrier); }
    /// The value of each lane of this wave. Borrows: the group, until the lane's next exchange but one.
    const Lanes& exchange(std::uint32_t value);
    /// What those lanes of this wave give that come to the same place. Places grow as a lane goes on: lanes that took a
    /// longer way to a place are waited for. Borrows: this work-item, until its next meeting.
    const Told& meet(std::uint32_t place, std::uint32_t value);

  private:
    enum class State { Ready, AtBarrier, AtExchange, AtMeeting, Ended };
    struct Item {
        ucontext_t context;
        State state = State::Ready;
        std::uint32_t exchanges = 0;
        std::uint32_t place = 0, value = 0;  ///< of a meeting
        Told told;
    };

    HostGroup(const Place& place, const std::function<void()>& kernel);
    static void enter();
    void wait(State state);
    void run_to_end();
    bool release(std::size_t first, std::size_t count, State waiting);
    bool release_meeting(std::size_t first, std::size_t count);

    Place place_;
    std::uint32_t current_ = 0;
    const std::function<void()>& kernel_;
    ucontext_t scheduler_;
    std::vector<Item> items_;
    std::unique_ptr<char[]> stacks_;
    std::vector<std::array<Lanes, 2>> waves_;  ///< of this exchange and of the one before
};

/// The lane that a DPP_CTRL reads for a lane; -1 if none.
int dpp_source(int control, int lane);

}  // namespace differential
