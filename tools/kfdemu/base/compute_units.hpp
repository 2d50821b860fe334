// Which compute units a queue's waves may run on.
//
//     ComputeUnits units = masked_units(words, model.compute_units);
//
// Unit i lies in shader engine i modulo their number: the kernel deals the bits of a mask out over the engines
// (kfd_mqd_manager.c). Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

namespace kfdemu {

using ComputeUnits = std::shared_ptr<const std::vector<std::uint16_t>>;

inline ComputeUnits all_units(std::uint32_t count) {
    auto all = std::make_shared<std::vector<std::uint16_t>>(count);
    std::iota(all->begin(), all->end(), std::uint16_t{0});
    return all;
}

/// The units whose bits are set; bits beyond the last unit mean nothing.
inline ComputeUnits masked_units(std::span<const std::uint32_t> words, std::uint32_t count) {
    auto units = std::make_shared<std::vector<std::uint16_t>>();
    for (std::uint32_t unit = 0; unit < count && unit / 32 < words.size(); ++unit)
        if (words[unit / 32] >> unit % 32 & 1) units->push_back(static_cast<std::uint16_t>(unit));
    return units;
}

}  // namespace kfdemu
