// The folder of a GPU's PCI device: its attributes, DRM nodes and monitor. The monitor's values are made up and never
// change, but for the clocks.
// Names and forms: the kernel's Documentation/gpu/amdgpu, amdgpu_pm.c, drivers/pci/pci-sysfs.c.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>

#include "tools/kfdemu/base/path_text.hpp"
#include "tools/kfdemu/boundary/sysfs.hpp"

namespace kfdemu::sysfs {
namespace {

constexpr unsigned kClassDisplay = 0x0380;

std::string decimal(std::uint64_t number) { return fmt::format("{}\n", number); }
std::string hexadecimal(unsigned value, int digits) { return fmt::format("{:#0{}x}\n", value, digits + 2); }

/// The 64 bytes that unprivileged programs read: no capabilities, no addresses.
std::string configuration(const Gpu& gpu) {
    std::string bytes(64, '\0');
    const auto put = [&](std::size_t at, unsigned value) {
        bytes[at] = static_cast<char>(value & 0xff);
        bytes[at + 1] = static_cast<char>(value >> 8);
    };
    put(0x00, kVendorAmd);
    put(0x02, gpu.model->device_id);
    bytes[0x08] = static_cast<char>(gpu.model->pci_revision);
    put(0x0a, kClassDisplay);
    put(0x2c, kVendorAmd);
    put(0x2e, gpu.model->device_id);
    return bytes;
}

std::string resources() {
    std::string text;
    for (int bar = 0; bar < 13; ++bar) text += "0x0000000000000000 0x0000000000000000 0x0000000000000000\n";
    return text;
}

std::string event(const Gpu& gpu) {
    return fmt::format(
        "DRIVER=amdgpu\nPCI_CLASS={2:X}\nPCI_ID={0:04X}:{1:04X}\nPCI_SUBSYS_ID={0:04X}:{1:04X}\n"
        "PCI_SLOT_NAME={3}\n",
        kVendorAmd, gpu.model->device_id, kClassDisplay << 8, slot_name(gpu));
}

std::vector<unsigned> cpu_numbers(const Topology& topology) {
    std::vector<unsigned> numbers;
    for (const auto& cpu : topology.host().cpus) numbers.push_back(static_cast<unsigned>(cpu.number));
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

/// "0-3,8".
std::string cpu_list(const Topology& topology) {
    const auto numbers = cpu_numbers(topology);
    std::string text;
    for (std::size_t first = 0, next = 0; first < numbers.size(); first = next) {
        for (next = first + 1; next < numbers.size() && numbers[next] == numbers[next - 1] + 1;) ++next;
        text += fmt::format("{}{}", text.empty() ? "" : ",", numbers[first]);
        if (next - first > 1) text += fmt::format("-{}", numbers[next - 1]);
    }
    return text + "\n";
}

/// Words of 32 CPUs, the last first: "0000000f,ffffffff".
std::string cpu_mask(const Topology& topology) {
    const auto numbers = cpu_numbers(topology);
    std::vector<std::uint32_t> words(numbers.empty() ? 1 : numbers.back() / 32 + 1);
    for (unsigned number : numbers) words[number / 32] |= 1u << number % 32;
    std::string text;
    for (auto word = words.rbegin(); word != words.rend(); ++word)
        text += fmt::format("{}{:08x}", text.empty() ? "" : ",", *word);
    return text + "\n";
}

/// The link that KFD's topology describes: PCIe 4.0 × 16.
constexpr const char* kLinkSpeed = "16.0 GT/s PCIe\n";
constexpr const char* kLinkWidth = "16\n";

/// Where what is in use is.
MemoryUse placed(const Topology& topology, const Gpu& gpu) {
    const MemoryUse used = topology.used(gpu.index);
    return gpu.shared_memory ? MemoryUse{.vram = 0, .system = used.system + used.vram} : used;
}

struct Attribute {
    std::string_view name;
    std::string (*text)(const Topology&, const Gpu&);
};

// clang-format off
constexpr Attribute kAttributes[] = {
    {"class", [](const Topology&, const Gpu&) { return hexadecimal(kClassDisplay << 8, 6); }},
    {"config", [](const Topology&, const Gpu& gpu) { return configuration(gpu); }},
    {"current_link_speed", [](const Topology&, const Gpu&) { return std::string{kLinkSpeed}; }},
    {"current_link_width", [](const Topology&, const Gpu&) { return std::string{kLinkWidth}; }},
    {"device", [](const Topology&, const Gpu& gpu) { return hexadecimal(gpu.model->device_id, 4); }},
    {"enable", [](const Topology&, const Gpu&) { return decimal(1); }},
    {"gpu_busy_percent", [](const Topology& topology, const Gpu& gpu) { return decimal(topology.busy(gpu.index) ? 100 : 0); }},
    {"irq", [](const Topology&, const Gpu&) { return decimal(0); }},
    {"local_cpulist", [](const Topology& topology, const Gpu&) { return cpu_list(topology); }},
    {"local_cpus", [](const Topology& topology, const Gpu&) { return cpu_mask(topology); }},
    {"max_link_speed", [](const Topology&, const Gpu&) { return std::string{kLinkSpeed}; }},
    {"max_link_width", [](const Topology&, const Gpu&) { return std::string{kLinkWidth}; }},
    {"mem_info_gtt_total", [](const Topology&, const Gpu& gpu) { return decimal(gpu.vram_bytes); }},
    {"mem_info_gtt_used", [](const Topology& topology, const Gpu& gpu) { return decimal(placed(topology, gpu).system); }},
    {"mem_info_vis_vram_total", [](const Topology&, const Gpu& gpu) { return decimal(gpu.private_vram ? 0 : gpu.own_bytes()); }},
    {"mem_info_vis_vram_used",
     [](const Topology& topology, const Gpu& gpu) { return decimal(gpu.private_vram ? 0 : placed(topology, gpu).vram); }},
    {"mem_info_vram_total", [](const Topology&, const Gpu& gpu) { return decimal(gpu.own_bytes()); }},
    {"mem_info_vram_used", [](const Topology& topology, const Gpu& gpu) { return decimal(placed(topology, gpu).vram); }},
    {"numa_node", [](const Topology&, const Gpu&) { return std::string{"-1\n"}; }},
    {"pcie_replay_count", [](const Topology&, const Gpu&) { return decimal(0); }},
    {"power_dpm_force_performance_level", [](const Topology&, const Gpu&) { return std::string{"auto\n"}; }},
    {"pp_dpm_mclk", [](const Topology&, const Gpu& gpu) { return fmt::format("0: {}Mhz *\n", gpu.model->memory_clock_mhz); }},
    {"pp_dpm_sclk", [](const Topology&, const Gpu& gpu) { return fmt::format("0: {}Mhz *\n", gpu.model->engine_clock_mhz); }},
    {"resource", [](const Topology&, const Gpu&) { return resources(); }},
    {"revision", [](const Topology&, const Gpu& gpu) { return hexadecimal(gpu.model->pci_revision, 2); }},
    {"subsystem_device", [](const Topology&, const Gpu& gpu) { return hexadecimal(gpu.model->device_id, 4); }},
    {"subsystem_vendor", [](const Topology&, const Gpu&) { return hexadecimal(kVendorAmd, 4); }},
    {"uevent", [](const Topology&, const Gpu& gpu) { return event(gpu); }},
    {"unique_id", [](const Topology&, const Gpu& gpu) { return fmt::format("{:016x}\n", gpu.unique_id); }},
    {"vbios_version", [](const Topology&, const Gpu&) { return std::string{"kfdemu\n"}; }},
    {"vendor", [](const Topology&, const Gpu&) { return hexadecimal(kVendorAmd, 4); }},
};
// clang-format on

/// What is below drm/: the primary node, which has no device file, and the render node. Without the primary node's name
/// libdrm takes all render nodes for one device.
Entry drm_entry(const Gpu& gpu, std::string_view below) {
    const std::string card = fmt::format("card{}", gpu.card), render = fmt::format("renderD{}", gpu.render_minor);
    if (below.empty()) return Directory{{card, render}};
    take(below, "/");
    const bool is_card = below.substr(0, below.find('/')) == card;
    if (!is_card && below.substr(0, below.find('/')) != render) return Missing{};
    const std::string_view file = below.substr(is_card ? card.size() : render.size());
    const unsigned minor = is_card ? gpu.card : gpu.render_minor;
    if (file.empty()) return Directory{{"dev", "device", "uevent"}};
    if (file == "/dev") return Text{fmt::format("226:{}\n", minor)};
    if (file == "/uevent")
        return Text{
            fmt::format("MAJOR=226\nMINOR={}\nDEVNAME=dri/{}\nDEVTYPE=drm_minor\n", minor, is_card ? card : render)};
    return Missing{};
}

struct Sensor {
    std::string_view name, text;
};
/// Millivolts, microwatts, thousandths of a degree. The power is that of an idle board, the limit that of the boards.
constexpr Sensor kSensors[] = {
    {"in0_input", "800\n"},
    {"in0_label", "vddgfx\n"},
    {"name", "amdgpu\n"},
    {"power1_average", "40000000\n"},
    {"power1_cap", "300000000\n"},
    {"power1_cap_default", "300000000\n"},
    {"power1_cap_max", "300000000\n"},
    {"power1_cap_min", "0\n"},
    {"temp1_crit", "100000\n"},
    {"temp1_crit_hyst", "0\n"},
    {"temp1_emergency", "105000\n"},
    {"temp1_input", "35000\n"},
    {"temp1_label", "edge\n"},
    {"temp2_crit", "105000\n"},
    {"temp2_crit_hyst", "0\n"},
    {"temp2_emergency", "110000\n"},
    {"temp2_input", "38000\n"},
    {"temp2_label", "junction\n"},
    {"temp3_crit", "95000\n"},
    {"temp3_crit_hyst", "0\n"},
    {"temp3_emergency", "100000\n"},
    {"temp3_input", "36000\n"},
    {"temp3_label", "mem\n"},
};
/// Revolutions a minute, and the part of 255 that drives them. The kernel hides these files if the GPU has no fan.
constexpr Sensor kFanSensors[] = {
    {"fan1_enable", "0\n"},    {"fan1_input", "1000\n"}, {"fan1_max", "4000\n"}, {"fan1_min", "0\n"},
    {"fan1_target", "1000\n"}, {"pwm1", "64\n"},         {"pwm1_enable", "2\n"},  // automatic
    {"pwm1_max", "255\n"},     {"pwm1_min", "0\n"},
};

std::map<std::string, std::string> sensors(const Model& model) {
    const auto hertz = [](std::uint32_t mhz) { return fmt::format("{}000000\n", mhz); };
    std::map<std::string, std::string> all{{"freq1_input", hertz(model.engine_clock_mhz)},
                                           {"freq1_label", "sclk\n"},
                                           {"freq2_input", hertz(model.memory_clock_mhz)},
                                           {"freq2_label", "mclk\n"}};
    for (const Sensor& sensor : kSensors) all.emplace(sensor.name, sensor.text);
    if (model.fan)
        for (const Sensor& sensor : kFanSensors) all.emplace(sensor.name, sensor.text);
    return all;
}

Entry monitor_entry(const Gpu& gpu, std::string_view below) {
    const std::string monitor = fmt::format("hwmon{}", gpu.monitor);
    if (below.empty()) return Directory{{monitor}};
    if (!take(below, "/") || !take(below, monitor)) return Missing{};
    const auto files = sensors(*gpu.model);
    if (below.empty()) {
        Directory directory{{"device"}};
        for (const auto& [name, text] : files) directory.names.push_back(name);
        return directory;
    }
    const auto file = files.find(std::string{below.substr(1)});
    return file == files.end() ? Entry{Missing{}} : Text{file->second};
}

}  // namespace

std::string slot_name(const Gpu& gpu) {
    return fmt::format("0000:{:02x}:{:02x}.{:x}", gpu.location_id >> 8, (gpu.location_id >> 3) & 31,
                       gpu.location_id & 7);
}

Entry device_entry(const Topology& topology, const Gpu& gpu, std::string_view below) {
    if (below.empty()) {
        Directory directory{{"driver", "drm", "hwmon", "subsystem"}};
        for (const Attribute& attribute : kAttributes) directory.names.emplace_back(attribute.name);
        return directory;
    }
    if (below == "/subsystem")
        return Link{"../../../bus/pci", {.names = {"devices", "drivers"}, .beside = "/sys/bus/pci"}};
    if (below == "/driver") return Link{"../../../bus/pci/drivers/amdgpu", {.names = {slot_name(gpu)}}};
    if (std::string_view rest = below; take(rest, "/drm") && (rest.empty() || rest[0] == '/'))
        return drm_entry(gpu, rest);
    if (std::string_view rest = below; take(rest, "/hwmon") && (rest.empty() || rest[0] == '/'))
        return monitor_entry(gpu, rest);
    for (const Attribute& attribute : kAttributes)
        if (below.substr(1) == attribute.name) return Text{attribute.text(topology, gpu)};
    return Missing{};
}

}  // namespace kfdemu::sysfs
