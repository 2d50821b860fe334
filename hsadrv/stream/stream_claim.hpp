// Internal: leave to look at a stream's packets and to change them, for a thread that must not wait for the stream.
//
//   if (const StreamClaim claim(stream); claim) stream.writer().log().list_moves(…);
//
// It has the stream's mutex, or its thread holds that and waits (parking.hpp). Thread safety: it belongs to one thread;
// the caller sees to it that the stream does not go.
#pragma once

#include <mutex>
#include <utility>

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
    /// False: another thread submits at this moment.
    explicit operator bool() const noexcept { return mine_ || parked_ || lock_.owns_lock(); }

  private:
    StreamCore* stream_;
    std::unique_lock<LaneMutex> lock_;
    bool mine_ = false, parked_ = false;
};

}  // namespace hsadrv::detail
