// A moment in a stream: wait for it on the host or on another stream, and measure between two of them.
//
//   hsadrv::Event ready = upload.record();
//   compute.wait(ready);                         // on the device: one packet, the host goes on
//   ready.synchronize(std::chrono::seconds(1));  // on the host
//
//   hsadrv::Event begin = stream.record({.timing = true}), end; …
//   end = stream.record({.timing = true});
//   std::chrono::nanoseconds took = hsadrv::elapsed(begin, end);
//
// An Event is complete when everything that was submitted to its stream before record() is complete. One that was
// never recorded is complete. If the stream fails first, waiting for the event throws the stream's failure, and
// a stream that waited for it fails with the same.
// Copies share the moment; recording anew is assigning. Keeps alive: what names the moment, not the stream.
// Thread safety: const functions from any thread; assignment as any value.
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
    bool timing = false;  ///< the device writes down when the moment came: one more packet
};

class Event {
  public:
    Event() noexcept = default;

    /// Was it ever recorded?
    explicit operator bool() const noexcept { return state_ != nullptr; }
    /// Is it complete? Throws the stream's failure.
    bool query() const;
    /// Returns when it is complete. Throws Timeout, saying what the stream waits for, or the stream's failure.
    void synchronize(Deadline deadline = {}) const;

    /// When the moment came, on the host's steady clock; the device's clock is converted. Waits for nothing: throws
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

/// From one moment to a later one, by the device's clock (by the host's, if they are of two devices). Throws as
/// Event::time().
std::chrono::nanoseconds elapsed(const Event& begin, const Event& end);

}  // namespace hsadrv
