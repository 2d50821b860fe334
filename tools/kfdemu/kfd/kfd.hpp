// The ioctls of /dev/kfd, one function each.
//
//     errno = kfd.ioctl(request, argument);
//
// As in the kernel, requests are matched by number, and arguments are copied with the size that the request encodes. If
// the caller's structure is shorter than ours, the rest is zero; if it is longer, the rest is not changed.
// Thread safety: every function, any thread.
#pragma once

#include <atomic>

#include "tools/kfdemu/base/topology.hpp"
#include "tools/kfdemu/queues/scheduler.hpp"
#include "tools/kfdemu/resources/events.hpp"
#include "tools/kfdemu/resources/memory.hpp"
#include "tools/kfdemu/resources/svm.hpp"

namespace kfdemu {

class Kfd {
  public:
    Kfd(const Topology& topology, Memory& memory, Svm& svm, Events& events, Scheduler& scheduler)
        : topology_{topology}, memory_{memory}, svm_{svm}, events_{events}, scheduler_{scheduler} {}

    /// Executes one ioctl; 0 or an errno value.
    int ioctl(unsigned long request, void* argument);

  private:
    int get_version(abi::GetVersion& args);
    int create_queue(abi::CreateQueue& args);
    int destroy_queue(abi::DestroyQueue& args);
    int update_queue(abi::UpdateQueue& args);
    int set_cu_mask(abi::SetCuMask& args);
    int alloc_queue_gws(abi::AllocQueueGws& args);
    int set_memory_policy(abi::SetMemoryPolicy& args);
    int get_clock_counters(abi::GetClockCounters& args);
    int get_process_apertures(abi::GetProcessAperturesNew& args);
    int create_event(abi::CreateEvent& args);
    int set_event_page(std::uint64_t handle);
    int destroy_event(abi::EventId& args);
    int set_event(abi::EventId& args);
    int reset_event(abi::EventId& args);
    int wait_events(abi::WaitEvents& args);
    int set_scratch_backing(abi::SetScratchBackingVa& args);
    int get_tile_config(abi::GetTileConfig& args);
    int set_trap_handler(abi::SetTrapHandler& args);
    int acquire_vm(abi::AcquireVm& args);
    int alloc_memory(abi::AllocMemoryOfGpu& args);
    int free_memory(abi::FreeMemoryOfGpu& args);
    int map_memory(abi::MapMemory& args);
    int unmap_memory(abi::MapMemory& args);
    int get_dmabuf_info(abi::GetDmabufInfo& args);
    int import_dmabuf(abi::ImportDmabuf& args);
    int export_dmabuf(abi::ExportDmabuf& args);
    int ipc_export_handle(abi::IpcExportHandle& args);
    int ipc_import_handle(abi::IpcImportHandle& args);
    int runtime_enable(abi::RuntimeEnable& args);
    int svm(unsigned long request, void* argument);
    int set_xnack_mode(abi::SetXnackMode& args);
    int smi_events(abi::SmiEvents& args);
    int available_memory(abi::AvailableMemory& args);

    const Gpu* gpu(std::uint32_t gpu_id) const { return topology_.find(gpu_id); }

    const Topology& topology_;
    Memory& memory_;
    Svm& svm_;
    std::atomic<bool> runtime_enabled_{false};  // guards no other data
    Events& events_;
    Scheduler& scheduler_;
};

}  // namespace kfdemu
