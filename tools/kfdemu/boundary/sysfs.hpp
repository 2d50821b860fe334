// The emulated files in /sys, /dev and /proc: KFD's topology, the render nodes, the amdgpu module.
//
//     auto entry = sysfs::lookup(topology, "/dev/kfd");
//     if (!entry) …          // not emulated: use the real file system
//
// Pure. Layout as in the kernel's drivers/gpu/drm/amd/amdkfd/kfd_topology.c.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tools/kfdemu/base/topology.hpp"

namespace kfdemu::sysfs {

inline constexpr std::uint32_t kVendorAmd = 0x1002;

struct Text {
    std::string content;
};
struct Directory {
    std::vector<std::string> names;
    std::string beside = {};  ///< a real directory whose names are also listed
    std::uint64_t inode = 0;  ///< equal for all paths to one directory; set by lookup()
    std::string path = {};    ///< absolute; set by lookup()
};
struct KfdDevice {};
struct RenderDevice {
    unsigned gpu;
};
/// A symbolic link to a directory.
struct Link {
    std::string target;
    Directory folder = {};  ///< what the target lists
};
/// A file that exists but cannot be read: EPERM.
struct Denied {};
/// A path below an emulated directory that does not exist: ENOENT.
struct Missing {};
/// The real /proc/modules, with a line for amdgpu appended.
struct Modules {
    std::string line;
};
/// The real /proc/self/maps, with the device files' names in place of those of the memfds.
struct Maps {};

using Entry = std::variant<Text, Directory, KfdDevice, RenderDevice, Missing, Modules, Maps, Link, Denied>;

/// Fast check that rejects nearly every path of a program: if false, lookup() returns std::nullopt.
bool may_be_ours(std::string_view path);

/// Whether the emulated file at `path` is only for the HSA runtime and its thunk. All other code reads the real file.
bool is_runtimes_alone(std::string_view path);

/// The emulated entry at `path`, or std::nullopt if the path is not emulated.
std::optional<Entry> lookup(const Topology& topology, std::string_view path);

/// The DRM part of lookup(): cards, render nodes and monitors by number and by name, and the PCI device of each, also
/// on its bus.
std::optional<Entry> lookup_drm(const Topology& topology, std::string_view path);

/// What is at `below` ("", "/vendor", "/drm/card0", …) in the folder of a GPU's PCI device.
Entry device_entry(const Topology& topology, const Gpu& gpu, std::string_view below);
/// "0000:01:00.0".
std::string slot_name(const Gpu& gpu);

/// A text in the format of /proc/self/maps, with "/dev/kfd" and "/dev/dri/renderD128" as the names of mapped device
/// files.
std::string with_device_names(std::string_view maps);

/// An absolute path without "//", "." and "..". Those after a folder of the host remain.
std::string without_dots(const Topology& topology, std::string_view path);

/// The path of the emulated entry at `path` without symbolic links.
std::string canonical(const Topology& topology, std::string_view path);

/// The directory that opening the entry opens, or nullptr.
Directory* folder_of(Entry& entry);

}  // namespace kfdemu::sysfs
