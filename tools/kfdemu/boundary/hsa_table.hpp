// The part of the HSA runtime's API table that kfdemu wraps: where its functions are, and how one is replaced.
//
//     hsa::wrap(table.core, hsa::kMemoryFree, &free_memory, next_free);
//     hsa::wrap(table.amd, hsa::later(table.amd, hsa::Later::memory_lock), &lock, next_lock);
//
// Declared here because kfdemu does not depend on HSA's headers. version.minor is a table's size in bytes, by which a
// function that is not there is recognised. CoreApiTable grows at its end only. In AmdExtTable, two functions were
// inserted after ROCR 5.2, before the functions below Later; its size tells whether they are there. Source:
// hsa_api_trace.h of ROCR 5.2 and 7. A test compares the offsets with the header that is installed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace kfdemu::hsa {

using Status = std::int32_t;
inline constexpr Status kSuccess = 0, kInvalidAllocation = 0x1003, kOutOfResources = 0x1008;

struct TableVersion {
    std::uint32_t major, minor, step, reserved;
};

struct Table {
    TableVersion version;
    std::byte* core;  ///< CoreApiTable
    std::byte* amd;   ///< AmdExtTable
};

struct Handle {
    std::uint64_t value;
};
using MemoryAllocate = Status (*)(Handle region, std::size_t bytes, void** out);
using MemoryFree = Status (*)(void*);
using Callback = void (*)(void* memory, void* data);
using RegisterCallback = Status (*)(void* memory, Callback, void* data);
using DeregisterCallback = Status (*)(void* memory, Callback);
using PoolAllocate = Status (*)(Handle pool, std::size_t bytes, std::uint32_t flags, void** out);

using SignalWait = std::int64_t (*)(Handle signal, int condition, std::int64_t value, std::uint64_t ticks, int state);
using SignalWaitAny = std::uint32_t (*)(std::uint32_t count, Handle* signals, int* conditions, std::int64_t* values,
                                        std::uint64_t ticks, int state, std::int64_t* satisfying);

inline constexpr int kWaitBlocked = 0;                     ///< HSA_WAIT_STATE_BLOCKED
inline constexpr std::uint32_t kMemoryAvailable = 0xA015;  ///< HSA_AMD_AGENT_INFO_MEMORY_AVAIL

// Offsets into CoreApiTable.
inline constexpr std::size_t kAgentGetInfo = 64;
inline constexpr std::size_t kQueueCreate = 72, kSoftQueueCreate = 80, kQueueDestroy = 88;
inline constexpr std::size_t kMemoryAllocate = 280, kMemoryFree = 288;
inline constexpr std::size_t kSignalCreate = 312, kSignalDestroy = 320;
inline constexpr std::size_t kSignalWaitRelaxed = 360, kSignalWaitAcquire = 368;
inline constexpr std::size_t kExecutableCreate = 680, kExecutableDestroy = 688, kExecutableFreeze = 704;
inline constexpr std::size_t kReaderFromFile = 936, kReaderFromMemory = 944, kReaderDestroy = 952;
inline constexpr std::size_t kExecutableCreateAlt = 960;
// Offsets into AmdExtTable.
inline constexpr std::size_t kSignalWaitAny = 88;
inline constexpr std::size_t kPoolAllocate = 120, kPoolFree = 128;

/// An offset into AmdExtTable as it is in ROCR 5.2, of a function after those that were inserted.
enum class Later : std::size_t {
    memory_lock = 176,
    memory_unlock = 184,
    interop_map_buffer = 200,
    interop_unmap_buffer = 208,
    pointer_info = 224,
    ipc_memory_create = 240,
    ipc_memory_attach = 248,
    ipc_memory_detach = 256,
    amd_signal_create = 264,
    ipc_signal_attach = 280,
    queue_intercept_create = 296,
    register_deallocation_callback = 344,
    deregister_deallocation_callback = 352,
    memory_lock_to_pool = 336,
    // Not in 5.2: as if it went on.
    vmem_address_reserve = 440,
    vmem_address_free = 448,
    vmem_handle_create = 456,
    vmem_handle_release = 464,
    vmem_map = 472,
    vmem_unmap = 480,
    vmem_address_reserve_align = 552,
};

inline constexpr std::size_t kNowhere = std::size_t{1} << 20;  ///< beyond every table

/// Where it is in an AmdExtTable of so many bytes; kNowhere if that cannot be told.
constexpr std::size_t offset_in(std::size_t table_bytes, Later function) {
    const auto offset = static_cast<std::size_t>(function);
    constexpr std::size_t kInserted = 16;
    // 5.2 has 400 bytes. Three functions were appended first; of the sizes in between, it is not known in which order
    // others came.
    if (table_bytes <= 400 || table_bytes == 424) return offset;
    return table_bytes >= 456 ? offset + kInserted : kNowhere;
}

inline std::size_t bytes_of(const std::byte* table) {
    TableVersion version{};
    std::memcpy(&version, table, sizeof version);
    return version.minor;
}

inline std::size_t later(const std::byte* amd, Later function) { return offset_in(bytes_of(amd), function); }

/// Puts `ours` in the table and what was there in `next`, if the table has the function.
template <class Function>
void wrap(std::byte* table, std::size_t offset, Function ours, Function& next) {
    if (offset + sizeof ours > bytes_of(table)) return;
    std::memcpy(&next, table + offset, sizeof next);
    std::memcpy(table + offset, &ours, sizeof ours);
}

}  // namespace kfdemu::hsa
