#include "tools/hsadrv/bench/sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "tools/common/failure.hpp"

namespace hsadrv_bench {
namespace {

constexpr std::string_view units = "KMGT";
constexpr std::size_t most_sizes = 1000;

/// A part of the list, and the option that it belongs to.
struct Part {
    std::string_view text, option;
};

[[noreturn]] void refuse(const Part& part, std::string_view why) {
    throw tools::Failure(tools::ExitStatus::usage, fmt::format("{}: '{}': {}", part.option, part.text, why));
}

std::uint64_t parse_size(std::string_view text, const Part& part) {
    static constexpr std::string_view wanted = "a size is a number of bytes, optionally followed by K, M, G or T";
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc::result_out_of_range) refuse(part, "no memory has so many bytes");
    if (error != std::errc()) refuse(part, wanted);
    std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
    if (number == 0) refuse(part, "a size of zero: there is nothing to measure");
    if (rest.empty()) return number;
    const std::size_t unit = units.find(static_cast<char>(rest.front() & ~0x20));
    rest.remove_prefix(1);
    if (unit == units.npos || !(rest.empty() || rest == "B" || rest == "iB")) refuse(part, wanted);
    const unsigned shift = 10 * (static_cast<unsigned>(unit) + 1);
    if (number > UINT64_MAX >> shift) refuse(part, "no memory has so many bytes");
    return number << shift;
}

std::uint64_t parse_factor(std::string_view text, const Part& part) {
    std::uint64_t factor = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), factor);
    if (error != std::errc() || end != text.data() + text.size() || factor < 2)
        refuse(part, "the factor after * must be 2 or more");
    return factor;
}

void add_part(const Part& whole, std::vector<std::uint64_t>& sizes) {
    const std::string_view part = whole.text;
    const auto add = [&](std::uint64_t size) {
        if (std::find(sizes.begin(), sizes.end(), size) != sizes.end()) return;
        if (sizes.size() == most_sizes) refuse(whole, fmt::format("more than {} sizes", most_sizes));
        sizes.push_back(size);
    };
    const std::size_t dots = part.find("..");
    if (dots == part.npos) return add(parse_size(part, whole));
    const std::size_t star = part.find('*', dots);
    const std::uint64_t factor = star == part.npos ? 4 : parse_factor(part.substr(star + 1), whole);
    const std::uint64_t first = parse_size(part.substr(0, dots), whole);
    const std::uint64_t last =
        parse_size(part.substr(dots + 2, star == part.npos ? part.npos : star - dots - 2), whole);
    if (first > last) refuse(whole, "the range ends before it begins");
    for (std::uint64_t size = first;; size *= factor) {
        add(size);
        if (size > last / factor) break;
    }
    add(last);
}

}  // namespace

std::vector<std::uint64_t> parse_sizes(std::string_view text, std::string_view option) {
    std::vector<std::uint64_t> sizes;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        add_part({text.substr(begin, end - begin), option}, sizes);
        begin = end + 1;
    }
    return sizes;
}

std::string size_text(std::uint64_t bytes) {
    std::size_t unit = 0;
    double value = static_cast<double>(bytes);
    while (value >= 1024 && unit < units.size()) {
        value /= 1024;
        ++unit;
    }
    return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.4g} {}iB", value, units[unit - 1]);
}

}  // namespace hsadrv_bench
