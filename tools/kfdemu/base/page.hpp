// The page size of the CPU and the GPU.
#pragma once

#include <cstdint>

namespace kfdemu {

inline constexpr std::uint64_t kPage = 4096;

}  // namespace kfdemu
