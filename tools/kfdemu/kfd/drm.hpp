// The ioctls of a render node that libdrm_amdgpu calls for an HSA runtime: version, device information, import and
// export of dma-bufs, mapping.
//
// Source: layouts from the kernel's include/uapi/drm/{drm,amdgpu_drm}.h.
#pragma once

#include "tools/kfdemu/base/topology.hpp"
#include "tools/kfdemu/resources/gem.hpp"

namespace kfdemu {

inline constexpr char kDrmMagic = 'd';

/// Executes one ioctl on a render node; 0 or an errno value.
int drm_ioctl(const Gpu& gpu, Gem& gem, unsigned long request, void* argument);

}  // namespace kfdemu
