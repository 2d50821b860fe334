// One machine: a CPU node and its emulated GPUs, with the numbers that the kernel driver would give them.
// A plain value, fixed at start. Node 0 is the CPU, node i + 1 is GPU i.
#pragma once

#include <cstdint>
#include <vector>

#include "base/host_cpus.hpp"
#include "base/model.hpp"
#include "base/options.hpp"

namespace kfdemu {

/// Numbers of devices: DRM's is fixed, KFD's is dynamic.
inline constexpr unsigned kDrmMajor = 226, kKfdMajor = 236;

struct Gpu {
    const Model* model;
    unsigned index;             ///< 0, 1, …
    std::uint32_t gpu_id;       ///< KFD's name for it; never 0
    unsigned render_minor;      ///< /dev/dri/renderD<minor>
    std::uint64_t unique_id;    ///< becomes the UUID
    std::uint32_t location_id;  ///< PCI bus, device, function
    std::uint64_t vram_bytes;
    bool private_vram;
    bool hidden = false;  ///< by the device cgroup: KFD does not tell of it, and its render node cannot be opened

    unsigned node() const { return index + 1; }
};

struct Topology {
    std::vector<Gpu> gpus;
    const HostCpus& (*host)() = this_host;  ///< asked when a file that tells of them is, for it reads many
    std::uint64_t system_memory_bytes = 0;

    const Gpu* find(std::uint32_t gpu_id) const {
        for (const Gpu& gpu : gpus)
            if (gpu.gpu_id == gpu_id) return &gpu;
        return nullptr;
    }
};

/// The machine that `options` describe, on this host.
Topology make_topology(const Options& options);

}  // namespace kfdemu
