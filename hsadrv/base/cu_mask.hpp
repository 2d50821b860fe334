// Internal: compute-unit masks in the runtime's format: one bit per unit, 32 per word.
//
//   const std::vector<std::uint32_t> mask = cut_to_units(options.cu_mask, gpu);
//   if (names_no_unit(mask)) refuse();
//
// Thread safety: functions. Throws: bad_alloc, and what the agent's facts throw. Source: hsa_ext_amd.h,
// hsa_amd_queue_cu_set_mask.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hsadrv/agent.hpp"

namespace hsadrv::detail {

/// The number of words in a mask of all the agent's compute units.
inline std::size_t mask_words(AgentRef agent) { return (std::size_t{agent.compute_units()} + 31) / 32; }

/// Resizes the mask to the agent's compute units and clears the bits beyond them. Unchanged for a null agent.
inline std::vector<std::uint32_t> cut_to_units(std::span<const std::uint32_t> mask, AgentRef agent) {
    std::vector<std::uint32_t> cut(mask.begin(), mask.end());
    if (!agent) return cut;
    cut.resize(mask_words(agent));
    if (const std::uint32_t rest = agent.compute_units() % 32; rest != 0) cut.back() &= (1u << rest) - 1;
    return cut;
}

inline bool names_no_unit(std::span<const std::uint32_t> mask) {
    return std::all_of(mask.begin(), mask.end(), [](std::uint32_t word) { return word == 0; });
}

/// True on GPUs of gfx10 and newer, whose units work in pairs, if the mask has one of a pair and not the other: the
/// runtime refuses it there. `target`: "gfx1100".
inline bool splits_pairs(std::span<const std::uint32_t> mask, std::string_view target) {
    if (target.size() < 7) return false;  // gfx9 and older have three digits
    return std::any_of(mask.begin(), mask.end(),
                       [](std::uint32_t word) { return (word & 0x55555555) != (word >> 1 & 0x55555555); });
}

inline std::uint32_t count_units(std::span<const std::uint32_t> mask) {
    std::uint32_t units = 0;
    for (const std::uint32_t word : mask) units += static_cast<std::uint32_t>(std::popcount(word));
    return units;
}

/// The mask for GPU number `gpu` in a text like HSA_CU_MASK's, "0:0-7,12;1-2:0-3"; empty if it names none, or is not of
/// that form. Source: the runtime's Flag::parse_masks.
std::vector<std::uint32_t> cu_mask_in(std::string_view text, std::uint32_t gpu);
/// Throws InvalidArgument, naming the call, for a mask that splits_pairs() of the GPU.
void require_pairs(const std::string& call, std::span<const std::uint32_t> mask, AgentRef gpu);
/// The units of `gpu` that a queue with this mask has; an empty one asks for all. The runtime cuts the masks of all
/// queues to HSA_CU_MASK.
std::vector<std::uint32_t> units_in_force(std::span<const std::uint32_t> mask, AgentRef gpu);

}  // namespace hsadrv::detail
