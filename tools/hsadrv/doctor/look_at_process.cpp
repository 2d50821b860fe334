#include <grp.h>
#include <pwd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tools/hsadrv/doctor/look.hpp"
#include "tools/kfdemu/kfdemu.h"

extern char** environ;

namespace hsadrv_tool::doctor {
namespace {

UserFacts look_at_user() {
    UserFacts user;
    user.uid = geteuid();
    user.gid = getegid();
    user.groups.resize(static_cast<std::size_t>(std::max(getgroups(0, nullptr), 0)));
    const int count = getgroups(static_cast<int>(user.groups.size()), user.groups.data());
    user.groups.resize(static_cast<std::size_t>(std::max(count, 0)));
    user.groups.push_back(user.gid);
    if (const passwd* entry = getpwuid(user.uid)) user.name = entry->pw_name;
    return user;
}

/// Groups from sources other than /etc/group, such as LDAP.
void add_group(std::map<gid_t, GroupFacts>& groups, gid_t gid) {
    if (groups.contains(gid)) return;
    const group* entry = getgrgid(gid);
    if (!entry) return;
    GroupFacts facts{entry->gr_name, {}};
    for (char** member = entry->gr_mem; *member; ++member) facts.members.emplace_back(*member);
    groups.emplace(gid, facts);
}

std::map<std::string, std::string> look_at_environment() {
    std::map<std::string, std::string> all;
    for (char** variable = environ; *variable; ++variable) {
        const std::string text = *variable;
        const std::size_t at = text.find('=');
        if (at != text.npos) all.emplace(text.substr(0, at), text.substr(at + 1));
    }
    return all;
}

std::optional<std::uint64_t> limit_of(int resource) {
    rlimit limit{};
    getrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
    if (limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
    return limit.rlim_cur;
}

LimitFacts look_at_limits() {
    LimitFacts limits;
    limits.locked_bytes = limit_of(RLIMIT_MEMLOCK);
    limits.address_space_bytes = limit_of(RLIMIT_AS);
    limits.open_files = limit_of(RLIMIT_NOFILE);
    limits.files_open = FileTree("").names("/proc/self/fd").size();
    return limits;
}

}  // namespace

void look_at_process(Machine& machine) {
    machine.user = look_at_user();
    add_group(machine.groups, machine.kfd_file.group);
    for (const FileFacts& file : machine.render_files) add_group(machine.groups, file.group);
    machine.environment = look_at_environment();
    machine.limits = look_at_limits();
    machine.emulation.active = kfdemu_find_control() != nullptr;
    machine.emulation.cpu_suffices = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
    ContainerFacts& container = machine.container;
    for (const auto& [name, kind] : {std::pair{"KUBERNETES_SERVICE_HOST", "kubernetes"},
                                     {"APPTAINER_CONTAINER", "apptainer"},
                                     {"SINGULARITY_CONTAINER", "apptainer"},
                                     {"SNAP", "snap"}})
        if (container.kind.empty() && machine.environment.contains(name))
            container.kind = kind, container.told_by = name;
}

}  // namespace hsadrv_tool::doctor
