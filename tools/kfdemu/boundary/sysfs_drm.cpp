// The paths to a GPU's PCI device: /sys/class/drm, /sys/class/hwmon, /sys/dev/char and the PCI bus hold symbolic links
// to its folder, and the folders of its DRM nodes and monitor hold links back.
#include <fmt/format.h>

#include "tools/kfdemu/base/path_text.hpp"
#include "tools/kfdemu/boundary/sysfs.hpp"

namespace kfdemu::sysfs {
namespace {

constexpr std::string_view kBus = "/sys/bus/pci/devices", kDrm = "/sys/class/drm", kMonitors = "/sys/class/hwmon";
constexpr std::string_view kRoot = "devices/pci0000:00";  // in /sys

/// A place in a PCI device's folder.
struct Place {
    const Gpu* gpu;
    std::string below;  // "", "/vendor", …
    std::string link;   // the target, if the path itself is a link to it
};

/// Removes `name` from the front of `path` if it is one or more whole components.
bool take_name(std::string_view& path, std::string_view name) {
    std::string_view rest = path;
    if (!take(rest, name) || (!rest.empty() && rest[0] != '/')) return false;
    path = rest;
    return true;
}

std::optional<Place> enter(const Gpu& gpu, std::string_view path) {
    const std::string slot = slot_name(gpu);
    const auto through = [&](std::string_view rest, std::string_view up, const std::string& to) {
        return Place{&gpu, to + std::string{rest},
                     rest.empty() ? fmt::format("{}{}/{}{}", up, kRoot, slot, to) : std::string{}};
    };
    if (std::string_view rest = path; take_name(rest, fmt::format("/sys/{}/{}", kRoot, slot)))
        return Place{&gpu, std::string{rest}, {}};
    if (std::string_view rest = path; take_name(rest, fmt::format("{}/{}", kBus, slot)))
        return through(rest, "../../../", "");
    const std::string card = fmt::format("card{}", gpu.card), render = fmt::format("renderD{}", gpu.render_minor);
    for (const std::string& node : {card, render})
        if (std::string_view rest = path; take_name(rest, fmt::format("{}/{}", kDrm, node)))
            return through(rest, "../../", "/drm/" + node);
    if (std::string_view rest = path; take_name(rest, fmt::format("/sys/dev/char/226:{}", gpu.render_minor)))
        return through(rest, "../../", "/drm/" + render);
    const std::string monitor = fmt::format("hwmon{}", gpu.monitor);
    if (std::string_view rest = path; take_name(rest, fmt::format("{}/{}", kMonitors, monitor)))
        return through(rest, "../../", "/hwmon/" + monitor);
    return {};
}

/// Follows the links from nodes and monitors back to their device.
Place follow(Place place) {
    const Gpu& gpu = *place.gpu;
    const std::string links[] = {fmt::format("/drm/card{}/device", gpu.card),
                                 fmt::format("/drm/renderD{}/device", gpu.render_minor),
                                 fmt::format("/hwmon/hwmon{}/device", gpu.monitor)};
    for (bool followed = true; followed;) {
        followed = false;
        for (const std::string& link : links) {
            std::string_view rest = place.below;
            if (!take_name(rest, link)) continue;
            place = {&gpu, std::string{rest}, rest.empty() ? "../../../" + slot_name(gpu) : std::string{}};
            followed = true;
        }
    }
    return place;
}

std::optional<Place> locate(const Topology& topology, std::string_view path) {
    if (path.substr(0, 5) != "/sys/") return {};
    for (const Gpu& gpu : topology.gpus)
        if (auto place = enter(gpu, path)) return follow(std::move(*place));
    return {};
}

std::string path_of(const Place& place) {
    return fmt::format("/sys/{}/{}{}", kRoot, slot_name(*place.gpu), place.below);
}

std::string render_node(const Gpu& gpu) { return fmt::format("renderD{}", gpu.render_minor); }

/// The entries of the host's folder at `path`, and one of each GPU's.
template <class Name>
Directory with_host(const Topology& topology, std::string_view path, Name&& name) {
    Directory directory{.names = {}, .beside = std::string{path}};
    for (const Gpu& gpu : topology.gpus) directory.names.push_back(name(gpu));
    return directory;
}

Directory drm_class(const Topology& topology) {
    Directory directory = with_host(topology, kDrm, [](const Gpu& gpu) { return fmt::format("card{}", gpu.card); });
    for (const Gpu& gpu : topology.gpus) directory.names.push_back(render_node(gpu));
    return directory;
}

}  // namespace

std::optional<Entry> lookup_drm(const Topology& topology, std::string_view path) {
    if (path == "/dev/dri") return with_host(topology, path, render_node);
    if (path == kDrm) return drm_class(topology);
    if (path == kBus) return with_host(topology, path, slot_name);
    if (path == kMonitors)
        return with_host(topology, path, [](const Gpu& gpu) { return fmt::format("hwmon{}", gpu.monitor); });
    if (std::string_view name = path; take(name, "/dev/dri/")) {
        for (const Gpu& gpu : topology.gpus)
            if (name == render_node(gpu)) return RenderDevice{gpu.index};
        return {};
    }
    const auto place = locate(topology, path);
    if (!place) return {};
    Entry entry = device_entry(topology, *place->gpu, place->below);
    auto* directory = std::get_if<Directory>(&entry);
    if (!directory || place->link.empty()) return entry;
    return Link{place->link, std::move(*directory)};
}

std::string canonical(const Topology& topology, std::string_view path) {
    while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
    if (const auto place = locate(topology, path)) {
        if (place->below == "/subsystem") return "/sys/bus/pci";
        if (place->below == "/driver") return "/sys/bus/pci/drivers/amdgpu";
        return path_of(*place);
    }
    if (std::string_view rest = path; take_name(rest, "/sys/class/kfd/kfd"))
        return "/sys/devices/virtual/kfd/kfd" + std::string{rest};
    return std::string{path};
}

Directory* folder_of(Entry& entry) {
    if (auto* link = std::get_if<Link>(&entry)) return &link->folder;
    return std::get_if<Directory>(&entry);
}

}  // namespace kfdemu::sysfs
