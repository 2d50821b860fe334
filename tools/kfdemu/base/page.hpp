// The size of a page: 4 KiB for the CPU and the GPU.
#pragma once

#include <cstdint>

namespace kfdemu {

inline constexpr std::uint64_t kPage = 4096;

}  // namespace kfdemu
