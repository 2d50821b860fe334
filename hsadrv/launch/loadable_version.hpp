// Which versions of code objects this machine's runtime loads, found by asking it.
//
//     if (auto newest = newest_loadable_version(gpu, bytes, code)) …      // 5: it takes the same bytes as V5
//
// Internal. Only for messages about what was refused: it loads throw-away copies. Thread safety: any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "hsadrv/agent.hpp"
#include "hsadrv/code_object.hpp"

namespace hsadrv {

/// The newest version below that of the validated code object `code`, whose bytes are given, that the runtime
/// loads when the same bytes say that they are of it; nothing if it takes none of them, so that the version
/// was not why.
std::optional<unsigned> newest_loadable_version(AgentRef gpu, std::span<const std::byte> bytes, const CodeObject& code);

/// Those of V3 to V6 that the runtime loads when the same bytes say that they are of it.
std::vector<unsigned> loadable_versions(AgentRef gpu, std::span<const std::byte> bytes, const CodeObject& code);

}  // namespace hsadrv
