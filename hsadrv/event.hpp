// A point in a stream: wait for it on the host or on another stream, and measure the time between two.
//
//   hsadrv::Event ready = upload.record();
//   compute.wait(ready);                         // on the device: one packet, the host does not block
//   ready.synchronize(std::chrono::seconds(1));  // on the host
//
//   hsadrv::Event begin = stream.record({.timing = true}), end; …
//   end = stream.record({.timing = true});
//   std::chrono::nanoseconds took = hsadrv::elapsed(begin, end);
//
// An Event is complete when everything submitted to its stream before record() is complete. An Event that was never
// recorded is complete. If the stream fails first, waiting for the event throws the stream's error, and a stream that
// waits for it fails with the same error. An Event that was recorded in a capture orders streams of that capture
// (graph.hpp) and has no other use: query(), synchronize() and time() throw InvalidArgument. Copies refer to the same
// point; assign to record again. Keeps alive: the state of the event, not the stream. Thread safety: const functions
// from any thread; assignment as any value.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "hsadrv/deadline.hpp"

namespace hsadrv {

namespace detail {
struct EventState;
class GraphState;
class StreamCore;
}  // namespace detail

struct EventOptions {
    bool timing = false;  ///< the device records the time: one more packet
};

class Event {
  public:
    Event() noexcept = default;

    /// True if it was recorded.
    explicit operator bool() const noexcept { return state_ != nullptr; }
    /// True if it is complete. Throws the stream's error.
    bool query() const;
    /// Returns when it is complete. Throws Timeout naming what the stream waits for, or the stream's error.
    void synchronize(Deadline deadline = {}) const;

    /// The time of completion, converted from the device's clock to the host's steady clock. Does not wait: throws
    /// Error if the event is not complete, InvalidArgument if it was recorded without timing.
    std::chrono::steady_clock::time_point time() const;

  private:
    explicit Event(std::shared_ptr<const detail::EventState> state) noexcept : state_(std::move(state)) {}
    std::shared_ptr<const detail::EventState> state_;
    friend class Stream;
    friend class detail::GraphState;
    friend class detail::StreamCore;
    friend std::chrono::nanoseconds elapsed(const Event& begin, const Event& end);
};

/// The time between two events, by the device's clock (by the host's if they are on different devices). Throws as
/// Event::time().
std::chrono::nanoseconds elapsed(const Event& begin, const Event& end);

}  // namespace hsadrv
