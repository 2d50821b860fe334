#include "tools/kfdemu/base/topology.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>

#include "tools/kfdemu/base/page.hpp"

namespace kfdemu {
namespace {

/// Of an APU, from Linux 6.10 on: what the kernel allows in graphics memory (ttm_tt_pages_limit), half of all.
std::uint64_t vram_bytes(const Options& options, const Model& model, std::uint64_t system_bytes) {
    if (options.vram_bytes != 0) return options.vram_bytes;
    return model.integrated ? system_bytes / 2 / kPage * kPage : std::uint64_t{model.vram_gib} << 30;
}

}  // namespace

Topology make_topology(const Options& options) {
    Topology topology;
    topology.system_memory_bytes =
        static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    const Model* model = find_model(options.model, options.partition);
    // Partitions are functions of their board's PCI device (kfd_topology.c, location_id).
    const unsigned functions = find_model(options.model)->xccs / model->xccs;
    for (unsigned i = 0; i < options.gpus; ++i) {
        topology.gpus.push_back({.model = model,
                                 .index = i,
                                 .gpu_id = 0xe001 + i,
                                 .render_minor = 128 + i,
                                 .unique_id = std::uint64_t{0x6b6664656d750000} + i,
                                 .location_id = (i / functions + 1) << 8 | i % functions,
                                 .vram_bytes = vram_bytes(options, *model, topology.system_memory_bytes),
                                 .private_vram = options.private_vram(),
                                 .shared_memory = model->integrated && options.vram_bytes == 0,
                                 .card = i,
                                 .monitor = i,
                                 .hidden = std::count(options.hidden.begin(), options.hidden.end(), i) != 0});
    }
    return topology;
}

void make_room(Topology& topology, const HostDevices& host) {
    const auto has = [](const std::vector<std::string>& names, const std::string& wanted) {
        return std::any_of(names.begin(), names.end(), [&](const auto& name) { return name.find(wanted) == 0; });
    };
    const auto is = [](const std::vector<std::string>& names, const std::string& wanted) {
        return std::find(names.begin(), names.end(), wanted) != names.end();
    };
    unsigned card = 0, render_minor = 128, monitor = 0, bus = 1;
    for (Gpu& gpu : topology.gpus) {
        while (is(host.drm, fmt::format("card{}", card))) ++card;
        while (is(host.drm, fmt::format("renderD{}", render_minor))) ++render_minor;
        while (is(host.monitors, fmt::format("hwmon{}", monitor))) ++monitor;
        const unsigned function = gpu.location_id & 7;
        if (function == 0 && gpu.index != 0) ++bus;
        while (bus < 255 && has(host.pci, fmt::format("0000:{:02x}:", bus))) ++bus;
        gpu.card = card++;
        gpu.render_minor = render_minor++;
        gpu.monitor = monitor++;
        gpu.location_id = bus << 8 | function;
    }
}

}  // namespace kfdemu
