// Internal: between which memories a copy goes, and which agent's engine can make it.
//
//   CopyRoute route = CopyRoute::of("Stream::copy_async", to, 64, from, 64);    // throws for what is no range
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

/// An address as agents have it.
struct CopySide {
    void* address;
    AgentRef device;  ///< none: host memory that the GPU can reach
};

/// Two addresses and what they belong to.
struct CopyRoute {
    void* destination;
    const void* source;
    PointerInfo to, from;

    /// Throws InvalidArgument for null and for ranges that leave their allocations or all memory.
    static CopyRoute of(const char* call, void* destination, std::size_t destination_bytes, const void* source,
                        std::size_t source_bytes);

    bool to_pageable() const noexcept { return to.kind == PointerInfo::Kind::pageable; }
    bool from_pageable() const noexcept { return from.kind == PointerInfo::Kind::pageable; }
    void* host_destination() const noexcept { return to.host_address(destination); }
    const void* host_source() const noexcept { return from.host_address(source); }
    CopySide to_side() const;
    CopySide from_side() const;
    /// Destination minus source, by the agents' view and, where both have one, by the host's.
    std::intptr_t agent_distance() const noexcept;
    std::optional<std::intptr_t> host_distance() const;

    /// Whose engine copies; and what it does not reach is pageable from here on. `gpu`: between host memories.
    AgentRef settle(AgentRef gpu);
    /// Lets that agent at both. False if it can never reach one of them.
    bool make_reachable(AgentRef engine) const;
};

/// The runtime has the source's GPU copy, or the destination's; for host memory on both sides `gpu` does.
AgentRef engine_for(CopySide to, CopySide from, AgentRef gpu) noexcept;
/// One side must be a GPU for the runtime to use a DMA engine; addresses are the same for all agents.
std::pair<CopyEnd, CopyEnd> copy_ends(CopySide to, CopySide from, AgentRef gpu);

CopySide side_of(const void* pointer, const PointerInfo& info);
/// False if `engine` can never reach that memory.
bool make_reachable(const PointerInfo& info, AgentRef engine);
/// Null, or what is wrong with a range that is neither the allocation's nor pageable memory: for the end of a message.
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
/// Whether two ranges of that size overlap, the one `distance` after the other.
bool nearer_than(std::intptr_t distance, std::size_t size_bytes) noexcept;

}  // namespace hsadrv::detail
