#include "tools/hsadrv/doctor/machine.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <sstream>

#include "hsadrv/agent.hpp"
#include "tools/common/processor.hpp"
#include "tools/hsadrv/doctor/look.hpp"

namespace hsadrv_tool::doctor {

// KFD's location_id: bus, device and function in 16 bits (kfd_topology.c).
std::string TopologyNode::pci_address() const {
    const auto byte = [this](unsigned shift, unsigned mask) {
        return static_cast<std::uint8_t>(location_id >> shift & mask);
    };
    return hsadrv::PciAddress{static_cast<std::uint32_t>(domain), byte(8, 0xff), byte(3, 0x1f), byte(0, 7)}.text();
}

std::string TopologyNode::target() const {
    return gfx_target_version == 0 ? "" : tools::processor_of(gfx_target_version);
}

std::string LibraryFacts::version() const {
    const std::size_t at = path.rfind(".so.");
    return at == path.npos ? "" : path.substr(at + 4);
}

std::string Machine::group_name(gid_t gid) const {
    const auto found = groups.find(gid);
    return found == groups.end() ? std::to_string(gid) : fmt::format("{} ({})", found->second.name, gid);
}

const TopologyNode* Machine::node_of(const PciGpu& gpu) const {
    for (const TopologyNode& node : nodes)
        if (node.error == 0 && node.gpu_id != 0 && node.pci_address() == gpu.address) return &node;
    return nullptr;
}

std::vector<const TopologyNode*> Machine::gpu_nodes() const {
    std::vector<const TopologyNode*> gpus;
    for (const TopologyNode& node : nodes)
        if (node.is_gpu()) gpus.push_back(&node);
    return gpus;
}

std::string Machine::libraries_beside_emulation(const std::string& variable) const {
    const auto found = environment.find(variable);
    if (found == environment.end()) return "";
    std::string text = found->second;
    std::replace(text.begin(), text.end(), ':', ' ');  // ld.so takes both
    std::istringstream words(text);
    std::string others;
    for (std::string word; words >> word;)
        if (!word.substr(word.rfind('/') + 1).starts_with("libkfdemu")) others += (others.empty() ? "" : " ") + word;
    return others;
}

Machine look_at_files(const std::string& root) {
    Machine machine;
    const FileTree files(root);
    machine.kernel_release = files.text("/proc/sys/kernel/osrelease").value_or("");
    look_at_kernel(files, machine);
    look_at_places(files, machine);
    return machine;
}

Machine look_at_machine() {
    Machine machine = look_at_files("");
    if (utsname name{}; machine.kernel_release.empty() && uname(&name) == 0) machine.kernel_release = name.release;
    look_at_process(machine);
    look_at_libraries(FileTree(""), machine);
    return machine;
}

}  // namespace hsadrv_tool::doctor
