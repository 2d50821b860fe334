// The part of the HSA runtime's API table that the allocation tool wraps: where its functions are.
//
// Declared here because kfdemu does not depend on HSA's headers. The table grows at its end only; version.minor is its
// size in bytes, by which a function that is not there is recognised. Source: hsa_api_trace.h. A test compares the
// offsets with that header.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kfdemu::hsa {

using Status = std::int32_t;
inline constexpr Status kSuccess = 0, kOutOfResources = 0x1008;

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
using PoolAllocate = Status (*)(Handle pool, std::size_t bytes, std::uint32_t flags, void** out);

// Offsets into CoreApiTable and AmdExtTable.
inline constexpr std::size_t kMemoryAllocate = 280, kMemoryFree = 288;
inline constexpr std::size_t kPoolAllocate = 120, kPoolFree = 128;

}  // namespace kfdemu::hsa
