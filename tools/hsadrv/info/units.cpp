#include "tools/hsadrv/info/units.hpp"

#include <fmt/format.h>

namespace hsadrv_tool {

std::string size_text(std::uint64_t bytes) {
    static constexpr const char* names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes == 0) return "0";
    std::size_t unit = 0;
    while (unit + 1 < std::size(names) && bytes >> (10 * (unit + 1)) != 0) ++unit;
    const double amount = static_cast<double>(bytes) / static_cast<double>(std::uint64_t{1} << (10 * unit));
    const bool whole = (bytes & ((std::uint64_t{1} << (10 * unit)) - 1)) == 0;
    return fmt::format("{:.{}f} {}", amount, whole && unit < 3 ? 0 : 1, names[unit]);
}

std::string rate_text(std::uint64_t megabytes_per_second) {
    if (megabytes_per_second < 1000) return fmt::format("{} MB/s", megabytes_per_second);
    return fmt::format("{:.1f} GB/s", static_cast<double>(megabytes_per_second) / 1000);
}

std::string counted(std::uint64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace hsadrv_tool
