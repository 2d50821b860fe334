// Internal: a stream as those see it who may outlive it: where it is now, and whether it has got there.
//
//   const auto handle = stream.handle();
//   const auto now = handle->mark();                // nothing: another thread is submitting, or the stream is gone
//   if (now && handle->reached(*now)) reuse();      // always true once the stream is gone
//
// A stream that is gone has nothing in flight. One that is leaving has ended but for work that cannot be
// taken back. If its end had to leave a copy to an engine that hangs, it is lost: what it used may be written
// to at any time. Thread safety: any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "hsadrv/base/lock_rank.hpp"
#include "hsadrv/stream/hold_list.hpp"

namespace hsadrv {
class Stream;
}

namespace hsadrv::detail {

class StreamCore;

class StreamHandle {
  public:
    explicit StreamHandle(StreamCore& core) noexcept : core_(&core) {}
    StreamHandle(const StreamHandle&) = delete;
    StreamHandle& operator=(const StreamHandle&) = delete;

    enum class State { open, leaving, gone, lost };
    State state() const;
    /// The moment when everything submitted so far is complete. Does not wait.
    std::optional<Completion> mark() const;
    bool reached(const Completion& completion) const;
    /// Keeps the object until everything submitted so far is complete; for ever, if that is lost. False, and
    /// nothing, if the stream is gone.
    bool keep_alive(const std::shared_ptr<const void>& object) const;

    /// The stream, wherever it was moved to; null when it is going or gone.
    Stream* stream() const noexcept { return stream_.load(std::memory_order_acquire); }

    /// By the stream: it lives here from now on.
    void follow(Stream* stream) noexcept { stream_.store(stream, std::memory_order_release); }
    /// By the stream, before it is destroyed with work in flight: close() comes later.
    void leave() noexcept;
    /// When nothing of it is in flight any more, or nobody will ever know.
    void close(bool lost) noexcept;

  private:
    mutable Ranked<std::mutex, LockRank::handle> mutex_;
    StreamCore* core_;
    State state_ = State::open;
    std::atomic<Stream*> stream_{nullptr};
    mutable std::vector<std::shared_ptr<const void>> kept_;  // while it is leaving
};

}  // namespace hsadrv::detail
