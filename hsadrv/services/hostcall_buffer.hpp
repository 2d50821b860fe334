// Internal: the buffer in which kernels leave requests to the host, as ROCm's device library and HIP lay it out.
//
//     HostcallBuffer& buffer = init_hostcall_buffer(memory, packets, doorbell, heap);
//     answer_ready(buffer, [&](std::uint32_t service, std::uint64_t lanes, Payload& payload) { … });
//
// A wave takes a packet from the free stack, writes one slot of eight words for each active lane, pushes the packet on
// the ready stack, increments the doorbell, and waits for the packet's ready flag to fall. Stacks are lists of tagged
// indices: the low bits are a packet's index, the others change at every push, and 0 is the end.
//
// Thread safety: kernels and one host thread at a time. Memory ordering: the exchange of the ready stack acquires what
// its waves wrote; clearing a ready flag releases the answer. Source: ROCm-Device-Libs, ockl/src/hostcall_impl.cl.
#pragma once

#include <hsa/hsa.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace hsadrv::detail {

struct HostcallHeader {
    std::uint64_t next;          ///< the packet below in its stack
    std::uint64_t active_lanes;  ///< whose slots are written
    std::uint32_t service;
    std::uint32_t control;  ///< bit 0: ready
};
static_assert(sizeof(HostcallHeader) == 24);

using HostcallSlot = std::uint64_t[8];
struct HostcallPayload {
    HostcallSlot slots[64];
};

struct HostcallBuffer {
    HostcallHeader* headers;
    HostcallPayload* payloads;
    hsa_signal_t doorbell;
    std::uint64_t free_stack, ready_stack;
    std::uint64_t index_mask;
    // The device library ends here. The rest is for shared/device/hostcall.hpp.
    std::uint64_t provider;  ///< hostcall_provider
    std::uint64_t heap;      ///< of hsadrv::malloc: its address on the device
};
static_assert(offsetof(HostcallBuffer, provider) == 48);
inline constexpr std::uint64_t hostcall_provider = 0x3130767264617368;  ///< "hsadrv01"

/// `packets` is a power of two.
constexpr std::size_t hostcall_buffer_bytes(std::size_t packets) noexcept {
    return 64 + packets * (sizeof(HostcallHeader) + sizeof(HostcallPayload));
}

/// `memory` has hostcall_buffer_bytes(packets).
HostcallBuffer& init_hostcall_buffer(void* memory, std::size_t packets, hsa_signal_t doorbell, const void* heap);

/// The oldest ready packet, from which `next` leads to younger ones; 0 if none is ready.
std::uint64_t take_ready(HostcallBuffer& buffer) noexcept;

/// Calls `answer` for each ready packet, oldest first; it does not throw. A slot's first two words are then the answer
/// to its lane.
template <class Answer>
void answer_ready(HostcallBuffer& buffer, Answer&& answer) {
    // A kernel that overwrites the buffer may make a circle of the list: each packet is in it once.
    std::uint64_t left = buffer.index_mask + 1;
    for (std::uint64_t packet = take_ready(buffer), next = 0; packet != 0 && left-- > 0; packet = next) {
        HostcallHeader& header = buffer.headers[packet & buffer.index_mask];
        next = header.next;  // read before the wave takes the packet back
        answer(header.service, header.active_lanes, buffer.payloads[packet & buffer.index_mask]);
        std::atomic_ref(header.control).fetch_and(~1u, std::memory_order_release);
    }
}

/// Calls `each` with the slot of each lane.
template <class Each>
void for_lanes(std::uint64_t lanes, HostcallPayload& payload, Each&& each) {
    for (; lanes != 0; lanes &= lanes - 1) each(payload.slots[std::countr_zero(lanes)]);
}

}  // namespace hsadrv::detail
