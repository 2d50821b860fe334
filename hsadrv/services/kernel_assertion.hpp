// Internal: the failed assertion of a kernel becomes the failure of its stream.
//
// The kernel names its dispatch packet, whose queue and place in the queue identify the stream: at most one packet of
// a stream's queue has begun and is not complete. Thread safety: any thread, with no lock held.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "hsadrv/agent.hpp"

namespace hsadrv::detail {

/// `words`: as shared/device/assert.hpp sends them. Returns the text if no stream runs that packet: then the caller
/// reports it.
std::string fail_asserting_stream(AgentRef gpu, std::span<const std::uint64_t> words);

/// Fails every stream of that GPU that may have asked for an unknown service.
void fail_asking_streams(AgentRef gpu, std::uint32_t service);

}  // namespace hsadrv::detail
