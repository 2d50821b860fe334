#include <fmt/format.h>

#include "base/path_text.hpp"
#include "boundary/sysfs.hpp"

namespace kfdemu::sysfs {
namespace {

/// Removes a render node's minor number from the front of `path` and returns its GPU.
const Gpu* take_minor(const Topology& topology, std::string_view& path) {
    const auto minor = take_number(path);
    if (!minor || (!path.empty() && path[0] != '/')) return nullptr;
    for (const Gpu& gpu : topology.gpus)
        if (gpu.render_minor == *minor) return &gpu;
    return nullptr;
}

Directory render_nodes(const Topology& topology) {
    Directory directory;
    for (const Gpu& gpu : topology.gpus) directory.names.push_back(fmt::format("renderD{}", gpu.render_minor));
    return directory;
}

std::string slot_name(const Gpu& gpu) {
    return fmt::format("0000:{:02x}:{:02x}.{:x}", gpu.location_id >> 8, (gpu.location_id >> 3) & 31,
                       gpu.location_id & 7);
}

/// The devices of the real bus, and ours.
Directory bus(const Topology& topology, std::string_view path) {
    Directory directory{.names = {}, .beside = std::string{path}};
    for (const Gpu& gpu : topology.gpus) directory.names.push_back(slot_name(gpu));
    return directory;
}

/// What is below the PCI device of a GPU.
Entry device_entry(const Gpu& gpu, std::string_view rest) {
    constexpr unsigned kVendorAmd = 0x1002;
    constexpr unsigned kClassDisplay = 0x0380;  // as uevent has it
    const auto number = [](unsigned value, int digits) { return Text{fmt::format("{:#0{}x}\n", value, digits + 2)}; };
    if (rest.empty())
        return Directory{{"class", "device", "driver", "drm", "mem_info_vram_total", "numa_node", "revision",
                          "subsystem", "subsystem_device", "subsystem_vendor", "uevent", "unique_id", "vendor"}};
    const std::string node = fmt::format("renderD{}", gpu.render_minor);
    // Without the primary node's name libdrm takes all render nodes for one device.
    const std::string primary = fmt::format("card{}", gpu.index);
    if (rest == "/drm") return Directory{{primary, node}};
    if (rest == "/drm/" + primary) return Directory{{"dev"}};
    if (rest == "/drm/" + primary + "/dev") return Text{fmt::format("226:{}\n", gpu.index)};
    if (rest == "/drm/" + node) return Directory{{"dev", "device", "uevent"}};
    if (rest == "/drm/" + node + "/dev") return Text{fmt::format("226:{}\n", gpu.render_minor)};
    if (rest == "/subsystem") return Link{"../../../../bus/pci"};
    if (rest == "/driver") return Link{"../../../../bus/pci/drivers/amdgpu"};
    if (rest == "/class") return number(kClassDisplay << 8, 6);
    if (rest == "/vendor" || rest == "/subsystem_vendor") return number(kVendorAmd, 4);
    if (rest == "/device" || rest == "/subsystem_device") return number(gpu.model->device_id, 4);
    if (rest == "/revision") return number(gpu.model->pci_revision, 2);
    if (rest == "/numa_node") return Text{"-1\n"};
    if (rest == "/unique_id") return Text{fmt::format("{:016x}\n", gpu.unique_id)};
    if (rest == "/mem_info_vram_total") return Text{fmt::format("{}\n", gpu.vram_bytes)};
    if (rest == "/uevent")
        return Text{fmt::format("DRIVER=amdgpu\nPCI_CLASS=38000\nPCI_ID={:04X}:{:04X}\nPCI_SLOT_NAME={}\n", kVendorAmd,
                                gpu.model->device_id, slot_name(gpu))};
    return Missing{};
}

/// What is below a render node's folder.
Entry node_entry(const Gpu& gpu, std::string_view rest) {
    if (rest.empty()) return Directory{{"dev", "device", "uevent"}};
    if (rest == "/dev") return Text{fmt::format("226:{}\n", gpu.render_minor)};
    if (rest == "/uevent")
        return Text{fmt::format("MAJOR=226\nMINOR={0}\nDEVNAME=dri/renderD{0}\nDEVTYPE=drm_minor\n", gpu.render_minor)};
    if (take(rest, "/device") && (rest.empty() || rest[0] == '/')) return device_entry(gpu, rest);
    return Missing{};
}

}  // namespace

std::optional<Entry> lookup_drm(const Topology& topology, std::string_view path) {
    if (path == "/dev/dri" || path == "/sys/class/drm") return render_nodes(topology);
    if (std::string_view rest = path; take(rest, "/dev/dri/renderD")) {
        const Gpu* gpu = take_minor(topology, rest);
        if (gpu && rest.empty()) return RenderDevice{gpu->index};
        return {};
    }
    constexpr std::string_view kBus = "/sys/bus/pci/devices";
    if (path == kBus) return bus(topology, kBus);
    if (std::string_view rest = path; take(rest, kBus) && take(rest, "/"))
        for (const Gpu& gpu : topology.gpus)
            if (std::string_view below = rest; take(below, slot_name(gpu)) && (below.empty() || below[0] == '/'))
                return device_entry(gpu, below);
    for (std::string_view prefix : {"/sys/class/drm/renderD", "/sys/dev/char/226:"})
        if (std::string_view rest = path; take(rest, prefix))
            if (const Gpu* gpu = take_minor(topology, rest)) return node_entry(*gpu, rest);
    return {};
}

}  // namespace kfdemu::sysfs
