// Readable numbers: sizes, rates, counts.
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

/// In the largest binary unit not above the size: "64 KiB", "23.5 GiB"; 0 is "0".
std::string size_text(std::uint64_t bytes);

/// In MB/s or GB/s (decimal), the units of the runtime's bandwidths.
std::string rate_text(std::uint64_t megabytes_per_second);

/// "1 hop", "2 hops".
std::string counted(std::uint64_t count, std::string_view noun);

}  // namespace hsadrv_tool
