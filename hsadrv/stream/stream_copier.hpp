// Internal: how a stream copies and fills: by the CPU, by an engine, or by both through pinned memory.
//
//   copier.copy(to, from, size_bytes, deadline);
//
// stream_copy.cpp: ranges and fills; stream_rect.cpp: rectangles. The stream orders what this submits
// (StreamCore::put_copy). Invariants: a staging buffer is reused only when its last copy is complete, and one operation
// uses it at a time: it gives the mutex back while it waits, and a host function may copy meanwhile. Thread safety:
// copy(), copy_rect() and fill() take the stream's mutex; it guards the rest. Borrows the stream.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "hsadrv/memory.hpp"
#include "hsadrv/memory/copy_route.hpp"
#include "hsadrv/rect.hpp"
#include "hsadrv/stream/completion.hpp"
#include "hsadrv/stream/copy_queue.hpp"

namespace hsadrv::detail {

class StreamCore;

/// Up to this size, the CPU copies host memory in less time than it takes to start an engine.
inline constexpr std::size_t small_copy_bytes = 32u << 10;

/// Pinned memory through which pageable host memory is copied. Filled front to back; reused from the front when the
/// last copy that uses it is complete.
struct Staging {
    std::shared_ptr<Allocation> memory;
    std::size_t used_bytes = 0;
    Completion last;
};
/// One is filled while the other's copies are in flight.
struct StagingPair {
    Staging buffers[2];
    unsigned turn = 0;
};

class StreamCopier {
  public:
    StreamCopier(StreamCore& stream, AgentRef agent) noexcept : stream_(stream), agent_(agent) {}

    void copy(void* destination, const void* source, std::size_t size_bytes, Deadline deadline);
    void copy_rect(const Rect& rect, Deadline deadline);
    void fill(void* destination, std::size_t size_bytes, std::span<const std::byte> pattern, Deadline deadline);

  private:
    /// Whether the CPU may copy now. Waits for earlier work if the caller has to wait anyway.
    bool on_host(const CopyRoute& route, std::size_t size_bytes, Deadline deadline, const char* call);
    /// One copy by an engine. A staging buffer, if it uses one, is kept and not reused until then.
    Completion put(CopyQueue::Start start, CopySide to, CopySide from, std::size_t size_bytes, Deadline deadline,
                   Staging* staging, CopyQueue::Parts parts = {});
    Completion copy_linear(CopySide to, CopySide from, std::size_t size_bytes, Deadline deadline,
                           Staging* staging = nullptr);
    void copy_through_host(StagingPair& staging, CopySide to, CopySide from, std::size_t size_bytes, Deadline deadline);
    void upload(StagingPair& staging, CopySide to, const void* from, std::size_t size_bytes, Deadline deadline);
    void download(StagingPair& staging, void* to, CopySide from, std::size_t size_bytes, Deadline deadline);

    /// One plane of a rectangle; the pitch is the distance between rows.
    struct PlaneEnd {
        CopySide end;
        std::size_t pitch_bytes;
        PlaneEnd rows_from(std::size_t row) const noexcept;
    };
    struct Plane {
        PlaneEnd to, from;
        std::size_t width_bytes, height;
    };
    Completion copy_plane(const Plane& plane, Deadline deadline, Staging* staging = nullptr);
    Completion put_rows(const Plane& plane, Deadline deadline, Staging* staging);
    void upload_plane(StagingPair& staging, const Plane& plane, Deadline deadline);
    void download_plane(StagingPair& staging, const Plane& plane, Deadline deadline);
    void plane_through_host(StagingPair& staging, const Plane& plane, Deadline deadline);

    /// A part of one of the two staging buffers, of at least `least_bytes`. Waits for the last copy that uses a buffer
    /// before that is reused.
    struct StagingPart {
        Staging* staging;
        std::byte* data;
        std::size_t size_bytes;
    };
    StagingPart stage(StagingPair& pair, std::size_t wanted_bytes, Deadline deadline, std::size_t least_bytes = 1);
    /// The stream's buffers, for the time of an operation; others, if another one has them.
    class Lease {
      public:
        explicit Lease(StreamCopier& copier)
            : copier_(copier), pair_(copier.spare_ ? std::move(copier.spare_) : std::make_unique<StagingPair>()) {}
        Lease(const Lease&) = delete;
        Lease& operator=(const Lease&) = delete;
        ~Lease() { copier_.spare_ = std::move(pair_); }
        operator StagingPair&() const noexcept { return *pair_; }  // NOLINT: it is one for its time

      private:
        StreamCopier& copier_;
        std::unique_ptr<StagingPair> pair_;
    };

    StreamCore& stream_;
    AgentRef agent_;
    std::unique_ptr<StagingPair> spare_;
};

}  // namespace hsadrv::detail
