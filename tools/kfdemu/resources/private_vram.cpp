#include "tools/kfdemu/resources/private_vram.hpp"

#include <atomic>

#include "tools/kfdemu/base/host_fault.hpp"
#include "tools/kfdemu/base/log.hpp"
#include "tools/kfdemu/resources/memory.hpp"

namespace kfdemu {
namespace {

std::atomic<const Memory*> watched{nullptr};

/// Logs the access if it is to VRAM.
void on_fault(const void* address) {
    const auto va = reinterpret_cast<std::uint64_t>(address);
    if (const auto found = watched.load(std::memory_order_acquire)->find_vram(va))
        log(LogLevel::error,
            "the host accessed {:#x}, which is private VRAM of gpu{} ({} B at {:#x}): copy it with the GPU "
            "instead",
            va, found->gpu, found->size_bytes, found->va);
}

}  // namespace

void PrivateVram::watch(const Memory& memory) {
    watched.store(&memory, std::memory_order_release);
    host_fault::observe(on_fault);
}

}  // namespace kfdemu
