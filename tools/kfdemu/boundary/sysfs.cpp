#include "tools/kfdemu/boundary/sysfs.hpp"

#include <fmt/format.h>

#include <array>

#include "tools/kfdemu/base/path_text.hpp"

namespace kfdemu::sysfs {
namespace {

constexpr std::string_view kTopologyRoot = "/sys/devices/virtual/kfd/kfd/topology";
constexpr std::string_view kTopologyAlias = "/sys/class/kfd/kfd/topology";

// Bits of a node's `capability` property (HSA_CAPABILITY in the thunk's hsakmttypes.h).
constexpr std::uint32_t kWatchPoints = 1u << 7, kFourWatchPoints = 2u << 8;
constexpr std::uint32_t kDoorbell64Bit = 2u << 12;
constexpr std::uint32_t kDebugTrap = 1u << 15, kDebugFirmware = 1u << 29;
constexpr std::uint32_t kAsicRevision = 1u << 22, kSramEcc = 1u << 26, kSvmApi = 1u << 27;

constexpr int kHeapSystem = 0, kHeapPublic = 1, kHeapPrivate = 2;
constexpr int kLinkPcie = 2, kLinkXgmi = 11;

using Lines = fmt::memory_buffer;

template <class T>
void line(Lines& out, std::string_view name, const T& value) {
    fmt::format_to(std::back_inserter(out), "{} {}\n", name, value);
}

/// The kernel lists a link from the CPU only to GPUs whose memory the host can access (kfd_topology.c, large BAR).
unsigned cpu_links(const Topology& topology) {
    unsigned count = 0;
    for (const Gpu& gpu : topology.gpus) count += !gpu.private_vram;  // private_vram is the same for all GPUs
    return count;
}

/// The last level is L3 where there is one.
unsigned gpu_cache_count(const Model& model) { return model.l3_kib != 0 ? 3 : 2; }

std::string gpu_properties(const Topology& topology, const Gpu& gpu) {
    const Model& model = *gpu.model;
    Lines out;
    line(out, "cpu_cores_count", 0);
    line(out, "simd_count", model.compute_units * model.simds_per_cu);
    line(out, "mem_banks_count", 1);
    line(out, "caches_count", gpu_cache_count(model));
    line(out, "io_links_count", topology.gpus.size());  // to the CPU and to each other GPU
    line(out, "p2p_links_count", 0);
    line(out, "cpu_core_id_base", 0);
    line(out, "simd_id_base", 0x80001000u + gpu.index * 0x1000u);
    line(out, "max_waves_per_simd", model.max_waves_per_simd);
    line(out, "lds_size_in_kb", model.lds_kib);
    line(out, "gds_size_in_kb", 0);
    line(out, "num_gws", 64);
    line(out, "wave_front_size", model.wavefront_lanes);
    line(out, "array_count", model.shader_engines * model.arrays_per_engine);
    line(out, "simd_arrays_per_engine", model.arrays_per_engine);
    line(out, "cu_per_simd_array", model.cus_per_array);
    line(out, "simd_per_cu", model.simds_per_cu);
    line(out, "max_slots_scratch_cu", model.max_scratch_slots_per_cu);
    line(out, "gfx_target_version", model.gfx_target_version);
    line(out, "vendor_id", kVendorAmd);
    line(out, "device_id", model.device_id);
    line(out, "location_id", gpu.location_id);
    line(out, "domain", 0);
    line(out, "drm_render_minor", gpu.render_minor);
    line(out, "hive_id", topology.gpus.size() > 1 ? topology.gpus.front().unique_id : 0);
    line(out, "num_sdma_engines", model.sdma_engines);
    line(out, "num_sdma_xgmi_engines", model.xgmi_sdma_engines);
    line(out, "num_sdma_queues_per_engine", 8);
    line(out, "num_cp_queues", 24);
    line(out, "max_engine_clk_fcompute", model.engine_clock_mhz);
    line(out, "local_mem_size", 0);
    line(out, "fw_version", model.firmware);
    line(out, "capability",
         kWatchPoints | kFourWatchPoints | kDoorbell64Bit | kDebugTrap | kDebugFirmware | kSvmApi |
             kAsicRevision * model.asic_revision | (model.sram_ecc ? kSramEcc : 0));
    line(out, "debug_prop", 0);
    line(out, "sdma_fw_version", model.sdma_firmware);
    line(out, "unique_id", gpu.unique_id);
    line(out, "num_xcc", model.xccs);
    line(out, "max_engine_clk_ccompute", 2000);
    return fmt::to_string(out);
}

std::string cpu_properties(const Topology& topology) {
    Lines out;
    line(out, "cpu_cores_count", topology.host().cpus.size());
    line(out, "simd_count", 0);
    line(out, "mem_banks_count", 1);
    line(out, "caches_count", topology.host().caches.size());
    line(out, "io_links_count", cpu_links(topology));
    line(out, "cpu_core_id_base", topology.host().cpus.front().apic_id);
    for (std::string_view zero : {"simd_id_base",
                                  "max_waves_per_simd",
                                  "lds_size_in_kb",
                                  "gds_size_in_kb",
                                  "num_gws",
                                  "wave_front_size",
                                  "array_count",
                                  "simd_arrays_per_engine",
                                  "cu_per_simd_array",
                                  "simd_per_cu",
                                  "max_slots_scratch_cu",
                                  "gfx_target_version",
                                  "vendor_id",
                                  "device_id",
                                  "location_id",
                                  "domain",
                                  "drm_render_minor",
                                  "hive_id",
                                  "num_sdma_engines",
                                  "num_sdma_xgmi_engines",
                                  "num_sdma_queues_per_engine",
                                  "num_cp_queues"})
        line(out, zero, 0);
    line(out, "max_engine_clk_ccompute", 2000);
    return fmt::to_string(out);
}

std::string memory_bank(int heap, std::uint64_t size_bytes, unsigned width, unsigned clock) {
    Lines out;
    line(out, "heap_type", heap);
    line(out, "size_in_bytes", size_bytes);
    line(out, "flags", 0);
    line(out, "width", width);
    line(out, "mem_clk_max", clock);
    return fmt::to_string(out);
}

/// In the form that the thunk reads from sysfs: sizes in bytes (in KiB for a GPU's caches), and of the sharing CPUs
/// only those with APIC IDs below HSA_CPU_SIBLINGS.
std::string cpu_cache(const CpuCache& cache) {
    constexpr std::size_t kSiblings = 256;
    std::array<char, 2 * kSiblings> siblings;
    for (std::size_t i = 0; i < kSiblings; ++i) siblings[2 * i] = '0', siblings[2 * i + 1] = ',';
    for (const std::uint32_t apic_id : cache.apic_ids)
        if (apic_id < kSiblings) siblings[2 * apic_id] = '1';
    Lines out;
    line(out, "processor_id_low", cache.apic_ids.front());
    line(out, "level", cache.level);
    line(out, "size", cache.size_bytes);
    line(out, "cache_line_size", cache.line_bytes);
    line(out, "cache_lines_per_tag", cache.lines_per_tag);
    line(out, "association", cache.ways);
    line(out, "latency", 0);
    line(out, "type", cache.type | kCacheCpu);
    line(out, "sibling_map", std::string_view{siblings.data(), siblings.size() - 1});
    return fmt::to_string(out);
}

std::string gpu_cache(const Gpu& gpu, unsigned level) {
    Lines out;
    line(out, "processor_id_low", 0x80001000u + gpu.index * 0x1000u);
    line(out, "level", level);
    const std::uint32_t sizes_kib[] = {gpu.model->l1_kib, gpu.model->l2_kib, gpu.model->l3_kib};
    line(out, "size", sizes_kib[level - 1]);
    line(out, "cache_line_size", gpu.model->cache_line_bytes);
    line(out, "cache_lines_per_tag", 1);
    line(out, "association", 16);
    line(out, "latency", 0);
    line(out, "type", kCacheData | kCacheGpu);
    line(out, "sibling_map", 1);
    return fmt::to_string(out);
}

std::string link(unsigned from, unsigned to) {
    const bool between_gpus = from != 0 && to != 0;
    Lines out;
    line(out, "type", between_gpus ? kLinkXgmi : kLinkPcie);
    line(out, "version_major", 0);
    line(out, "version_minor", 0);
    line(out, "node_from", from);
    line(out, "node_to", to);
    line(out, "weight", between_gpus ? 15 : 20);
    line(out, "min_latency", 0);
    line(out, "max_latency", 0);
    line(out, "min_bandwidth", between_gpus ? 50000 : 312);
    line(out, "max_bandwidth", between_gpus ? 100000 : 31504);
    line(out, "recommended_transfer_size", 0);
    line(out, "flags", 1);  // enabled
    return fmt::to_string(out);
}

Directory numbered(unsigned count) {
    Directory directory;
    for (unsigned i = 0; i < count; ++i) directory.names.push_back(std::to_string(i));
    return directory;
}

/// A directory of `count` directories 0, 1, …, each with a file `properties` whose content `text` returns.
template <class Make>
Entry list_of_properties(std::string_view rest, unsigned count, Make&& text) {
    if (rest.empty()) return numbered(count);
    if (!take(rest, "/")) return Missing{};
    auto index = take_number(rest);
    if (!index || *index >= count) return Missing{};
    if (rest.empty()) return Directory{{"properties"}};
    if (rest == "/properties") return Text{text(*index)};
    return Missing{};
}

Entry node_entry(const Topology& topology, unsigned node, std::string_view rest) {
    const Gpu* gpu = node == 0 ? nullptr : &topology.gpus[node - 1];
    const unsigned links = node == 0 ? cpu_links(topology) : static_cast<unsigned>(topology.gpus.size());
    if (rest.empty())
        return Directory{{"gpu_id", "name", "properties", "mem_banks", "caches", "io_links", "p2p_links"}};
    // kfd_topology.c: node_show() checks the device cgroup (kfd_devcgroup_check_permission).
    if (gpu && gpu->hidden && (rest == "/gpu_id" || rest == "/name" || rest == "/properties")) return Denied{};
    if (rest == "/gpu_id") return Text{fmt::format("{}\n", gpu ? gpu->gpu_id : 0)};
    if (rest == "/name") return Text{gpu ? fmt::format("{}\n", gpu->model->name) : "\n"};
    if (rest == "/properties") return Text{gpu ? gpu_properties(topology, *gpu) : cpu_properties(topology)};
    if (take(rest, "/mem_banks"))
        return list_of_properties(rest, 1, [&](unsigned) {
            if (!gpu) return memory_bank(kHeapSystem, topology.system_memory_bytes, 64, 2666);
            return memory_bank(gpu->private_vram ? kHeapPrivate : kHeapPublic, gpu->vram_bytes,
                               gpu->model->memory_width_bits, gpu->model->memory_clock_mhz);
        });
    if (take(rest, "/caches"))
        return list_of_properties(
            rest, gpu ? gpu_cache_count(*gpu->model) : static_cast<unsigned>(topology.host().caches.size()),
            [&](unsigned i) { return gpu ? gpu_cache(*gpu, i + 1) : cpu_cache(topology.host().caches[i]); });
    if (take(rest, "/io_links"))
        return list_of_properties(rest, links, [&](unsigned i) {
            // A GPU has a link to every other node. The CPU has links to all GPUs or to none.
            const unsigned to = node == 0 ? i + 1 : (i < node ? i : i + 1);
            return link(node, to);
        });
    if (take(rest, "/p2p_links")) return list_of_properties(rest, 0, [](unsigned) { return std::string{}; });
    return Missing{};
}

Entry topology_entry(const Topology& topology, std::string_view rest) {
    const unsigned nodes = static_cast<unsigned>(topology.gpus.size()) + 1;
    if (rest.empty()) return Directory{{"generation_id", "system_properties", "nodes"}};
    if (rest == "/generation_id") return Text{"1\n"};
    if (rest == "/system_properties") return Text{"platform_oem 0\nplatform_id 0\nplatform_rev 0\n"};
    if (!take(rest, "/nodes")) return Missing{};
    if (rest.empty()) return numbered(nodes);
    if (!take(rest, "/")) return Missing{};
    auto node = take_number(rest);
    if (!node || *node >= nodes) return Missing{};
    return node_entry(topology, *node, rest);
}

Entry module_entry(std::string_view rest) {
    if (rest.empty()) return Directory{{"initstate", "refcnt", "coresize", "holders"}};
    if (rest == "/initstate") return Text{"live\n"};
    if (rest == "/refcnt") return Text{"1\n"};
    if (rest == "/coresize") return Text{"8192000\n"};
    if (rest == "/holders") return Directory{};
    return Missing{};
}

Directory kfd_folder() { return {{"dev", "proc", "topology"}}; }

std::optional<Entry> entry_at(const Topology& topology, std::string_view path) {
    if (path == "/dev/kfd") return KfdDevice{};
    constexpr std::string_view kClass = "/sys/class/kfd";
    for (std::string_view root : {kClass, std::string_view{"/sys/devices/virtual/kfd"}}) {
        std::string_view rest = path;
        if (!take(rest, root)) continue;
        if (rest.empty()) return Directory{{"kfd"}};
        if (rest == "/kfd" && root == kClass) return Link{"../../devices/virtual/kfd/kfd", kfd_folder()};
        if (rest == "/kfd") return kfd_folder();
        if (rest == "/kfd/proc") return Directory{};  // processes that use the GPUs: each has GPUs of its own
        if (rest == "/kfd/dev") return Text{fmt::format("{}:0\n", kKfdMajor)};
    }
    for (std::string_view root : {kTopologyRoot, kTopologyAlias})
        if (std::string_view rest = path; take(rest, root) && (rest.empty() || rest[0] == '/'))
            return topology_entry(topology, rest);
    if (std::string_view rest = path; take(rest, "/sys/module/amdgpu") && (rest.empty() || rest[0] == '/'))
        return module_entry(rest);
    if (auto entry = lookup_drm(topology, path)) return entry;
    if (path == "/proc/modules") return Modules{"amdgpu 8192000 1 - Live 0x0000000000000000\n"};
    if (path == "/proc/self/maps") return Maps{};
    if (is_runtimes_alone(path)) return Text{cpuinfo_text(topology.host())};
    return {};
}

/// FNV-1a.
std::uint64_t inode_of(const std::string& canonical_path) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : canonical_path) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return hash;
}

}  // namespace

bool may_be_ours(std::string_view path) {
    // Nearly every path of a program fails these comparisons early.
    if (path.size() < 8 || path[0] != '/') return false;
    return path.substr(0, 8) == "/dev/kfd" || path.substr(0, 8) == "/dev/dri" || path.substr(0, 5) == "/sys/" ||
           path == "/proc/modules" || path == "/proc/self/maps" || is_runtimes_alone(path);
}

bool is_runtimes_alone(std::string_view path) { return path == "/proc/cpuinfo"; }

std::string with_device_names(std::string_view maps) {
    constexpr std::string_view kBegin = "/memfd:kfdemu-", kEnd = " (deleted)\n";
    std::string text;
    for (std::size_t at = 0; (at = maps.find(kBegin)) != maps.npos;) {
        text += maps.substr(0, at);
        maps.remove_prefix(at + kBegin.size());
        const std::size_t end = maps.find(kEnd);
        const std::string_view name = maps.substr(0, end);
        const bool device = end != maps.npos && (name == "kfd" || name.starts_with("renderD"));
        if (!device) {
            text += kBegin;
            continue;
        }
        text += name == "kfd" ? "/dev/" : "/dev/dri/";
        text += name;
        maps.remove_prefix(end + kEnd.size() - 1);
    }
    return text += maps;
}

std::optional<Entry> lookup(const Topology& topology, std::string_view path) {
    std::string plain = without_dots(topology, path);
    while (plain.size() > 1 && plain.back() == '/') plain.pop_back();
    auto entry = entry_at(topology, plain);
    if (Directory* folder = entry ? folder_of(*entry) : nullptr) {
        folder->inode = inode_of(canonical(topology, plain));
        folder->path = std::move(plain);
    }
    return entry;
}

std::string without_dots(const Topology& topology, std::string_view path) {
    std::string plain;
    if (path.find("/.") == path.npos && path.find("//") == path.npos) return plain = path;
    for (std::string_view rest = path; !rest.empty();) {
        const std::string_view name = rest.substr(1, rest.find('/', 1) - 1);
        rest.remove_prefix(1 + name.size());
        if (name.empty() || name == ".") continue;
        if (name != "..") {
            plain.append("/").append(name);
            continue;
        }
        if (!entry_at(topology, plain)) return plain.append("/..").append(rest);
        plain = canonical(topology, plain);
        plain.erase(plain.rfind('/'));
    }
    return plain.empty() ? "/" : plain;
}

}  // namespace kfdemu::sysfs
