#include "tools/kfdemu/dispatch/dispatch.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "tools/kfdemu/base/host_fault.hpp"
#include "tools/kfdemu/check/race/memory_races.hpp"

namespace kfdemu {
namespace {

std::string hex(std::uint64_t value) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

LaunchRefused bad_object(std::uint64_t kernel_object, const std::string& why) {
    return {Refusal::BadKernelObject, "kernel object " + hex(kernel_object) + ": " + why, 0};
}

/// What the GPU can read there; null: not all of it.
const std::byte* readable(const AddressSpace& memory, std::uint64_t at, std::size_t bytes) {
    const AddressSpace::Range* range = memory.find(at);
    if (range == nullptr || !range->contains(at, bytes) || !range->allows(kRead) ||
        (range->user_pages && !host_fault::accessible(memory, range->at(at), kRead)))
        return nullptr;
    return range->at(at);
}

std::variant<KernelDescriptor, LaunchRefused> read_kernel(const Dispatch::Setup& setup) {
    const std::uint64_t at = setup.packet.kernel_object;
    if (at == 0) return bad_object(at, "it is null");
    if (at % 64 != 0) return bad_object(at, "it is not aligned to 64 bytes");
    const std::byte* const there = readable(*setup.memory, at, kKernelDescriptorBytes);
    if (there == nullptr) return bad_object(at, "it is not in memory that this GPU can read");

    const std::span<const std::byte, kKernelDescriptorBytes> bytes{there, kKernelDescriptorBytes};
    auto parsed = parse_kernel_descriptor(bytes, setup.gpu.target);
    if (auto* refused = std::get_if<DescriptorRefused>(&parsed)) {
        LaunchRefused result = bad_object(at, refused->why);
        if (refused->reason == DescriptorRefused::Reason::WrongIsa) result.reason = Refusal::WrongIsa;
        return result;
    }
    const KernelDescriptor& kernel = std::get<KernelDescriptor>(parsed);
    const std::uint64_t entry = at + static_cast<std::uint64_t>(kernel.entry_offset_bytes);
    if (entry % 256 != 0) return bad_object(at, "its code at " + hex(entry) + " is not aligned to 256 bytes");
    const AddressSpace::Range* code = setup.memory->find(entry);
    if (code == nullptr || !code->allows(kExecute))
        return bad_object(at, "its code at " + hex(entry) + " is not in memory that this GPU can execute");
    return kernel;
}

/// The arguments that the command processor loads into SGPRs.
std::optional<LaunchRefused> read_preloaded(const Dispatch::Setup& setup, const KernelDescriptor& kernel,
                                            std::span<std::uint32_t> preloaded) {
    if (kernel.preload_dwords == 0) return std::nullopt;
    const std::uint64_t at = setup.packet.kernarg_address + std::uint64_t{kernel.preload_offset_dwords} * 4;
    const std::size_t bytes = std::size_t{kernel.preload_dwords} * 4;
    const std::byte* const there = readable(*setup.memory, at, bytes);
    if (there == nullptr)
        return bad_object(setup.packet.kernel_object,
                          "its arguments at " + hex(at) + " are not in memory that this GPU can read");
    std::memcpy(preloaded.data(), there, bytes);
    return std::nullopt;
}

/// The kernel's first instructions, which tell it from others that are at its address earlier or later.
std::span<const std::byte> beginning(const AddressSpace& memory, std::uint64_t entry) {
    constexpr std::uint64_t kMostBytes = 4096;
    const AddressSpace::Range* range = memory.find(entry);
    if (range == nullptr || range->user_pages) return {};
    return {range->at(entry), std::min(kMostBytes, range->end - entry)};
}

count::KernelCounts::Kernel* begin_counting(const Dispatch::Setup& setup, const KernelDescriptor& kernel) {
    if (setup.counts == nullptr) return nullptr;
    const std::uint64_t at = setup.packet.kernel_object;
    const std::uint64_t entry = at + static_cast<std::uint64_t>(kernel.entry_offset_bytes);
    return &setup.counts->begin({at, entry, setup.gpu.target, kernel.width, beginning(*setup.memory, entry)});
}

}  // namespace

std::variant<std::shared_ptr<Dispatch>, LaunchRefused> Dispatch::create(Setup setup) {
    // As in the command processor: the packet's own fields first, and scratch last, because the packet is retried for
    // it.
    if (auto refused = check_packet(setup.packet, setup.gpu)) return *refused;
    auto read = read_kernel(setup);
    if (auto* refused = std::get_if<LaunchRefused>(&read)) return *refused;
    const KernelDescriptor& kernel = std::get<KernelDescriptor>(read);
    if (auto refused = check_scratch(setup.packet, kernel, setup.queue)) return *refused;
    std::array<std::uint32_t, kMostUserSgprs> preloaded{};
    if (auto refused = read_preloaded(setup, kernel, preloaded)) return *refused;
    std::shared_ptr<Dispatch> dispatch{new Dispatch{std::move(setup), kernel}};
    dispatch->preloaded_ = preloaded;
    return dispatch;
}

Dispatch::Dispatch(Setup&& setup, const KernelDescriptor& kernel)
    : setup_{std::move(setup)},
      kernel_{kernel},
      code_use_{*setup_.code},
      serial_{CodeCache::new_serial()},
      memory_races_{setup_.session.any() &&
                            (setup_.session.checks.has(Check::race) || setup_.session.checks.has(Check::fence))
                        ? std::make_shared<check::MemoryRaces>(setup_.gpu.target)
                        : nullptr},
      counted_{begin_counting(setup_, kernel_)} {
    counts_ = group_counts(setup_.packet);
    if (setup_.session.any()) setup_.session.report->coverage.dispatches += 1;
    // Saturates: neither this number of groups nor more would ever complete.
    total_ = std::uint64_t{counts_[0]} * counts_[1];
    if (__builtin_mul_overflow(total_, std::uint64_t{counts_[2]}, &total_)) total_ = ~std::uint64_t{0};
}

bool Dispatch::has_more() const { return next_.load(std::memory_order_relaxed) < total_ || has_returned(); }

bool Dispatch::fill(Batch& batch) {
    // Groups that have scratch slots may wait for earlier ones, which must not be left without a slot.
    const bool in_order = setup_.order.given() || setup_.packet.private_segment_size != 0;
    const std::uint64_t most = in_order ? 1 : std::min<std::uint64_t>(64, batch.size_);
    batch.size_ = 2 * most;
    if (has_returned()) {
        const std::lock_guard lock{returned_mutex_};
        if (const auto first = std::min_element(returned_.begin(), returned_.end()); first != returned_.end()) {
            auto& [begin, end] = *first;
            batch.next_ = begin;
            batch.end_ = begin = std::min(end, begin + most);
            if (begin == end) returned_.erase(first);
            returned_count_.store(returned_.size(), std::memory_order_relaxed);
            return true;
        }
    }
    const std::uint64_t seen = next_.load(std::memory_order_relaxed);
    if (seen >= total_) return false;
    // Fewer at the end, so that no worker has much more left than the others.
    constexpr std::uint64_t parts = 64;
    const std::uint64_t count = std::clamp<std::uint64_t>((total_ - seen) / parts, 1, most);
    batch.next_ = next_.fetch_add(count, std::memory_order_relaxed);
    batch.end_ = std::min(total_, batch.next_ + count);
    return batch.next_ < batch.end_;
}

void Dispatch::Batch::give_back() {
    size_ = 1;
    if (next_ >= end_) return;
    const std::lock_guard lock{dispatch_.returned_mutex_};
    dispatch_.returned_.emplace_back(next_, end_);
    dispatch_.returned_count_.store(dispatch_.returned_.size(), std::memory_order_relaxed);
    next_ = end_;
}

bool Dispatch::take_group(std::uint64_t& index, Batch& batch) {
    if (stopping() || (batch.next_ >= batch.end_ && !fill(batch))) return false;
    index = setup_.order.permuted(batch.next_++, total_);
    return true;
}

std::array<std::uint32_t, 3> Dispatch::group_id(std::uint64_t index) const {
    if (index < counts_[0]) return {static_cast<std::uint32_t>(index), 0, 0};
    return {static_cast<std::uint32_t>(index % counts_[0]), static_cast<std::uint32_t>(index / counts_[0] % counts_[1]),
            static_cast<std::uint32_t>(index / counts_[0] / counts_[1])};
}

Dispatch::Start Dispatch::start_group(WorkGroup& group) {
    Batch batch{*this};
    return start_group(group, batch);
}

Dispatch::Start Dispatch::start_group(WorkGroup& group, Batch& batch) {
    // Counted before a group is taken, so that state() cannot leave Running in between.
    if (group.reports_to_ != nullptr && group.reports_to_ != this) group.report();
    if (group.reports_to_ == nullptr) outstanding_.fetch_add(1, std::memory_order_relaxed);
    group.reports_to_ = this;
    const auto not_started = [&](Start why) {
        group.report();
        return why;
    };
    if (stopping() || (batch.next_ >= batch.end_ && !has_more())) return not_started(Start::NoMore);

    std::array<std::uint16_t, WorkGroup::kMaxWaves> slots{};
    const bool scratch = setup_.packet.private_segment_size != 0;
    const std::uint32_t waves = waves_per_group(setup_.packet, kernel_.width);
    if (scratch && !setup_.scratch_slots->acquire(slots.data(), waves)) return not_started(Start::Later);
    std::uint64_t index = 0;
    if (!take_group(index, batch)) {
        if (scratch) setup_.scratch_slots->release(slots.data(), waves);
        return not_started(Start::NoMore);
    }
    group.begin(*this, index, scratch ? slots.data() : nullptr);
    return Start::Started;
}

Dispatch::State Dispatch::state() const {
    if (const State claimed = claimed_.load(std::memory_order_acquire); claimed != State::Running) return claimed;
    // Acquire: pairs with the release of the last group that ended; all earlier ones are in its release sequence.
    if (outstanding_.load(std::memory_order_acquire) != 0) return State::Running;
    if (failed_.load(std::memory_order_acquire)) return State::Failed;
    if (ended_.load(std::memory_order_acquire) == total_) return State::Finished;
    return stopping() ? State::Aborted : State::Running;
}

bool Dispatch::claim_end() {
    // Once claimed, the state is fixed: start_group() briefly increments outstanding_ even if no group is left.
    const State now = state();
    State none = State::Running;
    return now != State::Running && claimed_.compare_exchange_strong(none, now, std::memory_order_acq_rel);
}

void Dispatch::abort() { stop_.store(true, std::memory_order_relaxed); }

/// `last`: the WorkGroup runs none now.
void Dispatch::groups_ended(std::uint64_t whole, bool last) {
    if (whole != 0) ended_.fetch_add(whole, std::memory_order_release);
    if (last) outstanding_.fetch_sub(1, std::memory_order_release);
}

void Dispatch::group_failed(KernelFault&& fault) {
    {
        const std::lock_guard lock{fault_mutex_};
        if (!failed_.load(std::memory_order_relaxed)) fault_ = std::move(fault);
        failed_.store(true, std::memory_order_release);
    }
    abort();
}

}  // namespace kfdemu
