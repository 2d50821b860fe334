// Layouts of AQL packets, amd_queue_t and amd_signal_t, as the packet processor accesses them.
// Sources: HSA Platform System Architecture Specification 1.2, "Architected Queuing Language" and "Signals";
// AMD's extensions from the public headers amd_hsa_queue.h, amd_hsa_signal.h and hsa_ext_amd.h. The kernel dispatch
// packet is KernelDispatchPacket in dispatch/launch.hpp.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace kfdemu::aql {

enum PacketType : std::uint8_t {
    kVendorSpecific = 0,
    kInvalid = 1,
    kKernelDispatch = 2,
    kBarrierAnd = 3,
    kAgentDispatch = 4,
    kBarrierOr = 5,
};

inline constexpr PacketType type_of(std::uint16_t header) { return static_cast<PacketType>(header & 0xff); }
inline constexpr bool has_barrier_bit(std::uint16_t header) { return (header & 0x100) != 0; }

/// 0: none, 1: the agent, 2: the system.
inline constexpr unsigned acquire_scope(std::uint16_t header) { return header >> 9 & 3u; }
inline constexpr unsigned release_scope(std::uint16_t header) { return header >> 11 & 3u; }

struct Barrier {  // AND and OR
    std::uint16_t header, reserved0;
    std::uint32_t reserved1;
    std::uint64_t dep_signal[5], reserved2, completion_signal;
};

enum AmdFormat : std::uint8_t { kAmdPm4Ib = 1, kAmdBarrierValue = 2 };

struct Pm4Ib {
    std::uint16_t header, amd_format;
    std::uint32_t ib_jump[4];  // an INDIRECT_BUFFER packet
    std::uint32_t dwords_remaining, reserved[8];
    std::uint64_t completion_signal;
};

struct BarrierValue {
    std::uint16_t header;
    std::uint8_t amd_format, reserved0;
    std::uint32_t reserved1;
    std::uint64_t signal;
    std::int64_t value, mask;
    std::uint32_t condition, reserved2;  // hsa_signal_condition_t: 0 equal, 1 not equal, 2 less, 3 greater or equal
    std::uint64_t reserved3, reserved4, completion_signal;
};

/// The bytes of a ring slot; as<T>() reinterprets them as a packet type.
struct Packet {
    std::uint16_t header;
    std::uint16_t rest[31];

    template <class T>
    T as() const {
        return std::bit_cast<T>(*this);
    }
};
static_assert(sizeof(Packet) == 64 && sizeof(Barrier) == 64 && sizeof(Pm4Ib) == 64 && sizeof(BarrierValue) == 64);

struct AmdSignal {
    std::int64_t kind, value;
    std::uint64_t event_mailbox_ptr;
    std::uint32_t event_id, reserved1;
    std::uint64_t start_ts, end_ts, queue_ptr, reserved2;
};
static_assert(sizeof(AmdSignal) == 64);

struct AmdQueue {
    std::uint8_t hsa_queue[32];
    std::uint64_t id;  // hsa_queue_t::id
    std::uint32_t reserved1[4];
    std::uint64_t write_dispatch_id;
    std::uint32_t group_segment_aperture_base_hi, private_segment_aperture_base_hi, max_cu_id, max_wave_id;
    std::uint64_t max_legacy_doorbell_dispatch_id_plus_1;
    std::uint32_t legacy_doorbell_lock, reserved2[9];
    std::uint64_t read_dispatch_id;
    std::uint32_t read_dispatch_id_offset, compute_tmpring_size, scratch_resource_descriptor[4];
    std::uint64_t scratch_backing_memory_location, scratch_backing_memory_byte_size;
    std::uint32_t scratch_wave64_lane_byte_size, queue_properties, reserved3[2];
    std::uint64_t queue_inactive_signal;
    std::uint32_t reserved4[14];
};
static_assert(sizeof(AmdQueue) == 256 && offsetof(AmdQueue, read_dispatch_id) == 128 &&
              offsetof(AmdQueue, queue_inactive_signal) == 192);

enum QueueProperties : std::uint32_t { kEnableProfiling = 1u << 3, kUseScratchOnce = 1u << 4 };

/// Values of a queue's inactive signal for an error that stopped the queue (ROCR's amd_aql_queue.cpp).
enum QueueError : std::uint64_t {
    kInvalidDimensions = 2,
    kInvalidGroupSegment = 4,
    kInvalidCode = 8,
    kInvalidPacket = 32,
    kInvalidWorkgroup = 64,
    kInvalidRegisters = 128,
    kInvalidVendorPacket = 256,
    kScratchDone = 512,              // not an error: the runtime may free a large scratch
    kInsufficientScratch = 0x1,      // for waves of 64 lanes
    kInsufficientScratch32 = 0x400,  // of 32
    kApertureViolation = 0x20000000,
    kIllegalInstruction = 0x40000000,
    kException = 0x80000000,
};

}  // namespace kfdemu::aql
