// The set of compute units on which a queue's waves may run.
//
//     ComputeUnits units = masked_units(words, model.compute_units);
//
// Unit i is in shader engine i modulo the number of engines: the kernel distributes the bits of a mask round-robin
// over the engines (kfd_mqd_manager.c). Pure.
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

/// The units whose bits are set. Bits beyond the last unit are ignored.
inline ComputeUnits masked_units(std::span<const std::uint32_t> words, std::uint32_t count) {
    auto units = std::make_shared<std::vector<std::uint16_t>>();
    for (std::uint32_t unit = 0; unit < count && unit / 32 < words.size(); ++unit)
        if (words[unit / 32] >> unit % 32 & 1) units->push_back(static_cast<std::uint16_t>(unit));
    return units;
}

/// Whether they are whole work-group processors: units 2n and 2n + 1 (kfd_process_queue_manager.c).
inline bool are_pairs(const std::vector<std::uint16_t>& units) {
    bool pairs = units.size() % 2 == 0;
    for (std::size_t n = 0; pairs && n < units.size(); n += 2)
        pairs = units[n] % 2 == 0 && units[n + 1] == units[n] + 1;
    return pairs;
}

}  // namespace kfdemu
