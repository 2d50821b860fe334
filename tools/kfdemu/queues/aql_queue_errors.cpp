// Error paths of AqlQueue: a packet or wave error stops the queue with a code, a memory fault stops it through KFD.
#include <utility>

#include "tools/kfdemu/base/counters.hpp"
#include "tools/kfdemu/base/log.hpp"
#include "tools/kfdemu/queues/aql_queue.hpp"
#include "tools/kfdemu/queues/gpu_memory.hpp"
#include "tools/kfdemu/queues/queue_exception.hpp"

namespace kfdemu {

/// A wave's exception ended its kernel: stops the queue with the matching error.
void AqlQueue::report(const Dispatch& dispatch) {
    if (dispatch.state() == Dispatch::State::Aborted) return checked_.clear();
    const KernelFault& fault = dispatch.fault();
    const std::string why = fmt::format("kernel object {:#x}: {}", dispatch.packet().kernel_object, describe(fault));
    switch (fault.what) {
        case isa::Stop::MemoryFault:
            // A non-canonical address does not reach the page tables: the wave raises a memory violation ("Memory
            // violation (>48-bit)" in ROCR's amd_aql_queue.cpp).
            if (!is_canonical(fault.address)) return void(fail(aql::kApertureViolation, why));
            [[fallthrough]];
        case isa::Stop::FetchFault:
            memory_fault(fault.address, fault.access, why);
            break;
        case isa::Stop::Aperture:
        case isa::Stop::Misaligned:
            fail(aql::kApertureViolation, why);
            break;
        case isa::Stop::Illegal:
            fail(aql::kIllegalInstruction, why);
            break;
        default:
            fail(aql::kException, why);
            break;
    }
}

AqlQueue::Step AqlQueue::fail(std::uint64_t code, std::string_view why) {
    failed_ = true;
    checked_.clear();
    counters.faults += 1;
    log(LogLevel::error, "gpu{}: queue stopped with error {:#x} at packet {}: {}", gpu_.index, code, next_, why);
    tell_runtime(code);
    raise_exception(events_, save_area_, code);
    return Step::stopped;
}

AqlQueue::Step AqlQueue::memory_fault(std::uint64_t va, std::uint32_t access, std::string_view what) {
    failed_ = true;
    checked_.clear();
    // Other kernels end later, and meet the same memory that is not there.
    if (std::exchange(faulted_, true)) return Step::stopped;
    counters.faults += 1;
    const abi::MemoryException exception = memory_exception(space_, gpu_.gpu_id, va, access);
    log(LogLevel::error, "gpu{}: memory fault: {} of {:#x} ({}): {}", gpu_.index,
        access & kWrite     ? "write"
        : access & kExecute ? "execution"
                            : "read",
        va, exception.not_present ? "not mapped" : "mapped without that access", what);
    eviction_.fault(exception);
    return Step::stopped;
}

}  // namespace kfdemu
