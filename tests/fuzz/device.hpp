// The emulated device of a fuzz target's process, without the HSA runtime: ioctls, memory at fixed addresses,
// doorbells.
//
//     Device& device = fuzz::device();                 // two small GPUs, one worker
//     int error = fuzz::call<abi::CreateQueue>(abi::kCreateQueue, args);
#pragma once

#include <sys/ioctl.h>

#include "tools/kfdemu/kfd/device.hpp"

namespace fuzz {

/// Made at the first call, silent, never destroyed.
kfdemu::Device& device();

/// One of /dev/kfd's ioctls; 0 or an errno value.
template <class Args>
int call(kfdemu::abi::Request request, Args& args) {
    const unsigned long number = _IOC(_IOC_READ | _IOC_WRITE, kfdemu::abi::kKfdMagic, request, sizeof args);
    return device().kfd().ioctl(number, &args);
}

/// Pages of the process between unreadable guard pages.
class GuardedPages {
  public:
    explicit GuardedPages(std::size_t size_bytes);
    std::byte* data() const { return data_; }
    std::size_t size() const { return size_; }
    std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(data_); }

  private:
    std::byte* data_;
    std::size_t size_;
};

/// Maps `pages` for the first GPU at `va`, with all access; returns the allocation's handle.
std::uint64_t give(const GuardedPages& pages, std::uint64_t va);

/// The emulator's view of a doorbell: CREATE_QUEUE's doorbell_offset to its 8 bytes.
volatile std::uint64_t* doorbell(unsigned gpu, std::uint64_t doorbell_offset);

}  // namespace fuzz
