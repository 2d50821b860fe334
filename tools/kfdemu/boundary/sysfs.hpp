// The kernel's files about the emulated GPUs, as text: KFD's topology, the render nodes, the amdgpu module's traces.
//
//     auto entry = sysfs::lookup(topology, "/dev/kfd");
//     if (!entry) …          // not ours: the call goes to the real file system
//
// Pure: a topology and a path in, an entry out. Layout as in the kernel's drivers/gpu/drm/amd/amdkfd/kfd_topology.c.
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
    std::string beside = {};  ///< a folder of the real system whose names are listed, too
};
struct KfdDevice {};
struct RenderDevice {
    unsigned gpu;
};
/// A symbolic link to a folder.
struct Link {
    std::string target;
};
/// A file that is there and cannot be read: EPERM.
struct Denied {};
/// A path below a folder of ours with nothing there.
struct Missing {};
/// The modules file of the real system, with a line about amdgpu added.
struct Modules {
    std::string line;
};

using Entry = std::variant<Text, Directory, KfdDevice, RenderDevice, Missing, Modules, Link, Denied>;

/// Cheap test that rejects nearly every path of a program: false means that lookup() would find nothing.
bool may_be_ours(std::string_view path);

/// Whether `path` is a file of the real system that only the HSA runtime and its thunk get from lookup(): everyone
/// else's is the real one.
bool is_runtimes_alone(std::string_view path);

/// What is at `path`, or nothing if the path is none of ours.
std::optional<Entry> lookup(const Topology& topology, std::string_view path);

/// The part of lookup() that is DRM's: render nodes by number and by name, and the PCI device behind each, which is
/// on its bus, too.
std::optional<Entry> lookup_drm(const Topology& topology, std::string_view path);

}  // namespace kfdemu::sysfs
