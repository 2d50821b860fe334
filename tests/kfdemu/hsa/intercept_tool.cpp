// A tool that the runtime loads (HSA_TOOLS_LIB): every queue becomes an intercepting one, kernels are sent
// twice, and packets are counted.
// Debian's header looks for its neighbours in a folder inc/, which is not installed, unless this is defined.
#define AMD_INTERNAL_BUILD
#include <hsa/hsa_api_trace.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

CoreApiTable core;
AmdExtTable amd;
std::atomic<std::uint64_t> queues, packets, kernels;

std::uint16_t type_of(const void* packet) {
    std::uint16_t header = 0;
    std::memcpy(&header, packet, sizeof header);
    return header & 0xff;
}

void on_packets(const void* sent, std::uint64_t count, std::uint64_t, void*,
                hsa_amd_queue_intercept_packet_writer write) {
    const auto* from = static_cast<const hsa_kernel_dispatch_packet_t*>(sent);
    std::vector<hsa_kernel_dispatch_packet_t> out;
    for (std::uint64_t i = 0; i < count; ++i) {
        ++packets;
        if (type_of(&from[i]) == HSA_PACKET_TYPE_KERNEL_DISPATCH) {
            ++kernels;
            out.push_back(from[i]);
            out.back().completion_signal = {0};
            out.push_back(from[i]);
            out.back().header |= 1 << HSA_PACKET_HEADER_BARRIER;
        } else {
            out.push_back(from[i]);
        }
    }
    write(out.data(), out.size());
}

hsa_status_t create(hsa_agent_t agent, std::uint32_t size, hsa_queue_type32_t type,
                    void (*callback)(hsa_status_t, hsa_queue_t*, void*), void* data, std::uint32_t private_bytes,
                    std::uint32_t group_bytes, hsa_queue_t** queue) {
    hsa_status_t status =
        amd.hsa_amd_queue_intercept_create_fn(agent, size, type, callback, data, private_bytes, group_bytes, queue);
    if (status != HSA_STATUS_SUCCESS) return status;
    ++queues;
    return amd.hsa_amd_queue_intercept_register_fn(*queue, on_packets, nullptr);
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT bool OnLoad(HsaApiTable* table, std::uint64_t, std::uint64_t, const char* const*) {
    core = *table->core_;
    amd = *table->amd_ext_;
    table->core_->hsa_queue_create_fn = create;
    return true;
}

EXPORT void OnUnload() {}

/// For the test: {queues, packets, kernels} seen so far.
EXPORT void hsa_test_tool_counts(std::uint64_t* counts) {
    counts[0] = queues;
    counts[1] = packets;
    counts[2] = kernels;
}
