// The memory fault that the runtime reports to its handler.
//
//   Fault fault;
//   HSA_CHECK(hsa_amd_register_system_event_handler(on_event, &fault));
#pragma once

#include <hsa/hsa_ext_amd.h>

#include <atomic>
#include <cstdint>

namespace hsa_test {

/// Reasons of a fault.
inline constexpr std::uint32_t kAbsent = HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT,
                               kReadOnly = HSA_AMD_MEMORY_FAULT_READ_ONLY;
/// An address that no allocation has.
inline constexpr std::uint64_t kNowhere = 0x1234'5678'9000;

struct Fault {
    std::atomic<std::uint64_t> address{0};
    std::atomic<std::uint32_t> reason{0};
    std::atomic<std::uint64_t> agent{0};  ///< its handle
    std::atomic<int> events{0};
};

inline hsa_status_t on_event(const hsa_amd_event_t* event, void* data) {
    auto& fault = *static_cast<Fault*>(data);
    if (event->event_type != HSA_AMD_GPU_MEMORY_FAULT_EVENT) return HSA_STATUS_ERROR;
    fault.address = event->memory_fault.virtual_address;
    fault.reason = event->memory_fault.fault_reason_mask;
    fault.agent = event->memory_fault.agent.handle;
    ++fault.events;
    return HSA_STATUS_SUCCESS;
}

}  // namespace hsa_test
