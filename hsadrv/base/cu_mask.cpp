#include "hsadrv/base/cu_mask.hpp"

#include <charconv>
#include <cstdlib>
#include <optional>

#include "hsadrv/driver.hpp"
#include "hsadrv/error.hpp"

namespace hsadrv::detail {

namespace {

std::vector<std::uint32_t> environment_cu_mask(AgentRef gpu) {
    const char* const text = std::getenv("HSA_CU_MASK");
    if (text == nullptr) return {};
    const std::vector<AgentRef>& gpus = Driver::current().gpus();
    const auto number = std::find(gpus.begin(), gpus.end(), gpu) - gpus.begin();
    return cu_mask_in(text, static_cast<std::uint32_t>(number));
}

constexpr std::uint32_t most_units = 4096;  // a larger number is a mistake

/// "0-7,12" as a mask.
std::optional<std::vector<std::uint32_t>> parse_list(std::string_view list) {
    std::vector<std::uint32_t> mask;
    const char *at = list.data(), *const end = at + list.size();
    const auto number = [&](std::uint32_t& value) {
        const auto [next, error] = std::from_chars(at, end, value);
        at = next;
        return error == std::errc() && value < most_units;
    };
    for (;;) {
        std::uint32_t first = 0;
        if (!number(first)) return std::nullopt;
        std::uint32_t last = first;
        if (at != end && *at == '-' && (++at, !number(last))) return std::nullopt;
        if (last < first) return std::nullopt;
        if (mask.size() <= last / 32) mask.resize(last / 32 + 1);
        for (std::uint32_t unit = first; unit <= last; ++unit) mask[unit / 32] |= 1u << unit % 32;
        if (at == end) return mask;
        if (*at++ != ',') return std::nullopt;
    }
}

}  // namespace

std::vector<std::uint32_t> cu_mask_in(std::string_view text, std::uint32_t gpu) {
    std::vector<std::uint32_t> found;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(';'), text.size()), colon = text.find(':');
        if (colon >= end) return {};
        const auto gpus = parse_list(text.substr(0, colon));
        auto units = parse_list(text.substr(colon + 1, end - colon - 1));
        if (!gpus || !units) return {};
        if (gpu / 32 < gpus->size() && ((*gpus)[gpu / 32] >> gpu % 32 & 1) != 0) found = std::move(*units);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return found;
}

void require_pairs(const std::string& call, std::span<const std::uint32_t> mask, AgentRef gpu) {
    if (splits_pairs(cut_to_units(mask, gpu), gpu.name()))
        throw InvalidArgument(call + ": the mask has one compute unit of a pair, 2n and 2n + 1; this GPU takes pairs",
                              HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

std::vector<std::uint32_t> units_in_force(std::span<const std::uint32_t> mask, AgentRef gpu) {
    const std::vector<std::uint32_t> all(mask_words(gpu), ~0u);
    std::vector<std::uint32_t> units = cut_to_units(mask.empty() ? std::span(all) : mask, gpu);
    const std::vector<std::uint32_t> environment = environment_cu_mask(gpu);
    for (std::size_t i = 0; !environment.empty() && i < units.size(); ++i)
        units[i] &= i < environment.size() ? environment[i] : 0;
    return units;
}

}  // namespace hsadrv::detail
