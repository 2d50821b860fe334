// A stream: work that happens in the order in which it was submitted.
//
//   hsadrv::Stream stream = gpu.stream();
//   stream.copy_async(device.data(), host.data(), bytes);
//   kernel.launch(stream, {.grid = n, .workgroup = 256}, device.data(), n);
//   stream.synchronize(std::chrono::seconds(10));
//
// Ordering: every operation starts when the one before it is complete, copies and kernels alike, and sees
// what the host wrote before submitting it. After synchronize() the host sees what the stream wrote. Thread
// safety: any thread; operations of several threads are ordered by a lock. synchronize() waits outside it.
// Deadlines: calls that may wait (a full ring, staging, synchronize) take one; Timeout loses nothing.
// Errors: sticky. The stream's first error is thrown by every later call that submits or waits. What was enqueued after
// lost work does not run. After a QueueError other streams go on, those on the same hardware queue included; after a
// MemoryFault all of that GPU fail (DeviceLost), because Linux stops every queue of the process there. A stream that
// waited for an event of a stream that fails, fails with the same error. A closed or moved-from stream throws
// StreamEnded. Keeps alive, until the operation that uses them is complete: argument blocks, signals, staging buffers,
// and what keep_alive() and release() were given. Raw pointers are the caller's to keep valid. Owns: its place on one
// of the GPU's hardware queues, which streams share when there are many; then they take turns. The destructor waits 10
// s for work in flight, or as long as StreamOptions::drain says, and then ends it.
#pragma once

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
    /// The destructor waits so long for work in flight, then ends it.
    std::chrono::nanoseconds drain = std::chrono::seconds(10);
    bool exclusive_queue = false;  ///< a hardware queue that no other stream uses
    /// Against the work of other queues. Streams share queues only with streams of the same priority and mask.
    QueuePriority priority = QueuePriority::normal;
    /// One bit a compute unit on which the stream's kernels may run; empty: all of them.
    std::vector<std::uint32_t> cu_mask = {};
    bool profile = false;                ///< as Stream::profile(true)
    std::size_t profile_records = 4096;  ///< kept until take_profile(); older ones are dropped, and counted
};

class AutoSynchronize;
class Graph;

/// What Stream::completion() gives to co_await. Borrows the stream until it resumes.
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
    /// Its destructor waits StreamOptions::drain, 10 s unless said otherwise, for work in flight. Throws DeviceLost
    /// after a memory fault of the GPU; OutOfMemory when the GPU has no queue left, or the streams' queues are used up
    /// and none has these options; InvalidArgument for a mask that leaves no compute unit, and for sizes that the GPU
    /// does not take.
    explicit Stream(AgentRef gpu, const StreamOptions& options = {});
    Stream(Stream&&) noexcept;
    Stream& operator=(Stream&&) noexcept;
    ~Stream();

    AgentRef agent() const noexcept { return AgentRef(lane_->agent); }
    /// The hardware queue that it uses now, perhaps with others; for looking at, and good until the stream is next
    /// used: it may move to another. See submit().
    QueueRef queue() const;

    /// Packets of your own, in the stream's order: the first gets the barrier bit, the others run as theirs say, and
    /// what is submitted later waits for all of them. One more packet and one doorbell for all of them. Their
    /// completion signals are yours. Throws InvalidArgument for more than half of the queue's ring.
    void submit(std::span<const Packet> packets, Deadline deadline = {});
    void submit(const Packet& packet, Deadline deadline = {}) { submit(std::span(&packet, 1), deadline); }

    /// Copies between any two of: this GPU's memory, another GPU's, pinned or registered host memory,
    /// pageable host memory. Pinned, registered and device memory: returns at once; both sides must stay
    /// valid until the copy is complete. Pageable source: staged; it may be reused on return. Pageable
    /// destination: returns when the data is there. Zero bytes do nothing. Host memory is copied by the CPU, at once,
    /// where that is quicker and changes no order. Throws InvalidArgument for null, for a range that runs past its
    /// allocation and for ranges that overlap, by whatever address they are named.
    void copy_async(void* destination, const void* source, std::size_t size_bytes, Deadline deadline = {});

    /// The same for a rectangle or a box of bytes; see rect.hpp. Windows of one matrix are told apart, so that one can
    /// be copied to another. Throws InvalidArgument, also for rows or planes that run into each other.
    void copy_rect_async(const Rect& rect, Deadline deadline = {});

    /// Repeats `pattern` over `size_bytes` bytes; the last repetition may be cut short. Any memory; returns when
    /// pageable memory is filled, at once otherwise.
    void fill_async(void* destination, std::size_t size_bytes, std::span<const std::byte> pattern,
                    Deadline deadline = {});
    template <class T>
    void fill_async(T* destination, const T& value, std::size_t count, Deadline deadline = {}) {
        static_assert(std::is_trivially_copyable_v<T>);
        const std::size_t bytes = count > SIZE_MAX / sizeof(T) ? SIZE_MAX : count * sizeof(T);  // refused
        fill_async(destination, bytes, std::as_bytes(std::span(&value, 1)), deadline);
    }

    /// Enqueues one kernel. `fill(std::byte* kernarg)` writes spec.kernarg_bytes of arguments, 256-byte aligned, in
    /// place; if it throws, nothing is enqueued. If it is noexcept: no runtime call, allocation or system call, unless
    /// the stream must wait for room or for a copy before it. Nothing is validated here: Kernel::launch does that.
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
        std::byte* kernarg = begin_dispatch(spec, deadline);
        const std::lock_guard held(lane_->mutex, std::adopt_lock);
        fill(kernarg);
        commit_dispatch(spec, kernarg, deadline);
    }

    /// The moment when everything submitted so far is complete.
    Event record(const EventOptions& options = {}, Deadline deadline = {});
    /// What is submitted later waits for the event: on the device, by one packet; the host goes on. Nothing to
    /// wait for, and no packet, if the event is complete, was never recorded, or is this stream's own.
    void wait(const Event& event, Deadline deadline = {});
    /// The same for a signal of yours, whose value `condition` `than` must hold. It must outlive the wait.
    void wait(SignalRef signal, Condition condition, std::int64_t than, Deadline deadline = {});
    /// Subtracts one from a signal of yours when everything submitted so far is complete.
    void decrement(SignalRef signal, Deadline deadline = {});

    /// Calls a function on the host in the stream's order: when everything before is complete, and before what is
    /// submitted later. On the thread of Driver::callbacks(), one at a time: it must not wait for another
    /// host function. If it throws, the stream fails with that. Not called if the stream has failed.
    void call(std::function<void()> function, Deadline deadline = {});
    /// Calls a function, on the same thread, when everything submitted so far is complete, with the stream's
    /// failure, or null. What is submitted later does not wait for it.
    void on_complete(std::function<void(std::exception_ptr)> callback, Deadline deadline = {});

    /// `co_await stream.completion();` resumes, on the callbacks' thread, when everything submitted so far is
    /// complete; it throws the stream's failure.
    [[nodiscard]] StreamCompletion completion();

    /// From here on calls are recorded instead of carried out, until end_capture(); see graph.hpp. Throws
    /// InvalidArgument if it is being captured already.
    void begin_capture();
    bool capturing() const noexcept;
    /// What was recorded. Throws InvalidArgument without begin_capture().
    Graph end_capture();

    /// Holds `object` until everything submitted so far is complete. Waits for no other thread.
    void keep_alive(std::shared_ptr<const void> object);
    /// Holds `object` as long as the stream lives; once, however often it is given. For what a layer above needs of
    /// the stream's device, such as kernels of its own.
    void attach(std::shared_ptr<const void> object);
    /// Frees the allocation when everything submitted so far is complete.
    void release(Allocation allocation);

    /// From here on the times of kernels and copies are written down, or no longer; also of graphs replayed meanwhile,
    /// not of packets of submit(). A fill is the copies that it is made of, one of pageable memory several. What is
    /// not profiled costs nothing; a kernel that is takes a signal and a packet more. The runtime's profiling of
    /// copies, which is the process's, stays on.
    void profile(bool on, Deadline deadline = {});
    /// Takes out what was written down of operations that are over, the stream's failure or not. See profile.hpp.
    Profile take_profile(Deadline deadline = {});

    /// Returns when everything submitted before the call is complete. Throws Timeout, or the sticky error.
    void synchronize(Deadline deadline = {});
    /// Is everything complete? Throws the sticky error.
    bool query();
    /// Has the stream failed? Says it without throwing.
    bool failed() const noexcept;

    /// Synchronises at scope exit. What went wrong there is kept and thrown by the next call that waits.
    [[nodiscard]] AutoSynchronize auto_synchronize(Deadline deadline = {});

    /// Waits until nothing is in flight or the deadline has passed, then ends the queue. Returns false if work was
    /// lost. A closed stream may be destroyed or assigned to, nothing else. Packets after another stream's on a shared
    /// queue may still run later: this library's allocations, code and what is attached stay until then; memory of the
    /// program's own, registered or mapped, must.
    bool close(Deadline deadline = {}) noexcept;

    /// Kernels and barriers submitted and complete so far (copies do not count); for progress and messages.
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
    // The long way: begin locks the lane's mutex.
    std::byte* begin_dispatch(const DispatchSpec& spec, Deadline deadline);
    void commit_dispatch(const DispatchSpec& spec, std::byte* kernarg, Deadline deadline);

    std::unique_ptr<detail::StreamCore> core_;
    detail::LaunchLane* lane_ = nullptr;  // the core's
    std::chrono::nanoseconds drain_{};
};

class AutoSynchronize {
  public:
    AutoSynchronize(detail::StreamCore& core, Deadline deadline) noexcept : core_(core), deadline_(deadline) {}
    AutoSynchronize(const AutoSynchronize&) = delete;
    AutoSynchronize& operator=(const AutoSynchronize&) = delete;
    ~AutoSynchronize();

  private:
    detail::StreamCore& core_;
    Deadline deadline_;
};

}  // namespace hsadrv
