#include "tools/kfdemu/queues/sdma_queue.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "tools/kfdemu/base/counters.hpp"
#include "tools/kfdemu/base/injection.hpp"
#include "tools/kfdemu/base/log.hpp"
#include "tools/kfdemu/queues/gpu_memory.hpp"
#include "tools/kfdemu/queues/sdma_atomic.hpp"
#include "tools/kfdemu/resources/device_access.hpp"

namespace kfdemu {
namespace {
// Bytes that one service() copies: some tens of microseconds.
constexpr std::uint64_t kSliceBytes = 1 << 20;
// What looking up an address costs, in bytes that are copied meanwhile: narrow rows take longer than their bytes.
constexpr std::uint64_t kLookupBytes = 256;
constexpr unsigned kIndirectDwords = 6;

/// Bytes per unit of progress_: boxes advance by rows, other commands by bytes.
std::uint64_t row_bytes(const sdma::Command& command) {
    const auto* box = std::get_if<sdma::CopyRect>(&command);
    return box ? box->width_bytes : 1;
}
}  // namespace

SdmaQueue::SdmaQueue(unsigned gpu, const AddressSpace& space, Events& events, Eviction& eviction,
                     const abi::CreateQueue& args, volatile std::uint64_t* doorbell, sdma::Version version)
    : gpu_{gpu},
      version_{version},
      gpu_id_{args.gpu_id},
      engine_{args.queue_type == abi::kSdmaByEngine ? args.sdma_engine_id : 0},
      space_{space},
      events_{events},
      eviction_{eviction},
      ring_{args.ring_base_address},
      ring_bytes_{args.ring_size},
      read_pointer_va_{args.read_pointer_address},
      doorbell_{doorbell},
      checked_{gpu, doorbell} {
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
    if (write != std::exchange(written_bytes_, write)) checked_.rung(read_bytes_, write);

    if (injection().stalled(QueueKind::sdma, ring_)) return false;

    AddressSpace::Hold hold{space_};
    const DeviceAccess here;
    bool did = false;
    budget_bytes_ = kSliceBytes;
    while (budget_bytes_ && read_bytes_ < write) {
        spend(0);
        const std::uint64_t available = available_dwords(write);
        if (skip_dwords_) {
            const std::uint64_t skipped = std::min(skip_dwords_, available);
            skip_dwords_ -= skipped;
            if (!advance(skipped)) return true;
            did = true;
            continue;
        }
        if (!current_) {
            current_ = fetch(available);
            if (!current_) return failed_ = true;
            counters.sdma_packets += 1;
        }
        const sdma::Decoded packet = *current_;
        if (packet.dwords == 0) {
            refuse(packet.error.empty() ? fmt::format("an SDMA packet is cut off by the {}",
                                                      indirect_ ? "indirect buffer's end" : "write pointer")
                                        : packet.error);
            return did;
        }
        checked_.begins(packet.command, read_bytes_);
        switch (execute(packet.command)) {
            case Step::fault:
                checked_.fails();
                failed_ = true;
                return true;
            case Step::waiting:
                return did;
            case Step::again:
                return true;
            case Step::entered:
                current_.reset();
                did = true;
                continue;
            case Step::done:
                break;
        }
        did = true;
        counters.sdma_bytes += progress_ * row_bytes(packet.command);
        checked_.ends();
        current_.reset();
        progress_ = 0;
        if (!advance(packet.dwords)) return true;
    }
    return did;
}

std::uint64_t SdmaQueue::address_of(std::uint64_t dword) const {
    return indirect_ ? indirect_->address + 4 * (indirect_done_ + dword)
                     : ring_ + (read_bytes_ + 4 * dword) % ring_bytes_;
}

std::uint64_t SdmaQueue::available_dwords(std::uint64_t write) const {
    return indirect_ ? indirect_->dwords - indirect_done_ : (write - read_bytes_) / 4;
}

std::string SdmaQueue::place() const {
    if (indirect_)
        return fmt::format("byte {} of the indirect buffer at {:#x}", 4 * indirect_done_, indirect_->address);
    return fmt::format("byte {} of the ring at {:#x}", read_bytes_ % ring_bytes_, ring_);
}

SdmaQueue::Step SdmaQueue::refuse(std::string_view why) {
    failed_ = true;
    counters.faults += 1;
    log(LogLevel::error, "gpu{}: {}, at {}; the queue stops", gpu_, why, place());
    return Step::fault;
}

/// std::nullopt: a fault.
std::optional<sdma::Decoded> SdmaQueue::fetch(std::uint64_t available) {
    std::uint32_t dwords[sdma::kHeadDwords];
    const auto count = std::min<std::uint64_t>(available, sdma::kHeadDwords);
    for (unsigned i = 0; i < count; ++i) {
        if (!access<const std::uint32_t>(space_, address_of(i), kRead, [&](auto& dword) { dwords[i] = dword; }))
            return fault(address_of(i), kRead), std::nullopt;
    }
    injection().apply(QueueKind::sdma, ring_, std::as_writable_bytes(std::span{dwords, count}));
    return sdma::decode(std::span{dwords, count}, available, version_);
}

/// Goes past dwords, and past the ring's packet when its indirect buffer ends. False: a fault.
bool SdmaQueue::advance(std::uint64_t dwords) {
    if (indirect_) {
        indirect_done_ += dwords;
        if (indirect_done_ < indirect_->dwords) return true;
        if (skip_dwords_) return refuse("a skip goes beyond the end"), false;
        indirect_.reset();
        dwords = kIndirectDwords;
    }
    read_bytes_ += dwords * 4;
    checked_.passed(read_bytes_);
    if (access<std::uint64_t>(space_, read_pointer_va_, kWrite,
                              [&](auto& pointer) { __atomic_store_n(&pointer, read_bytes_, __ATOMIC_RELEASE); }))
        return true;
    fault(read_pointer_va_, kWrite);
    failed_ = true;
    return false;
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

/// Counts a lookup, and bytes copied there, towards the end of this service().
void SdmaQueue::spend(std::uint64_t size_bytes) { budget_bytes_ -= std::min(budget_bytes_, size_bytes + kLookupBytes); }

SdmaQueue::Step SdmaQueue::fault(std::uint64_t va, std::uint32_t access) {
    counters.faults += 1;
    const abi::MemoryException exception = memory_exception(space_, gpu_id_, va, access);
    log(LogLevel::error, "gpu{}: SDMA memory fault: {} of {:#x}, {}", gpu_, access == kWrite ? "write" : "read", va,
        exception.not_present ? "which is not mapped" : "which is mapped without that access");
    eviction_.fault(exception);
    return Step::fault;
}

SdmaQueue::Step SdmaQueue::run(const sdma::CopyLinear& copy) {
    const bool wrong = progress_ == 0 && injection().corrupts_copy();
    while (progress_ < copy.size_bytes && budget_bytes_) {
        std::uint64_t size = std::min(copy.size_bytes - progress_, budget_bytes_);
        const std::byte* from = reach(copy.source + progress_, size, kRead);
        if (!from) return fault(copy.source + progress_, kRead);
        std::byte* to = reach(copy.destination + progress_, size, kWrite);
        if (!to) return fault(copy.destination + progress_, kWrite);
        std::byte* second = nullptr;
        if (copy.second_destination) {
            second = reach(*copy.second_destination + progress_, size, kWrite);
            if (!second) return fault(*copy.second_destination + progress_, kWrite);
        }
        std::memmove(to, from, size);
        if (second) std::memmove(second, from, size);
        if (wrong && progress_ == 0) to[size / 2] ^= std::byte{1};
        progress_ += size;
        spend(size);
    }
    return progress_ == copy.size_bytes ? Step::done : Step::again;
}

SdmaQueue::Step SdmaQueue::run(const sdma::CopyRect& copy) {
    const std::uint64_t rows = copy.height * copy.depth;
    for (; progress_ < rows && budget_bytes_; ++progress_) {
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
            spend(size);
        }
    }
    return progress_ == rows ? Step::done : Step::again;
}

SdmaQueue::Step SdmaQueue::run(const sdma::Write& write) {
    const std::uint64_t size = std::uint64_t{write.dwords} * 4;
    for (; progress_ < size && budget_bytes_; spend(4), progress_ += 4) {
        const std::uint64_t from = address_of(sdma::kWriteHeadDwords + progress_ / 4);
        const auto* dword = at<std::uint32_t>(space_, from, kRead);
        if (!dword) return fault(from, kRead);
        auto* word = at<std::uint32_t>(space_, write.destination + progress_, kWrite);
        if (!word) return fault(write.destination + progress_, kWrite);
        // Relaxed: a host that polls the word sees whole values; the packets after it publish them.
        __atomic_store_n(word, *dword, __ATOMIC_RELAXED);
    }
    return progress_ == size ? Step::done : Step::again;
}

SdmaQueue::Step SdmaQueue::run(const sdma::Indirect& indirect) {
    if (indirect_) return refuse("SDMA packet INDIRECT within an indirect buffer");
    if (indirect.dwords == 0) return Step::done;
    indirect_ = indirect;
    indirect_done_ = 0;
    return Step::entered;
}

SdmaQueue::Step SdmaQueue::run(const sdma::Fill& fill) {
    std::byte pattern[64];  // a multiple of every unit, so that it repeats
    while (progress_ < fill.size_bytes && budget_bytes_) {
        for (std::uint64_t i = 0; i < sizeof pattern; ++i)
            pattern[i] = static_cast<std::byte>(fill.value >> 8 * ((progress_ + i) % fill.unit_bytes));
        std::uint64_t size = std::min(fill.size_bytes - progress_, budget_bytes_);
        std::byte* to = reach(fill.destination + progress_, size, kWrite);
        if (!to) return fault(fill.destination + progress_, kWrite);
        for (std::uint64_t i = 0; i < size; i += sizeof pattern)
            std::memcpy(to + i, pattern, std::min<std::uint64_t>(sizeof pattern, size - i));
        progress_ += size;
        spend(size);
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

SdmaQueue::Step SdmaQueue::after_wait(bool met) {
    met ? checked_.depended() : checked_.blocked();
    return met ? Step::done : Step::waiting;
}

SdmaQueue::Step SdmaQueue::run(const sdma::PollMemory& poll) {
    const auto* word = at<std::uint32_t>(space_, poll.address, kRead);
    if (!word) return fault(poll.address, kRead);
    return after_wait(poll.holds(__atomic_load_n(word, __ATOMIC_ACQUIRE)));
}

SdmaQueue::Step SdmaQueue::run(const sdma::ExecuteIfEqual& condition) {
    const auto* word = at<std::uint32_t>(space_, condition.address, kRead);
    if (!word) return fault(condition.address, kRead);
    if (__atomic_load_n(word, __ATOMIC_ACQUIRE) != condition.reference) skip_dwords_ = condition.dwords;
    return Step::done;
}

SdmaQueue::Step SdmaQueue::run(const sdma::ExecuteOnEngines& predicate) {
    if (!(predicate.engines >> engine_ & 1)) skip_dwords_ = predicate.dwords;
    return Step::done;
}

template <class T>
SdmaQueue::Step SdmaQueue::update_word(const sdma::Atomic& atomic) {
    auto* word = at<T>(space_, atomic.address, kWrite);
    if (!word) return fault(atomic.address, kWrite);
    const T old = sdma::atomic_update(word, sdma::operation_of(atomic.operation), static_cast<T>(atomic.operand),
                                      static_cast<T>(atomic.compare));
    return atomic.loops ? after_wait(old == static_cast<T>(atomic.compare)) : Step::done;
}

SdmaQueue::Step SdmaQueue::run(const sdma::Atomic& atomic) {
    return sdma::is_64_bit(atomic.operation) ? update_word<std::uint64_t>(atomic) : update_word<std::uint32_t>(atomic);
}

SdmaQueue::Step SdmaQueue::run(const sdma::SetClock& set) {
    clock_offset_ = set.ticks - clock::now();
    return Step::done;
}

SdmaQueue::Step SdmaQueue::run(const sdma::Timestamp& stamp) {
    auto* word = at<std::uint64_t>(space_, stamp.address, kWrite);
    if (!word) return fault(stamp.address, kWrite);
    __atomic_store_n(word, clock::now() + (stamp.global ? 0 : clock_offset_), __ATOMIC_RELAXED);
    return Step::done;
}

void SdmaQueue::stop() {
    std::lock_guard lock{mutex_};
    checked_.fails();
    stopped_ = true;
}

bool SdmaQueue::busy() {
    std::lock_guard lock{mutex_};
    return !stopped_ && !failed_ && current_;
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
