#include "tools/kfdemu/queues/aql_queue.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tools/kfdemu/base/behaviour.hpp"
#include "tools/kfdemu/base/compute_units.hpp"
#include "tools/kfdemu/base/counters.hpp"
#include "tools/kfdemu/base/injection.hpp"
#include "tools/kfdemu/base/log.hpp"
#include "tools/kfdemu/base/order.hpp"
#include "tools/kfdemu/check/process.hpp"
#include "tools/kfdemu/queues/gpu_memory.hpp"
#include "tools/kfdemu/queues/pm4.hpp"
#include "tools/kfdemu/queues/scheduler.hpp"

namespace kfdemu {
namespace {

constexpr unsigned kPacketsPerService = 256;
constexpr std::uint32_t kMessageBits = 0xffffff;  // of M0, in an interrupt of s_sendmsg
}  // namespace

AqlQueue::AqlQueue(const Gpu& gpu, const AddressSpace& space, Events& events, Eviction& eviction, Scheduler& scheduler,
                   CodeCache& code, GroupPool& groups, const abi::CreateQueue& args, volatile std::uint64_t* doorbell)
    : gpu_{gpu},
      space_{space},
      events_{events},
      eviction_{eviction},
      scheduler_{scheduler},
      code_{code},
      groups_{groups},
      queue_va_{args.read_pointer_address - offsetof(aql::AmdQueue, read_dispatch_id)},
      ring_{args.ring_base_address},
      size_packets_{args.ring_size / sizeof(aql::Packet)},
      save_area_{args.ctx_save_restore_address},
      doorbell_{doorbell},
      priority_{args.queue_priority},
      compute_units_{all_units(gpu.model->compute_units)},
      checked_{gpu, code.target(), queue_va_, ring_, size_packets_, doorbell},
      advertised_{gpu.index, args.write_pointer_address, ring_, size_packets_} {
    *doorbell_ = last_doorbell_;
}

/// Runs `body` with the packet. False: not mapped, or not any more; `body` as for access().
template <class Body>
bool AqlQueue::in_slot(std::uint64_t index, Body&& body) {
    return access<aql::Packet>(space_, slot_va(index), kWrite, body);
}

/// Runs `body` with the runtime's structure. False: the queue has stopped with a memory fault.
template <class Body>
bool AqlQueue::in_queue(Body&& body) {
    if (access<aql::AmdQueue>(space_, queue_va_, kWrite, body)) return true;
    memory_fault(queue_va_, kWrite, "the queue's structure");
    return false;
}

/// Stores `code` into the signal with which the packet processor talks to the runtime. False: not mapped.
bool AqlQueue::tell_runtime(std::uint64_t code) {
    std::uint64_t signal = 0;
    return access<const aql::AmdQueue>(space_, queue_va_, kRead, [&](auto& q) { signal = q.queue_inactive_signal; }) &&
           store(space_, events_, signal, code);
}

bool AqlQueue::service() {
    const Eviction::Turn turn{eviction_};
    if (!turn) return false;
    std::lock_guard lock{mutex_};
    if (stopped_ || suspended_ || failed_ || hung_) return false;
    // Acquire: packets published before the doorbell was rung are visible.
    const std::uint64_t doorbell = __atomic_load_n(doorbell_, __ATOMIC_ACQUIRE);
    const bool rung = doorbell != last_doorbell_;
    if (rung) {
        last_doorbell_ = doorbell;
        highest_doorbell_ = std::max(highest_doorbell_, static_cast<std::int64_t>(doorbell));
        unrung_since_ns_ = 0;
        awake_ = true;
    }
    const bool runs = awake_ && !injection().stalled(QueueKind::compute, ring_);
    if (!runs && !advertised_.looks()) return false;

    AddressSpace::Hold hold{space_};
    advertised_.look(space_, next_);
    if (!runs) return false;
    if (rung && highest_doorbell_ >= 0) checked_.rung(space_, next_, static_cast<std::uint64_t>(highest_doorbell_));
    if (waits_for_scratch_ && !resume_after_scratch()) return false;
    bool did = false;
    for (unsigned n = 0; n < kPacketsPerService && !failed_; ++n) {
        if (!current_ && (!next_is_ready() || !checked_.settled(space_, next_))) break;
        if (!current_ && !read_packet()) break;
        if (aql::has_barrier_bit(current_->header)) {
            if (running_ != 0) {
                checked_.blocked();
                break;
            }
            checked_.waited();
        }
        taken_.push_back({});
        ++running_;
        const Step step = launch(*current_);
        if (step != Step::launched) {
            taken_.pop_back();
            --running_;
            return did;
        }
        did = true;
        dependencies_met_ = 0;
        current_.reset();
    }
    return did;
}

/// Reads the packet at next_. It is read once, even if it then waits. False: the queue has stopped.
bool AqlQueue::read_packet() {
    aql::Packet packet;
    if (!in_slot(next_, [&](const aql::Packet& slot) { packet = slot; }))
        return memory_fault(slot_va(next_), kWrite, "the ring"), false;
    current_ = advertised_.as_read(next_, packet);
    counters.packets += 1;
    injection().apply(QueueKind::compute, ring_, std::as_writable_bytes(std::span{&*current_, 1}));
    return true;
}

/// Firmware may invalidate the header once it has taken a packet, well before the slot is free. Not for a packet that
/// is invalid or needs scratch: the runtime reads those in the ring and asserts that they are valid
/// (DynamicScratchHandler).
void AqlQueue::take_header() {
    if (!shows(Behaviour::invalid_headers)) return;
    // Relaxed: the read index, not this store, signals that the slot is free.
    in_slot(next_, [](aql::Packet& packet) {
        __atomic_store_n(&packet.header, std::uint16_t{aql::kInvalid}, __ATOMIC_RELAXED);
    });
}

/// Whether a published packet is at next_, not beyond the doorbell. Producers may ring in any order, so the highest
/// doorbell value counts. A packet at or below it whose header is still INVALID is waited for.
bool AqlQueue::next_is_ready() {
    if (next_ - read_ == size_packets_) return false;
    std::uint16_t header = aql::kInvalid;
    // Acquire: pairs with the producer's release of the header.
    if (!in_slot(next_, [&](aql::Packet& packet) { header = __atomic_load_n(&packet.header, __ATOMIC_ACQUIRE); }))
        return memory_fault(slot_va(next_), kWrite, "the ring"), false;
    const bool rung = static_cast<std::int64_t>(next_) <= highest_doorbell_;
    if (aql::type_of(header) == aql::kInvalid) {
        awake_ = rung;
        unrung_since_ns_ = 0;
        if (rung) checked_.is_late();
        return false;
    }
    return rung || !shows(Behaviour::doorbell) || was_overlooked();
}

/// Whether to take the published packet at next_ without a doorbell for it. Hardware sees every doorbell write. Here,
/// with several producers that ring in any order, a smaller value may overwrite a larger one between two polls. The
/// timeout keeps a correct program from hanging. (The runtime declares every queue MULTI, so single producers are not
/// known.)
bool AqlQueue::was_overlooked() {
    constexpr std::uint64_t kWaitNs = 100'000'000;
    const std::uint64_t now_ns = clock::now_ns();
    if (unrung_since_ns_ == 0) unrung_since_ns_ = now_ns;
    if (now_ns - unrung_since_ns_ < kWaitNs) return false;
    log(LogLevel::warning,
        "gpu{}: packet {} was taken after 100 ms without a doorbell; the highest doorbell value is {}", gpu_.index,
        next_, highest_doorbell_);
    return true;
}

AqlQueue::Step AqlQueue::launch(const aql::Packet& packet) {
    switch (aql::type_of(packet.header)) {
        case aql::kKernelDispatch:
            return launch(packet.as<KernelDispatchPacket>());
        case aql::kBarrierAnd:
            return wait_for(packet.as<aql::Barrier>(), true);
        case aql::kBarrierOr:
            return wait_for(packet.as<aql::Barrier>(), false);
        case aql::kVendorSpecific: {
            const unsigned format = packet.rest[0] & 0xff;
            if (format == aql::kAmdPm4Ib) return run(packet.as<aql::Pm4Ib>());
            if (format == aql::kAmdBarrierValue) return wait_for(packet.as<aql::BarrierValue>());
            return fail(aql::kInvalidVendorPacket, fmt::format("vendor packet of format {}", format));
        }
        case aql::kAgentDispatch:
            return fail(aql::kInvalidPacket, "agent dispatch packet on a kernel queue");
        default:
            return fail(aql::kInvalidPacket, fmt::format("packet of reserved type {}", +aql::type_of(packet.header)));
    }
}

GpuFacts AqlQueue::gpu_facts() const {
    const Model& model = *gpu_.model;
    return {.target = code_.target(),
            .lds_bytes = model.lds_kib * 1024,
            .lds_granule_bytes = model.lds_granule_bytes,
            .xccs = model.xccs,
            .shader_engines = model.shader_engines,
            .arrays_per_engine = model.arrays_per_engine};
}

/// The queue's part of a dispatch, read from the runtime's amd_queue_t. std::nullopt: the queue has stopped.
std::optional<QueueFacts> AqlQueue::facts() {
    QueueFacts facts;
    facts.queue_ptr = queue_va_;
    facts.dispatch_id = next_ + 1;
    facts.gpu = gpu_.index;
    std::uint32_t tmpring_size = 0;
    const bool read = in_queue([&facts, &tmpring_size](const aql::AmdQueue& queue) {
        std::copy(std::begin(queue.scratch_resource_descriptor), std::end(queue.scratch_resource_descriptor),
                  facts.scratch_descriptor.begin());
        facts.queue_id = queue.id;
        facts.scratch_base = queue.scratch_backing_memory_location;
        facts.scratch_lane_bytes = queue.scratch_wave64_lane_byte_size;
        tmpring_size = queue.compute_tmpring_size;
    });
    if (!read) return {};
    facts.scratch = scratch_ring(tmpring_size, gpu_facts());
    if (!scratch_slots_ || facts.scratch_base != scratch_base_ || tmpring_size != tmpring_size_) {
        scratch_slots_ = std::make_shared<ScratchSlots>(facts.scratch.waves * gpu_.model->xccs);
        scratch_base_ = facts.scratch_base;
        tmpring_size_ = tmpring_size;
    }
    return facts;
}

AqlQueue::Step AqlQueue::launch(const KernelDispatchPacket& packet) {
    hung_ = injection().hangs_dispatch();
    if (hung_) {
        take_header();
        return Step::waiting;
    }
    const auto queue = facts();
    if (!queue) return Step::stopped;
    auto made = Dispatch::create({.packet = packet,
                                  .packet_va = slot_va(next_),
                                  .queue = *queue,
                                  .gpu = gpu_facts(),
                                  .memory = &space_,
                                  .code = &code_,
                                  .scratch_slots = scratch_slots_,
                                  .interrupt = [this](std::uint32_t m0) { events_.signal(m0 & kMessageBits); },
                                  .compute_units = compute_units_,
                                  .gws = &gws_,
                                  .garbage = garbage.load(std::memory_order_acquire),
                                  .order = {order_seed.load(std::memory_order_relaxed), next_},
                                  .session = check::process_session(),
                                  .counts = count::process_counts()});
    if (const auto* refused = std::get_if<LaunchRefused>(&made)) {
        switch (refused->reason) {
            case Refusal::NeedsScratch:
                return ask_for_scratch(*refused);
            case Refusal::InvalidDimensions:
            case Refusal::InvalidSize:
                return fail(aql::kInvalidDimensions, refused->why);
            case Refusal::GroupTooLarge:
                return fail(aql::kInvalidWorkgroup, refused->why);
            case Refusal::LdsTooLarge:
                return fail(aql::kInvalidGroupSegment, refused->why);
            case Refusal::BadKernelObject:
                return fail(aql::kInvalidCode, refused->why);
            case Refusal::WrongIsa:
                return fail(aql::kInvalidRegisters, refused->why);
        }
    }
    take_header();
    const auto& dispatch = std::get<std::shared_ptr<Dispatch>>(made);
    const std::size_t waves = gpu_.model->max_waves_per_simd * gpu_.model->simds_per_cu;
    const std::size_t groups_per_cu =
        std::max<std::size_t>(1, waves / waves_per_group(packet, dispatch->kernel().width));
    auto kernel = std::make_shared<DispatchWork>(shared_from_this(), dispatch, groups_, next_++,
                                                 groups_per_cu * compute_units_->size());
    taken_.back().kernel = kernel;
    ++kernels_;
    checked_.starts(kernel->index(), *dispatch);
    scheduler_.add(kernel, kernel->groups(), priority_);
    return Step::launched;
}

/// The runtime looks for the packet at the read index, so all packets before it must complete first.
AqlQueue::Step AqlQueue::ask_for_scratch(const LaunchRefused& refused) {
    if (running_ > 1) return Step::waiting;
    log(LogLevel::info, "gpu{}: packet {} needs {} B of scratch per work-item", gpu_.index, next_,
        refused.scratch_lane_bytes);
    const auto error = refused.width == 32 ? aql::kInsufficientScratch32 : aql::kInsufficientScratch;
    if (!tell_runtime(error)) return fail(error, "scratch is needed, but the queue's inactive signal is not mapped");
    waits_for_scratch_ = true;
    return Step::waiting;
}

bool AqlQueue::resume_after_scratch() {
    std::uint64_t signal = 0;
    if (!in_queue([&](const aql::AmdQueue& queue) { signal = queue.queue_inactive_signal; })) return false;
    const auto value = value_of(signal);
    if (!value || *value != 0) return false;
    waits_for_scratch_ = false;
    return true;
}

/// A buffer of PM4 commands. The runtime sends them to invalidate caches; there are none to invalidate here.
AqlQueue::Step AqlQueue::run(const aql::Pm4Ib& packet) {
    if (pm4::header(packet.ib_jump[0]).opcode != pm4::kIndirectBuffer)
        return fail(aql::kInvalidVendorPacket, "PM4 packet that is not an indirect buffer");
    take_header();
    const std::uint64_t base = packet.ib_jump[1] | std::uint64_t{packet.ib_jump[2]} << 32;
    const std::uint32_t count = packet.ib_jump[3] & 0xfffff;
    for (std::uint32_t i = 0; i < count;) {
        std::uint32_t dword = 0;
        if (!access<const std::uint32_t>(space_, (base & ~std::uint64_t{3}) + 4 * i, kRead,
                                         [&](auto& there) { dword = there; }))
            return memory_fault(base + 4 * i, kRead, "a PM4 buffer");
        const pm4::Header header = pm4::header(dword);
        if (header.opcode != pm4::kAcquireMem && header.opcode != pm4::kNop)
            return fail(aql::kInvalidVendorPacket,
                        fmt::format("unsupported PM4 command {:#010x} in an indirect buffer", dword));
        i += header.dwords;
    }
    return complete_now(packet.header, packet.completion_signal);
}

AqlQueue::Step AqlQueue::complete_now(std::uint16_t header, std::uint64_t completion_signal) {
    // Before the slot is released, so that the read index does not pass a faulting packet.
    if (!can_complete(space_, completion_signal)) return memory_fault(completion_signal, kWrite, "a completion signal");
    const std::uint64_t now = clock::now();
    const std::uint64_t index = next_++;
    checked_.ends(space_, index, header);
    if (finish_slot(index)) complete_signal(completion_signal, now, now);
    return Step::launched;
}

/// Marks a packet as complete and releases all complete slots at the front. False: the queue has stopped.
bool AqlQueue::finish_slot(std::uint64_t index) {
    taken_[index - read_].done = true;
    --running_;
    while (!taken_.empty() && taken_.front().done) {
        if (!in_slot(read_, [](aql::Packet& packet) {
                __atomic_store_n(&packet.header, std::uint16_t{aql::kInvalid}, __ATOMIC_RELEASE);
            }))
            return memory_fault(slot_va(read_), kWrite, "the ring"), false;
        taken_.pop_front();
        ++read_;
    }
    // Release: a producer that sees the new read index may overwrite the slots before it.
    return in_queue(
        [this](aql::AmdQueue& queue) { __atomic_store_n(&queue.read_dispatch_id, read_, __ATOMIC_RELEASE); });
}

void AqlQueue::complete_signal(std::uint64_t signal, std::uint64_t start_ticks, std::uint64_t end_ticks) {
    if (!complete(space_, events_, signal, start_ticks, end_ticks)) memory_fault(signal, kWrite, "a completion signal");
}

void AqlQueue::finished(const DispatchWork& kernel) {
    std::lock_guard lock{mutex_};
    taken_[kernel.index() - read_].kernel.reset();
    --kernels_;
    if (stopped_) return;
    AddressSpace::Hold hold{space_};
    if (kernel.dispatch().state() != Dispatch::State::Finished) return report(kernel.dispatch());
    std::uint32_t properties = 0;
    if (!in_queue([&](const aql::AmdQueue& queue) { properties = queue.queue_properties; })) return;
    const std::uint64_t completion_signal = kernel.dispatch().packet().completion_signal;
    if (!can_complete(space_, completion_signal)) {
        memory_fault(completion_signal, kWrite, "a completion signal");
        return;
    }
    checked_.ends(space_, kernel.index(), kernel.dispatch().packet().header);
    if (!finish_slot(kernel.index())) return;
    complete_signal(completion_signal, kernel.start_ticks(), clock::now());
    if ((properties & aql::kUseScratchOnce) && kernels_ == 0) {
        // The large scratch was for this dispatch only: return it, and continue when the runtime has taken it.
        tell_runtime(aql::kScratchDone);
        waits_for_scratch_ = true;
        awake_ = true;
    }
}

bool AqlQueue::busy() {
    std::lock_guard lock{mutex_};
    return !stopped_ && !failed_ && running_ != 0;
}

int AqlQueue::set_cu_mask(std::span<const std::uint32_t> words) {
    auto units = masked_units(words, gpu_.model->compute_units);
    if (units->empty() || (gpu_.model->workgroup_processors && !are_pairs(*units))) return EINVAL;
    std::lock_guard lock{mutex_};
    compute_units_ = std::move(units);
    advertised_.remapped();
    return 0;
}

void AqlQueue::stop() {
    std::vector<std::shared_ptr<DispatchWork>> kernels;
    {
        std::lock_guard lock{mutex_};
        stopped_ = true;
        checked_.clear();
        for (const Slot& slot : taken_)
            if (slot.kernel) kernels.push_back(slot.kernel);
    }
    for (const auto& kernel : kernels) kernel->abort();
    for (const auto& kernel : kernels) kernel->wait_until_gone();
}

int AqlQueue::update(const abi::UpdateQueue& args) {
    std::lock_guard lock{mutex_};
    suspended_ = args.queue_percentage == 0 || args.ring_base_address == 0;
    priority_ = args.queue_priority;
    advertised_.remapped();
    const bool same = args.ring_base_address == ring_ && args.ring_size / sizeof(aql::Packet) == size_packets_;
    return suspended_ || same ? 0 : EINVAL;
}

}  // namespace kfdemu
