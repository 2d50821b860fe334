// The render node's ioctls, as far as libdrm_amdgpu asks on behalf of an HSA runtime: who are you, what can you do,
// take this dma-buf and map it here.
//
// Layouts are facts of the kernel's include/uapi/drm/{drm,amdgpu_drm}.h.
#pragma once

#include "base/topology.hpp"
#include "resources/gem.hpp"

namespace kfdemu {

inline constexpr char kDrmMagic = 'd';

/// Answers one ioctl on a render node; 0 or an errno value.
int drm_ioctl(const Gpu& gpu, Gem& gem, unsigned long request, void* argument);

}  // namespace kfdemu
