#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <sstream>

#include "tools/hsadrv/doctor/look.hpp"

namespace hsadrv_tool::doctor {
namespace {

constexpr unsigned vendor_amd = 0x1002;

unsigned long number(const std::optional<std::string>& text, int base = 0) {
    return text ? std::strtoul(text->c_str(), nullptr, base) : 0;
}

std::vector<std::string> words_of(const std::string& line) {
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

// ---- the amdgpu module

/// Lines of modprobe.d that keep a module out: man modprobe.d, "blacklist" and "install".
std::vector<std::string> forbidden_by_files(const FileTree& files) {
    std::vector<std::string> found;
    for (const std::string folder : {"/etc/modprobe.d", "/run/modprobe.d", "/usr/lib/modprobe.d", "/lib/modprobe.d"})
        for (const std::string& name : files.names(folder)) {
            if (!name.ends_with(".conf")) continue;
            for (const std::string& line : files.lines(folder + "/" + name)) {
                const auto words = words_of(line);
                if (words.size() < 2 || words[1] != "amdgpu") continue;
                const bool never = words[0] == "install" && words.size() > 2 &&
                                   (words[2].ends_with("/false") || words[2].ends_with("/true"));
                const std::string said = fmt::format("{}/{}: {}", folder, name, line);
                if (words[0] == "blacklist" || never) found.push_back(said);
            }
        }
    return found;
}

/// Whether the value of module_blacklist=a,b names amdgpu.
bool lists_amdgpu(const std::string& option, std::string_view name) {
    if (!option.starts_with(name)) return false;
    return ("," + option.substr(name.size()) + ",").find(",amdgpu,") != std::string::npos;
}

std::vector<std::string> kernel_options(const FileTree& files) {
    std::vector<std::string> found;
    for (const std::string& option : words_of(files.text("/proc/cmdline").value_or("")))
        if (option == "nomodeset" || option == "amdgpu.modeset=0" || lists_amdgpu(option, "modprobe.blacklist=") ||
            lists_amdgpu(option, "module_blacklist="))
            found.push_back(option);
    return found;
}

/// The module's path for modprobe; empty if there is none; std::nullopt if the folder is missing, as in containers.
std::optional<std::string> module_file(const FileTree& files, const std::string& release) {
    const std::string folder = "/lib/modules/" + release;
    if (release.empty() || !files.exists(folder + "/modules.dep")) return std::nullopt;
    for (const std::string& line : files.lines(folder + "/modules.dep")) {
        const std::string path = line.substr(0, line.find(':'));
        if (path.find("/amdgpu.ko") != path.npos) return folder + "/" + path;
    }
    return "";
}

std::optional<bool> kfd_configured(const FileTree& files, const std::string& release) {
    for (const std::string& path : {"/boot/config-" + release, "/lib/modules/" + release + "/config"}) {
        const auto lines = files.lines(path);
        if (lines.empty()) continue;
        return std::find(lines.begin(), lines.end(), "CONFIG_HSA_AMD=y") != lines.end();
    }
    return std::nullopt;
}

/// Four bytes of attributes, then the value. (UEFI specification, "Globally Defined Variables".)
std::optional<bool> secure_boot(const FileTree& files) {
    const auto value = files.text("/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c");
    if (!value || value->size() < 5) return std::nullopt;
    return (*value)[4] == 1;
}

ModuleFacts look_at_module(const FileTree& files, const std::string& release) {
    ModuleFacts module;
    module.loaded = files.exists("/sys/module/amdgpu");
    module.state = files.text("/sys/module/amdgpu/initstate").value_or("");
    module.built_in = module.loaded && module.state.empty();
    module.version = files.text("/sys/module/amdgpu/version").value_or("");
    module.forbidden = forbidden_by_files(files);
    module.kernel_options = kernel_options(files);
    module.file = module_file(files, release);
    module.kfd_configured = kfd_configured(files, release);
    module.secure_boot = secure_boot(files);
    return module;
}

// ---- the PCI bus and KFD's topology

std::vector<PciGpu> look_at_pci(const FileTree& files) {
    constexpr unsigned display = 0x03, accelerator = 0x12;  // PCI base classes
    std::vector<PciGpu> gpus;
    for (const std::string& address : files.names("/sys/bus/pci/devices")) {
        const std::string folder = "/sys/bus/pci/devices/" + address;
        if (number(files.text(folder + "/vendor")) != vendor_amd) continue;
        const auto code = static_cast<unsigned>(number(files.text(folder + "/class")));
        if (code >> 16 != display && code >> 16 != accelerator) continue;
        gpus.push_back({address, static_cast<unsigned>(number(files.text(folder + "/device"))), code,
                        files.link_name(folder + "/driver")});
    }
    return gpus;
}

constexpr const char* nodes_folder = "/sys/devices/virtual/kfd/kfd/topology/nodes";

TopologyNode look_at_node(const FileTree& files, const std::string& name) {
    TopologyNode node;
    node.number = static_cast<unsigned>(std::strtoul(name.c_str(), nullptr, 10));
    const std::string folder = std::string(nodes_folder) + "/" + name;
    const auto [id, error] = files.text_or_error(folder + "/gpu_id");
    node.error = error;
    if (error != 0) return node;
    node.gpu_id = number(id, 10);
    for (const std::string& line : files.lines(folder + "/properties")) {
        const auto words = words_of(line);
        if (words.size() != 2) continue;
        const std::uint64_t value = std::strtoull(words[1].c_str(), nullptr, 10);
        if (words[0] == "simd_count") node.simd_count = value;
        if (words[0] == "gfx_target_version") node.gfx_target_version = value;
        if (words[0] == "location_id") node.location_id = value;
        if (words[0] == "domain") node.domain = value;
        if (words[0] == "unique_id") node.unique_id = value;
        if (words[0] == "device_id") node.device_id = value;
        if (words[0] == "drm_render_minor") node.render_minor = static_cast<unsigned>(value);
    }
    constexpr const char* frame_buffer_private = "heap_type 2";  // HSA_HEAPTYPE_FRAME_BUFFER_PRIVATE
    for (const std::string& bank : files.names(folder + "/mem_banks"))
        for (const std::string& line : files.lines(folder + "/mem_banks/" + bank + "/properties"))
            node.private_memory |= line == frame_buffer_private;
    return node;
}

// ---- the kernel log

/// Lines about GPUs and rejected modules.
bool concerns_gpus(std::string_view line) {
    for (std::string_view word :
         {"amdgpu", "kfd", "[drm", "unsigned module", "module verification", "key is rejected", "BAR "})
        if (line.find(word) != line.npos) return true;
    return false;
}

/// /dev/kmsg: "priority,sequence,time,flags;message", continued by lines that begin with a space.
std::string message_of(const std::string& record) {
    const std::size_t at = record.find(';');
    return at == record.npos ? record : record.substr(at + 1);
}

/// Each read() of the device returns one record; EPIPE means that records were overwritten in between.
std::optional<std::vector<std::string>> read_log(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return std::nullopt;
    constexpr std::size_t most = 4u << 20;
    std::string all;
    char record[8192];
    while (all.size() < most) {
        const ssize_t got = read(file, record, sizeof record);
        if (got < 0 && (errno == EPIPE || errno == EINTR)) continue;
        if (got <= 0) break;
        all.append(record, static_cast<std::size_t>(got));
    }
    close(file);
    std::vector<std::string> lines;
    std::istringstream stream(all);
    for (std::string line; std::getline(stream, line);)
        if (!line.starts_with(' ') && concerns_gpus(line)) lines.push_back(message_of(line));
    return lines;
}

bool shows_cpu_caches(const FileTree& files) {
    if (!files.names(std::string(nodes_folder) + "/0/caches").empty()) return true;
    const std::string cpus = "/sys/devices/system/cpu";
    for (const std::string& name : files.names(cpus))
        if (files.exists(cpus + "/" + name + "/cache/index0")) return true;
    return false;
}

}  // namespace

void look_at_kernel(const FileTree& files, Machine& machine) {
    machine.module = look_at_module(files, machine.kernel_release);
    machine.sees_pci = files.exists("/sys/bus/pci/devices");
    machine.pci_gpus = look_at_pci(files);
    machine.has_kfd = files.exists(nodes_folder);
    for (const std::string& name : files.names(nodes_folder)) machine.nodes.push_back(look_at_node(files, name));
    std::sort(machine.nodes.begin(), machine.nodes.end(),
              [](const auto& a, const auto& b) { return a.number < b.number; });
    machine.shows_cpu_caches = shows_cpu_caches(files);
    machine.kernel_log = read_log(files.path("/dev/kmsg"));
}

}  // namespace hsadrv_tool::doctor
