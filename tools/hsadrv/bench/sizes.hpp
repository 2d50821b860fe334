// Parses sizes of the command line and formats sizes for reports.
//
//     parse_sizes("4K..64M")          // 4 KiB, 16 KiB, 64 KiB … 64 MiB: each four times the one before
//     parse_sizes("4K..64M*2")        // twice
//     parse_sizes("100,4K,1M..16M")   // a list, of which each part may be a range
//     size_text(4096)                 // "4 KiB"
//
// K, M, G and T are powers of 1024. Pure functions. Throws Failure(usage), which names the wrong part and the error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hsadrv_bench {

/// In the order given, without repetition. `option`: for messages.
std::vector<std::uint64_t> parse_sizes(std::string_view text, std::string_view option = "--sizes");

/// "4 KiB", "100 B", "1.5 MiB".
std::string size_text(std::uint64_t bytes);

}  // namespace hsadrv_bench
