// Device memory and signals that several processes share.
//
//   // one process
//   hsadrv::Allocation memory = gpu.allocate(bytes);
//   hsadrv::Signal done = hsadrv::ipc_signal(1);
//   send(pipe, hsadrv::ipc_handle(memory.data(), bytes), hsadrv::ipc_handle(done));      // plain values
//   // another process
//   auto theirs = hsadrv::IpcMemory::attach(memory_handle, gpu);
//   hsadrv::Signal finished = hsadrv::attach_ipc_signal(signal_handle);
//   kernel.launch(stream, shape, theirs.data(), n);
//   stream.decrement(finished);
//
// The processes must not be forks of a process that has initialised the runtime: fork first, or exec. A handle is a
// plain value; send its bytes in any way, but only to and from processes that you trust: a checksum detects damage, not
// forgery.
//
// Lifetime: the exporter keeps the memory until each receiver has attached it: later attempts fail, but where ROCR 6
// and 7 share through sockets (HSA_ENABLE_IPC_MODE_LEGACY=0) they may last until their deadline. What is attached stays
// valid after the exporter has freed it. But memory of an Allocator is reused when its block is freed, so keep such a
// block until the receivers are done. An IpcMemory stays attached until it is destroyed. Its destructor does not wait:
// give it to Stream::keep_alive, as a shared_ptr, to detach it after the stream's work. Ordering: processes order their
// work by signals or through the host. Thread safety: any thread. Errors: InvalidArgument for memory that cannot be
// shared and for handles that are malformed or stale, with the remedy. Source: hsa_ext_amd.h,
// hsa_amd_ipc_memory_create, hsa_amd_ipc_signal_create.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "hsadrv/agent.hpp"
#include "hsadrv/deadline.hpp"
#include "hsadrv/handle.hpp"
#include "hsadrv/signal.hpp"

namespace hsadrv {

/// A range of an allocation of another process. Trivially copyable.
struct IpcMemoryHandle {
    std::array<std::uint32_t, 8> allocation = {};  ///< hsa_amd_ipc_memory_t of the runtime's whole allocation
    std::uint64_t allocation_bytes = 0;
    std::uint64_t offset_bytes = 0;  ///< of the range in the allocation
    std::uint64_t size_bytes = 0;
    std::uint64_t checksum = 0;  ///< of the rest: the runtime does not survive a damaged handle
    friend bool operator==(const IpcMemoryHandle&, const IpcMemoryHandle&) = default;
};

/// Names a signal of another process: hsa_amd_ipc_signal_t. Trivially copyable.
struct IpcSignalHandle {
    std::array<std::uint32_t, 8> signal = {};
    std::uint64_t checksum = 0;  ///< of the rest
    friend bool operator==(const IpcSignalHandle&, const IpcSignalHandle&) = default;
};

/// For any range of device memory of this process, also of an Allocator's block or an array. The other process maps the
/// whole allocation of the runtime that contains the range, so it can access the rest of it. Throws InvalidArgument for
/// host memory, memory that is attached itself, and a range that extends past its allocation.
IpcMemoryHandle ipc_handle(const void* data, std::size_t size_bytes);

/// Memory of another process, mapped in this one.
class IpcMemory {
  public:
    /// Empty: data() is null.
    IpcMemory() noexcept = default;
    /// Maps it for these GPUs. Attaching a handle twice gives two addresses of the same memory. Throws InvalidArgument
    /// for an empty list, and for an agent that is no GPU; Timeout. After a Timeout the runtime's call goes on in a
    /// thread of its own, and the runtime stays initialised for it.
    static IpcMemory attach(const IpcMemoryHandle& handle, std::span<const AgentRef> gpus, Deadline deadline = {});
    static IpcMemory attach(const IpcMemoryHandle& handle, AgentRef gpu, Deadline deadline = {}) {
        return attach(handle, {&gpu, 1}, deadline);
    }

    /// The range's first byte, as the GPUs address it.
    void* data() const noexcept { return data_; }
    template <class T>
    T* as() const noexcept {
        return static_cast<T*>(data_);
    }
    std::size_t size_bytes() const noexcept { return data_ == nullptr ? 0 : size_bytes_; }
    explicit operator bool() const noexcept { return bool(mapping_); }
    /// As a kernel argument it is its address; see kernel_args.hpp.
    friend void* kernel_argument(const IpcMemory& memory) noexcept { return memory.data_; }

    IpcMemory(IpcMemory&& other) noexcept
        : mapping_(std::move(other.mapping_)),
          data_(std::exchange(other.data_, nullptr)),
          size_bytes_(other.size_bytes_) {}
    IpcMemory& operator=(IpcMemory&& other) noexcept {
        mapping_ = std::move(other.mapping_);
        data_ = std::exchange(other.data_, nullptr);
        size_bytes_ = other.size_bytes_;
        return *this;
    }

  private:
    struct Traits {
        using Native = void*;
        static Native null() noexcept { return nullptr; }
        static bool is_null(Native p) noexcept { return p == nullptr; }
        static void destroy(Native p) noexcept;
    };

    UniqueHandle<Traits> mapping_;
    void* data_ = nullptr;
    std::size_t size_bytes_ = 0;
};

/// A signal that other processes can attach. Its waiters spin, because it raises no interrupt. Signals of
/// Signal::create cannot be shared. Throws OutOfMemory.
Signal ipc_signal(std::int64_t initial);
/// Throws InvalidArgument unless the signal was made by ipc_signal().
IpcSignalHandle ipc_handle(SignalRef signal);
/// The same signal in this process. Destroying it here does not destroy it there. Throws InvalidArgument for a handle
/// of no signal.
Signal attach_ipc_signal(const IpcSignalHandle& handle);

}  // namespace hsadrv
