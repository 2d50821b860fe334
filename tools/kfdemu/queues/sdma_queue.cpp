#include "queues/sdma_queue.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/counters.hpp"
#include "base/injection.hpp"
#include "base/log.hpp"
#include "queues/gpu_memory.hpp"
#include "resources/device_access.hpp"

namespace kfdemu {
namespace {
// Bytes that one service() copies: some tens of microseconds.
constexpr std::uint64_t kSliceBytes = 1 << 20;
constexpr unsigned kMaxPacketDwords = 16;

/// Bytes per unit of progress_: boxes advance by rows, other commands by bytes.
std::uint64_t row_bytes(const sdma::Command& command) {
    const auto* box = std::get_if<sdma::CopyRect>(&command);
    return box ? box->width_bytes : 1;
}
}  // namespace

SdmaQueue::SdmaQueue(unsigned gpu, const AddressSpace& space, Events& events, Eviction& eviction,
                     const abi::CreateQueue& args, volatile std::uint64_t* doorbell)
    : gpu_{gpu},
      gpu_id_{args.gpu_id},
      space_{space},
      events_{events},
      eviction_{eviction},
      ring_{args.ring_base_address},
      ring_bytes_{args.ring_size},
      read_pointer_va_{args.read_pointer_address},
      doorbell_{doorbell} {
    *doorbell_ = 0;
}

bool SdmaQueue::service() {
    const Eviction::Turn turn{eviction_};
    if (!turn) return false;
    std::lock_guard lock{mutex_};
    if (stopped_ || suspended_ || failed_) return false;
    // Acquire: packets written before the doorbell was rung are visible.
    const std::uint64_t write = __atomic_load_n(doorbell_, __ATOMIC_ACQUIRE);
    if (write == read_bytes_) return false;

    if (injection().stalled(QueueKind::sdma, ring_)) return false;

    AddressSpace::Hold hold{space_};
    const DeviceAccess here;
    bool did = false;
    for (unsigned packets = 0; packets < 64 && read_bytes_ < write; ++packets) {
        if (!current_) {
            current_ = fetch(write);
            counters.sdma_packets += 1;
        }
        const sdma::Decoded packet = *current_;
        if (packet.dwords == 0) {
            failed_ = true;
            counters.faults += 1;
            log(LogLevel::error, "gpu{}: {}; the queue stops", gpu_,
                packet.error.empty() ? "an SDMA packet is cut off by the write pointer" : packet.error);
            return did;
        }
        switch (execute(packet.command)) {
            case Step::fault:
                failed_ = true;
                return true;
            case Step::waiting:
                return did;
            case Step::again:
                return true;
            case Step::done:
                break;
        }
        did = true;
        counters.sdma_bytes += progress_ * row_bytes(packet.command);
        current_.reset();
        progress_ = 0;
        read_bytes_ += packet.dwords * 4u;
        auto* read_pointer = at<std::uint64_t>(space_, read_pointer_va_, kWrite);
        if (!read_pointer) {
            fault(read_pointer_va_, kWrite);
            return failed_ = true;
        }
        __atomic_store_n(read_pointer, read_bytes_, __ATOMIC_RELEASE);
    }
    return did;
}

sdma::Decoded SdmaQueue::fetch(std::uint64_t write) {
    std::uint32_t dwords[kMaxPacketDwords];
    const auto available = std::min<std::uint64_t>((write - read_bytes_) / 4, kMaxPacketDwords);
    for (unsigned i = 0; i < available; ++i) {
        const auto* dword = at<std::uint32_t>(space_, ring_ + (read_bytes_ + 4 * i) % ring_bytes_, kRead);
        if (!dword) return {{}, 0, fmt::format("the SDMA ring at {:#x} is not mapped", ring_)};
        dwords[i] = *dword;
    }
    // Padding may be longer than the window: skip it without reading all of it.
    if (available && (dwords[0] & 0xff) == 0) {
        const std::uint64_t size = 1 + ((dwords[0] >> 16) & 0x3fff);
        if (size <= (write - read_bytes_) / 4) return {sdma::Nop{}, static_cast<unsigned>(size), {}};
    }
    injection().apply(QueueKind::sdma, ring_, std::as_writable_bytes(std::span{dwords, available}));
    return sdma::decode({dwords, available});
}

SdmaQueue::Step SdmaQueue::execute(const sdma::Command& command) {
    Step step = Step::fault;
    const auto fault =
        host_fault::guarded(&space_, [&] { step = std::visit([this](const auto& c) { return run(c); }, command); });
    return fault ? this->fault(fault->va, fault->access) : step;
}

/// The host address of `va`. Reduces `size_bytes` to what is contiguous there. nullptr: not mapped.
std::byte* SdmaQueue::reach(std::uint64_t va, std::uint64_t& size_bytes, std::uint32_t access) {
    const AddressSpace::Range* range = space_.find(va);
    if (!range || !range->allows(access)) return nullptr;
    size_bytes = std::min(size_bytes, range->end - va);
    return range->at(va);
}

SdmaQueue::Step SdmaQueue::fault(std::uint64_t va, std::uint32_t access) {
    counters.faults += 1;
    const abi::MemoryException exception = memory_exception(space_, gpu_id_, va, access);
    log(LogLevel::error, "gpu{}: SDMA memory fault: {} of {:#x}, {}", gpu_, access == kWrite ? "write" : "read", va,
        exception.not_present ? "which is not mapped" : "which is mapped without that access");
    eviction_.fault(exception);
    return Step::fault;
}

SdmaQueue::Step SdmaQueue::run(const sdma::CopyLinear& copy) {
    std::uint64_t budget = kSliceBytes;
    const bool wrong = progress_ == 0 && injection().corrupts_copy();
    while (progress_ < copy.size_bytes && budget) {
        std::uint64_t size = std::min(copy.size_bytes - progress_, budget);
        const std::byte* from = reach(copy.source + progress_, size, kRead);
        if (!from) return fault(copy.source + progress_, kRead);
        std::byte* to = reach(copy.destination + progress_, size, kWrite);
        if (!to) return fault(copy.destination + progress_, kWrite);
        std::memmove(to, from, size);
        if (wrong && progress_ == 0) to[size / 2] ^= std::byte{1};
        progress_ += size;
        budget -= size;
    }
    return progress_ == copy.size_bytes ? Step::done : Step::again;
}

SdmaQueue::Step SdmaQueue::run(const sdma::CopyRect& copy) {
    const std::uint64_t rows = copy.height * copy.depth;
    for (std::uint64_t budget = kSliceBytes / copy.width_bytes + 1; progress_ < rows && budget; --budget, ++progress_) {
        const std::uint64_t y = progress_ % copy.height, z = progress_ / copy.height;
        const auto row = [&](const sdma::CopyRect::Side& side) {
            return side.address + z * side.slice_bytes + y * side.pitch_bytes;
        };
        for (std::uint64_t done = 0; done < copy.width_bytes;) {
            std::uint64_t size = copy.width_bytes - done;
            const std::byte* from = reach(row(copy.source) + done, size, kRead);
            if (!from) return fault(row(copy.source) + done, kRead);
            std::byte* to = reach(row(copy.destination) + done, size, kWrite);
            if (!to) return fault(row(copy.destination) + done, kWrite);
            std::memmove(to, from, size);
            done += size;
        }
    }
    return progress_ == rows ? Step::done : Step::again;
}

SdmaQueue::Step SdmaQueue::run(const sdma::Fill& fill) {
    std::uint64_t budget = kSliceBytes;
    while (progress_ < fill.size_bytes && budget) {
        std::uint64_t size = std::min(fill.size_bytes - progress_, budget);
        std::byte* to = reach(fill.destination + progress_, size, kWrite);
        if (!to) return fault(fill.destination + progress_, kWrite);
        for (std::uint64_t i = 0; i < size; ++i)
            to[i] = static_cast<std::byte>(fill.value >> 8 * ((progress_ + i) % fill.unit_bytes));
        progress_ += size;
        budget -= size;
    }
    return progress_ == fill.size_bytes ? Step::done : Step::again;
}

SdmaQueue::Step SdmaQueue::run(const sdma::Fence& fence) {
    auto* word = at<std::uint32_t>(space_, fence.address, kWrite);
    if (!word) return fault(fence.address, kWrite);
    __atomic_store_n(word, fence.value, __ATOMIC_RELEASE);
    return Step::done;
}

SdmaQueue::Step SdmaQueue::run(const sdma::Trap& trap) {
    events_.signal(trap.event_id);
    return Step::done;
}

SdmaQueue::Step SdmaQueue::run(const sdma::PollMemory& poll) {
    const auto* word = at<std::uint32_t>(space_, poll.address, kRead);
    if (!word) return fault(poll.address, kRead);
    return poll.holds(__atomic_load_n(word, __ATOMIC_ACQUIRE)) ? Step::done : Step::waiting;
}

SdmaQueue::Step SdmaQueue::run(const sdma::Atomic& atomic) {
    auto* word = at<std::uint64_t>(space_, atomic.address, kWrite);
    if (!word) return fault(atomic.address, kWrite);
    // Acquire and release: the decrement of a signal publishes the copies before it.
    if (atomic.operation == sdma::kAdd64) {
        __atomic_fetch_add(word, atomic.operand, __ATOMIC_ACQ_REL);
    } else if (atomic.operation == sdma::kSub64) {
        __atomic_fetch_sub(word, atomic.operand, __ATOMIC_ACQ_REL);
    } else {
        __atomic_exchange_n(word, atomic.operand, __ATOMIC_ACQ_REL);
    }
    return Step::done;
}

SdmaQueue::Step SdmaQueue::run(const sdma::Timestamp& stamp) {
    auto* word = at<std::uint64_t>(space_, stamp.address, kWrite);
    if (!word) return fault(stamp.address, kWrite);
    __atomic_store_n(word, clock::now(), __ATOMIC_RELAXED);
    return Step::done;
}

void SdmaQueue::stop() {
    std::lock_guard lock{mutex_};
    stopped_ = true;
}

int SdmaQueue::update(const abi::UpdateQueue& args) {
    std::lock_guard lock{mutex_};
    suspended_ = args.queue_percentage == 0 || args.ring_base_address == 0;
    if (suspended_) return 0;
    if (args.ring_size == 0 || (args.ring_size & (args.ring_size - 1)) != 0) return EINVAL;
    ring_ = args.ring_base_address;
    ring_bytes_ = args.ring_size;
    return 0;
}

}  // namespace kfdemu
