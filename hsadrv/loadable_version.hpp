// Which versions of code objects this machine's runtime loads, found by asking it.
//
//     if (auto newest = newest_loadable_version(gpu, bytes, 6)) …      // 5: it takes the same bytes as V5
//
// Internal. Only for messages about what was refused: it loads throw-away copies. Thread safety: any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "hsadrv/agent.hpp"

namespace hsadrv {

/// The newest version below `version`, of which the validated code object `bytes` is, that the runtime loads
/// when the same bytes say that they are of it; nothing if it takes none of them, so that the version was not
/// why.
std::optional<unsigned> newest_loadable_version(AgentRef gpu, std::span<const std::byte> bytes,
                                                unsigned version);

}  // namespace hsadrv
