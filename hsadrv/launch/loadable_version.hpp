// Determines by trial which versions of code objects this machine's runtime loads.
//
//   if (auto newest = newest_loadable_version(gpu, bytes, code)) …      // 5: the same bytes load as V5
//
// Internal. Only for messages about refused code objects: it loads throw-away copies. Thread safety: any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "hsadrv/agent.hpp"
#include "hsadrv/code_object.hpp"

namespace hsadrv {

/// The newest version, below that of the validated code object `code`, that the runtime loads when the same bytes are
/// marked with it; std::nullopt if it loads none of them, so that the version was not the reason.
std::optional<unsigned> newest_loadable_version(AgentRef gpu, std::span<const std::byte> bytes, const CodeObject& code);

/// The versions from V3 to V6 that the runtime loads when the same bytes are marked with them.
std::vector<unsigned> loadable_versions(AgentRef gpu, std::span<const std::byte> bytes, const CodeObject& code);

}  // namespace hsadrv
