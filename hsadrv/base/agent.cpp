#include "hsadrv/agent.hpp"

#include <hsa/hsa_ext_amd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "hsadrv/base/collect.hpp"
#include "hsadrv/base/runtime.hpp"
#include "hsadrv/base/text.hpp"
#include "hsadrv/error.hpp"

namespace hsadrv {

namespace {

template <class T, class Attribute>
T query(AgentRef agent, Attribute attribute, const char* name) {
    T value{};
    check(hsa_agent_get_info(agent.native(), static_cast<hsa_agent_info_t>(attribute), &value),
          [&] { return "hsa_agent_get_info(" + agent.label() + ", " + name + ")"; });
    return value;
}
#define HSADRV_AGENT_QUERY(type, attribute) query<type>(*this, attribute, #attribute)

// Text attributes are arrays of 64 bytes, NUL-terminated unless full.
using Text = std::array<char, 64>;
std::string text_of(const Text& text) { return {text.begin(), std::find(text.begin(), text.end(), '\0')}; }

std::string cache_name(hsa_cache_t cache) {
    std::uint32_t length = 0;
    check(hsa_cache_get_info(cache, HSA_CACHE_INFO_NAME_LENGTH, &length), "hsa_cache_get_info(NAME_LENGTH)");
    // hsa.h specifies the text and a NUL. ROCR writes the text's address instead: Cache::GetInfo in cache.cpp. The two
    // high bytes of a user-space address are 0, which distinguishes it from a text of this length.
    std::string name(std::max<std::size_t>(length + 1, sizeof(const char*)), '\0');
    check(hsa_cache_get_info(cache, HSA_CACHE_INFO_NAME, name.data()), "hsa_cache_get_info(NAME)");
    if (name.find('\0') < length) {
        const char* text = nullptr;
        std::memcpy(&text, name.data(), sizeof text);
        name.assign(text, ::strnlen(text, length));
    }
    name.resize(std::min<std::size_t>(length, name.size()));
    return name;
}

/// The unit of the caches' sizes: for a GPU ROCR reports KFD's KiB, although hsa.h specifies bytes. Detected by
/// comparison with HSA_AGENT_INFO_CACHE_SIZE, which is in bytes.
std::size_t bytes_of_unit(AgentRef agent, const std::vector<Cache>& caches) {
    if (caches.empty() || !agent.is_gpu()) return 1;
    const auto bytes = agent.data_cache_bytes();
    const Cache& first = caches.front();
    return first.level >= 1 && first.level <= bytes.size() && first.size_bytes * 1024 == bytes[first.level - 1] ? 1024
                                                                                                                : 1;
}

/// For attributes newer than ROCR 5.2: std::nullopt if the runtime does not know the attribute.
template <class T>
std::optional<T> optional_query(AgentRef agent, int attribute, const char* name) {
    T value{};
    const hsa_status_t status = hsa_agent_get_info(agent.native(), static_cast<hsa_agent_info_t>(attribute), &value);
    if (status == HSA_STATUS_ERROR_INVALID_ARGUMENT) return std::nullopt;
    check(status, [&] { return "hsa_agent_get_info(" + agent.label() + ", " + name + ")"; });
    return value;
}

template <class T>
T isa_query(hsa_isa_t isa, hsa_isa_info_t attribute, const char* name) {
    T value{};
    check(hsa_isa_get_info_alt(isa, attribute, &value),
          [&] { return std::string("hsa_isa_get_info_alt(") + name + ")"; });
    return value;
}

Dim3 dim3_of(std::uint32_t x, std::uint32_t y, std::uint32_t z) { return {x, y, z}; }

std::string isa_name(hsa_isa_t isa) {
    const auto length = isa_query<std::uint32_t>(isa, HSA_ISA_INFO_NAME_LENGTH, "NAME_LENGTH");
    std::string name(length + 1, '\0');
    check(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME, name.data()), "hsa_isa_get_info_alt(NAME)");
    name.resize(std::min<std::size_t>(length, name.find('\0')));
    return name;
}

std::vector<std::uint32_t> wavefront_sizes(hsa_isa_t isa) {
    std::vector<hsa_wavefront_t> natives;
    check(hsa_isa_iterate_wavefronts(isa, detail::collect<hsa_wavefront_t>, &natives), "hsa_isa_iterate_wavefronts()");
    std::vector<std::uint32_t> sizes;
    for (const hsa_wavefront_t native : natives) {
        std::uint32_t size = 0;
        check(hsa_wavefront_get_info(native, HSA_WAVEFRONT_INFO_SIZE, &size), "hsa_wavefront_get_info(SIZE)");
        sizes.push_back(size);
    }
    return sizes;
}

RoundingModes rounding_modes(hsa_isa_t isa, hsa_isa_info_t attribute, const char* name) {
    const auto modes = isa_query<std::array<bool, 3>>(isa, attribute, name);
    return {.as_set = modes[HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT],
            .zero = modes[HSA_DEFAULT_FLOAT_ROUNDING_MODE_ZERO],
            .near = modes[HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR]};
}

Isa describe(hsa_isa_t native) {
    using Pair = std::array<bool, 2>;
    const auto workgroup =
        isa_query<std::array<std::uint16_t, 3>>(native, HSA_ISA_INFO_WORKGROUP_MAX_DIM, "WORKGROUP_MAX_DIM");
    const auto grid = isa_query<hsa_dim3_t>(native, HSA_ISA_INFO_GRID_MAX_DIM, "GRID_MAX_DIM");
    const auto models = isa_query<Pair>(native, HSA_ISA_INFO_MACHINE_MODELS, "MACHINE_MODELS");
    const auto profiles = isa_query<Pair>(native, HSA_ISA_INFO_PROFILES, "PROFILES");
    return {
        .native = native,
        .name = isa_name(native),
        .wavefront_sizes = wavefront_sizes(native),
        .fast_f16 = isa_query<bool>(native, HSA_ISA_INFO_FAST_F16_OPERATION, "FAST_F16_OPERATION"),
        .workgroup_max_workitems =
            isa_query<std::uint32_t>(native, HSA_ISA_INFO_WORKGROUP_MAX_SIZE, "WORKGROUP_MAX_SIZE"),
        .workgroup_max_dim = dim3_of(workgroup[0], workgroup[1], workgroup[2]),
        .grid_max_workitems = isa_query<std::uint64_t>(native, HSA_ISA_INFO_GRID_MAX_SIZE, "GRID_MAX_SIZE"),
        .grid_max_dim = dim3_of(grid.x, grid.y, grid.z),
        .fbarriers_max = isa_query<std::uint32_t>(native, HSA_ISA_INFO_FBARRIER_MAX_SIZE, "FBARRIER_MAX_SIZE"),
        .small_model = models[HSA_MACHINE_MODEL_SMALL],
        .large_model = models[HSA_MACHINE_MODEL_LARGE],
        .base_profile = profiles[HSA_PROFILE_BASE],
        .full_profile = profiles[HSA_PROFILE_FULL],
        .rounding = rounding_modes(native, HSA_ISA_INFO_DEFAULT_FLOAT_ROUNDING_MODES, "DEFAULT_FLOAT_ROUNDING_MODES"),
        .base_profile_rounding = rounding_modes(native, HSA_ISA_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES,
                                                "BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES"),
    };
}

}  // namespace

std::string PciAddress::text() const {
    char text[32];
    std::snprintf(text, sizeof text, "%04x:%02x:%02x.%x", domain, bus, device, function);
    return text;
}

std::string AgentRef::label() const {
    if (const auto runtime = detail::Runtime::find()) {
        const auto find = [&](const std::vector<AgentRef>& list, const char* kind) -> std::string {
            const auto at = std::find(list.begin(), list.end(), *this);
            if (at == list.end()) return {};
            return kind + std::to_string(at - list.begin());
        };
        if (const std::string gpu = find(runtime->gpus(), "gpu"); !gpu.empty()) return gpu + " " + name();
        if (const std::string cpu = find(runtime->cpus(), "cpu"); !cpu.empty()) return cpu;
    }
    return "agent " + detail::hex(native_.handle);
}

bool AgentRef::is_gpu() const {
    return HSADRV_AGENT_QUERY(hsa_device_type_t, HSA_AGENT_INFO_DEVICE) == HSA_DEVICE_TYPE_GPU;
}
bool AgentRef::is_cpu() const {
    return HSADRV_AGENT_QUERY(hsa_device_type_t, HSA_AGENT_INFO_DEVICE) == HSA_DEVICE_TYPE_CPU;
}

std::string AgentRef::name() const { return text_of(HSADRV_AGENT_QUERY(Text, HSA_AGENT_INFO_NAME)); }
std::string AgentRef::vendor_name() const { return text_of(HSADRV_AGENT_QUERY(Text, HSA_AGENT_INFO_VENDOR_NAME)); }
std::string AgentRef::product_name() const {
    return text_of(HSADRV_AGENT_QUERY(Text, HSA_AMD_AGENT_INFO_PRODUCT_NAME));
}
std::string AgentRef::uuid() const { return text_of(HSADRV_AGENT_QUERY(Text, HSA_AMD_AGENT_INFO_UUID)); }

PciAddress AgentRef::pci_address() const {
    const auto bdf = HSADRV_AGENT_QUERY(std::uint32_t, HSA_AMD_AGENT_INFO_BDFID);
    return {HSADRV_AGENT_QUERY(std::uint32_t, HSA_AMD_AGENT_INFO_DOMAIN), static_cast<std::uint8_t>(bdf >> 8),
            static_cast<std::uint8_t>(bdf >> 3 & 31), static_cast<std::uint8_t>(bdf & 7)};
}
std::uint32_t AgentRef::chip_id() const { return HSADRV_AGENT_QUERY(std::uint32_t, HSA_AMD_AGENT_INFO_CHIP_ID); }
std::uint32_t AgentRef::node() const { return HSADRV_AGENT_QUERY(std::uint32_t, HSA_AMD_AGENT_INFO_DRIVER_NODE_ID); }

std::vector<Isa> AgentRef::isas() const {
    std::vector<hsa_isa_t> natives;
    const hsa_status_t status = hsa_agent_iterate_isas(native_, detail::collect<hsa_isa_t>, &natives);
    // A runtime may return INVALID_AGENT for an agent without ISAs; dispatches_kernels() throws if the handle is
    // invalid.
    if (status != HSA_STATUS_ERROR_INVALID_AGENT || dispatches_kernels())
        check(status, [&] { return "hsa_agent_iterate_isas(" + label() + ")"; });
    std::vector<Isa> isas;
    for (const hsa_isa_t native : natives) isas.push_back(describe(native));
    return isas;
}

std::vector<Cache> AgentRef::caches() const {
    std::vector<hsa_cache_t> natives;
    check(hsa_agent_iterate_caches(native_, detail::collect<hsa_cache_t>, &natives),
          [&] { return "hsa_agent_iterate_caches(" + label() + ")"; });
    std::vector<Cache> caches;
    for (const hsa_cache_t native : natives) {
        std::uint8_t level = 0;
        std::uint32_t size = 0;
        check(hsa_cache_get_info(native, HSA_CACHE_INFO_LEVEL, &level), "hsa_cache_get_info(LEVEL)");
        check(hsa_cache_get_info(native, HSA_CACHE_INFO_SIZE, &size), "hsa_cache_get_info(SIZE)");
        caches.push_back({cache_name(native), level, size});
    }
    const std::size_t unit = bytes_of_unit(*this, caches);
    for (Cache& cache : caches) cache.size_bytes *= unit;
    return caches;
}

std::array<std::uint32_t, 4> AgentRef::data_cache_bytes() const {
    using Sizes = std::array<std::uint32_t, 4>;
    return HSADRV_AGENT_QUERY(Sizes, HSA_AGENT_INFO_CACHE_SIZE);
}

bool AgentRef::dispatches_kernels() const {
    return HSADRV_AGENT_QUERY(std::uint32_t, HSA_AGENT_INFO_FEATURE) & HSA_AGENT_FEATURE_KERNEL_DISPATCH;
}
bool AgentRef::dispatches_agent_packets() const {
    return HSADRV_AGENT_QUERY(std::uint32_t, HSA_AGENT_INFO_FEATURE) & HSA_AGENT_FEATURE_AGENT_DISPATCH;
}
bool AgentRef::fast_f16() const { return HSADRV_AGENT_QUERY(bool, HSA_AGENT_INFO_FAST_F16_OPERATION); }
std::uint32_t AgentRef::wavefront_size() const {
    return HSADRV_AGENT_QUERY(std::uint32_t, HSA_AGENT_INFO_WAVEFRONT_SIZE);
}
std::uint32_t AgentRef::workgroup_max_workitems() const {
    return HSADRV_AGENT_QUERY(std::uint32_t, HSA_AGENT_INFO_WORKGROUP_MAX_SIZE);
}
Dim3 AgentRef::workgroup_max_dim() const {
    using Dims = std::array<std::uint16_t, 3>;
    const Dims dims = HSADRV_AGENT_QUERY(Dims, HSA_AGENT_INFO_WORKGROUP_MAX_DIM);
    return dim3_of(dims[0], dims[1], dims[2]);
}
std::uint64_t AgentRef::grid_max_workitems() const {
    return HSADRV_AGENT_QUERY(std::uint32_t, HSA_AGENT_INFO_GRID_MAX_SIZE);
}
Dim3 AgentRef::grid_max_dim() const {
    const hsa_dim3_t dims = HSADRV_AGENT_QUERY(hsa_dim3_t, HSA_AGENT_INFO_GRID_MAX_DIM);
    return dim3_of(dims.x, dims.y, dims.z);
}
std::uint32_t AgentRef::compute_units() const {
    return HSADRV_AGENT_QUERY(std::uint32_t, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT);
}
std::uint32_t AgentRef::simds_per_cu() const {
    return HSADRV_AGENT_QUERY(std::uint32_t, HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU);
}
std::uint32_t AgentRef::max_waves_per_cu() const {
    return HSADRV_AGENT_QUERY(std::uint32_t, HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU);
}
std::uint32_t AgentRef::max_clock_mhz() const {
    return HSADRV_AGENT_QUERY(std::uint32_t, HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY);
}
std::uint32_t AgentRef::memory_max_clock_mhz() const {
    return HSADRV_AGENT_QUERY(std::uint32_t, HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY);
}
std::uint32_t AgentRef::memory_bus_width_bits() const {
    return HSADRV_AGENT_QUERY(std::uint32_t, HSA_AMD_AGENT_INFO_MEMORY_WIDTH);
}
std::uint32_t AgentRef::cacheline_bytes() const {
    return HSADRV_AGENT_QUERY(std::uint32_t, HSA_AMD_AGENT_INFO_CACHELINE_SIZE);
}
std::uint32_t AgentRef::queues_max() const { return HSADRV_AGENT_QUERY(std::uint32_t, HSA_AGENT_INFO_QUEUES_MAX); }
std::uint32_t AgentRef::queue_min_packets() const {
    return HSADRV_AGENT_QUERY(std::uint32_t, HSA_AGENT_INFO_QUEUE_MIN_SIZE);
}
std::uint32_t AgentRef::queue_max_packets() const {
    return HSADRV_AGENT_QUERY(std::uint32_t, HSA_AGENT_INFO_QUEUE_MAX_SIZE);
}

std::uint32_t AgentRef::fbarriers_max() const {
    return HSADRV_AGENT_QUERY(std::uint32_t, HSA_AGENT_INFO_FBARRIER_MAX_SIZE);
}
bool AgentRef::multi_producer_queues() const {
    return HSADRV_AGENT_QUERY(hsa_queue_type32_t, HSA_AGENT_INFO_QUEUE_TYPE) == HSA_QUEUE_TYPE_MULTI;
}
bool AgentRef::cooperative_queues() const { return HSADRV_AGENT_QUERY(bool, HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES); }
std::uint32_t AgentRef::cooperative_compute_units() const {
    return HSADRV_AGENT_QUERY(std::uint32_t, HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT);
}
std::uint32_t AgentRef::shader_engines() const {
    return HSADRV_AGENT_QUERY(std::uint32_t, HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES);
}
std::uint32_t AgentRef::shader_arrays_per_engine() const {
    return HSADRV_AGENT_QUERY(std::uint32_t, HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE);
}
std::uint32_t AgentRef::asic_revision() const {
    return HSADRV_AGENT_QUERY(std::uint32_t, HSA_AMD_AGENT_INFO_ASIC_REVISION);
}
std::uint32_t AgentRef::address_watch_points() const {
    return HSADRV_AGENT_QUERY(std::uint32_t, HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS);
}
HdpFlush AgentRef::hdp_flush() const {
    const auto native = HSADRV_AGENT_QUERY(hsa_amd_hdp_flush_t, HSA_AMD_AGENT_INFO_HDP_FLUSH);
    return {native.HDP_MEM_FLUSH_CNTL, native.HDP_REG_FLUSH_CNTL};
}
bool AgentRef::direct_host_access() const {
    return HSADRV_AGENT_QUERY(bool, HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS);
}
std::uint16_t AgentRef::version_major() const {
    return HSADRV_AGENT_QUERY(std::uint16_t, HSA_AGENT_INFO_VERSION_MAJOR);
}
std::uint16_t AgentRef::version_minor() const {
    return HSADRV_AGENT_QUERY(std::uint16_t, HSA_AGENT_INFO_VERSION_MINOR);
}
std::uint32_t AgentRef::numa_node() const { return HSADRV_AGENT_QUERY(std::uint32_t, HSA_AGENT_INFO_NODE); }
bool AgentRef::large_model() const {
    return HSADRV_AGENT_QUERY(hsa_machine_model_t, HSA_AGENT_INFO_MACHINE_MODEL) == HSA_MACHINE_MODEL_LARGE;
}
bool AgentRef::full_profile() const {
    return HSADRV_AGENT_QUERY(hsa_profile_t, HSA_AGENT_INFO_PROFILE) == HSA_PROFILE_FULL;
}
hsa_default_float_rounding_mode_t AgentRef::default_float_rounding() const {
    return HSADRV_AGENT_QUERY(hsa_default_float_rounding_mode_t, HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE);
}

// ---- newer than ROCR 5.2: the values of hsa_amd_agent_info_t in hsa_ext_amd.h of ROCm 6

std::optional<std::uint64_t> AgentRef::memory_available_bytes() const {
    return optional_query<std::uint64_t>(*this, 0xA015, "MEMORY_AVAIL");
}
std::optional<std::uint64_t> AgentRef::timestamp_frequency_hz() const {
    return optional_query<std::uint64_t>(*this, 0xA016, "TIMESTAMP_FREQUENCY");
}
std::optional<std::uint32_t> AgentRef::asic_family() const {
    return optional_query<std::uint32_t>(*this, 0xA107, "ASIC_FAMILY_ID");
}
std::optional<std::uint32_t> AgentRef::firmware_version() const {
    return optional_query<std::uint32_t>(*this, 0xA108, "UCODE_VERSION");
}
std::optional<std::uint32_t> AgentRef::dma_firmware_version() const {
    return optional_query<std::uint32_t>(*this, 0xA109, "SDMA_UCODE_VERSION");
}
std::optional<std::uint32_t> AgentRef::dma_engines() const {
    return optional_query<std::uint32_t>(*this, 0xA10A, "NUM_SDMA_ENG");
}
std::optional<std::uint32_t> AgentRef::xgmi_dma_engines() const {
    return optional_query<std::uint32_t>(*this, 0xA10B, "NUM_SDMA_XGMI_ENG");
}
std::optional<bool> AgentRef::behind_iommu() const {
    const auto version = optional_query<std::uint32_t>(*this, 0xA110, "IOMMU_SUPPORT");
    return version ? std::optional(*version != 0) : std::nullopt;
}
std::optional<std::uint32_t> AgentRef::compute_dies() const {
    return optional_query<std::uint32_t>(*this, 0xA111, "NUM_XCC");
}
std::optional<std::uint32_t> AgentRef::driver_uid() const {
    return optional_query<std::uint32_t>(*this, 0xA112, "DRIVER_UID");
}
std::optional<AgentRef> AgentRef::nearest_cpu() const {
    const auto native = optional_query<hsa_agent_t>(*this, 0xA113, "NEAREST_CPU");
    return native && native->handle != 0 ? std::optional(AgentRef(*native)) : std::nullopt;
}
std::optional<bool> AgentRef::is_apu() const {
    // HSA_AMD_MEMORY_PROPERTY_AGENT_IS_APU, which is 1, is the number of a bit (hsa_flag_isset64).
    const auto flags = optional_query<std::array<std::uint8_t, 8>>(*this, 0xA114, "MEMORY_PROPERTIES");
    return flags ? std::optional(((*flags)[0] >> 1 & 1) != 0) : std::nullopt;
}
std::optional<bool> AgentRef::emulates_queues() const { return optional_query<bool>(*this, 0xA119, "PM4_EMULATION"); }
std::optional<std::uint64_t> AgentRef::scratch_limit_max_bytes() const {
    return optional_query<std::uint64_t>(*this, 0xA116, "SCRATCH_LIMIT_MAX");
}
std::optional<std::uint64_t> AgentRef::scratch_limit_bytes() const {
    return optional_query<std::uint64_t>(*this, 0xA117, "SCRATCH_LIMIT_CURRENT");
}

}  // namespace hsadrv
