#include "hsadrv/fault.hpp"

#include <hsa/hsa_ext_amd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "hsadrv/error.hpp"
#include "hsadrv/stream_core.hpp"

namespace hsadrv::detail {

namespace {

struct Board {
    std::mutex mutex;
    std::vector<Fault> faults;  // at most one an agent
    std::vector<StreamCore*> streams;
    // Relaxed: whoever sees a non-zero count takes the lock to look.
    std::atomic<std::size_t> count{0};
};

// Never destroyed: the runtime's thread may still call at exit.
Board& board() {
    static auto* board = new Board;
    return *board;
}

void record(const Fault& fault) {
    Board& known = board();
    const std::lock_guard lock(known.mutex);
    const auto same = [&](const Fault& other) { return other.agent == fault.agent; };
    if (std::any_of(known.faults.begin(), known.faults.end(), same)) return;
    known.faults.push_back(fault);
    known.count.store(known.faults.size(), std::memory_order_relaxed);

    std::vector<StreamCore*> busy;
    for (StreamCore* stream : known.streams)
        if (stream->agent() == fault.agent && stream->kernels_in_flight()) busy.push_back(stream);
    if (busy.size() == 1) busy.front()->fail(fault);
}

// On the runtime's thread. Success tells the runtime that the fault was taken care of; otherwise it aborts.
hsa_status_t on_system_event(const hsa_amd_event_t* event, void*) noexcept {
    if (event->event_type != HSA_AMD_GPU_MEMORY_FAULT_EVENT) return HSA_STATUS_ERROR;
    const hsa_amd_gpu_memory_fault_info_t& info = event->memory_fault;
    try {
        record({AgentRef(info.agent), info.virtual_address, info.fault_reason_mask, Deadline::Clock::now()});
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
        {HSA_AMD_MEMORY_FAULT_HOST_ONLY, "page for the host only"},
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

namespace faults {

void install() {
    {
        const std::lock_guard lock(board().mutex);
        board().faults.clear();
        board().count.store(0, std::memory_order_relaxed);
    }
    check(hsa_amd_register_system_event_handler(on_system_event, nullptr),
          "hsa_amd_register_system_event_handler()");
}

std::optional<Fault> of(AgentRef agent) {
    Board& known = board();
    if (known.count.load(std::memory_order_relaxed) == 0) return std::nullopt;
    const std::lock_guard lock(known.mutex);
    for (const Fault& fault : known.faults)
        if (fault.agent == agent) return fault;
    return std::nullopt;
}

void enter(StreamCore& stream) {
    const std::lock_guard lock(board().mutex);
    board().streams.push_back(&stream);
}

void leave(StreamCore& stream) noexcept {
    const std::lock_guard lock(board().mutex);
    std::erase(board().streams, &stream);
}

}  // namespace faults
}  // namespace hsadrv::detail
