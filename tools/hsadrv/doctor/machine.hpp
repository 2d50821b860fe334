// Machine: the facts about a machine that the doctor judges, read from its files, its kernel and this process.
//
//     const Machine machine = look_at_machine();              // this one
//     const Machine laid_out = look_at_files("/tmp/tree");    // a tree with sys, proc, dev, etc: for tests
//     Rows rows = check_kernel(machine);                      // pure
//
// Plain values, which tests fill in directly. Nothing here calls HSA. Thread safety: values.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hsadrv_tool::doctor {

/// A file as stat() sees it.
struct FileFacts {
    std::string path;
    int error = 0;  ///< errno of stat(), or 0
    bool character_device = false;
    unsigned mode = 0;  ///< permission bits
    uid_t owner = 0;
    gid_t group = 0;
    unsigned major = 0, minor = 0;

    bool exists() const { return error == 0; }
};

/// The result of opening a device file, in a separate process.
struct OpenFacts {
    int error = 0;        ///< errno of open() for reading and writing, or 0
    int ioctl_error = 0;  ///< of querying the version; only for /dev/kfd
    unsigned version_major = 0, version_minor = 0;
};

struct ModuleFacts {
    bool loaded = false;
    bool built_in = false;
    std::string state;                   ///< "live", "coming"; empty: built in, or not known
    std::string version;                 ///< of a DKMS module; empty for the kernel's own
    std::optional<std::string> file;     ///< below /lib/modules of this kernel; empty: none; std::nullopt: not readable
    std::vector<std::string> forbidden;  ///< where it is blacklisted, "/etc/modprobe.d/gpu.conf: blacklist amdgpu"
    std::vector<std::string> kernel_options;  ///< those that keep it out, "nomodeset"
    std::optional<bool> kfd_configured;       ///< CONFIG_HSA_AMD
    std::optional<bool> secure_boot;
};

struct PciGpu {
    std::string address;  ///< "0000:03:00.0"
    unsigned device_id = 0;
    unsigned class_code = 0;  ///< 0x030000 VGA, 0x038000 display, 0x120000 accelerator
    std::string driver;       ///< empty: none
};

/// A node of KFD's topology.
struct TopologyNode {
    unsigned number = 0;
    int error = 0;  ///< errno of reading it: EPERM for a GPU that the cgroup does not allow
    std::uint64_t gpu_id = 0, simd_count = 0, gfx_target_version = 0, location_id = 0, domain = 0, unique_id = 0;
    std::uint64_t device_id = 0;
    unsigned render_minor = 0;
    bool private_memory = false;  ///< its memory cannot be addressed by the host: no large BAR

    bool is_gpu() const { return error != 0 || gpu_id != 0; }
    std::string pci_address() const;
    std::string target() const;  ///< "gfx90a"
};

struct UserFacts {
    uid_t uid = 0;
    gid_t gid = 0;
    std::vector<gid_t> groups;  ///< of this process, the first one included
    std::string name;           ///< empty: this number has no name here
};

struct GroupFacts {
    std::string name;
    std::vector<std::string> members;
};

struct ContainerFacts {
    std::string kind;     ///< "docker", "podman", "lxc", "kubernetes", "flatpak", "snap", "apptainer", …; empty: none
    std::string told_by;  ///< "/.dockerenv"
    bool user_namespace = false;  ///< user IDs differ outside
    bool seccomp = false;         ///< system calls are filtered
};

struct LimitFacts {
    std::optional<std::uint64_t> locked_bytes, address_space_bytes, open_files;  ///< std::nullopt: unlimited
    std::uint64_t files_open = 0;
};

/// A library that is mapped into this process, or is installed on this machine.
struct LibraryFacts {
    std::string path;             ///< with links followed
    std::string version() const;  ///< "1.5.0" of libhsa-runtime64.so.1.5.0; empty
};

struct EmulationFacts {
    bool active = false;
    std::string library;       ///< the path of libkfdemu in this process; empty: linked in, or none
    bool cpu_suffices = true;  ///< this CPU has SSE4.2, without which kfdemu executes no instruction
};

struct Machine {
    std::string kernel_release;
    ModuleFacts module;
    bool sees_pci = false;  ///< /sys/bus/pci is there
    std::vector<PciGpu> pci_gpus;
    bool has_kfd = false;  ///< KFD's topology is there
    std::vector<TopologyNode> nodes;
    bool shows_cpu_caches = true;                        ///< in sysfs or in KFD's topology
    std::optional<std::vector<std::string>> kernel_log;  ///< lines about GPUs; std::nullopt: not readable

    FileFacts kfd_file;
    std::optional<std::pair<unsigned, unsigned>>
        kfd_numbers;  ///< major and minor that /dev/kfd should have, according to the kernel
    std::vector<FileFacts> render_files;
    std::map<std::string, OpenFacts> opened;  ///< by path

    bool wsl = false;
    FileFacts dxg_file;
    UserFacts user;
    std::map<gid_t, GroupFacts> groups;
    ContainerFacts container;
    std::map<std::string, std::string> environment;
    LimitFacts limits;
    LibraryFacts runtime, thunk;               ///< in this process; thunk's path empty: inside the runtime
    std::vector<std::string> unknown_targets;  ///< KFD's GPUs whose processor this process's runtime does not name
    std::vector<LibraryFacts> other_runtimes;
    EmulationFacts emulation;

    std::string group_name(gid_t gid) const;  ///< "render (109)", "109"
    const TopologyNode* node_of(const PciGpu& gpu) const;
    std::vector<const TopologyNode*> gpu_nodes() const;
    /// The libraries of a variable such as LD_PRELOAD without kfdemu's own, which `emulation` reports; empty: none.
    std::string libraries_beside_emulation(const std::string& variable) const;
};

/// The facts below `root`: all except those of the process (user, limits, environment, libraries).
Machine look_at_files(const std::string& root);
/// This machine and this process.
Machine look_at_machine();

}  // namespace hsadrv_tool::doctor
