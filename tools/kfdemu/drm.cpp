#include "drm.hpp"

#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "log.hpp"

namespace kfdemu {
namespace {

enum Request : unsigned { kVersion = 0x00, kGetClient = 0x05, kAmdgpuInfo = 0x45 };
enum Query : std::uint32_t {
    kAccelWorking = 0x00,
    kHwIpInfo = 0x02,
    kTimestamp = 0x05,
    kFirmwareVersion = 0x0e,
    kVramGtt = 0x14,
    kReadMmrReg = 0x15,
    kDevInfo = 0x16,
    kMemory = 0x19,
};

struct Version {
    int major, minor, patch;
    std::size_t name_len;
    char* name;
    std::size_t date_len;
    char* date;
    std::size_t desc_len;
    char* desc;
};

struct Client {
    int index, auth;
    unsigned long pid, uid, magic, iocs;
};

struct Info {
    std::uint64_t return_pointer;
    std::uint32_t return_size, query;
    std::uint32_t parameters[4];  // by query
};

// struct drm_amdgpu_info_device, up to what libdrm 2.4.114 reads; longer requests get zeroes behind it.
struct DeviceInfo {
    std::uint32_t device_id, chip_rev, external_rev, pci_rev, family, num_shader_engines, arrays_per_engine,
        gpu_counter_freq_khz;
    std::uint64_t max_engine_clock_khz, max_memory_clock_khz;
    std::uint32_t cu_active_number, cu_ao_mask, cu_bitmap[4][4], rb_mask, num_rb_pipes, num_gfx_contexts, pad;
    std::uint64_t ids_flags, va_offset, va_max;
    std::uint32_t va_alignment, pte_fragment_size, gart_page_size, ce_ram_size, vram_type, vram_bit_width,
        vce_harvest, double_offchip_lds;
    std::uint64_t ring_buffers[4];
    std::uint32_t ring_sizes[4];
    std::uint32_t wave_front_size, visible_vgprs, cu_per_sh, tcc_blocks, gs_depth[2], max_gs_waves, pad1;
    std::uint32_t cu_ao_bitmap[4][4];
    std::uint64_t high_va_offset, high_va_max;
};

struct VramGtt {
    std::uint64_t vram_size, vram_cpu_accessible_size, gtt_size;
};

/// As the kernel's VERSION does: copies what fits and tells the full length.
void give_string(const char* text, char* buffer, std::size_t& length) {
    const std::size_t full = std::strlen(text);
    if (buffer) std::memcpy(buffer, text, std::min(full, length));
    length = full;
}

void version(Version& v) {
    v.major = 3;
    v.minor = 49;
    v.patch = 0;
    give_string("amdgpu", v.name, v.name_len);
    give_string("20150101", v.date, v.date_len);
    give_string("AMD GPU", v.desc, v.desc_len);
}

DeviceInfo device_info(const Gpu& gpu) {
    const Model& model = *gpu.model;
    DeviceInfo info{};
    info.device_id = model.device_id;
    info.pci_rev = model.pci_revision;
    info.external_rev = 1;
    info.family = model.family;
    info.num_shader_engines = model.shader_engines;
    info.arrays_per_engine = model.arrays_per_engine;
    info.gpu_counter_freq_khz = 100000;
    info.max_engine_clock_khz = model.engine_clock_mhz * 1000ull;
    info.max_memory_clock_khz = model.memory_clock_mhz * 1000ull;
    info.cu_active_number = model.compute_units;
    // The bitmap has room for 4 × 4 arrays; engines beyond the fourth are counted in its second column.
    unsigned left = model.compute_units;
    for (unsigned engine = 0; engine < model.shader_engines; ++engine) {
        const unsigned here = std::min(left, model.cus_per_array);
        info.cu_bitmap[engine % 4][engine / 4] = (1u << here) - 1;
        left -= here;
    }
    info.va_offset = 0x200000;
    info.va_max = 0x800000000000;
    info.va_alignment = 4096;
    info.gart_page_size = 4096;
    info.vram_type = 6;  // HBM
    info.vram_bit_width = model.memory_width_bits;
    info.wave_front_size = 64;
    info.visible_vgprs = 256;
    info.cu_per_sh = model.cus_per_array;
    info.tcc_blocks = 16;
    return info;
}

void give(const Info& info, const void* answer, std::size_t size_bytes) {
    auto* out = reinterpret_cast<std::byte*>(info.return_pointer);
    const std::size_t copied = std::min<std::size_t>(size_bytes, info.return_size);
    std::memcpy(out, answer, copied);
    std::memset(out + copied, 0, info.return_size - copied);
}

int amdgpu_info(const Gpu& gpu, const Info& info) {
    if (info.return_size == 0 || info.return_pointer == 0) return EINVAL;
    switch (info.query) {
        case kAccelWorking: {
            const std::uint32_t yes = 1;
            return give(info, &yes, sizeof yes), 0;
        }
        case kDevInfo: {
            const DeviceInfo answer = device_info(gpu);
            return give(info, &answer, sizeof answer), 0;
        }
        case kVramGtt: {
            const VramGtt answer{gpu.vram_bytes, gpu.private_vram ? 0 : gpu.vram_bytes, gpu.vram_bytes};
            return give(info, &answer, sizeof answer), 0;
        }
        case kHwIpInfo:       // no graphics, video or DMA ring is open to this interface
        case kFirmwareVersion:
        case kReadMmrReg:     // configuration registers of graphics blocks that a compute device leaves at reset
            std::memset(reinterpret_cast<void*>(info.return_pointer), 0, info.return_size);
            return 0;
        default:
            log(LogLevel::warning, "drm: AMDGPU_INFO query {:#x} is not known", info.query);
            return EINVAL;
    }
}

}  // namespace

int drm_ioctl(const Gpu& gpu, unsigned long request, void* argument) {
    switch (_IOC_NR(request)) {
        case kVersion:
            if (_IOC_SIZE(request) != sizeof(Version)) return EINVAL;
            version(*static_cast<Version*>(argument));
            return 0;
        case kGetClient:
            if (_IOC_SIZE(request) != sizeof(Client)) return EINVAL;
            static_cast<Client*>(argument)->auth = 1;
            return 0;
        case kAmdgpuInfo:
            if (_IOC_SIZE(request) < sizeof(Info)) return EINVAL;
            return amdgpu_info(gpu, *static_cast<Info*>(argument));
        default:
            log(LogLevel::warning, "drm: ioctl {:#x} (number {:#x}) is not known", request, _IOC_NR(request));
            return EINVAL;
    }
}

}  // namespace kfdemu
