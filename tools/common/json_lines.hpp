// JSON that people read, too: objects in arrays have a line each, everything else stays in its line.
//
//     json_lines({{"output", "k.hsaco"}, {"kernels", …}});   // {"output": "k.hsaco", "kernels": [\n  {"name": …}]}
//
// Pure. Thread safety: no state.
#pragma once

#include <string>

#include "tools/common/json.hpp"

namespace tools {

/// With a line end. Keys stay in their order; bytes that are no UTF-8 become U+FFFD.
std::string json_lines(const Json& json);

}  // namespace tools
