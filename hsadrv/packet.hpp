// AQL packets as values: pure functions that build 64-byte packets.
//
//   Packet p = kernel_dispatch({.kernel_object = object, .grid = 1 << 20, .workgroup = 256, .kernarg = args});
//   queue.ref().submit(p);
//
// Builders write the header last, and queues store a packet's first word last: a packet processor that sees the header
// sees the rest. Thread safety: values. Source: HSA Platform System Architecture, "Architected Queuing Language
// packets"; hsa.h, hsa_packet_header_t.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <array>
#include <atomic>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "hsadrv/dim3.hpp"

namespace hsadrv {

/// The values of hsa_packet_type_t; invalid is 1, not 0, so zeroed memory is a vendor packet.
enum class PacketType : std::uint8_t {
    vendor_specific = HSA_PACKET_TYPE_VENDOR_SPECIFIC,
    invalid = HSA_PACKET_TYPE_INVALID,
    kernel_dispatch = HSA_PACKET_TYPE_KERNEL_DISPATCH,
    barrier_and = HSA_PACKET_TYPE_BARRIER_AND,
    agent_dispatch = HSA_PACKET_TYPE_AGENT_DISPATCH,
    barrier_or = HSA_PACKET_TYPE_BARRIER_OR,
};

enum class FenceScope : std::uint8_t {
    none = HSA_FENCE_SCOPE_NONE,
    agent = HSA_FENCE_SCOPE_AGENT,
    system = HSA_FENCE_SCOPE_SYSTEM,
};

/// A packet's ordering. `barrier`: it starts when all earlier packets of its queue are complete.
struct PacketOrder {
    bool barrier = true;
    FenceScope acquire = FenceScope::system;
    FenceScope release = FenceScope::system;
};

constexpr std::uint16_t packet_header(PacketType type, PacketOrder order) noexcept {
    return static_cast<std::uint16_t>(unsigned(type) << HSA_PACKET_HEADER_TYPE |
                                      unsigned(order.barrier) << HSA_PACKET_HEADER_BARRIER |
                                      unsigned(order.acquire) << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                                      unsigned(order.release) << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
}

constexpr PacketType packet_type(std::uint16_t header) noexcept { return static_cast<PacketType>(header & 0xff); }

/// One slot of a queue's ring. words[0] holds the header in its low half.
struct alignas(64) Packet {
    std::array<std::uint32_t, 16> words{static_cast<std::uint32_t>(PacketType::invalid)};

    constexpr std::uint16_t header() const noexcept { return static_cast<std::uint16_t>(words[0]); }
    constexpr PacketType type() const noexcept { return packet_type(header()); }

    /// The packet as hsa.h declares it, for example as<hsa_kernel_dispatch_packet_t>().
    template <class Native>
    Native as() const noexcept {
        static_assert(sizeof(Native) == 64 && std::is_trivially_copyable_v<Native>);
        return std::bit_cast<Native>(words);
    }
    template <class Native>
    static Packet from(const Native& native) noexcept {
        static_assert(sizeof(Native) == 64 && std::is_trivially_copyable_v<Native>);
        return {std::bit_cast<std::array<std::uint32_t, 16>>(native)};
    }
};
static_assert(sizeof(Packet) == 64);

struct KernelDispatch {
    std::uint64_t kernel_object = 0;
    Dim3 grid = {};                           ///< work-items
    Dim3 workgroup = {};                      ///< work-items
    std::uint32_t private_segment_bytes = 0;  ///< per work-item
    std::uint32_t group_segment_bytes = 0;    ///< per work-group, static and dynamic
    void* kernarg = nullptr;                  ///< at least 16-byte aligned
    hsa_signal_t completion = {0};            ///< decremented by one at completion; 0: none
    PacketOrder order = {};
};

/// Checks nothing: tests send bad packets on purpose.
inline Packet kernel_dispatch(const KernelDispatch& d) noexcept {
    hsa_kernel_dispatch_packet_t p{};
    p.workgroup_size_x = static_cast<std::uint16_t>(d.workgroup.x);
    p.workgroup_size_y = static_cast<std::uint16_t>(d.workgroup.y);
    p.workgroup_size_z = static_cast<std::uint16_t>(d.workgroup.z);
    p.grid_size_x = d.grid.x;
    p.grid_size_y = d.grid.y;
    p.grid_size_z = d.grid.z;
    p.private_segment_size = d.private_segment_bytes;
    p.group_segment_size = d.group_segment_bytes;
    p.kernel_object = d.kernel_object;
    p.kernarg_address = d.kernarg;
    p.completion_signal = d.completion;
    const unsigned dimensions =
        d.grid.dimensions() > d.workgroup.dimensions() ? d.grid.dimensions() : d.workgroup.dimensions();
    p.setup = static_cast<std::uint16_t>(dimensions << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS);
    p.header = packet_header(PacketType::kernel_dispatch, d.order);
    return Packet::from(p);
}

/// A function call on the host or another agent, executed by the code that serves the queue.
struct AgentDispatch {
    std::uint16_t function = 0;  ///< as agreed by both sides
    std::array<std::uint64_t, 4> arguments = {};
    void* result = nullptr;
    hsa_signal_t completion = {0};  ///< decremented by one at completion; 0: none
    PacketOrder order = {};
};

inline Packet agent_dispatch(const AgentDispatch& d) noexcept {
    hsa_agent_dispatch_packet_t p{};
    p.type = d.function;
    p.return_address = d.result;
    for (std::size_t i = 0; i < d.arguments.size(); ++i) p.arg[i] = d.arguments[i];
    p.completion_signal = d.completion;
    p.header = packet_header(PacketType::agent_dispatch, d.order);
    return Packet::from(p);
}

/// The most signals that one barrier packet can wait for.
inline constexpr std::size_t barrier_max_dependencies = 5;

namespace detail {
inline Packet barrier(PacketType type, std::span<const hsa_signal_t> dependencies, hsa_signal_t completion,
                      PacketOrder order) noexcept {
    hsa_barrier_and_packet_t p{};
    for (std::size_t i = 0; i < dependencies.size() && i < barrier_max_dependencies; ++i)
        p.dep_signal[i] = dependencies[i];
    p.completion_signal = completion;
    p.header = packet_header(type, order);
    return Packet::from(p);
}
}  // namespace detail

/// Complete when all of the signals (at most five) have been seen at zero.
inline Packet barrier_and(std::span<const hsa_signal_t> dependencies, hsa_signal_t completion = {0},
                          PacketOrder order = {}) noexcept {
    return detail::barrier(PacketType::barrier_and, dependencies, completion, order);
}

/// Complete when one of the signals (at most five) has been seen at zero.
inline Packet barrier_or(std::span<const hsa_signal_t> dependencies, hsa_signal_t completion = {0},
                         PacketOrder order = {}) noexcept {
    return detail::barrier(PacketType::barrier_or, dependencies, completion, order);
}

/// The number of packets in a wait for `dependencies` signals; one for zero signals.
constexpr std::size_t barrier_chain_packets(std::size_t dependencies) noexcept {
    return dependencies == 0 ? 1 : (dependencies + barrier_max_dependencies - 1) / barrier_max_dependencies;
}

/// Packet `index` of the chain that waits for all of the signals, of any number. The last packet completes after the
/// others, whatever its order. Only the last has the completion signal and the release fence; only the first has the
/// acquire fence and the caller's barrier bit. There is no such chain for a wait for any one of more than five signals.
inline Packet barrier_chain_packet(std::span<const hsa_signal_t> dependencies, std::size_t index,
                                   hsa_signal_t completion = {0}, PacketOrder order = {}) noexcept {
    const std::size_t first = index * barrier_max_dependencies;
    const std::size_t left = dependencies.size() - first;
    const std::span<const hsa_signal_t> part(dependencies.data() + first,
                                             left < barrier_max_dependencies ? left : barrier_max_dependencies);
    const bool last = index + 1 == barrier_chain_packets(dependencies.size());
    PacketOrder mine = order;
    if (index > 0) mine.barrier = true, mine.acquire = FenceScope::none;
    if (!last) mine.release = FenceScope::none;
    return barrier_and(part, last ? completion : hsa_signal_t{0}, mine);
}

/// A wait for one signal's value: complete when `(signal & mask) condition value` has been seen to hold.
struct BarrierValue {
    hsa_signal_t signal = {0};  ///< 0: complete at once
    hsa_signal_condition_t condition = HSA_SIGNAL_CONDITION_EQ;
    std::int64_t value = 0;
    std::int64_t mask = -1;
    hsa_signal_t completion = {0};  ///< decremented by one at completion; 0: none
    PacketOrder order = {};
};

/// Writes AMD's vendor packet into a slot of a ring, the first word last. gfx90a and gfx94x support it. Neither IREE
/// nor ROCm's CLR expects it of other GPUs, where a queue may stop with an error (Stream::wait works on all). Source:
/// hsa_ext_amd.h, hsa_amd_barrier_value_packet_t.
inline void write_barrier_value(Packet& slot, const BarrierValue& b) noexcept {
    using Native = hsa_amd_barrier_value_packet_t;
    static_assert(offsetof(Native, signal) == 8 && offsetof(Native, value) == 16 && offsetof(Native, mask) == 24 &&
                  offsetof(Native, cond) == 32 && offsetof(Native, completion_signal) == 56 &&
                  offsetof(hsa_amd_vendor_packet_header_t, AmdFormat) == 2);
    const std::uint64_t words[7]{b.signal.handle,
                                 static_cast<std::uint64_t>(b.value),
                                 static_cast<std::uint64_t>(b.mask),
                                 static_cast<std::uint32_t>(b.condition),
                                 0,
                                 0,
                                 b.completion.handle};
    std::memcpy(&slot.words[2], words, sizeof words);
    slot.words[1] = 0;
    std::atomic_ref(slot.words[0])
        .store(packet_header(PacketType::vendor_specific, b.order) | HSA_AMD_PACKET_TYPE_BARRIER_VALUE << 16,
               std::memory_order_release);
}
inline Packet barrier_value(const BarrierValue& b) noexcept {
    Packet packet;
    write_barrier_value(packet, b);
    return packet;
}

}  // namespace hsadrv
