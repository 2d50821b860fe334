#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "tools/common/split.hpp"
#include "tools/hsadrv/doctor/look.hpp"

namespace hsadrv_tool::doctor {
namespace {

using tools::split;

std::map<gid_t, GroupFacts> look_at_groups(const FileTree& files) {
    std::map<gid_t, GroupFacts> groups;
    for (const std::string& line : files.lines("/etc/group")) {
        const auto fields = split(line, ':');  // name, password, number, members
        if (fields.size() < 3) continue;
        const auto gid = static_cast<gid_t>(std::strtoul(fields[2].c_str(), nullptr, 10));
        groups.emplace(gid,
                       GroupFacts{fields[0], fields.size() > 3 ? split(fields[3], ',') : std::vector<std::string>{}});
    }
    return groups;
}

/// The word that systemd, podman, LXC and others leave: systemd's container interface, "container=".
std::string named_by_manager(const FileTree& files) {
    for (const char* path : {"/run/systemd/container", "/run/host/container-manager"})
        if (const auto text = files.text(path); text && !text->empty()) return *text;
    for (const std::string& variable : split(files.text("/proc/1/environ").value_or(""), '\0'))
        if (variable.starts_with("container=")) return variable.substr(10);
    return "";
}

ContainerFacts look_at_container(const FileTree& files) {
    ContainerFacts facts;
    const auto found = [&](const char* kind, const char* told_by) {
        if (facts.kind.empty()) facts.kind = kind, facts.told_by = told_by;
    };
    if (files.exists("/var/run/secrets/kubernetes.io")) found("kubernetes", "/var/run/secrets/kubernetes.io");
    if (files.exists("/.flatpak-info")) found("flatpak", "/.flatpak-info");
    if (files.exists("/.singularity.d")) found("apptainer", "/.singularity.d");
    if (files.exists("/run/.containerenv")) found("podman", "/run/.containerenv");
    if (files.exists("/.dockerenv")) found("docker", "/.dockerenv");
    if (const std::string name = named_by_manager(files); facts.kind.empty() && !name.empty())
        facts.kind = name, facts.told_by = "container=" + name + " of process 1";
    const std::string cgroup = files.text("/proc/1/cgroup").value_or("");
    for (const auto& [word, kind] :
         {std::pair{"kubepods", "kubernetes"}, {"docker", "docker"}, {"lxc", "lxc"}, {"libpod", "podman"}})
        if (cgroup.find(word) != cgroup.npos) found(kind, "/proc/1/cgroup");
    std::istringstream map(files.text("/proc/self/uid_map").value_or("0 0 4294967295"));
    unsigned long inside = 0, outside = 0, count = 0;
    facts.user_namespace = static_cast<bool>(map >> inside >> outside >> count) && count < 4294967295u;
    for (const std::string& line : files.lines("/proc/self/status"))
        if (line.starts_with("Seccomp:")) facts.seccomp = line.find('2') != line.npos;
    return facts;
}

std::optional<std::pair<unsigned, unsigned>> device_numbers(const FileTree& files) {
    unsigned major = 0, minor = 0;
    char colon = 0;
    std::istringstream text(files.text("/sys/class/kfd/kfd/dev").value_or(""));
    if (!(text >> major >> colon >> minor)) return std::nullopt;
    return std::pair{major, minor};
}

/// Render nodes that exist, and those that KFD's nodes name.
std::vector<FileFacts> look_at_render_files(const FileTree& files, const Machine& machine) {
    std::vector<std::string> names = files.names("/dev/dri");
    std::erase_if(names, [](const std::string& name) { return !name.starts_with("renderD"); });
    for (const TopologyNode& node : machine.nodes)
        if (node.render_minor != 0) names.push_back("renderD" + std::to_string(node.render_minor));
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    std::vector<FileFacts> facts;
    for (const std::string& name : names) facts.push_back(files.status("/dev/dri/" + name));
    return facts;
}

}  // namespace

void look_at_places(const FileTree& files, Machine& machine) {
    machine.kfd_file = files.status("/dev/kfd");
    machine.kfd_numbers = device_numbers(files);
    machine.render_files = look_at_render_files(files, machine);
    machine.groups = look_at_groups(files);
    machine.container = look_at_container(files);
    const std::string release = files.text("/proc/sys/kernel/osrelease").value_or("");
    machine.dxg_file = files.status("/dev/dxg");
    machine.wsl = machine.dxg_file.exists() || release.find("microsoft") != release.npos ||
                  release.find("Microsoft") != release.npos;
}

}  // namespace hsadrv_tool::doctor
