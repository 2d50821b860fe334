#include <fmt/format.h>

#include <cstdlib>

#include "tools/hsadrv/doctor/check.hpp"

namespace hsadrv_tool::doctor {
namespace {

Row check_container(const Machine& machine) {
    const ContainerFacts& container = machine.container;
    if (container.kind.empty() && !container.user_namespace) return ok("container", "container", "none");
    Row row = note("container", "container",
                   container.kind.empty() ? "a user namespace: numbers of users and groups here are others outside"
                                          : container.kind + ", as " + container.told_by + " tells");
    if (!container.kind.empty() && container.user_namespace) row.found += ", in a separate user namespace";
    // Docker's default filter rejects mbind() and similar calls; the thunk continues without them.
    if (container.seccomp) {
        row.found += "; system calls are filtered, so that memory cannot be bound to the GPU's NUMA node";
        if (container.kind == "docker" || container.kind == "podman")
            row.advise("for full speed on several sockets",
                       {container.kind + " run --security-opt seccomp=unconfined … IMAGE"});
    }
    return row.because("seccomp", container.seccomp ? "filter" : "none")
        .because("user namespace", container.user_namespace ? "own" : "the machine's");
}

Rows check_wsl(const Machine& machine) {
    if (!machine.wsl) return {};
    const std::string title = "WSL";
    if (machine.dxg_file.exists())
        return {note("wsl", title,
                     "this is WSL: GPUs come through /dev/dxg, for which the runtime must be that of ROCm for WSL")};
    Row row = fault("wsl", title, "this is WSL, and /dev/dxg is not there");
    row.advise("in Windows: update WSL and AMD's Adrenalin driver, and see that the distribution runs under WSL 2",
               {"wsl --update", "wsl --shutdown"});
    return {row};
}

constexpr std::pair<const char*, const char*> known_releases[] = {
    {"1.5.", "5.2"}, {"1.13.", "6.1"}, {"1.15.", "6.4"}, {"1.18.", "7.2"}};

std::string release_of(const std::string& version) {
    for (const auto& [beginning, release] : known_releases)
        if (version.starts_with(beginning)) return fmt::format(" (ROCm {})", release);
    return "";
}

/// libhsakmt of ROCm 6.1 is the first that works without CPU caches (topology_get_cpu_cache_props).
constexpr unsigned first_without_caches = 13;

/// 5 of "1.5.0"; a runtime of unknown version is assumed to be new.
unsigned minor_of(const std::string& version) {
    const std::size_t dot = version.find('.');
    if (!version.starts_with("1.") || dot == version.npos) return first_without_caches;
    return static_cast<unsigned>(std::strtoul(version.c_str() + dot + 1, nullptr, 10));
}

std::string described(const LibraryFacts& library) {
    const std::string version = library.version();
    return version.empty() ? library.path : fmt::format("{}{}, {}", version, release_of(version), library.path);
}

}  // namespace

Rows check_surroundings(const Machine& machine) {
    Rows rows{check_container(machine)};
    append(rows, check_wsl(machine));
    return rows;
}

Rows check_libraries(const Machine& machine) {
    Rows rows;
    if (machine.runtime.path.empty())
        rows.push_back(note("runtime", "HSA runtime", "linked into this program"));
    else
        rows.push_back(ok("runtime", "HSA runtime", described(machine.runtime)).because("path", machine.runtime.path));
    if (!machine.other_runtimes.empty()) {
        std::string list;
        for (const LibraryFacts& other : machine.other_runtimes) list += (list.empty() ? "" : ", ") + other.path;
        Row row = note("other-runtimes", "other runtimes", list + ": not the one that this program uses");
        rows.push_back(row.advise(
            "to use another one, name its folder",
            {"export LD_LIBRARY_PATH=" + list.substr(0, list.find(',')).substr(0, list.rfind('/', list.find(',')))}));
    }
    if (machine.thunk.path.empty())
        rows.push_back(ok("thunk", "thunk (libhsakmt)", "inside the runtime, as from ROCm 6.4 on"));
    else
        rows.push_back(
            ok("thunk", "thunk (libhsakmt)", fmt::format("{}, {}", machine.thunk.version(), machine.thunk.path))
                .because("path", machine.thunk.path));
    if (machine.has_kfd && !machine.shows_cpu_caches && minor_of(machine.runtime.version()) < first_without_caches)
        rows.push_back(
            fault("cpu-caches", "CPU caches",
                  "the kernel shows none in /sys/devices/system/cpu/cpu*/cache, as in small virtual machines, and this "
                  "runtime then finds no GPU")
                .advise("use the runtime of ROCm 6.1 or newer, or a virtual machine that passes the CPU's caches on",
                        {"qemu-system-x86_64 -cpu host,host-cache-info=on"}));
    return rows;
}

}  // namespace hsadrv_tool::doctor
