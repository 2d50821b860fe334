// Internal: a reference to a stream for objects that may outlive it: its address, and whether it has reached a
// completion.
//
//   const auto handle = stream.handle();
//   const auto now = handle->mark();                // null: the stream was destroyed
//   if (now && handle->reached(*now)) reuse();      // always true once the stream was destroyed
//
// A destroyed stream has nothing in flight. A leaving stream has ended except for work that cannot be cancelled:
// packets queued after another stream's, and copies that an engine has. If such a copy has not completed in the time
// that it may take, the stream is lost: it may never be gone. Thread safety: any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "hsadrv/base/lock_rank.hpp"
#include "hsadrv/stream/completion.hpp"

namespace hsadrv {
class Stream;
}

namespace hsadrv::detail {

class CaptureSession;
class StreamCore;

class StreamHandle {
  public:
    explicit StreamHandle(StreamCore& core) noexcept : core_(&core) {}
    StreamHandle(const StreamHandle&) = delete;
    StreamHandle& operator=(const StreamHandle&) = delete;

    enum class State { open, leaving, lost, gone };
    State state() const;
    /// The completion of everything submitted so far.
    std::optional<Completion> mark() const;
    bool reached(const Completion& completion) const;
    /// Keeps the object until everything submitted so far is complete. Returns false and keeps nothing if the stream
    /// was destroyed.
    bool keep_alive(const std::shared_ptr<const void>& object) const;
    void leave_capture(const CaptureSession& session) const noexcept;

    /// The stream, also after a move; null while it is being destroyed or after.
    Stream* stream() const noexcept { return stream_.load(std::memory_order_acquire); }

    /// Called by the stream with its new address.
    void follow(Stream* stream) noexcept { stream_.store(stream, std::memory_order_release); }
    /// Called by the stream before it is destroyed; close() follows when nothing of it is in flight any more.
    void leave(bool lost) noexcept;
    void close() noexcept;

  private:
    mutable Ranked<std::mutex, LockRank::handle> mutex_;
    StreamCore* core_;
    State state_ = State::open;
    std::atomic<Stream*> stream_{nullptr};
    mutable std::vector<std::shared_ptr<const void>> kept_;  // while the stream is leaving
};

}  // namespace hsadrv::detail
