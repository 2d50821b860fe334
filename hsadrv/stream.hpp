// A stream: operations that run in the order in which they were submitted.
//
//   hsadrv::Stream stream = gpu.stream();
//   stream.copy_async(device.data(), host.data(), bytes);
//   kernel.launch(stream, {.grid = n, .workgroup = 256}, device.data(), n);
//   stream.synchronize(std::chrono::seconds(10));
//
// Ordering: every operation, copy or kernel, starts after the previous one is complete and sees what the host wrote
// before submitting it. After synchronize() the host sees what the stream wrote. Thread safety: any thread. Operations
// of several threads are whole: one that waits, for room or for pageable memory, keeps the others waiting, but no call
// that submits nothing, and no host function, whose operations go between (and may run beside the
// branches of a graph whose launch waits). Deadlines: calls that may wait (a full ring, staging, synchronize) take one;
// a Timeout loses no work, but a part of a copy of pageable memory, or of a graph, may be enqueued. Errors: sticky.
// Every later call that submits or waits throws the stream's first error. Operations enqueued after lost work do not
// run. After a failure on the host (a wait for lost work, a host function that throws), what was enqueued before it
// still runs, except host functions that have not begun and what follows them; events and on_complete() tell which.
// After a QueueError other streams continue, including those on the same hardware queue, which move to a new one
// (OutOfMemory if the GPU has none left); after a MemoryFault all streams of that GPU fail (DeviceLost), because Linux
// stops every queue of the process there. A stream that has waited for an event of a failed stream fails with the same
// error. A closed or moved-from stream throws StreamEnded. Keeps alive, until the operation that uses them is complete:
// argument blocks, signals, staging buffers, and objects passed to keep_alive() and release(). The caller keeps raw
// pointers valid. Owns: its place on one of the GPU's hardware queues. If streams outnumber the queues, they share them
// and take turns. The destructor waits StreamOptions::drain (10 s by default) for work in flight, then ends it.
#pragma once

#include "shared/cpp20.hpp"

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "hsadrv/agent.hpp"
#include "hsadrv/deadline.hpp"
#include "hsadrv/dispatch_spec.hpp"
#include "hsadrv/driver.hpp"
#include "hsadrv/event.hpp"
#include "hsadrv/memory.hpp"
#include "hsadrv/packet.hpp"
#include "hsadrv/profile.hpp"
#include "hsadrv/queue.hpp"
#include "hsadrv/rect.hpp"
#include "hsadrv/signal.hpp"
#include "hsadrv/stream/launch_lane.hpp"

namespace hsadrv {

namespace detail {
class StreamCore;
class StreamHandle;
}  // namespace detail

struct StreamOptions {
    std::string name = {};                   ///< for messages
    std::uint32_t packets = 1024;            ///< operations in flight, a power of two
    std::size_t kernarg_bytes = 512u << 10;  ///< argument storage in flight; a multiple of 256
    /// The destructor waits this long for work in flight, then ends it.
    std::chrono::nanoseconds drain = std::chrono::seconds(10);
    bool exclusive_queue =
        false;  ///< a hardware queue that no other stream uses; not for branches and cooperative launches
    /// Relative to other queues. Streams share a queue only if their priorities and masks are equal.
    QueuePriority priority = QueuePriority::normal;
    /// One bit per compute unit on which the stream's kernels may run; empty: all of them.
    std::vector<std::uint32_t> cu_mask = {};
    bool profile = false;                ///< same as Stream::profile(true)
    std::size_t profile_records = 4096;  ///< kept until take_profile(); older ones are dropped and counted
};

class AutoSynchronize;
class Graph;

/// The awaitable that Stream::completion() returns. Borrows: the stream, until it resumes.
class StreamCompletion {
  public:
    explicit StreamCompletion(detail::StreamCore& core) noexcept : core_(core) {}
    bool await_ready();
    void await_suspend(std::coroutine_handle<> waiting);
    void await_resume() const {
        if (error_) std::rethrow_exception(error_);
    }

  private:
    detail::StreamCore& core_;
    std::exception_ptr error_;
};

class Stream {
  public:
    /// Throws DeviceLost after a memory fault of the GPU; OutOfMemory if the GPU has no queue left, or if the streams'
    /// queues are used up and none has these options; InvalidArgument for a mask that leaves no compute unit, and for
    /// sizes that the GPU does not accept.
    explicit Stream(AgentRef gpu, const StreamOptions& options = {});
    Stream(Stream&&) noexcept;
    Stream& operator=(Stream&&) noexcept;
    ~Stream();

    AgentRef agent() const noexcept { return AgentRef(lane_->agent); }
    /// The current hardware queue, possibly shared with other streams; for inspection. Valid until the next use of the
    /// stream, which may move to another queue. To submit packets, use submit(): the ring may be the stream's alone.
    QueueRef queue() const;

    /// Submits the caller's packets in the stream's order. The first receives the barrier bit; the others keep theirs.
    /// Later operations wait for all of them. Costs one extra packet and one doorbell for the batch. Their completion
    /// signals belong to the caller. Throws InvalidArgument for more packets than half of the queue's ring.
    void submit(std::span<const Packet> packets, Deadline deadline = {});
    void submit(const Packet& packet, Deadline deadline = {}) { submit(std::span(&packet, 1), deadline); }

    /// Copies between any two of: this GPU's memory, another GPU's, pinned or registered host memory, pageable host
    /// memory. Pinned, registered and device memory: returns at once; both sides must stay valid until the copy is
    /// complete. Pageable source: staged; it may be reused on return. Pageable destination: returns when the data is
    /// there. A copy of zero bytes does nothing. The CPU copies host memory, at once, if that is faster and keeps the
    /// order. Throws InvalidArgument for null, for a range that extends past its allocation and for ranges that
    /// overlap, even through different addresses.
    void copy_async(void* destination, const void* source, std::size_t size_bytes, Deadline deadline = {});

    /// The same for a rectangle or a box of bytes; see rect.hpp. Source and destination may be disjoint windows of one
    /// matrix. Throws InvalidArgument, also for rows or planes that overlap each other.
    void copy_rect_async(const Rect& rect, Deadline deadline = {});

    /// Repeats `pattern` over `size_bytes` bytes; the last repetition may be cut short. Accepts any memory. Returns
    /// when pageable memory is filled, at once otherwise.
    void fill_async(void* destination, std::size_t size_bytes, std::span<const std::byte> pattern,
                    Deadline deadline = {});
    template <class T>
    void fill_async(T* destination, const T& value, std::size_t count, Deadline deadline = {}) {
        static_assert(std::is_trivially_copyable_v<T>);
        const std::size_t bytes = count > SIZE_MAX / sizeof(T) ? SIZE_MAX : count * sizeof(T);  // rejected
        fill_async(destination, bytes, std::as_bytes(std::span(&value, 1)), deadline);
    }

    /// Enqueues one kernel. `fill(std::byte* kernarg)` writes spec.kernarg_bytes of arguments, 256-byte aligned,
    /// perhaps more than once; if it throws, nothing is enqueued. It must not use the stream. If it is noexcept, it
    /// writes in place, and dispatch makes no runtime call, allocation or system call, unless the stream must wait for
    /// room or for a preceding copy. Validates nothing: Kernel::launch does that.
    template <class Fill>
    [[gnu::always_inline]] void dispatch(const DispatchSpec& spec, Fill&& fill, Deadline deadline = {}) {
        if constexpr (std::is_nothrow_invocable_v<Fill&, std::byte*>) {
            const auto write = [&](std::byte* kernarg, std::uint32_t* words) noexcept {
                fill(kernarg);
                return detail::write_dispatch(words, spec.grid, spec.workgroup, spec);
            };
            if (lane_->try_launch(KernargRing::room_bytes(spec.kernarg_bytes), write)) [[likely]]
                return;
        }
        dispatch_slow(spec, fill, deadline);
    }
    /// Internal: dispatch() for a caller whose launch lane() has declined.
    template <class Fill>
    void dispatch_slow(const DispatchSpec& spec, Fill&& fill, Deadline deadline) {
        detail::ArgumentBlock arguments;
        std::shared_ptr<const void> named;
        do {
            named = begin_dispatch(spec);
            fill(arguments.of(spec.kernarg_bytes));
        } while (!dispatch_filled(spec, arguments.data(), named, deadline));
    }

    /// Returns an event that completes when everything submitted so far is complete.
    Event record(const EventOptions& options = {}, Deadline deadline = {});
    /// Later operations wait for the event on the device, through one packet; the host does not wait. Enqueues no
    /// packet if the event is complete, was never recorded, or is this stream's own. An event of a capture makes this
    /// stream take part in it; see graph.hpp.
    void wait(const Event& event, Deadline deadline = {});
    /// The same for a caller's signal, until its value meets `condition` `than`. The signal must outlive the wait.
    void wait(SignalRef signal, Condition condition, std::int64_t than, Deadline deadline = {});
    /// Subtracts one from a caller's signal when everything submitted so far is complete.
    void decrement(SignalRef signal, Deadline deadline = {});

    /// Calls a function on the host in the stream's order: after earlier operations are complete and before later ones
    /// start. It runs on the thread of Driver::callbacks(), one at a time: it must not wait for another host function,
    /// or for what follows it. It may submit to any stream, also to one in which another thread waits for it; of a
    /// stream that is full, 32 packets are kept for host functions, and one more waits. If it throws, the stream fails
    /// with that exception. Not called if the stream has failed.
    void call(std::function<void()> function, Deadline deadline = {});
    /// Calls a function, on the same thread, when everything submitted so far is complete or lost. Its argument is
    /// null, or the failure that lost it. Later operations do not wait for it.
    void on_complete(std::function<void(std::exception_ptr)> callback, Deadline deadline = {});

    /// `co_await stream.completion();` resumes, on the callbacks' thread, when everything submitted so far is
    /// complete; it throws the stream's failure, if any.
    [[nodiscard]] StreamCompletion completion();

    /// Records calls instead of executing them, until end_capture(); see graph.hpp. Throws InvalidArgument if a capture
    /// is already active.
    void begin_capture();
    bool capturing() const noexcept;
    /// Returns the recorded graph, of all streams that took part. Throws InvalidArgument without begin_capture(), and
    /// naming the streams whose work is not joined: the capture then goes on.
    Graph end_capture();

    /// Holds `object` until everything submitted so far is complete. Waits for no other thread. If it throws
    /// std::bad_alloc, the object is never released; so with release(). It is destroyed by a later call on the stream,
    /// or by a thread of this library after the stream was destroyed.
    void keep_alive(std::shared_ptr<const void> object);
    /// Holds `object` for the stream's lifetime; once, however often it is passed. For objects that a layer above needs
    /// on the stream's device, such as its own kernels.
    void attach(std::shared_ptr<const void> object);
    /// Frees the allocation when everything submitted so far is complete.
    void release(Allocation allocation);

    /// Starts or stops recording the times of kernels and copies, including those of replayed graphs, but not those of
    /// packets of submit(). A fill is recorded as its copies; a fill of pageable memory has several. Work that is not
    /// profiled costs nothing extra; a profiled kernel takes one more signal and packet. The runtime's profiling of
    /// copies, a setting of the process, stays on.
    void profile(bool on, Deadline deadline = {});
    /// Removes and returns the records of operations that have completed, even if the stream has failed. See
    /// profile.hpp.
    Profile take_profile(Deadline deadline = {});

    /// Returns when everything submitted before the call is complete. Throws Timeout, or the sticky error.
    void synchronize(Deadline deadline = {});
    /// True if everything is complete. Throws the sticky error.
    bool query();
    /// True if the stream has failed. Does not throw.
    bool failed() const noexcept;

    /// Synchronises at scope exit. The next call that waits throws an error that occurred there.
    [[nodiscard]] AutoSynchronize auto_synchronize(Deadline deadline = {});

    /// Waits until nothing is in flight or the deadline has passed, then ends the queue. Returns false if work was
    /// lost. Calls of other threads that wait for the stream throw StreamEnded; no call may begin beside close(). A
    /// closed stream may only be destroyed or assigned to. Packets enqueued after another stream's on a shared queue
    /// may still run later, and so may a copy that an engine does not complete within five seconds, although its
    /// events' waiters receive StreamEnded; so may work of streams that waited for them on the device. Until then this
    /// library keeps its allocations, signals, code and attached objects; the caller must keep its own registered or
    /// mapped memory, and signals that no Signal owns. A shared queue is stopped only while a packet of this stream
    /// runs; if another's begins at that moment, it is not known whether it ran, and that stream fails with a
    /// QueueError. A capture is dropped.
    bool close(Deadline deadline = {}) noexcept;

    /// Kernels and barriers submitted and completed so far (copies do not count); for progress and messages.
    struct Progress {
        std::uint64_t submitted, completed;
    };
    Progress progress() const;

    /// Internal: see stream_core.hpp.
    /// Throws StreamEnded once it is closed.
    detail::StreamCore& core() const;
    /// Internal: see launch_lane.hpp.
    detail::LaunchLane& lane() const noexcept { return *lane_; }
    /// Internal: see stream_handle.hpp.
    const std::shared_ptr<detail::StreamHandle>& handle() const;

  private:
    // The slow path; see stream_core.hpp.
    std::shared_ptr<const void> begin_dispatch(const DispatchSpec& spec) const;
    bool dispatch_filled(const DispatchSpec& spec, const std::byte* arguments, const std::shared_ptr<const void>& named,
                         Deadline deadline);

    std::unique_ptr<detail::StreamCore> core_;
    detail::LaunchLane* lane_ = nullptr;  // the core's
    std::chrono::nanoseconds drain_{};
};

class AutoSynchronize {
  public:
    AutoSynchronize(std::shared_ptr<detail::StreamHandle> stream, Deadline deadline) noexcept
        : stream_(std::move(stream)), deadline_(deadline) {}
    AutoSynchronize(const AutoSynchronize&) = delete;
    AutoSynchronize& operator=(const AutoSynchronize&) = delete;
    ~AutoSynchronize();

  private:
    std::shared_ptr<detail::StreamHandle> stream_;
    Deadline deadline_;
};

/// Refers to a stream that may be moved or destroyed meanwhile; default-constructed, to none. Copyable. Thread safety:
/// any thread.
class WeakStream {
  public:
    WeakStream() noexcept = default;
    /// Throws StreamEnded.
    explicit WeakStream(const Stream& stream) : handle_(stream.handle()) {}

    explicit operator bool() const noexcept { return bool(handle_); }
    /// The stream, also after a move; null while it is being destroyed, after that, and if this refers to none.
    Stream* get() const noexcept;

  private:
    std::shared_ptr<detail::StreamHandle> handle_;
};

}  // namespace hsadrv
