#include "tools/kfdemu/kfd/kfd.hpp"

#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>

#include "tools/kfdemu/base/apertures.hpp"
#include "tools/kfdemu/base/clock.hpp"
#include "tools/kfdemu/base/counters.hpp"
#include "tools/kfdemu/base/log.hpp"
#include "tools/kfdemu/base/user_memory.hpp"
#include "tools/kfdemu/kfd/device.hpp"

namespace kfdemu {
namespace {

/// Runs a handler on a full-sized copy of the caller's argument.
template <class Args, class Handler>
int with_arguments(unsigned long request, void* argument, Handler&& handler) {
    Args args{};
    const std::size_t given = std::min<std::size_t>(_IOC_SIZE(request), sizeof args);
    const auto from = reinterpret_cast<std::uint64_t>(argument);
    if (_IOC_DIR(request) & _IOC_WRITE)
        if (const int error = user::copy_in(&args, from, given)) return error;
    const int error = handler(args);
    if (_IOC_DIR(request) & _IOC_READ)
        if (const int unwritten = user::copy_out(from, &args, given)) return unwritten;
    return error;
}

}  // namespace

int Kfd::ioctl(unsigned long request, void* argument) {
    const auto run = [&]<class Args>(int (Kfd::*handler)(Args&)) {
        return with_arguments<Args>(request, argument, [&](Args& args) { return (this->*handler)(args); });
    };
    counters.ioctls += 1;
    if (const int error = injection().failure(Point::ioctl, _IOC_NR(request))) {
        log(LogLevel::info, "kfd: ioctl number {:#x} fails as requested, errno {}", _IOC_NR(request), error);
        return error;
    }
    switch (_IOC_NR(request)) {
        case abi::kGetVersion:
            return run(&Kfd::get_version);
        case abi::kCreateQueue:
            return run(&Kfd::create_queue);
        case abi::kDestroyQueue:
            return run(&Kfd::destroy_queue);
        case abi::kUpdateQueue:
            return run(&Kfd::update_queue);
        case abi::kSetCuMask:
            return run(&Kfd::set_cu_mask);
        case abi::kAllocQueueGws:
            return run(&Kfd::alloc_queue_gws);
        case abi::kSetMemoryPolicy:
            return run(&Kfd::set_memory_policy);
        case abi::kGetClockCounters:
            return run(&Kfd::get_clock_counters);
        case abi::kGetProcessAperturesNew:
            return run(&Kfd::get_process_apertures);
        case abi::kCreateEvent:
            return run(&Kfd::create_event);
        case abi::kDestroyEvent:
            return run(&Kfd::destroy_event);
        case abi::kSetEvent:
            return run(&Kfd::set_event);
        case abi::kResetEvent:
            return run(&Kfd::reset_event);
        case abi::kWaitEvents:
            return run(&Kfd::wait_events);
        case abi::kSetScratchBackingVa:
            return run(&Kfd::set_scratch_backing);
        case abi::kGetTileConfig:
            return run(&Kfd::get_tile_config);
        case abi::kSetTrapHandler:
            return run(&Kfd::set_trap_handler);
        case abi::kAcquireVm:
            return run(&Kfd::acquire_vm);
        case abi::kAllocMemoryOfGpu:
            return run(&Kfd::alloc_memory);
        case abi::kFreeMemoryOfGpu:
            return run(&Kfd::free_memory);
        case abi::kMapMemoryToGpu:
            return run(&Kfd::map_memory);
        case abi::kUnmapMemoryFromGpu:
            return run(&Kfd::unmap_memory);
        case abi::kGetDmabufInfo:
            return run(&Kfd::get_dmabuf_info);
        case abi::kImportDmabuf:
            return run(&Kfd::import_dmabuf);
        case abi::kExportDmabuf:
            return run(&Kfd::export_dmabuf);
        case abi::kIpcExportHandle:
            return run(&Kfd::ipc_export_handle);
        case abi::kIpcImportHandle:
            return run(&Kfd::ipc_import_handle);
        case abi::kSmiEvents:
            return run(&Kfd::smi_events);
        case abi::kSvm:
            return svm(request, argument);
        case abi::kSetXnackMode:
            return run(&Kfd::set_xnack_mode);
        case abi::kAvailableMemory:
            return run(&Kfd::available_memory);
        // The kernel returns the saved waves of a preempted queue. Here waves are never saved.
        case abi::kGetQueueWaveState:
            log(LogLevel::warning, "kfd: GET_QUEUE_WAVE_STATE is not supported: the waves of a queue are never saved");
            return EINVAL;
        // Further contexts of a process, from KFD 1.19 on. The runtime asks for one only if a program does.
        case abi::kCreateProcess:
            log(LogLevel::warning, "kfd: CREATE_PROCESS is not supported: a process has one context");
            return EINVAL;
        // Only in AMD's out-of-tree module (amdgpu-dkms): copies between processes, profilers, reads of files into
        // VRAM.
        case abi::kCrossMemoryCopy:
        case abi::kRlcSpm:
        case abi::kPcSample:
        case abi::kProfiler:
        case abi::kInfinityStorage:
            log(LogLevel::info, "kfd: request {:#x} does not exist in the upstream kernel", _IOC_NR(request));
            return EINVAL;
        case abi::kRuntimeEnable:
            return run(&Kfd::runtime_enable);
        // Called by debuggers to attach to another process, which is not supported.
        case abi::kDbgTrap:
        case abi::kDbgTrapUpstream:
            log(LogLevel::debug, "kfd: debugger request {:#x} rejected", _IOC_NR(request));
            return EINVAL;
        default:
            log(LogLevel::warning, "kfd: unknown ioctl {:#x} (number {:#x}, {} B)", request, _IOC_NR(request),
                _IOC_SIZE(request));
            return EINVAL;
    }
}

int Kfd::get_version(abi::GetVersion& args) {
    args = {Device::options().kfd_major, Device::options().kfd_minor};
    return 0;
}

int Kfd::create_queue(abi::CreateQueue& args) {
    const Gpu* target = gpu(args.gpu_id);
    if (!target) return EINVAL;
    return scheduler_.create_queue(*target, args);
}

int Kfd::destroy_queue(abi::DestroyQueue& args) { return scheduler_.destroy_queue(args.queue_id) ? 0 : EINVAL; }

int Kfd::update_queue(abi::UpdateQueue& args) { return scheduler_.update_queue(args); }

int Kfd::set_cu_mask(abi::SetCuMask& args) {
    constexpr std::uint32_t kMaxBits = 1024;  // the kernel's limit; further bits are ignored
    if (args.num_cu_mask == 0 || args.num_cu_mask % 32 != 0 || args.cu_mask_ptr == 0) return EINVAL;
    std::uint32_t words[kMaxBits / 32];
    const std::size_t bytes = std::min(args.num_cu_mask, kMaxBits) / 8;
    if (const int error = user::copy_in(words, args.cu_mask_ptr, bytes)) return error;
    return scheduler_.set_cu_mask(args.queue_id, {words, bytes / sizeof words[0]});
}

int Kfd::alloc_queue_gws(abi::AllocQueueGws& args) {
    args.first_gws = 0;
    return scheduler_.has_queue(args.queue_id) ? 0 : EINVAL;
}

int Kfd::set_memory_policy(abi::SetMemoryPolicy& args) {
    // Host and device share caches here, so every policy is coherent.
    return gpu(args.gpu_id) ? 0 : EINVAL;
}

int Kfd::get_clock_counters(abi::GetClockCounters& args) {
    if (args.gpu_id != 0 && !gpu(args.gpu_id)) return EINVAL;
    const auto [now_ns, system_ns] = clock::read_both();
    args.gpu_clock_counter = args.gpu_id ? clock::ticks(now_ns) : 0;
    args.cpu_clock_counter = now_ns;
    args.system_clock_counter = system_ns;
    args.system_clock_freq = 1'000'000'000;
    return 0;
}

int Kfd::get_process_apertures(abi::GetProcessAperturesNew& args) {
    const auto count = static_cast<std::uint32_t>(topology_.gpus.size());
    if (args.num_of_nodes == 0) {
        args.num_of_nodes = count;
        return 0;
    }
    if (args.apertures_ptr == 0) return EINVAL;
    const std::uint32_t given = std::min(count, args.num_of_nodes);
    for (std::uint32_t i = 0; i < given; ++i) {
        const abi::DeviceApertures apertures{
            kLdsAperture.base,   kLdsAperture.limit,   kScratchAperture.base,    kScratchAperture.limit,
            kGpuvmAperture.base, kGpuvmAperture.limit, topology_.gpus[i].gpu_id, 0};
        if (const int error = user::write(args.apertures_ptr + i * sizeof apertures, apertures)) return error;
    }
    args.num_of_nodes = given;
    return 0;
}

/// On discrete GPUs the first call passes the handle of the event page: system memory, which the kernel maps for
/// itself.
int Kfd::set_event_page(std::uint64_t handle) {
    auto page = memory_.find_buffer(handle);
    if (!page || !(page->flags & abi::kGtt) || page->size < abi::kSignalEventLimit * sizeof(std::uint64_t))
        return EINVAL;
    return events_.use_page(std::move(page)) ? 0 : EINVAL;
}

int Kfd::create_event(abi::CreateEvent& args) {
    if (args.event_page_offset)
        if (const int error = set_event_page(args.event_page_offset)) return error;
    const auto id = events_.create(args.event_type, args.auto_reset != 0);
    if (!id) return ENOSPC;
    args.event_id = args.event_trigger_data = *id;
    if (args.event_type == abi::kEventSignal || args.event_type == abi::kEventDebug) {
        // Any nonzero value tells the thunk that the event has a slot.
        if (args.event_page_offset == 0) args.event_page_offset = 1;
        args.event_slot_index = *id;
    }
    return 0;
}

int Kfd::destroy_event(abi::EventId& args) { return events_.destroy(args.event_id) ? 0 : EINVAL; }
int Kfd::set_event(abi::EventId& args) { return events_.set(args.event_id) ? 0 : EINVAL; }
int Kfd::reset_event(abi::EventId& args) { return events_.reset(args.event_id) ? 0 : EINVAL; }

int Kfd::wait_events(abi::WaitEvents& args) {
    if (args.events_ptr == 0 || args.num_events > 2 * abi::kSignalEventLimit) return EINVAL;
    std::vector<abi::EventData> events(args.num_events);
    if (const int error = user::copy_in(events.data(), args.events_ptr, events.size() * sizeof events[0])) return error;
    scheduler_.nudge();  // a thread that starts to wait has probably just rung a doorbell
    const auto result = events_.wait(events, args.wait_for_all != 0, args.timeout_ms);
    if (!result) return EINVAL;
    if (const int error = user::copy_out(args.events_ptr, events.data(), events.size() * sizeof events[0]))
        return error;
    args.wait_result = *result;
    return *result == abi::kWaitFail ? EIO : 0;
}

int Kfd::set_scratch_backing(abi::SetScratchBackingVa& args) {
    const Gpu* target = gpu(args.gpu_id);
    if (!target) return EINVAL;
    memory_.set_scratch(target->index, args.va_addr << 16);  // in units of 64 KiB
    return 0;
}

int Kfd::get_tile_config(abi::GetTileConfig& args) {
    if (!gpu(args.gpu_id)) return EINVAL;
    // Image tiling: compute devices have no images, so both tables are empty.
    args.num_tile_configs = args.num_macro_tile_configs = 0;
    args.gb_addr_config = args.num_banks = args.num_ranks = 0;
    return 0;
}

int Kfd::set_trap_handler(abi::SetTrapHandler& args) {
    // Faults and traps are reported as the runtime's trap handler would report them; its code is not executed.
    return gpu(args.gpu_id) ? 0 : EINVAL;
}

int Kfd::acquire_vm(abi::AcquireVm& args) { return gpu(args.gpu_id) ? 0 : EINVAL; }

int Kfd::alloc_memory(abi::AllocMemoryOfGpu& args) {
    const int error = memory_.allocate(args);
    if (!error && args.va_addr) svm_.forget(args.va_addr, args.va_addr + args.size);
    return error;
}
int Kfd::free_memory(abi::FreeMemoryOfGpu& args) { return memory_.free(args.handle); }

namespace {

/// Calls `each` for the GPUs in the caller's array from n_success on; increments n_success for each success.
template <class Each>
int for_each_gpu(const Topology& topology, abi::MapMemory& args, Each&& each) {
    if (args.n_devices == 0 || args.device_ids_array_ptr == 0 || args.n_success > args.n_devices) return EINVAL;
    for (; args.n_success < args.n_devices; ++args.n_success) {
        std::uint32_t id = 0;
        if (const int error = user::read(id, args.device_ids_array_ptr + args.n_success * sizeof id)) return error;
        const Gpu* gpu = topology.find(id);
        if (!gpu) return EINVAL;
        if (const int error = each(gpu->index)) return error;
    }
    return 0;
}

}  // namespace

int Kfd::map_memory(abi::MapMemory& args) {
    return for_each_gpu(topology_, args, [&](unsigned gpu) { return memory_.map(args.handle, gpu); });
}

int Kfd::unmap_memory(abi::MapMemory& args) {
    return for_each_gpu(topology_, args, [&](unsigned gpu) { return memory_.unmap(args.handle, gpu); });
}

int Kfd::get_dmabuf_info(abi::GetDmabufInfo& args) { return memory_.dmabuf_info(args); }
int Kfd::import_dmabuf(abi::ImportDmabuf& args) { return memory_.import_dmabuf(args); }
int Kfd::export_dmabuf(abi::ExportDmabuf& args) { return memory_.export_dmabuf(args); }
int Kfd::ipc_export_handle(abi::IpcExportHandle& args) { return memory_.export_ipc(args); }
int Kfd::ipc_import_handle(abi::IpcImportHandle& args) { return memory_.import_ipc(args); }

/// Registers the runtime, for debuggers and for errors of its queues (queue_exception.hpp).
int Kfd::runtime_enable(abi::RuntimeEnable& args) {
    constexpr std::uint32_t kEnable = 1;
    const bool enable = args.mode_mask & kEnable;
    args.capabilities_mask = 0;  // no core dumps
    return runtime_enabled_.exchange(enable) && enable ? EBUSY : 0;
}

int Kfd::svm(unsigned long request, void* argument) {
    const auto from = reinterpret_cast<std::uint64_t>(argument);
    abi::Svm args;
    if (const int error = user::read(args, from)) return error;
    const std::uint64_t next = from + sizeof args;
    // The request encodes the total size, so the count is bounded.
    if (_IOC_SIZE(request) < sizeof args || args.count > (_IOC_SIZE(request) - sizeof args) / sizeof(abi::SvmAttribute))
        return EINVAL;
    std::vector<abi::SvmAttribute> attributes(args.count);
    const std::size_t bytes = attributes.size() * sizeof attributes[0];
    if (const int error = user::copy_in(attributes.data(), next, bytes)) return error;
    if (const int error = svm_.run(args, attributes)) return error;
    return user::copy_out(next, attributes.data(), bytes);
}

int Kfd::set_xnack_mode(abi::SetXnackMode& args) {
    // Retryable page faults are off. The mode can be queried, but not enabled.
    if (args.xnack_enabled > 0) return EPERM;
    args.xnack_enabled = 0;
    return 0;
}

int Kfd::smi_events(abi::SmiEvents& args) {
    if (!gpu(args.gpu_id)) return EINVAL;
    int fd = -1;
    const int error = events_.smi().open(args.gpu_id, fd);
    if (!error) args.anon_fd = static_cast<std::uint32_t>(fd);
    return error;
}

int Kfd::available_memory(abi::AvailableMemory& args) {
    const Gpu* target = gpu(args.gpu_id);
    if (!target) return EINVAL;
    args.available = memory_.vram_available(target->index);
    return 0;
}

}  // namespace kfdemu
