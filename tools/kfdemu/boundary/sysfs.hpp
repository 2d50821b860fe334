// The emulated files in /sys, /dev and /proc: KFD's topology, the render nodes, the amdgpu module.
//
//     auto entry = sysfs::lookup(topology, "/dev/kfd");
//     if (!entry) …          // not emulated: use the real file system
//
// Pure. Layout as in the kernel's drivers/gpu/drm/amd/amdkfd/kfd_topology.c.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/topology.hpp"

namespace kfdemu::sysfs {

struct Text {
    std::string content;
};
struct Directory {
    std::vector<std::string> names;
    std::string beside = {};  ///< a real directory whose names are also listed
};
struct KfdDevice {};
struct RenderDevice {
    unsigned gpu;
};
/// A symbolic link to a directory.
struct Link {
    std::string target;
};
/// A file that exists but cannot be read: EPERM.
struct Denied {};
/// A path below an emulated directory that does not exist: ENOENT.
struct Missing {};
/// The real /proc/modules, with a line for amdgpu appended.
struct Modules {
    std::string line;
};

using Entry = std::variant<Text, Directory, KfdDevice, RenderDevice, Missing, Modules, Link, Denied>;

/// Fast check that rejects nearly every path of a program: if false, lookup() returns std::nullopt.
bool may_be_ours(std::string_view path);

/// Whether the emulated file at `path` is only for the HSA runtime and its thunk. All other code reads the real file.
bool is_runtimes_alone(std::string_view path);

/// The emulated entry at `path`, or std::nullopt if the path is not emulated.
std::optional<Entry> lookup(const Topology& topology, std::string_view path);

/// The DRM part of lookup(): render nodes by number and by name, and the PCI device of each, also on its bus.
std::optional<Entry> lookup_drm(const Topology& topology, std::string_view path);

}  // namespace kfdemu::sysfs
