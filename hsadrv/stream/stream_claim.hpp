// Internal: access to a stream's packets for a thread that must not wait for the stream.
//
//   if (const StreamClaim claim(stream); claim) stream.writer().log().list_moves(…);
//
// It holds the stream's mutex, or the thread that holds it waits (parking.hpp). Thread safety: a claim belongs to one
// thread; the caller keeps the stream alive.
#pragma once

#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include "hsadrv/deadline.hpp"
#include "hsadrv/stream/stream_core.hpp"

namespace hsadrv::detail {

class StreamClaim {
  public:
    /// `held`: this thread has the stream's mutex.
    explicit StreamClaim(StreamCore& stream, bool held = false) : stream_(&stream), mine_(held) {
        if (held) return;
        lock_ = stream.writer().try_lock();
        if (!lock_.owns_lock()) parked_ = stream.writer().parking().try_claim();
    }
    StreamClaim(StreamClaim&& other) noexcept
        : stream_(std::exchange(other.stream_, nullptr)),
          lock_(std::move(other.lock_)),
          mine_(other.mine_),
          parked_(std::exchange(other.parked_, false)) {}
    StreamClaim& operator=(StreamClaim&&) = delete;
    ~StreamClaim() {
        if (parked_) stream_->writer().parking().release();
    }
    StreamCore& stream() const noexcept { return *stream_; }
    /// False: another thread is submitting.
    explicit operator bool() const noexcept { return mine_ || parked_ || lock_.owns_lock(); }

  private:
    StreamCore* stream_;
    std::unique_lock<LaneMutex> lock_;
    bool mine_ = false, parked_ = false;
};

/// A claim before the deadline: another thread that is submitting is given that long to finish. May be false even so.
inline StreamClaim claim_within(StreamCore& stream, Deadline deadline) {
    for (;;) {
        StreamClaim claim(stream);
        if (claim || deadline.passed()) return claim;
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
}

/// A claim, once no other thread runs in a call of the stream: none of them waits with the mutex and runs. For calls
/// that submit nothing, which must not wait as long as another thread's call does.
inline StreamClaim claim_soon(StreamCore& stream, const char* call) {
    refuse_in_forked_child(call);
    return claim_within(stream, Deadline::never());
}

}  // namespace hsadrv::detail
