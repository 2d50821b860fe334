// Which area of the conformance suite a test case belongs to: by its file, or by its tag [stress].
//
//     const char* area = conformance::area_of("../tests/hsadrv/queue.cpp", "[queue]");    // "queues"
//
// Thread safety: no state.
#pragma once

#include <string>
#include <string_view>

namespace conformance {

/// "hsadrv/queue.cpp" of "../tests/hsadrv/queue.cpp": the table's key.
std::string short_file(std::string_view file);

/// nullptr if the table does not have the file.
const char* area_of(std::string_view file, std::string_view tags);

}  // namespace conformance
