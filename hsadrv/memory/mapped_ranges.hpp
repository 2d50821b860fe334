// Internal: the mappings of VirtualRange, for pointer_info(): ROCR 6.1 reports nothing of them.
//
//   mapped_ranges::enter(data, size_bytes, gpus);
//   if (auto info = mapped_ranges::info(pointer)) …
//   mapped_ranges::leave(data);
//
// Thread safety: any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "hsadrv/memory.hpp"

namespace hsadrv::detail::mapped_ranges {

/// `gpus` can access it; engines of the first copy it.
void enter(void* data, std::size_t size_bytes, std::span<const AgentRef> gpus);
void leave(void* data) noexcept;
std::optional<PointerInfo> info(const void* pointer);

}  // namespace hsadrv::detail::mapped_ranges
