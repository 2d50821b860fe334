// Hand-written AQL, as a runtime would write it for one producer: no call, everything cached. The baseline of the
// driver layer.
#pragma once

#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>

#include <cstdint>
#include <stdexcept>

#include "hsadrv/hsadrv.hpp"

namespace bench {

class HandWritten {
  public:
    static constexpr std::uint32_t ring_packets = 1024;

    HandWritten(hsadrv::AgentRef gpu, std::uint64_t kernel_object) : kernel_object_(kernel_object) {
        if (hsa_queue_create(gpu.native(), ring_packets, HSA_QUEUE_TYPE_SINGLE, nullptr, nullptr, UINT32_MAX,
                             UINT32_MAX, &queue_) != HSA_STATUS_SUCCESS)
            throw std::runtime_error("hsa_queue_create");
        auto* amd = reinterpret_cast<amd_queue_t*>(queue_);
        read_index_ = &amd->read_dispatch_id;
        write_index_ = &amd->write_dispatch_id;
        doorbell_ = reinterpret_cast<amd_signal_t*>(queue_->doorbell_signal.handle)->hardware_doorbell_ptr;
        kernargs_ = hsadrv::Allocation::from_pool(hsadrv::host_pool(hsadrv::HostMemory::kernarg), 64 * ring_packets);
        hsa_signal_create(0, 0, nullptr, &done_);
        value_ = &reinterpret_cast<amd_signal_t*>(done_.handle)->value;
    }
    HandWritten(const HandWritten&) = delete;
    HandWritten& operator=(const HandWritten&) = delete;
    ~HandWritten() {
        hsa_queue_destroy(queue_);
        hsa_signal_destroy(done_);
    }

    /// 64 work-items with 56 bytes of arguments.
    [[gnu::noinline]] void launch(std::uint32_t* out, const std::uint64_t (&values)[6]) {
        const std::uint64_t index = next_++;
        while (index - __atomic_load_n(read_index_, __ATOMIC_ACQUIRE) >= ring_packets) {
        }
        std::uint64_t* kernarg = static_cast<std::uint64_t*>(kernargs_.data()) + 8 * (index % ring_packets);
        kernarg[0] = reinterpret_cast<std::uint64_t>(out);
        for (int i = 0; i < 6; ++i) kernarg[i + 1] = values[i];
        auto* packet = static_cast<hsa_kernel_dispatch_packet_t*>(queue_->base_address) + index % ring_packets;
        packet->workgroup_size_x = 64;
        packet->workgroup_size_y = 1;
        packet->workgroup_size_z = 1;
        packet->reserved0 = 0;
        packet->grid_size_x = 64;
        packet->grid_size_y = 1;
        packet->grid_size_z = 1;
        packet->private_segment_size = 0;
        packet->group_segment_size = 0;
        packet->kernel_object = kernel_object_;
        packet->kernarg_address = kernarg;
        packet->reserved2 = 0;
        packet->completion_signal = done_;
        constexpr std::uint32_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH | 1 << HSA_PACKET_HEADER_BARRIER |
                                         HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                                         HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
        constexpr std::uint32_t setup = 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS;
        __atomic_store_n(reinterpret_cast<std::uint32_t*>(packet), header | setup << 16, __ATOMIC_RELEASE);
        __atomic_store_n(write_index_, next_, __ATOMIC_RELAXED);
        __atomic_store_n(doorbell_, index, __ATOMIC_RELEASE);
    }

    void wait() {
        while (__atomic_load_n(value_, __ATOMIC_ACQUIRE) != -static_cast<std::int64_t>(next_)) __builtin_ia32_pause();
    }

  private:
    hsa_queue_t* queue_ = nullptr;
    std::uint64_t kernel_object_;
    volatile std::uint64_t *read_index_ = nullptr, *write_index_ = nullptr, *doorbell_ = nullptr;
    hsadrv::Allocation kernargs_;
    hsa_signal_t done_{};
    volatile std::int64_t* value_ = nullptr;
    std::uint64_t next_ = 0;
};

}  // namespace bench
