// Internal: the buffer in which kernels leave requests to the host, as ROCm's device library and HIP lay it out.
//
//     HostcallBuffer& buffer = init_hostcall_buffer(memory, packets, doorbell, heap);
//     answer_ready(buffer, [&](std::uint32_t service, std::uint64_t lanes, Payload& payload) { … });
//
// A wave takes a packet from the free stack, writes one slot of eight words for each active lane, pushes the packet on
// the ready stack, increments the doorbell, and waits for the packet's ready flag to fall. Stacks are lists of tagged
// indices: the low bits are a packet's index, the others change at every push, and 0 is the end.
//
// A wave that ends with its queue does not give its packet back. So waves of shared/device/hostcall.hpp write the
// address of their dispatch packet to `owners`, and the host takes back the packets of a ring that is gone:
// suspect_owners() before the queue is destroyed, condemn_suspects() afterwards, and the thread that answers puts them
// on the free stack.
//
// Thread safety: kernels and one host thread at a time; any thread for suspect_owners() and condemn_suspects(). Memory
// ordering: the exchange of the ready stack acquires what its waves wrote; clearing a ready flag releases the answer.
// Source: ROCm-Device-Libs, ockl/src/hostcall_impl.cl.
#pragma once

#include <hsa/hsa.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "hsadrv/queue/queue_ends.hpp"

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
    std::uint64_t* owners;   ///< the dispatch packet whose wave has it, and an OwnerMark; 0: no wave, or one of HIP's
};
static_assert(offsetof(HostcallBuffer, provider) == 48);
inline constexpr std::uint64_t hostcall_provider = 0x3230767264617368;  ///< "hsadrv02"

/// `packets` is a power of two.
constexpr std::size_t hostcall_buffer_bytes(std::size_t packets) noexcept {
    return sizeof(HostcallBuffer) +
           packets * (sizeof(HostcallHeader) + sizeof(HostcallPayload) + sizeof(std::uint64_t));
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

/// Packets of AQL are aligned to 64 bytes, so that their addresses leave room for it.
enum class OwnerMark : std::uint64_t { none, suspect, condemned, collected, mask };

/// Marks the packets that waves of that ring have: the ring's queue is about to end.
void suspect_owners(HostcallBuffer& buffer, const RingRange& ring) noexcept;
/// Of these, condemns those that no wave has given back: the queue has ended. Returns whether there are any.
bool condemn_suspects(HostcallBuffer& buffer, const RingRange& ring) noexcept;
/// Before the ready stack is taken: what is condemned later may still be on it.
void collect_condemned(HostcallBuffer& buffer) noexcept;
/// Afterwards: puts what was collected on the free stack. `tag`: another one each time.
void free_collected(HostcallBuffer& buffer, std::uint64_t tag) noexcept;

/// Calls `each` with the slot of each lane.
template <class Each>
void for_lanes(std::uint64_t lanes, HostcallPayload& payload, Each&& each) {
    for (; lanes != 0; lanes &= lanes - 1) each(payload.slots[std::countr_zero(lanes)]);
}

}  // namespace hsadrv::detail
