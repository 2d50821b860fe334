#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>

#include "tools/hsadrv/doctor/check.hpp"

namespace hsadrv_tool::doctor {
namespace {

constexpr const char* module_title = "amdgpu kernel module";

std::string on_the_host(const Machine& machine) { return machine.container.kind.empty() ? "" : "on the host: "; }

/// Adds the finding of the kernel log, or the command that shows the log.
void advise_from_log(const Machine& machine, const std::string& address, Row& row, const std::string& otherwise) {
    if (const auto finding = explain_log(machine, address)) {
        row.found += "; the kernel says why: \"" + finding->line + "\": " + finding->meaning;
        row.advise(finding->remedy).because("kernel log", finding->line);
        return;
    }
    row.advise(otherwise, {look_at_log});
}

// ---- the module

Row missing_module(const Machine& machine) {
    const ModuleFacts& module = machine.module;
    Row row = fault("module", module_title, "not loaded");
    const std::string where = on_the_host(machine);
    if (!module.kernel_options.empty()) {
        row.found += fmt::format(": the kernel's command line keeps it out: {}", fmt::join(module.kernel_options, " "));
        return row.advise(where + "take that option out of the boot loader's kernel command line and reboot",
                          {"sudoedit /etc/default/grub", "sudo update-grub", "sudo reboot"});
    }
    if (!module.forbidden.empty()) {
        const std::string& first = module.forbidden.front();
        row.found += fmt::format(": blacklisted by {}", fmt::join(module.forbidden, "; "));
        return row.advise(where + "take the line out, and load the module",
                          {fmt::format("sudo sed -i '/amdgpu/s/^/#/' {}", first.substr(0, first.find(": "))),
                           "sudo modprobe amdgpu"});
    }
    if (const auto finding = explain_log(machine, ""); finding && finding->meaning.starts_with("secure boot")) {
        row.found += ": \"" + finding->line + "\": " + finding->meaning;
        return row.advise(where + finding->remedy, {"sudo mokutil --import /var/lib/dkms/mok.pub"});
    }
    if (module.file && module.file->empty()) {
        row.found += ": the kernel " + machine.kernel_release + " has no such module";
        return row.advise(where + "install the distribution's package with this kernel's modules, or amdgpu-dkms",
                          {"sudo apt install linux-modules-extra-" + machine.kernel_release});
    }
    const bool unsigned_likely =
        module.secure_boot.value_or(false) && module.file && module.file->find("/dkms/") != std::string::npos;
    return row.advise(where + (unsigned_likely ? "load it; if that says \"Key was rejected\", enrol DKMS's key with "
                                                 "sudo mokutil --import /var/lib/dkms/mok.pub and reboot"
                                               : "load it; if that fails, the kernel log says why"),
                      {"sudo modprobe amdgpu", look_at_log});
}

Row check_module(const Machine& machine) {
    const ModuleFacts& module = machine.module;
    if (machine.wsl) return skipped("module", module_title, "in WSL GPUs come through /dev/dxg");
    if (module.loaded && module.state == "coming") {
        Row row = fault("module", module_title, "is being loaded, and that has not ended");
        advise_from_log(machine, "", row, "wait; if it stays so, the kernel log says where it hangs");
        return row;
    }
    if (module.loaded) {
        std::string found = module.built_in ? "built into the kernel" : "loaded";
        if (!module.version.empty()) found += ", version " + module.version;
        return ok("module", module_title, found)
            .because("state", module.state)
            .because("kernel", machine.kernel_release);
    }
    if (machine.sees_pci && machine.pci_gpus.empty())
        return note("module", module_title, "not loaded; there is no AMD GPU that would need it");
    return missing_module(machine).because("kernel", machine.kernel_release);
}

// ---- the PCI bus

std::string name_of(const PciGpu& gpu) { return fmt::format("{} [1002:{:04x}]", gpu.address, gpu.device_id); }

Row row_of_driver(const Machine& machine, const PciGpu& gpu, bool others) {
    const std::string id = "driver";
    const std::string title = "driver of " + gpu.address;
    if (gpu.driver == "vfio-pci" || gpu.driver == "pci-stub") {
        Row row = row_of(others ? Verdict::note : Verdict::fault, id, title,
                         gpu.driver + " has it: it is given to virtual machines");
        return row.advise(
            "to have it here, give it to amdgpu",
            {fmt::format("echo {} | sudo tee /sys/bus/pci/devices/{}/driver/unbind", gpu.address, gpu.address),
             fmt::format("echo amdgpu | sudo tee /sys/bus/pci/devices/{}/driver_override", gpu.address),
             fmt::format("echo {} | sudo tee /sys/bus/pci/drivers_probe", gpu.address)});
    }
    if (!gpu.driver.empty()) {
        Row row =
            row_of(others ? Verdict::warning : Verdict::fault, id, title, gpu.driver + " has it, and HSA needs amdgpu");
        return row.advise(
            "let amdgpu take it, where it supports the GPU: boot with the kernel options "
            "radeon.si_support=0 radeon.cik_support=0 amdgpu.si_support=1 amdgpu.cik_support=1");
    }
    if (!machine.module.loaded) return skipped(id, title, "the amdgpu kernel module is not loaded");
    Row row = row_of(others ? Verdict::warning : Verdict::fault, id, title,
                     "no driver has taken it, although amdgpu is loaded");
    advise_from_log(machine, gpu.address, row,
                    "the kernel log says why: a GPU newer than the kernel, missing firmware, a failed start");
    return row;
}

Rows check_bus(const Machine& machine) {
    const std::string title = "AMD GPUs on the PCI bus";
    if (machine.wsl) return {skipped("pci", title, "in WSL GPUs come through /dev/dxg")};
    if (!machine.sees_pci) return {skipped("pci", title, "/sys/bus/pci is not there")};
    if (machine.pci_gpus.empty()) {
        Row row = fault("pci", title, "none");
        row.advise(
            "without a GPU, programs run on an emulated one (kfdemu run -- PROGRAM); if there should be one, "
            "see that the card is "
            "seated, powered, not switched off in the firmware setup and, in a virtual machine, passed "
            "through; what the bus has",
            {"lspci -nn -d 1002:"});
        return {row};
    }
    std::vector<std::string> names;
    for (const PciGpu& gpu : machine.pci_gpus) names.push_back(name_of(gpu));
    Rows rows{ok("pci", title, fmt::format("{}: {}", names.size(), fmt::join(names, ", ")))};
    const bool others = std::any_of(machine.pci_gpus.begin(), machine.pci_gpus.end(),
                                    [](const PciGpu& gpu) { return gpu.driver == "amdgpu"; });
    for (const PciGpu& gpu : machine.pci_gpus) {
        rows.front().because(gpu.address, fmt::format("device {:#06x}, class {:#08x}, driver {}", gpu.device_id,
                                                      gpu.class_code, gpu.driver.empty() ? "none" : gpu.driver));
        if (gpu.driver != "amdgpu") rows.push_back(row_of_driver(machine, gpu, others));
    }
    return rows;
}

// ---- KFD

Row row_of_absence(const Machine& machine, const PciGpu& gpu, bool others) {
    Row row = row_of(others ? Verdict::warning : Verdict::fault, "kfd-node", "KFD's node of " + gpu.address,
                     "amdgpu has the GPU, but KFD has not added it");
    advise_from_log(machine, gpu.address, row,
                    "the kernel log says why: \"rejects atomics\" (the PCIe slot carries no atomics: use one "
                    "of the CPU's own), "
                    "\"not supported\", or a firmware file that is missing");
    return row;
}

Rows check_topology(const Machine& machine) {
    const std::string title = "KFD";
    if (machine.wsl) return {skipped("kfd", title, "in WSL GPUs come through /dev/dxg")};
    if (!machine.module.loaded) return {skipped("kfd", title, "the amdgpu kernel module is not loaded")};
    if (!machine.has_kfd) {
        Row row = fault("kfd", title,
                        machine.module.kfd_configured.value_or(true)
                            ? "amdgpu is loaded, and /sys/devices/virtual/kfd is not there"
                            : "this kernel's amdgpu was built without it (CONFIG_HSA_AMD is not set)");
        row.advise("use a kernel with CONFIG_HSA_AMD=y (distributions' kernels have it), or install amdgpu-dkms",
                   {"grep CONFIG_HSA_AMD /boot/config-$(uname -r)"});
        return {row.because("kernel", machine.kernel_release)};
    }
    std::vector<std::string> readable;
    std::size_t hidden = 0, private_memory = 0;
    for (const TopologyNode* node : machine.gpu_nodes()) {
        hidden += node->error != 0;
        private_memory += node->private_memory;
        if (node->error == 0) readable.push_back(fmt::format("{} (node {})", node->target(), node->number));
    }
    Rows rows{ok("kfd", title,
                 readable.empty()
                     ? "the kernel has no GPU for HSA"
                     : fmt::format("the kernel has {} for HSA: {}", readable.size(), fmt::join(readable, ", ")))};
    for (const PciGpu& gpu : machine.pci_gpus)
        if (gpu.driver == "amdgpu" && hidden == 0 && !machine.node_of(gpu))
            rows.push_back(row_of_absence(machine, gpu, !readable.empty()));
    if (hidden > 0) {
        Row row = note("kfd-hidden", "GPUs hidden by the cgroup",
                       fmt::format("{} of KFD's nodes may not be read here", hidden));
        advise_passing(machine, row);
        rows.push_back(row);
    }
    if (private_memory > 0) {
        Row row = note("large-bar", "memory of GPUs",
                       fmt::format("the host cannot address it all on {} of them: no large BAR; copies go "
                                   "through the DMA engines",
                                   private_memory));
        rows.push_back(
            row.advise("for direct access, enable Above 4G Decoding and Resizable BAR in the firmware setup"));
    }
    return rows;
}

}  // namespace

Rows check_emulation(const Machine& machine) {
    if (!machine.emulation.active && machine.emulation.library.empty()) return {};
    const auto variable = machine.environment.find("KFDEMU");
    const std::string value = variable == machine.environment.end() ? "not set" : variable->second;
    const std::string title = "emulation";
    Row row = machine.emulation.active
                  ? note("emulation", title, "by kfdemu, in this process: the GPUs below are not hardware")
                  : note("emulation", title, "kfdemu is loaded, and switched off");
    if (!machine.emulation.cpu_suffices && value != "off")
        row = fault("emulation", title, "by kfdemu, which needs SSE4.2 (x86-64-v2), and this CPU does not have it")
                  .advise("run it on a newer CPU; in a virtual machine, give it the host's",
                          {"qemu-system-x86_64 -cpu host"});
    row.because("KFDEMU", value)
        .because("library", machine.emulation.library.empty() ? "linked in" : machine.emulation.library);
    return {row};
}

Rows check_kernel(const Machine& machine) {
    Rows rows{check_module(machine)};
    append(rows, check_bus(machine));
    append(rows, check_topology(machine));
    return rows;
}

const Row* obstacle(const Rows& so_far) { return first_fault(so_far); }

std::string because_of(const Row& fault) { return "of the fault above: " + fault.title; }

void append(Rows& rows, Rows more) { std::move(more.begin(), more.end(), std::back_inserter(rows)); }

}  // namespace hsadrv_tool::doctor
