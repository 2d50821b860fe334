// Internal: the memories that a copy connects, and the agent whose engine can perform it.
//
//   CopyRoute route = CopyRoute::of("Stream::copy_async", to, 64, from, 64);    // throws for an invalid range
//   const AgentRef engine = route.settle(gpu);
//
// Thread safety: plain values. Borrows: the addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "hsadrv/agent.hpp"
#include "hsadrv/memory.hpp"
#include "hsadrv/memory/copy_engine.hpp"

namespace hsadrv::detail {

/// An address as agents see it.
struct CopySide {
    void* address;
    AgentRef device;  ///< null: host memory that the GPU can access
};

/// Two addresses and the allocations they belong to.
struct CopyRoute {
    void* destination;
    const void* source;
    PointerInfo to, from;

    /// Throws InvalidArgument for null, and for ranges that leave their allocations or the address space.
    static CopyRoute of(const char* call, void* destination, std::size_t destination_bytes, const void* source,
                        std::size_t source_bytes);

    bool to_pageable() const noexcept { return to.kind == PointerInfo::Kind::pageable; }
    bool from_pageable() const noexcept { return from.kind == PointerInfo::Kind::pageable; }
    void* host_destination() const noexcept { return to.host_address(destination); }
    const void* host_source() const noexcept { return from.host_address(source); }
    CopySide to_side() const;
    CopySide from_side() const;
    /// Destination minus source, as agents see them and, if both have host addresses, as the host sees them.
    std::intptr_t agent_distance() const noexcept;
    std::optional<std::intptr_t> host_distance() const;

    /// Returns the agent whose engine copies, and treats memory that it cannot access as pageable. `gpu`: the agent for
    /// copies between host memories.
    AgentRef settle(AgentRef gpu);
    /// Gives that agent access to both. False if it can never access one of them.
    bool make_reachable(AgentRef engine) const;
};

/// The GPU of the source, else that of the destination; `gpu` if both are host memory.
AgentRef engine_for(CopySide to, CopySide from, AgentRef gpu) noexcept;
/// One side must be a GPU for the runtime to use a DMA engine; addresses are the same for all agents.
std::pair<CopyEnd, CopyEnd> copy_ends(CopySide to, CopySide from, AgentRef gpu);

CopySide side_of(const void* pointer, const PointerInfo& info);
/// False if `engine` can never access that memory.
bool make_reachable(const PointerInfo& info, AgentRef engine);
/// Describes, for the end of a message, a range that is neither inside its allocation nor pageable memory; std::nullopt
/// if the range is valid.
std::optional<std::string> fault_of_range(const PointerInfo& info, const void* pointer, std::size_t size_bytes,
                                          const char* side);
inline std::byte* at(void* base, std::size_t offset) noexcept { return static_cast<std::byte*>(base) + offset; }
inline const std::byte* at(const void* base, std::size_t offset) noexcept {
    return static_cast<const std::byte*>(base) + offset;
}

/// Throws InvalidArgument.
[[noreturn]] void refuse_copy(const std::string& message);
/// "Stream::copy_async(to 0x…, from 0x…, 64 B)"
std::string range_text(const char* call, const void* to, const void* from, std::size_t size_bytes);
/// Whether two ranges of that size overlap; their starts differ by `distance`.
bool nearer_than(std::intptr_t distance, std::size_t size_bytes) noexcept;

}  // namespace hsadrv::detail
