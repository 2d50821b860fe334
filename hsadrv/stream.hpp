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
// Errors: sticky. The first QueueError or MemoryFault of the stream is thrown by every later call that
// submits or waits; other streams are unaffected. Keeps alive, until the operation that uses them is
// complete: argument blocks, signals, staging buffers, and what keep_alive() and release() were given. Raw
// pointers are the caller's to keep valid. Owns: its queue. The destructor does not block: a stream with work
// in flight is parked in the runtime, finishes there, and is freed when the next stream is made or goes, or
// with the runtime.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "hsadrv/agent.hpp"
#include "hsadrv/deadline.hpp"
#include "hsadrv/driver.hpp"
#include "hsadrv/memory.hpp"
#include "hsadrv/packet.hpp"
#include "hsadrv/queue.hpp"
#include "hsadrv/rect.hpp"

namespace hsadrv {

namespace detail {
class StreamCore;
}

struct StreamOptions {
    std::uint32_t packets = 1024;            ///< operations in flight, a power of two
    std::size_t kernarg_bytes = 512u << 10;  ///< argument storage in flight; a multiple of 64
    std::chrono::nanoseconds drain =
        std::chrono::seconds(10);  ///< how long the destructor waits for work in flight
};

/// A kernel dispatch but for its arguments, which Stream::dispatch places.
struct DispatchSpec {
    std::uint64_t kernel_object = 0;
    Dim3 grid = {};       ///< work-items
    Dim3 workgroup = {};  ///< work-items
    std::uint32_t private_segment_bytes = 0;
    std::uint32_t group_segment_bytes = 0;
    std::size_t kernarg_bytes = 0;
};

class AutoSynchronize;

class Stream {
  public:
    /// Throws OutOfMemory when the GPU has no queue left.
    explicit Stream(AgentRef gpu, const StreamOptions& options = {});
    Stream(Stream&&) noexcept;
    Stream& operator=(Stream&&) noexcept;
    ~Stream();

    AgentRef agent() const noexcept;
    /// For packets of your own. With their barrier bit set they take their place in the stream's order: what
    /// is submitted to the stream later, and synchronize(), waits for them. They do not wait for copies that
    /// are still in flight.
    QueueRef queue() const noexcept;

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
        fill_async(destination, count * sizeof(T), std::as_bytes(std::span(&value, 1)), deadline);
    }

    /// Enqueues one kernel. `fill(std::byte* kernarg)` writes spec.kernarg_bytes of arguments, 64-byte
    /// aligned, in place; if it throws, nothing is enqueued. No runtime call, allocation or system call,
    /// unless the stream must wait for room or for a copy before it. Nothing is validated here:
    /// Kernel::launch does that.
    template <class Fill>
    void dispatch(const DispatchSpec& spec, Fill&& fill, Deadline deadline = {}) {
        DispatchGuard guard(*this, spec, deadline);
        std::forward<Fill>(fill)(guard.kernarg);
        guard.commit(spec, deadline);
    }

    /// Holds `object` until everything submitted so far is complete.
    void keep_alive(std::shared_ptr<const void> object);
    /// Frees the allocation when everything submitted so far is complete.
    void release(Allocation allocation);

    /// Returns when everything submitted before the call is complete. Throws Timeout, or the sticky error.
    void synchronize(Deadline deadline = {});
    /// Is everything complete? Throws the sticky error.
    bool query();
    /// Has the stream failed? Says it without throwing.
    bool failed() const noexcept;

    /// Synchronises at scope exit. What went wrong there is kept and thrown by the next call that waits.
    [[nodiscard]] AutoSynchronize auto_synchronize(Deadline deadline = {});

    /// Waits until nothing is in flight or the deadline has passed, then ends the queue. Returns false if
    /// work was lost. The stream may then only be destroyed or assigned to.
    bool close(Deadline deadline = {}) noexcept;

    /// Kernels and barriers submitted and complete so far (copies do not count); for progress and messages.
    struct Progress {
        std::uint64_t submitted, completed;
    };
    Progress progress() const;

  private:
    struct DispatchGuard {
        DispatchGuard(Stream& stream, const DispatchSpec& spec, Deadline deadline);
        DispatchGuard(const DispatchGuard&) = delete;
        DispatchGuard& operator=(const DispatchGuard&) = delete;
        ~DispatchGuard();
        void commit(const DispatchSpec& spec, Deadline deadline);

        detail::StreamCore& core;
        std::byte* kernarg;
    };

    std::unique_ptr<detail::StreamCore> core_;
    std::chrono::nanoseconds drain_{};
};

class AutoSynchronize {
  public:
    AutoSynchronize(detail::StreamCore& core, Deadline deadline) noexcept
        : core_(core), deadline_(deadline) {}
    AutoSynchronize(const AutoSynchronize&) = delete;
    AutoSynchronize& operator=(const AutoSynchronize&) = delete;
    ~AutoSynchronize();

  private:
    detail::StreamCore& core_;
    Deadline deadline_;
};

}  // namespace hsadrv
