// The render node's ioctls, as far as libdrm_amdgpu asks on behalf of an HSA runtime: who are you, what can you do.
//
// Layouts are facts of the kernel's include/uapi/drm/{drm,amdgpu_drm}.h. Pure but for the caller's argument memory.
#pragma once

#include "topology.hpp"

namespace kfdemu {

inline constexpr char kDrmMagic = 'd';

/// Answers one ioctl on a render node; 0 or an errno value.
int drm_ioctl(const Gpu& gpu, unsigned long request, void* argument);

}  // namespace kfdemu
