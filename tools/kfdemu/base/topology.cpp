#include "base/topology.hpp"

#include <unistd.h>

#include <algorithm>

namespace kfdemu {

Topology make_topology(const Options& options) {
    Topology topology;
    topology.system_memory_bytes =
        static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    for (unsigned i = 0; i < options.gpus; ++i) {
        topology.gpus.push_back({.model = find_model(options.model),
                                 .index = i,
                                 .gpu_id = 0xe001 + i,
                                 .render_minor = 128 + i,
                                 .unique_id = std::uint64_t{0x6b6664656d750000} + i,
                                 .location_id = (i + 1) << 8,
                                 .vram_bytes = options.vram_bytes,
                                 .private_vram = options.private_vram(),
                                 .hidden = std::count(options.hidden.begin(), options.hidden.end(), i) != 0});
    }
    return topology;
}

}  // namespace kfdemu
