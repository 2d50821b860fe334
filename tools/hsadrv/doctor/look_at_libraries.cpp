#include <link.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tools/common/split.hpp"
#include "tools/hsadrv/doctor/look.hpp"

namespace hsadrv_tool::doctor {
namespace {

namespace fs = std::filesystem;

/// The path with symbolic links resolved; the path itself if that fails.
std::string resolved(const std::string& path) {
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    return error ? path : real.string();
}

int note_library(dl_phdr_info* info, std::size_t, void* data) {
    auto& machine = *static_cast<Machine*>(data);
    const std::string path = info->dlpi_name;
    const std::string name = path.substr(path.rfind('/') + 1);
    if (name.starts_with("libhsa-runtime64.so")) machine.runtime.path = resolved(path);
    if (name.starts_with("libhsakmt.so")) machine.thunk.path = resolved(path);
    if (name.starts_with("libkfdemu.so")) machine.emulation.library = resolved(path);
    return 0;
}

/// The library folders of the dynamic linker and of AMD's packages.
std::vector<std::string> library_folders(const FileTree& files, const Machine& machine) {
    std::vector<std::string> folders;
    const auto variable = machine.environment.find("LD_LIBRARY_PATH");
    if (variable != machine.environment.end()) folders = tools::split(variable->second, ':');
    std::erase(folders, "");
    for (const std::string& name : files.names("/opt"))
        if (name.starts_with("rocm"))
            folders.insert(folders.end(), {"/opt/" + name + "/lib", "/opt/" + name + "/lib64"});
    folders.insert(folders.end(), {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib"});
    return folders;
}

/// A runtime names each processor that it knows in its ISA registry, as text.
std::vector<std::string> unknown_targets(const Machine& machine) {
    std::ifstream file{machine.runtime.path, std::ios::binary};
    const std::string runtime{std::istreambuf_iterator<char>{file}, {}};
    std::vector<std::string> unknown;
    for (const TopologyNode* node : machine.gpu_nodes())
        if (node->error == 0 && !runtime.empty() && runtime.find(node->target()) == std::string::npos)
            unknown.push_back(node->target());
    std::sort(unknown.begin(), unknown.end());
    unknown.erase(std::unique(unknown.begin(), unknown.end()), unknown.end());
    return unknown;
}

}  // namespace

void look_at_libraries(const FileTree& files, Machine& machine) {
    dl_iterate_phdr(note_library, &machine);
    machine.unknown_targets = unknown_targets(machine);
    for (const std::string& folder : library_folders(files, machine)) {
        const std::string path = folder + "/libhsa-runtime64.so.1";
        if (!files.exists(path)) continue;
        const LibraryFacts found{resolved(path)};
        const auto same = [&](const LibraryFacts& known) { return known.path == found.path; };
        if (found.path != machine.runtime.path &&
            std::none_of(machine.other_runtimes.begin(), machine.other_runtimes.end(), same))
            machine.other_runtimes.push_back(found);
    }
}

}  // namespace hsadrv_tool::doctor
