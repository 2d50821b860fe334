#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tools/hsadrv/doctor/check.hpp"

namespace hsadrv_tool::doctor {
namespace {

constexpr gid_t overflow_group = 65534;  // replaces groups that the user namespace does not map

bool is_member(const UserFacts& user, gid_t gid) {
    return std::find(user.groups.begin(), user.groups.end(), gid) != user.groups.end();
}

/// Whether owner, group and mode let this user read and write. Access control lists may allow more or less.
bool mode_allows(const FileFacts& file, const UserFacts& user) {
    if (user.uid == 0) return true;
    const unsigned shift = user.uid == file.owner ? 6 : is_member(user, file.group) ? 3 : 0;
    return (file.mode >> shift & 6) == 6;
}

bool is_listed(const Machine& machine, gid_t gid) {
    const auto group = machine.groups.find(gid);
    if (group == machine.groups.end() || machine.user.name.empty()) return false;
    const auto& members = group->second.members;
    return std::find(members.begin(), members.end(), machine.user.name) != members.end();
}

std::string who(const UserFacts& user) {
    return user.name.empty() ? fmt::format("user {}", user.uid) : fmt::format("{} ({})", user.name, user.uid);
}

void describe(const Machine& machine, const FileFacts& file, Row& row) {
    std::vector<std::string> groups;
    for (gid_t gid : machine.user.groups) groups.push_back(machine.group_name(gid));
    row.because("path", file.path)
        .because("mode", fmt::format("{:04o}", file.mode))
        .because("owner", std::to_string(file.owner))
        .because("group", machine.group_name(file.group))
        .because("device", fmt::format("{}:{}", file.major, file.minor))
        .because("user", who(machine.user))
        .because("user's groups", fmt::format("{}", fmt::join(groups, ", ")));
}

/// The group could open it, and this user is not in it.
void advise_group(const Machine& machine, const FileFacts& file, Row& row) {
    const auto group = machine.groups.find(file.group);
    const std::string name = machine.user.name.empty() ? "$USER" : machine.user.name;
    if (machine.container.user_namespace && file.group == overflow_group) {
        row.found += "; that group is not mapped into this user namespace";
        if (machine.container.kind == "lxc")
            row.advise(
                "map the host's group of the device in the container's configuration: lxc.idmap = g NUMBER "
                "NUMBER 1",
                {"stat -c %g /dev/kfd   # on the host"});
        else
            row.advise("keep the groups of the user who starts the container",
                       {"podman run --group-add keep-groups --device=/dev/kfd --device=/dev/dri IMAGE"});
        return;
    }
    if (!machine.container.kind.empty()) {
        row.found += fmt::format("; {}", group == machine.groups.end()
                                             ? "that group has no name in this container"
                                             : "numbers count here, not names: the host's may be called otherwise");
        const std::string tool = machine.container.kind == "podman" ? "podman" : "docker";
        if (machine.container.kind == "kubernetes")
            row.advise(fmt::format("give the pod the group: securityContext: supplementalGroups: [{}]", file.group));
        else if (machine.container.kind == "lxc")
            row.advise(fmt::format("map group {} of the host into the container (lxc.idmap) and put the user into it",
                                   file.group));
        else
            row.advise(
                "start the container with that group",
                {fmt::format("{} run --device=/dev/kfd --device=/dev/dri --group-add {} IMAGE", tool, file.group)});
        return;
    }
    if (is_listed(machine, file.group)) {
        row.found += fmt::format("; {} is in that group by /etc/group, and not in this session, which is older", name);
        row.advise("log out and in again (on a desktop: reboot), or for one shell", {"newgrp " + group->second.name});
        return;
    }
    if (group == machine.groups.end()) {
        row.found += "; that group has no name on this machine";
        row.advise("give the group a name and put the user into it, then log out and in again",
                   {fmt::format("sudo groupadd -r -g {} render", file.group), "sudo usermod -aG render " + name});
        return;
    }
    row.found += fmt::format("; {} is not in that group", who(machine.user));
    row.advise("put the user into the group, then log out and in again",
               {fmt::format("sudo usermod -aG {} {}", group->second.name, name)});
}

/// Only root can open it: udev's rule is missing.
void advise_rule(const FileFacts& file, Row& row) {
    const std::string subsystem = file.path == "/dev/kfd" ? "kfd" : "drm";
    const std::string kernel = file.path == "/dev/kfd" ? "kfd" : "renderD*";
    row.advise(
        "udev gives it to no group that users could be in: add a rule, then put the user into the group "
        "render and log in again",
        {fmt::format("echo 'SUBSYSTEM==\"{}\", KERNEL==\"{}\", GROUP=\"render\", MODE=\"0660\"' | sudo tee "
                     "/etc/udev/rules.d/70-{}.rules",
                     subsystem, kernel, subsystem),
         "sudo udevadm control --reload", "sudo udevadm trigger"});
}

void explain_denial(const Machine& machine, const FileFacts& file, int error, Row& row) {
    if (mode_allows(file, machine.user)) {
        row.found = fmt::format("{}, although mode {:04o} allows it: ", std::strerror(error), file.mode);
        if (error == EPERM) {
            row.found += "the device cgroup of this container or service denies it";
            return advise_passing(machine, row);
        }
        row.found += "a security module (SELinux, AppArmor), a user namespace, or a sandbox denies it";
        row.advise("look for what denied it, and allow it",
                   {"sudo ausearch -m avc -ts recent", "sudo dmesg | grep -iE 'apparmor|selinux|audit'"});
        return;
    }
    row.found = fmt::format("{}: mode {:04o}, owner {}, group {}", std::strerror(error), file.mode, file.owner,
                            machine.group_name(file.group));
    if (file.group == 0 || (file.mode & 060) != 060) return advise_rule(file, row);
    advise_group(machine, file, row);
}

void explain_absence(const Machine& machine, const FileFacts& file, Row& row) {
    row.found = "missing";
    if (!machine.container.kind.empty()) {
        row.found += fmt::format(": this {} container has not been given it", machine.container.kind);
        return advise_passing(machine, row);
    }
    row.found += ", although the kernel has the device";
    row.advise("let udev make the file", {"sudo udevadm trigger"});
    if (file.path == "/dev/kfd" && machine.kfd_numbers)
        row.commands.push_back(
            fmt::format("sudo mknod -m 666 /dev/kfd c {} {}", machine.kfd_numbers->first, machine.kfd_numbers->second));
}

void explain_error(const Machine& machine, const FileFacts& file, int error, Row& row) {
    row.found = std::strerror(error);
    switch (error) {
        case EACCES:
        case EPERM:
            return explain_denial(machine, file, error, row);
        case ENOENT:
            return explain_absence(machine, file, row);
        case ENXIO:
        case ENODEV:
            row.found += fmt::format(": no driver answers to device {}:{}", file.major, file.minor);
            if (machine.kfd_numbers && file.path == "/dev/kfd")
                row.found +=
                    fmt::format("; the kernel's KFD is {}:{}", machine.kfd_numbers->first, machine.kfd_numbers->second);
            row.advise("the file is stale or was made manually: remove it and let udev make it",
                       {"sudo rm " + file.path, "sudo udevadm trigger"});
            return;
        case EAGAIN:
        case EBUSY:
            row.found += ": KFD is locked while a GPU is reset, or another program holds the device";
            row.advise("wait some seconds and try again; if it stays, check which process has it, and the kernel log",
                       {"sudo fuser -v " + file.path, look_at_log});
            return;
        case EMFILE:
        case ENFILE:
            row.advise("close files, or raise the limit", {"ulimit -n 65536"});
            return;
        case ENOMEM:
        case EFAULT:
        case EINVAL:
            row.found += ": KFD cannot set up this process, for example because it has added no GPU or has lost one";
            if (const auto finding = explain_log(machine, "")) {
                row.found += ": \"" + finding->line + "\"";
                row.advise(finding->remedy);
                return;
            }
            row.advise("the kernel log says why; after a hang or a reset, reboot", {look_at_log});
            return;
        default:
            row.advise("the kernel log may say why", {look_at_log});
    }
}

/// `row` already has its id and title.
Row check_file(const Machine& machine, const FileFacts& file, Row row) {
    const auto opened = machine.opened.find(file.path);
    const int error = opened != machine.opened.end() ? opened->second.error : file.error;
    if (file.exists()) describe(machine, file, row);
    if (error != 0) {
        row.verdict = Verdict::fault;
        explain_error(machine, file, error, row);
        return row;
    }
    if (!file.character_device) {
        row.verdict = Verdict::fault;
        row.found = "is there, and is no device";
        return row.advise("remove it and let udev make it", {"sudo rm -r " + file.path, "sudo udevadm trigger"});
    }
    row.found = fmt::format("opens; mode {:04o}, group {}", file.mode, machine.group_name(file.group));
    return row;
}

const FileFacts* find_file(const Machine& machine, const std::string& path) {
    for (const FileFacts& file : machine.render_files)
        if (file.path == path) return &file;
    return nullptr;
}

Rows check_render_files(const Machine& machine) {
    Rows rows;
    for (const TopologyNode* node : machine.gpu_nodes()) {
        if (node->error != 0 || node->render_minor == 0) continue;
        const std::string path = fmt::format("/dev/dri/renderD{}", node->render_minor);
        if (const FileFacts* file = find_file(machine, path))
            rows.push_back(check_file(machine, *file, ok("render-node", path, "")));
    }
    // One inaccessible GPU of several does not explain that no GPU works.
    const auto good =
        std::count_if(rows.begin(), rows.end(), [](const Row& row) { return row.verdict == Verdict::ok; });
    for (Row& row : rows)
        if (row.verdict == Verdict::fault && good > 0) row.verdict = Verdict::warning;
    return rows;
}

}  // namespace

void advise_passing(const Machine& machine, Row& row) {
    const std::string& kind = machine.container.kind;
    if (kind.empty()) {
        row.advise(
            "start it where devices may be used: in a systemd service, DeviceAllow=/dev/kfd rw and "
            "DeviceAllow=char-drm rw, "
            "and no PrivateDevices=yes");
    } else if (kind == "lxc") {
        row.advise("pass the devices on in the container's configuration",
                   {"lxc.cgroup2.devices.allow = c 226:* rwm", "lxc.cgroup2.devices.allow = c 235-511:* rwm",
                    "lxc.mount.entry = /dev/dri dev/dri none bind,optional,create=dir",
                    "lxc.mount.entry = /dev/kfd dev/kfd none bind,optional,create=file"});
    } else if (kind == "kubernetes") {
        row.advise(
            "install AMD's device plugin in the cluster, and ask for a GPU in the pod: resources: limits: "
            "amd.com/gpu: 1");
    } else if (kind == "flatpak") {
        row.advise("let the application have all devices", {"flatpak override --user --device=all APPLICATION"});
    } else if (kind == "snap") {
        row.advise("snaps are not given /dev/kfd: install the program otherwise, or as a classic snap");
    } else if (kind == "apptainer") {
        row.advise("start the container with ROCm's devices", {"apptainer exec --rocm IMAGE PROGRAM"});
    } else {
        row.advise(
            "start the container with the devices",
            {fmt::format("{} run --device=/dev/kfd --device=/dev/dri{} IMAGE", kind == "podman" ? "podman" : "docker",
                         machine.kfd_file.exists() && machine.kfd_file.group != 0
                             ? fmt::format(" --group-add {}", machine.kfd_file.group)
                             : " --group-add $(getent group render | cut -d: -f3)")});
    }
}

Rows check_files(const Machine& machine, const Rows& so_far) {
    if (machine.wsl) return {skipped("dev-kfd", "/dev/kfd", "in WSL GPUs come through /dev/dxg")};
    if (const Row* cause = obstacle(so_far))
        return {skipped("dev-kfd", "/dev/kfd", because_of(*cause)),
                skipped("render-node", "render nodes", because_of(*cause))};
    Rows rows{check_file(machine, machine.kfd_file, ok("dev-kfd", "/dev/kfd", ""))};
    append(rows, check_render_files(machine));
    return rows;
}

}  // namespace hsadrv_tool::doctor
