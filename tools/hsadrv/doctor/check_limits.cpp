#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tools/hsadrv/doctor/check.hpp"

namespace hsadrv_tool::doctor {
namespace {

std::string size_text(const std::optional<std::uint64_t>& bytes) {
    if (!bytes) return "unlimited";
    if (*bytes >= 1u << 30) return fmt::format("{:.1f} GiB", static_cast<double>(*bytes) / (1u << 30));
    if (*bytes >= 1u << 20) return fmt::format("{:.1f} MiB", static_cast<double>(*bytes) / (1u << 20));
    return fmt::format("{} KiB", *bytes >> 10);
}

/// The thunk reserves address space for all memory that GPUs share with the host: as much as it can, at least 4 GiB
/// (fmm.c, SVM_MIN_VM_SIZE). The runtime uses 4 GiB of it for the scratch of each GPU, and asserts that this succeeds
/// (GpuAgent::InitScratchPool).
Row check_address_space(const Machine& machine) {
    const std::size_t gpus = std::max<std::size_t>(machine.gpu_nodes().size(), 1);
    const std::uint64_t least = gpus * (std::uint64_t{4} << 30) + (std::uint64_t{512} << 20);
    const auto& limit = machine.limits.address_space_bytes;
    const std::string title = "address space";
    if (!limit) return ok("address-space", title, "unlimited");
    Row row = row_of(*limit < least ? Verdict::fault : Verdict::warning, "address-space", title,
                     fmt::format("limited to {}; the runtime needs {} for {} GPU{}, and their memory on top",
                                 size_text(limit), size_text(least), gpus, gpus == 1 ? "" : "s"));
    return row.advise("take the limit away", {"ulimit -v unlimited"});
}

Row check_descriptors(const Machine& machine) {
    const LimitFacts& limits = machine.limits;
    const std::string title = "file descriptors";
    if (!limits.open_files) return ok("descriptors", title, "unlimited");
    const std::uint64_t left = *limits.open_files > limits.files_open ? *limits.open_files - limits.files_open : 0;
    // /dev/kfd, topology files, a render node or two for each GPU, events.
    const std::uint64_t needed = 8 + 2 * machine.gpu_nodes().size();
    Row row = row_of(left < needed ? Verdict::fault
                     : left < 64   ? Verdict::warning
                                   : Verdict::ok,
                     "descriptors", title, fmt::format("{} of {} are free", left, *limits.open_files));
    if (row.verdict != Verdict::ok) row.advise("raise the limit", {"ulimit -n 65536"});
    return row;
}

Row check_locked_memory(const LimitFacts& limits) {
    Row row = ok("locked-memory", "locked memory", size_text(limits.locked_bytes));
    constexpr std::uint64_t enough = std::uint64_t{64} << 20;
    if (!limits.locked_bytes || *limits.locked_bytes >= enough) return row;
    row.found += "; KFD does not count what it pins, RDMA does";
    return row;
}

}  // namespace

Rows check_limits(const Machine& machine) {
    return {check_locked_memory(machine.limits), check_descriptors(machine), check_address_space(machine)};
}

Row check_interface(const Machine& machine, const Rows& so_far) {
    const std::string title = "KFD interface";
    if (machine.wsl) return skipped("interface", title, "in WSL GPUs come through /dev/dxg");
    if (const Row* cause = obstacle(so_far)) return skipped("interface", title, because_of(*cause));
    const auto opened = machine.opened.find("/dev/kfd");
    if (opened == machine.opened.end()) return skipped("interface", title, "/dev/kfd could not be tried");
    const OpenFacts& facts = opened->second;
    if (facts.ioctl_error != 0) {
        Row row = fault("interface", title,
                        fmt::format("/dev/kfd opens, and gives no version: {}", std::strerror(facts.ioctl_error)));
        if (machine.kfd_numbers == std::pair{machine.kfd_file.major, machine.kfd_file.minor})
            return row.advise("the kernel log may say why", {"sudo dmesg | grep -iE 'amdgpu|kfd'"});
        if (machine.kfd_numbers)
            row.found += fmt::format(" (it is device {}:{}; the kernel's KFD is {}:{})", machine.kfd_file.major,
                                     machine.kfd_file.minor, machine.kfd_numbers->first, machine.kfd_numbers->second);
        return row.advise("it is another device under that name: remove it and let udev make it",
                          {"sudo rm /dev/kfd", "sudo udevadm trigger"});
    }
    const std::string version = fmt::format("{}.{}", facts.version_major, facts.version_minor);
    // amd_topology.cpp of ROCR: below 0.99 it ignores all GPUs, at 1.0 it does not use interrupts.
    if (facts.version_major == 0 && facts.version_minor < 99) {
        Row row = fault("interface", title, version + ", and the runtime needs 0.99 or newer");
        return row.advise("boot a newer kernel, or install amdgpu-dkms", {"sudo apt install amdgpu-dkms"});
    }
    if (facts.version_major == 1 && facts.version_minor == 0)
        return note("interface", title, version + ": with this one the runtime polls instead of sleeping")
            .advise("for interrupts, boot a newer kernel");
    return ok("interface", title, version + "; the runtime needs 0.99 or newer");
}

}  // namespace hsadrv_tool::doctor
