#include <cctype>

#include "tools/hsadrv/doctor/check.hpp"

namespace hsadrv_tool::doctor {
namespace {

struct Known {
    const char* words;
    const char* meaning;
    const char* remedy;
};

// What the kernel writes: drivers/gpu/drm/amd/amdkfd/kfd_device.c, amdgpu_device.c, drivers/pci/setup-res.c,
// drivers/base/firmware_loader, kernel/module/signing.c. The first match is reported.
constexpr Known known_lines[] = {
    {"rejects atomics", "the PCIe slot does not carry atomic operations, which this GPU's firmware needs",
     "put the card into a slot that the CPU serves itself, enable PCIe atomics (AtomicOps) in the firmware "
     "setup, update "
     "linux-firmware; in a virtual machine, let the host pass atomics on"},
    {"unsigned module is rejected",
     "secure boot refuses the module, which is not signed with a key that this machine trusts",
     "enrol the key that DKMS signs with (reboot, and confirm it on the blue screen), or switch secure boot "
     "off"},
    {"unavailable key is rejected",
     "secure boot refuses the module, which is not signed with a key that this machine trusts",
     "enrol the key that DKMS signs with (reboot, and confirm it on the blue screen), or switch secure boot "
     "off"},
    {"Direct firmware load for amdgpu", "a firmware file of the GPU is missing",
     "install the firmware (Debian: firmware-amd-graphics; elsewhere: linux-firmware), run update-initramfs "
     "-u or dracut -f, reboot"},
    {"not supported in kfd", "KFD does not support this GPU", "no setting helps: it takes a GPU that KFD supports"},
    {"not enough PCI resource", "the firmware has given the GPU's memory no address",
     "enable Above 4G Decoding and Resizable BAR in the firmware setup"},
    {"no space for", "the firmware has given the GPU's memory no address",
     "enable Above 4G Decoding and Resizable BAR in the firmware setup"},
    {"can't assign; no space", "the firmware has given the GPU's memory no address",
     "enable Above 4G Decoding and Resizable BAR in the firmware setup"},
    {"Unable to locate a BIOS ROM", "amdgpu finds no video BIOS",
     "in a virtual machine, pass the card's ROM file on; reset the host's card"},
    {"Fatal error during GPU init", "amdgpu could not start the GPU",
     "reboot with the power off for a moment; if it stays, update kernel and linux-firmware"},
    {"Failed to create kfd", "KFD could not be set up for this GPU",
     "update the kernel; the lines before it in the log say why"},
    {"device skipped", "KFD has skipped this GPU", "the lines before it in the log say why"},
    {"skipped device", "KFD has skipped this GPU", "the lines before it in the log say why"},
    {"GPU reset", "the GPU has been reset after a hang",
     "reboot; if it comes back, look for heat, power and memory errors"},
};

/// Whether the line names another PCI device.
bool names_another(const std::string& line, const std::string& address) {
    if (address.empty() || line.find(address) != line.npos) return false;
    for (std::size_t at = line.find(':'); at != line.npos; at = line.find(':', at + 1))
        if (at >= 4 && at + 6 < line.size() && line[at + 3] == ':' && line[at + 6] == '.' &&
            std::isxdigit(static_cast<unsigned char>(line[at - 1])) &&
            std::isxdigit(static_cast<unsigned char>(line[at + 1])))
            return true;
    return false;
}

}  // namespace

std::optional<LogFinding> explain_log(const Machine& machine, const std::string& address) {
    if (!machine.kernel_log) return std::nullopt;
    for (const Known& known : known_lines)
        for (const std::string& line : *machine.kernel_log)
            if (line.find(known.words) != line.npos && !names_another(line, address))
                return LogFinding{line, known.meaning, known.remedy};
    return std::nullopt;
}

}  // namespace hsadrv_tool::doctor
