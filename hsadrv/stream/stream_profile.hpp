// Internal: the records of a profiled stream.
//
//   profile.make_room();
//   profile.push(record, signal, epochs);   // in flight: the device writes its times to the signal
//   profile.collect(timeline);              // completed ones
//
// Each operation in flight keeps its signal. The number of completed records is bounded, and the oldest are dropped.
// Thread safety: none; the stream's mutex guards it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hsadrv/agent.hpp"
#include "hsadrv/base/growing_ring.hpp"
#include "hsadrv/memory/copy_route.hpp"
#include "hsadrv/profile.hpp"
#include "hsadrv/signal_pool.hpp"
#include "hsadrv/stream/timeline.hpp"

namespace hsadrv::detail {

/// The record of a copy, without its times.
ProfileRecord copy_record(CopySide to, CopySide from, std::uint64_t bytes);

class StreamProfile {
  public:
    /// `most` records are kept.
    StreamProfile(AgentRef agent, std::size_t most) : agent_(agent), most_(most) {}

    /// Whether submitted work is recorded.
    bool on() const noexcept { return on_; }
    void turn(bool on) noexcept { on_ = on; }

    void make_room() { pending_.make_room(1); }
    /// `epochs`: the record is lost if these are.
    void push(ProfileRecord record, std::shared_ptr<PooledSignal> signal, std::uint64_t epochs) {
        pending_.push_back({std::move(record), std::move(signal), epochs});
    }
    /// A record that is already complete.
    void add(ProfileRecord record);
    void collect(const Timeline& timeline);
    /// Takes all completed records; only those in flight remain.
    Profile take(const Timeline& timeline);

  private:
    struct Pending {
        ProfileRecord record;
        std::shared_ptr<PooledSignal> signal;
        std::uint64_t epochs = 0;
    };

    void read_times(Pending& over) const noexcept;

    AgentRef agent_;
    std::size_t most_;
    bool on_ = false;
    GrowingRing<Pending> pending_;
    GrowingRing<ProfileRecord> over_;
    std::uint64_t dropped_ = 0;
    std::vector<std::shared_ptr<PooledSignal>> lost_;  // of lost operations: their packets may still run
};

}  // namespace hsadrv::detail
