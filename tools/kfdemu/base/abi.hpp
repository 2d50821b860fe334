// The KFD ioctl interface, version 1.15 and what 1.16 to 1.18 add, as far as the runtimes use it: request numbers and
// argument layouts.
// Declared here rather than included, because distributions' copies of include/uapi/linux/kfd_ioctl.h lag.
// Arguments may be longer or shorter in other versions: see kfd.hpp for how sizes are handled.
#pragma once

#include <cstdint>

namespace kfdemu::abi {

inline constexpr char kKfdMagic = 'K';
inline constexpr std::uint32_t kVersionMajor = 1, kVersionMinor = 15;

enum Request : std::uint8_t {
    kGetVersion = 0x01,
    kCreateQueue = 0x02,
    kDestroyQueue = 0x03,
    kSetMemoryPolicy = 0x04,
    kGetClockCounters = 0x05,
    kGetProcessApertures = 0x06,
    kUpdateQueue = 0x07,
    kCreateEvent = 0x08,
    kDestroyEvent = 0x09,
    kSetEvent = 0x0a,
    kResetEvent = 0x0b,
    kWaitEvents = 0x0c,
    kSetScratchBackingVa = 0x11,
    kGetTileConfig = 0x12,
    kSetTrapHandler = 0x13,
    kGetProcessAperturesNew = 0x14,
    kAcquireVm = 0x15,
    kAllocMemoryOfGpu = 0x16,
    kFreeMemoryOfGpu = 0x17,
    kMapMemoryToGpu = 0x18,
    kUnmapMemoryFromGpu = 0x19,
    kSetCuMask = 0x1a,
    kGetQueueWaveState = 0x1b,
    kGetDmabufInfo = 0x1c,
    kImportDmabuf = 0x1d,
    kAllocQueueGws = 0x1e,
    kSmiEvents = 0x1f,
    kSvm = 0x20,
    kSetXnackMode = 0x21,
    kCriuOp = 0x22,
    kAvailableMemory = 0x23,
    kExportDmabuf = 0x24,
    kRuntimeEnable = 0x25,
    kDbgTrapUpstream = 0x26,
    kCreateProcess = 0x27,  // KFD 1.19
    // Only in AMD's out-of-tree module (amdgpu-dkms). The runtimes fall back to these if the upstream request fails.
    kIpcImportHandle = 0x80,
    kIpcExportHandle = 0x81,
    kDbgTrap = 0x82,
    kCrossMemoryCopy = 0x83,
    kRlcSpm = 0x84,
    kPcSample = 0x85,
    kProfiler = 0x86,
    kInfinityStorage = 0x87,
};

struct GetVersion {
    std::uint32_t major, minor;
};

enum QueueType : std::uint32_t { kComputePm4 = 0, kSdma = 1, kComputeAql = 2, kSdmaXgmi = 3, kSdmaByEngine = 4 };

struct CreateQueue {
    std::uint64_t ring_base_address, write_pointer_address, read_pointer_address;
    std::uint64_t doorbell_offset;  // out
    std::uint32_t ring_size, gpu_id, queue_type, queue_percentage, queue_priority;
    std::uint32_t queue_id;  // out
    std::uint64_t eop_buffer_address, eop_buffer_size, ctx_save_restore_address;
    std::uint32_t ctx_save_restore_size, ctl_stack_size;
    std::uint32_t sdma_engine_id, pad;  // of kSdmaByEngine; KFD 1.17
};

struct DestroyQueue {
    std::uint32_t queue_id, pad;
};

struct UpdateQueue {
    std::uint64_t ring_base_address;
    std::uint32_t queue_id, ring_size, queue_percentage, queue_priority;
};

struct SetCuMask {
    std::uint32_t queue_id, num_cu_mask;
    std::uint64_t cu_mask_ptr;
};

struct AllocQueueGws {
    std::uint32_t queue_id, num_gws, first_gws /* out */, pad;
};

struct SetMemoryPolicy {
    std::uint64_t alternate_aperture_base, alternate_aperture_size;
    std::uint32_t gpu_id, default_policy, alternate_policy;
    std::uint32_t misc_process_flag;  // KFD 1.18; for gfx950 alone
};

struct GetClockCounters {
    std::uint64_t gpu_clock_counter, cpu_clock_counter, system_clock_counter, system_clock_freq;  // out
    std::uint32_t gpu_id, pad;
};

struct DeviceApertures {
    std::uint64_t lds_base, lds_limit, scratch_base, scratch_limit, gpuvm_base, gpuvm_limit;
    std::uint32_t gpu_id, pad;
};

struct GetProcessAperturesNew {
    std::uint64_t apertures_ptr;
    std::uint32_t num_of_nodes, pad;  // in: room; out: count
};

enum EventType : std::uint32_t { kEventSignal = 0, kEventHwException = 3, kEventDebug = 5, kEventMemory = 8 };
inline constexpr std::uint32_t kSignalEventLimit = 4096;
inline constexpr std::uint32_t kInfiniteTimeoutMs = 0xffffffff;

struct CreateEvent {
    std::uint64_t event_page_offset;  // in: handle of the event page (discrete GPUs); out: nonzero
    std::uint32_t event_trigger_data, event_type, auto_reset, node_id, event_id, event_slot_index;
};

struct EventId {  // destroy, set, reset
    std::uint32_t event_id, pad;
};

struct MemoryException {
    std::uint32_t not_present, read_only, no_execute, imprecise;
    std::uint64_t va;
    std::uint32_t gpu_id, error_type;
};

struct HwException {
    std::uint32_t reset_type, reset_cause, memory_lost, gpu_id;
};

struct EventData {
    union {
        MemoryException memory;
        HwException hw;
        std::uint64_t last_event_age;  ///< of a signal event; KFD 1.14 and later. 0: not requested
    };
    std::uint64_t extension;
    std::uint32_t event_id, pad;
};
static_assert(sizeof(EventData) == 48);

enum WaitResult : std::uint32_t { kWaitComplete = 0, kWaitTimeout = 1, kWaitFail = 2 };

struct WaitEvents {
    std::uint64_t events_ptr;
    std::uint32_t num_events, wait_for_all, timeout_ms, wait_result;
};

struct SetScratchBackingVa {
    std::uint64_t va_addr;
    std::uint32_t gpu_id, pad;
};

struct GetTileConfig {
    std::uint64_t tile_config_ptr, macro_tile_config_ptr;
    std::uint32_t num_tile_configs, num_macro_tile_configs, gpu_id, gb_addr_config, num_banks, num_ranks;
};

struct SetTrapHandler {
    std::uint64_t tba_addr, tma_addr;
    std::uint32_t gpu_id, pad;
};

struct AcquireVm {
    std::uint32_t drm_fd, gpu_id;
};

enum AllocFlags : std::uint32_t {
    kVram = 1u << 0,
    kGtt = 1u << 1,
    kUserptr = 1u << 2,
    kDoorbell = 1u << 3,
    kMmioRemap = 1u << 4,
    kContiguous = 1u << 23,  // KFD 1.16; a hint
    kAqlQueueMem = 1u << 27,
    kPublic = 1u << 29,
    kExecutable = 1u << 30,
    kWritable = 1u << 31,
};

struct AllocMemoryOfGpu {
    std::uint64_t va_addr, size, handle /* out */, mmap_offset /* in: userptr; out: to map */;
    std::uint32_t gpu_id, flags;
};

struct FreeMemoryOfGpu {
    std::uint64_t handle;
};

struct MapMemory {  // map and unmap
    std::uint64_t handle, device_ids_array_ptr;
    std::uint32_t n_devices, n_success;
};

struct SetXnackMode {
    std::int32_t xnack_enabled;  // in: 0, 1, or negative to query; out: the mode
};

struct SmiEvents {
    std::uint32_t gpu_id, anon_fd /* out */;
};

struct AvailableMemory {
    std::uint64_t available;  // out
    std::uint32_t gpu_id, pad;
};

enum SvmOperation : std::uint32_t { kSvmSet = 0, kSvmGet = 1 };
enum SvmLocation : std::uint32_t { kSvmSystem = 0, kSvmUndefined = 0xffffffff };  // or a GPU's id
enum SvmAttributeType : std::uint32_t {
    kSvmPreferredLocation = 0,
    kSvmPrefetchLocation = 1,
    kSvmAccess = 2,
    kSvmAccessInPlace = 3,
    kSvmNoAccess = 4,
    kSvmSetFlags = 5,
    kSvmClearFlags = 6,
    kSvmGranularity = 7,
};
enum SvmFlags : std::uint32_t {
    kSvmHostAccess = 1u << 0,
    kSvmCoherent = 1u << 1,
    kSvmGpuReadOnly = 1u << 3,
    kSvmGpuExecutable = 1u << 4,
};
inline constexpr std::uint64_t kSvmAllocation = std::uint64_t{1} << 63;  // not a valid KFD handle

struct Svm {  // followed by `count` SvmAttributes in the same request
    std::uint64_t start, size;
    std::uint32_t operation, count;
};

struct SvmAttribute {
    std::uint32_t type, value;
};

struct RuntimeEnable {
    std::uint64_t r_debug;            // address of the runtime's r_debug, for a debugger
    std::uint32_t mode_mask;          // bit 0: enable, else disable; bit 1: keep the trap temporaries
    std::uint32_t capabilities_mask;  // out
};

struct GetDmabufInfo {
    std::uint64_t size;          // out
    std::uint64_t metadata_ptr;  // in: destination
    std::uint32_t metadata_size /* in: room; out: length */, gpu_id /* out */, flags /* out: AllocFlags */, dmabuf_fd;
};

struct ImportDmabuf {
    std::uint64_t va_addr, handle /* out */;
    std::uint32_t gpu_id, dmabuf_fd;
};

struct ExportDmabuf {
    std::uint64_t handle;
    std::uint32_t flags, dmabuf_fd /* out */;
};

struct IpcExportHandle {
    std::uint64_t handle;
    std::uint32_t share_handle[4] /* out */, gpu_id, flags;
};

struct IpcImportHandle {
    std::uint64_t handle /* out */, va_addr, mmap_offset /* out */;
    std::uint32_t share_handle[4], gpu_id, flags /* out: as the exporter gave them */;
};

}  // namespace kfdemu::abi
