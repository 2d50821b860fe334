#include "hsadrv/queue/fault.hpp"

#include <dlfcn.h>
#include <hsa/hsa_ext_amd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "hsadrv/base/text.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/memory/allocation_book.hpp"

namespace hsadrv::detail {

namespace {

struct Board {
    std::mutex mutex;
    std::vector<Fault> faults;  // at most one per agent
    // Relaxed: a thread that sees a non-zero count takes the lock to read.
    std::atomic<std::size_t> count{0};
    std::atomic<void (*)(const Fault&)> tell{nullptr};
};

// Never destroyed: the runtime's thread may still call at exit.
Board& board() {
    static auto* board = new Board;
    return *board;
}

void record(const Fault& fault) {
    Board& known = board();
    {
        const std::lock_guard lock(known.mutex);
        const auto same = [&](const Fault& other) { return other.node == fault.node; };
        if (std::any_of(known.faults.begin(), known.faults.end(), same)) return;
        known.faults.push_back(fault);
        known.count.store(known.faults.size(), std::memory_order_relaxed);
    }
    if (const auto tell = known.tell.load(std::memory_order_acquire)) tell(fault);
}

// The current registration: an adopted runtime also keeps earlier ones. Zero: none.
std::atomic<std::uintptr_t> registration{0};
std::uintptr_t registrations = 0;  // under the board's mutex

// From hsa_ext_amd.h of ROCm 6. The agent is the first member of all of them.
constexpr int gpu_hw_exception_event = 1;
constexpr int gpu_memory_error_event = 2;

// On the runtime's thread. Success means that the event was handled; if no handler returns it, the runtime aborts. The
// runtime calls every registered handler, whatever the others return.
hsa_status_t on_system_event(const hsa_amd_event_t* event, void* data) noexcept {
    if (reinterpret_cast<std::uintptr_t>(data) != registration.load(std::memory_order_acquire)) return HSA_STATUS_ERROR;
    const hsa_amd_gpu_memory_fault_info_t& info = event->memory_fault;
    Fault fault{AgentRef(info.agent), 0, info.virtual_address, info.fault_reason_mask};
    switch (static_cast<int>(event->event_type)) {
        case HSA_AMD_GPU_MEMORY_FAULT_EVENT:
            break;
        case gpu_hw_exception_event:
            fault.address = 0;
            fault.reasons = static_cast<std::uint32_t>(HSA_AMD_MEMORY_FAULT_HANG);
            break;
        case gpu_memory_error_event:
            return HSA_STATUS_SUCCESS;  // freeing memory in use: the call that freed it fails
        default:
            return HSA_STATUS_ERROR;
    }
    try {
        fault.node = fault.agent.node();
        fault.nearest = allocations::nearest(fault.address);
        record(fault);
    } catch (...) {
        return HSA_STATUS_ERROR;
    }
    return HSA_STATUS_SUCCESS;
}

}  // namespace

std::string Fault::reason_text() const {
    static constexpr std::pair<std::uint32_t, const char*> names[] = {
        {HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT, "page not present"},
        {HSA_AMD_MEMORY_FAULT_READ_ONLY, "write to a read-only page"},
        {HSA_AMD_MEMORY_FAULT_NX, "execution of a page that is not executable"},
        {HSA_AMD_MEMORY_FAULT_HOST_ONLY, "host-only page"},
        {HSA_AMD_MEMORY_FAULT_DRAMECC, "DRAM ECC failure"},
        {HSA_AMD_MEMORY_FAULT_IMPRECISE, "address imprecise"},
        {HSA_AMD_MEMORY_FAULT_SRAMECC, "SRAM ECC failure"},
        {static_cast<std::uint32_t>(HSA_AMD_MEMORY_FAULT_HANG), "GPU reset after a hang"},
    };
    std::string text;
    for (const auto& [bit, name] : names)
        if (reasons & bit) text += (text.empty() ? "" : ", ") + std::string(name);
    return text.empty() ? "no reason given" : text;
}

std::string Fault::place_text() const {
    constexpr std::uint64_t page_bytes = 4096;
    if (address < page_bytes) return "null";
    // Bits 63 to 48 must repeat bit 47.
    if (static_cast<std::uint64_t>(static_cast<std::int64_t>(address << 16) >> 16) != address)
        return "non-canonical address";
    if (nearest) return nearest->text();
    return "never mapped by this library, and no allocation was within 1 GiB";
}

std::string Fault::text(const std::string& whose) const {
    if (reasons == static_cast<std::uint32_t>(HSA_AMD_MEMORY_FAULT_HANG)) return "reset of " + whose + " after a hang";
    const bool imprecise = reasons & HSA_AMD_MEMORY_FAULT_IMPRECISE && address == 0;
    return "memory fault on " + whose +
           (imprecise ? ", address unknown"
                      : " at address " + hex(address) + " (" + reason_text() + "), " + place_text());
}

DeviceLost Fault::lost(const std::string& whose) const {
    return DeviceLost(whose + ": this process has lost " + agent.label() + " to a " + text("it") +
                      "; none of its queues runs there any more. Fix the kernel and restart the process");
}

namespace faults {

std::uintptr_t install(bool adopted, void (*tell)(const Fault&)) {
    board().tell.store(tell, std::memory_order_release);
    std::uintptr_t mine = 0;
    {
        const std::lock_guard lock(board().mutex);
        mine = ++registrations;
    }
    if (adopted) stay_loaded();
    registration.store(mine, std::memory_order_release);
    check(hsa_amd_register_system_event_handler(on_system_event, reinterpret_cast<void*>(mine)),
          "hsa_amd_register_system_event_handler()");
    return mine;
}

void uninstall(std::uintptr_t mine) noexcept {
    // No effect if the next runtime has already installed its own.
    registration.compare_exchange_strong(mine, 0, std::memory_order_acq_rel);
}

void stay_loaded() noexcept {
    Dl_info info{};
    if (::dladdr(reinterpret_cast<void*>(&on_system_event), &info) != 0)
        ::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

std::optional<Fault> of(AgentRef agent) {
    Board& known = board();
    if (known.count.load(std::memory_order_relaxed) == 0) return std::nullopt;
    const std::lock_guard lock(known.mutex);
    const std::uint32_t node = agent.node();
    for (Fault fault : known.faults) {
        fault.agent = agent;  // the fault's own agent may be an earlier runtime's
        if (fault.node == node) return fault;
    }
    return std::nullopt;
}

void refuse_lost(AgentRef agent, const char* call) {
    if (const auto fault = of(agent)) throw fault->lost(std::string(call) + "(" + agent.label() + ")");
}

}  // namespace faults
}  // namespace hsadrv::detail
