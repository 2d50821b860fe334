// The emulated machine: a CPU node and its GPUs, with the ids that the kernel driver assigns.
// A value, fixed at start. Node 0 is the CPU, node i + 1 is GPU i.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/kfdemu/base/host_cpus.hpp"
#include "tools/kfdemu/base/model.hpp"
#include "tools/kfdemu/base/options.hpp"

namespace kfdemu {

/// Major device numbers. DRM's is fixed; KFD's is dynamic in the kernel.
inline constexpr unsigned kDrmMajor = 226, kKfdMajor = 236;

struct Gpu {
    const Model* model;
    unsigned index;             ///< 0, 1, …
    std::uint32_t gpu_id;       ///< KFD's id; never 0
    unsigned render_minor;      ///< /dev/dri/renderD<minor>
    std::uint64_t unique_id;    ///< becomes the UUID
    std::uint32_t location_id;  ///< PCI bus, device, function
    std::uint64_t vram_bytes;
    bool private_vram;
    bool shared_memory = false;  ///< an APU's without a carve-out: its allocations are system memory, and count as that
    unsigned card = 0, monitor = 0;  ///< /sys/class/drm/card<card>, /sys/class/hwmon/hwmon<monitor>
    bool hidden = false;  ///< denied by the device cgroup: its KFD properties and render node fail with EPERM

    unsigned node() const { return index + 1; }
    /// Graphics memory proper: of an APU what the firmware has set aside, 512 MiB unless it is told otherwise.
    std::uint64_t own_bytes() const { return shared_memory ? std::uint64_t{512} << 20 : vram_bytes; }
};

/// Bytes in use of a GPU's memory, and of system memory by all GPUs.
struct MemoryUse {
    std::uint64_t vram = 0, system = 0;
};

struct Topology {
    std::vector<Gpu> gpus;
    const HostCpus& (*host)() = this_host;  ///< called only when a file that lists CPUs is read: it reads many files
    MemoryUse (*used)(unsigned gpu) = [](unsigned) { return MemoryUse{}; };
    bool (*busy)(unsigned gpu) = [](unsigned) { return false; };  ///< whether a queue of the GPU runs a packet now
    std::uint64_t system_memory_bytes = 0;

    const Gpu* find(std::uint32_t gpu_id) const {
        for (const Gpu& gpu : gpus)
            if (gpu.gpu_id == gpu_id) return &gpu;
        return nullptr;
    }
};

/// The machine that `options` specify, on a host without devices of its own.
Topology make_topology(const Options& options);

/// The names in the host's /sys/class/drm, /sys/class/hwmon and /sys/bus/pci/devices.
struct HostDevices {
    std::vector<std::string> drm, monitors, pci;
};

/// Numbers the GPUs' cards, render nodes, monitors and PCI buses so that they differ from the host's.
void make_room(Topology& topology, const HostDevices& host);

}  // namespace kfdemu
