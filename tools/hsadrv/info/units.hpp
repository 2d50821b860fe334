// Numbers as people read them.
//
//     size_text(8ull << 30)        // "8.0 GiB"
//     rate_text(16000)             // "16.0 GB/s"
//
// Thread safety: functions. Throws: bad_alloc alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hsadrv_tool {

/// In the largest binary unit of which there is one at least: "64 KiB", "23.5 GiB"; "0" for nothing.
std::string size_text(std::uint64_t bytes);

/// In MB/s or GB/s, of 1000 each, as the runtime gives bandwidths.
std::string rate_text(std::uint64_t megabytes_per_second);

/// "1 hop", "2 hops".
std::string counted(std::uint64_t count, std::string_view noun);

}  // namespace hsadrv_tool
