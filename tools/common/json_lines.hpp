// Human-readable JSON: each object in an array is on its own line, everything else stays on one line.
//
//     json_lines({{"output", "k.hsaco"}, {"kernels", …}});   // {"output": "k.hsaco", "kernels": [\n  {"name": …}]}
//
// Pure. Thread safety: no state.
#pragma once

#include <string>

#include "tools/common/json.hpp"

namespace tools {

/// With a line end. Keys keep their order; invalid UTF-8 becomes U+FFFD.
std::string json_lines(const Json& json);

}  // namespace tools
