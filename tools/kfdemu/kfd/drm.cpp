#include "tools/kfdemu/kfd/drm.hpp"

#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "tools/kfdemu/base/log.hpp"
#include "tools/kfdemu/base/page.hpp"
#include "tools/kfdemu/base/user_memory.hpp"

namespace kfdemu {
namespace {

enum Request : unsigned {
    kVersion = 0x00,
    kGetClient = 0x05,
    kGemClose = 0x09,
    kPrimeHandleToFd = 0x2d,
    kPrimeFdToHandle = 0x2e,
    kGemCreate = 0x40,
    kGemMmap = 0x41,
    kAmdgpuInfo = 0x45,
    kGemMetadata = 0x46,
    kGemVa = 0x48,
    kGemOp = 0x50,
};
enum Query : std::uint32_t {
    kAccelWorking = 0x00,
    kHwIpInfo = 0x02,
    kHwIpCount = 0x03,
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
    std::uint64_t name;  // of text
    std::size_t date_len;
    std::uint64_t date;  // of text
    std::size_t desc_len;
    std::uint64_t desc;  // of text
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

struct GemClose {
    std::uint32_t handle, pad;
};

struct PrimeHandle {
    std::uint32_t handle, flags;
    std::int32_t fd;
};

union GemCreate {
    struct {
        std::uint64_t size, alignment, domains, flags;
    } in;
    std::uint32_t handle;
};

union GemMmap {
    struct {
        std::uint32_t handle, pad;
    } in;
    std::uint64_t address;
};

struct GemMetadata {
    std::uint32_t handle, operation;
    BufferMetadata metadata;
};

struct GemOp {
    std::uint32_t handle, operation;
    std::uint64_t value;
};

enum VaOperation : std::uint32_t { kVaMap = 1, kVaUnmap = 2, kVaClear = 3, kVaReplace = 4 };

struct GemVa {  // newer kernels append timeline points, which are not used here
    std::uint32_t handle, pad, operation, flags;
    std::uint64_t va, offset, size;
};

// struct drm_amdgpu_info_device, as far as libdrm 2.4.114 reads it.
struct DeviceInfo {
    std::uint32_t device_id, chip_rev, external_rev, pci_rev, family, num_shader_engines, arrays_per_engine,
        gpu_counter_freq_khz;
    std::uint64_t max_engine_clock_khz, max_memory_clock_khz;
    std::uint32_t cu_active_number, cu_ao_mask, cu_bitmap[4][4], rb_mask, num_rb_pipes, num_gfx_contexts, pad;
    std::uint64_t ids_flags, va_offset, va_max;
    std::uint32_t va_alignment, pte_fragment_size, gart_page_size, ce_ram_size, vram_type, vram_bit_width, vce_harvest,
        double_offchip_lds;
    std::uint64_t ring_buffers[4];
    std::uint32_t ring_sizes[4];
    std::uint32_t wave_front_size, visible_vgprs, cu_per_sh, tcc_blocks, gs_depth[2], max_gs_waves, pad1;
    std::uint32_t cu_ao_bitmap[4][4];
    std::uint64_t high_va_offset, high_va_max;
};

constexpr std::uint64_t kIdsFusion = 1;  // AMDGPU_IDS_FLAGS_FUSION: an APU

struct VramGtt {
    std::uint64_t vram_size, vram_cpu_accessible_size, gtt_size;
};

/// As in the kernel's VERSION: copies what fits and returns the full length.
int give_string(std::string_view text, std::uint64_t buffer, std::size_t& length) {
    const std::size_t given = std::min(text.size(), length);
    length = text.size();
    return buffer ? user::copy_out(buffer, text.data(), given) : 0;
}

int version(Version& v) {
    v.major = 3;
    v.minor = 49;
    v.patch = 0;
    if (const int error = give_string("amdgpu", v.name, v.name_len)) return error;
    if (const int error = give_string("20150101", v.date, v.date_len)) return error;
    return give_string("AMD GPU", v.desc, v.desc_len);
}

DeviceInfo device_info(const Gpu& gpu) {
    const Model& model = *gpu.model;
    DeviceInfo info{};
    info.device_id = model.device_id;
    info.pci_rev = model.pci_revision;
    info.external_rev = 1;
    info.family = model.family;
    // Of one XCC, as are its engines in the bitmap.
    const std::uint32_t engines = model.shader_engines / model.xccs;
    info.num_shader_engines = engines;
    info.arrays_per_engine = model.arrays_per_engine;
    info.gpu_counter_freq_khz = 100000;
    info.max_engine_clock_khz = model.engine_clock_mhz * 1000ull;
    info.max_memory_clock_khz = model.memory_clock_mhz * 1000ull;
    info.cu_active_number = model.compute_units;
    // The bitmap has 4 × 4 arrays; engines beyond the fourth are in its second column.
    unsigned left = model.compute_units / model.xccs;
    for (unsigned engine = 0; engine < engines; ++engine) {
        const unsigned here = std::min(left, model.cus_per_array);
        info.cu_bitmap[engine % 4][engine / 4] = (1u << here) - 1;
        left -= here;
    }
    info.ids_flags = model.integrated ? kIdsFusion : 0;
    info.va_offset = 0x200000;
    info.va_max = 0x800000000000;
    info.va_alignment = 4096;
    info.gart_page_size = 4096;
    info.vram_type = model.memory_type;
    info.vram_bit_width = model.memory_width_bits;
    info.wave_front_size = model.wavefront_lanes;
    info.visible_vgprs = 256;
    info.cu_per_sh = model.cus_per_array;
    info.tcc_blocks = 16;
    return info;
}

/// As in AMDGPU_INFO: copies as much of the answer as fits.
int give(const Info& info, const void* answer, std::size_t size_bytes) {
    return user::copy_out(info.return_pointer, answer, std::min<std::size_t>(size_bytes, info.return_size));
}

constexpr std::uint32_t kMaxRegisters = 128;  // of one READ_MMR_REG

int give_zeroes(const Info& info, std::size_t size_bytes) {
    constexpr std::byte zeroes[4 * kMaxRegisters]{};
    return give(info, zeroes, size_bytes);
}

int amdgpu_info(const Gpu& gpu, const Info& info) {
    if (info.return_size == 0 || info.return_pointer == 0) return EINVAL;
    switch (info.query) {
        case kAccelWorking: {
            const std::uint32_t yes = 1;
            return give(info, &yes, sizeof yes);
        }
        case kDevInfo: {
            const DeviceInfo answer = device_info(gpu);
            return give(info, &answer, sizeof answer);
        }
        case kVramGtt: {
            const VramGtt answer{gpu.own_bytes(), gpu.private_vram ? 0 : gpu.own_bytes(), gpu.vram_bytes};
            return give(info, &answer, sizeof answer);
        }
        case kHwIpInfo:  // no graphics, video or DMA rings
            return give_zeroes(info, 32);
        case kHwIpCount:
            return give_zeroes(info, 4);
        case kFirmwareVersion:
            return give_zeroes(info, 8);
        case kReadMmrReg: {  // configuration registers of graphics blocks, at their reset
                             // values
            const std::uint32_t registers = info.parameters[1];
            return registers > kMaxRegisters ? EINVAL : give_zeroes(info, 4 * registers);
        }
        default:
            log(LogLevel::warning, "drm: unknown AMDGPU_INFO query {:#x}", info.query);
            return EINVAL;
    }
}

constexpr std::uint64_t kGttDomain = 2, kVramDomain = 4;
constexpr std::uint64_t kHostAccess = 1u << 0, kNoHostAccess = 1u << 1;

/// Buffers are aligned to pages, which no mapping can tell from a larger alignment.
int gem_create(Gem& gem, GemCreate& args) {
    // Placement and caching have no effect here; encryption and others are not supported. New memory is zero, unless
    // garbage is asked for.
    constexpr std::uint64_t kCleared = 1u << 3, kAccepted = 0xf0ef;
    if ((args.in.domains & ~(kGttDomain | kVramDomain)) || args.in.domains == 0 || (args.in.flags & ~kAccepted)) {
        log(LogLevel::warning, "drm: unsupported GEM_CREATE domains {:#x}, flags {:#x}", args.in.domains,
            args.in.flags);
        return EINVAL;
    }
    const std::uint32_t kind = args.in.domains & kVramDomain ? abi::kVram : abi::kGtt;
    const std::uint32_t flags = kind | abi::kWritable | abi::kExecutable;
    std::uint32_t handle = 0;
    const int error =
        gem.create(args.in.size, flags, !(args.in.flags & kNoHostAccess), args.in.flags & kCleared, handle);
    if (!error) args.handle = handle;
    return error;
}

int gem_metadata(Gem& gem, GemMetadata& args) {
    constexpr std::uint32_t kSet = 1, kGet = 2;
    switch (args.operation) {
        case kSet:
            if (args.metadata.size_bytes > sizeof args.metadata.data) return EINVAL;
            return gem.set_metadata(args.handle, args.metadata);
        case kGet:
            return gem.metadata(args.handle, args.metadata);
        default:
            log(LogLevel::warning, "drm: unknown GEM_METADATA operation {}", args.operation);
            return EINVAL;
    }
}

/// GET_GEM_CREATE_INFO: of the flags, those of host access.
int gem_op(const Gem& gem, const GemOp& args) {
    constexpr std::uint32_t kCreateInfo = 0;
    const auto buffer = gem.find(args.handle);
    if (!buffer) return ENOENT;
    if (args.operation != kCreateInfo) {
        log(LogLevel::warning, "drm: unsupported GEM_OP {}", args.operation);
        return EINVAL;
    }
    const decltype(GemCreate::in) info{.size = buffer->size,
                                       .alignment = kPage,
                                       .domains = buffer->flags & abi::kVram ? kVramDomain : kGttDomain,
                                       .flags = buffer->mmap_offset ? kHostAccess : kNoHostAccess};
    return user::write(args.value, info);
}

/// AMDGPU_VM_PAGE_* flags as a set of Access.
std::uint32_t page_access_of(std::uint32_t flags) {
    return (flags & 2 ? kRead : 0u) | (flags & 4 ? kWrite : 0u) | (flags & 8 ? kExecute : 0u);
}

int gem_va(Gem& gem, const GemVa& args) {
    constexpr std::uint32_t kDelayUpdate = 1, kAccess = 0xe, kPrt = 0x10, kMemoryType = 0x1e0, kNoAlloc = 0x200;
    if (args.flags & kPrt || args.flags & ~(kDelayUpdate | kAccess | kMemoryType | kNoAlloc)) {
        log(LogLevel::warning, "drm: unsupported GEM_VA flags {:#x}", args.flags);
        return EINVAL;
    }
    switch (args.operation) {
        case kVaReplace:
            if (const int error = gem.clear(args.va, args.size)) return error;
            [[fallthrough]];
        case kVaMap:
            return gem.map(args.handle, page_access_of(args.flags), args.va, args.offset, args.size);
        case kVaUnmap:
            return gem.unmap(args.handle, args.va);
        case kVaClear:
            return gem.clear(args.va, args.size);
        default:
            log(LogLevel::warning, "drm: unknown GEM_VA operation {}", args.operation);
            return EINVAL;
    }
}

/// Runs a handler on a copy of the caller's argument, and copies it back.
template <class Argument, class Handler>
int with_argument(unsigned long request, std::uint64_t address, Handler&& handler) {
    Argument argument;
    if (_IOC_SIZE(request) != sizeof argument) return EINVAL;
    if (const int error = user::read(argument, address)) return error;
    if (const int error = handler(argument)) return error;
    return user::write(address, argument);
}

}  // namespace

int drm_ioctl(const Gpu& gpu, Gem& gem, unsigned long request, void* argument) {
    const auto address = reinterpret_cast<std::uint64_t>(argument);
    switch (_IOC_NR(request)) {
        case kVersion:
            return with_argument<Version>(request, address, [](Version& v) { return version(v); });
        case kGetClient:
            return with_argument<Client>(request, address, [](Client& client) { return client.auth = 1, 0; });
        case kGemClose:
            return with_argument<GemClose>(request, address, [&](GemClose& args) { return gem.close(args.handle); });
        case kPrimeFdToHandle:
            return with_argument<PrimeHandle>(request, address,
                                              [&](PrimeHandle& args) { return gem.import(args.fd, args.handle); });
        case kPrimeHandleToFd:
            return with_argument<PrimeHandle>(request, address, [&](PrimeHandle& args) {
                return gem.export_dmabuf(args.handle, args.flags, args.fd);
            });
        case kGemCreate:
            return with_argument<GemCreate>(request, address, [&](GemCreate& args) { return gem_create(gem, args); });
        case kGemMmap:
            return with_argument<GemMmap>(request, address,
                                          [&](GemMmap& args) { return gem.mmap_offset(args.in.handle, args.address); });
        case kGemMetadata:
            return with_argument<GemMetadata>(request, address,
                                              [&](GemMetadata& args) { return gem_metadata(gem, args); });
        case kGemOp:
            return with_argument<GemOp>(request, address, [&](GemOp& args) { return gem_op(gem, args); });
        case kGemVa: {
            GemVa args;
            if (_IOC_SIZE(request) < sizeof args) return EINVAL;
            if (const int error = user::read(args, address)) return error;
            return gem_va(gem, args);
        }
        case kAmdgpuInfo: {
            Info info;
            if (_IOC_SIZE(request) < sizeof info) return EINVAL;
            if (const int error = user::read(info, address)) return error;
            return amdgpu_info(gpu, info);
        }
        default:
            log(LogLevel::warning, "drm: unknown ioctl {:#x} (number {:#x})", request, _IOC_NR(request));
            return EINVAL;
    }
}

}  // namespace kfdemu
