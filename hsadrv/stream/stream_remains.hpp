// Internal: what the packets and copies of a destroyed stream use, until none of them runs any more.
//
//   auto remains = std::make_shared<StreamRemains>(handle, timeline);  // with the stream: its end must not fail
//   remains->departure.begin();
//   … remains->kept = …
//   StreamRemains::stay_for(remains, copy);
//
// Its owners: the stream, then its queue while packets are in the ring, and a callback for each copy that an engine
// has. An engine that hangs keeps it for ever: leaked, not corrupted. Thread safety: filled by the stream's destructor;
// let_go() by any thread.
#pragma once

#include <memory>
#include <optional>

#include "hsadrv/base/departure.hpp"
#include "hsadrv/memory.hpp"
#include "hsadrv/stream/completion.hpp"
#include "hsadrv/stream/packet_log.hpp"
#include "hsadrv/stream/stream_handle.hpp"
#include "hsadrv/stream/stream_holds.hpp"
#include "hsadrv/stream/stream_profile.hpp"
#include "hsadrv/stream/timeline.hpp"

namespace hsadrv::detail {

class StreamRemains {
  public:
    StreamRemains(std::shared_ptr<StreamHandle> handle, std::shared_ptr<Timeline> timeline)
        : handle_(std::move(handle)), timeline_(std::move(timeline)) {}
    StreamRemains(const StreamRemains&) = delete;
    StreamRemains& operator=(const StreamRemains&) = delete;
    ~StreamRemains();

    /// Keeps it until that copy has ended.
    static void stay_for(const std::shared_ptr<StreamRemains>& remains, Completion copy) noexcept;
    /// Gives up this reference on another thread: destructors of the user's objects take locks, may block, and may wait
    /// for copies and for callbacks. Leaks it if there is no memory for that.
    static void let_go(std::shared_ptr<StreamRemains> remains) noexcept;

    StreamHolds kept;
    Allocation kernargs;
    std::optional<PacketLog> packets;
    std::optional<StreamProfile> profile;
    Departure departure;  // ends first

  private:
    const std::shared_ptr<StreamHandle> handle_;
    const std::shared_ptr<Timeline> timeline_;
};

}  // namespace hsadrv::detail
