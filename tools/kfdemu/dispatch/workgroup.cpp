#include "tools/kfdemu/dispatch/workgroup.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "tools/kfdemu/base/counters.hpp"
#include "tools/kfdemu/base/host_fault.hpp"
#include "tools/kfdemu/dispatch/dispatch.hpp"
#include "tools/kfdemu/isa/rows/traits.hpp"
#include "tools/kfdemu/isa/text/disassemble.hpp"

namespace kfdemu {
namespace {

/// Instructions until the next wave runs, the abort flag is checked, and changes of the address map can proceed.
constexpr std::uint64_t kSlice = 10'000;
/// In a seeded order, the slice is random up to this, for more interleavings.
constexpr std::uint64_t kShuffledSlice = 200;
/// Minimum cost of a slice, so that waves that only wait also use up their quantum.
constexpr std::uint64_t kShortSlice = 64;

/// 256 VGPRs and 256 AccVGPRs, 32 more that invalid register numbers may reach, and 3 so that the same register of two
/// waves is not in the same cache set.
constexpr std::size_t kRegistersPerWave = 256 + 256 + 32 + 3;
constexpr std::size_t kWaveRegisterDwords = kRegistersPerWave * isa::kMostLanes;

void* allocate(std::size_t bytes) {
    void* memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (memory == nullptr) throw std::bad_alloc{};
    return memory;
}

/// What stops waves that go on, or have ended.
bool is_usual(isa::Stop why) {
    return why == isa::Stop::Budget || why == isa::Stop::Sleep || why == isa::Stop::Barrier ||
           why == isa::Stop::Signal || why == isa::Stop::BarrierWait || why == isa::Stop::BarrierState ||
           why == isa::Stop::End;
}

/// Its page may have been planned meanwhile.
void fetch_again(isa::Wave& wave) {
    if (wave.next != nullptr) wave.pc = std::exchange(wave.next, nullptr)->pc;
}

}  // namespace

void WorkGroup::reserve_waves(unsigned count) {
    if (register_waves_ < count) {
        registers_.reset(static_cast<std::uint32_t*>(allocate(count * kWaveRegisterDwords * sizeof(std::uint32_t))));
        std::memset(registers_.get(), 0, count * kWaveRegisterDwords * sizeof(std::uint32_t));
        register_waves_ = count;
    }
    while (residents_.size() < count) residents_.push_back(std::make_unique<Resident>());
}

void WorkGroup::begin(Dispatch& dispatch, std::uint64_t index, const std::uint16_t* scratch_slots) {
    const Dispatch::Setup& setup = dispatch.setup_;
    const std::array<std::uint32_t, 3> id = dispatch.group_id(index);
    const KernelDispatchPacket& packet = setup.packet;
    WavePlace place;
    for (unsigned d = 0; d < 3; ++d)
        place.group_workitems[d] = std::min<std::uint32_t>(
            packet.workgroup_size[d], packet.grid_size[d] - id[d] * std::uint32_t{packet.workgroup_size[d]});
    const unsigned width = dispatch.kernel_.width;
    place.waves = (place.workitems() + width - 1) / width;
    const auto& units = setup.compute_units;
    place.unit = place_of_unit(setup.gpu, units ? (*units)[index % units->size()] : 0);

    reserve_waves(place.waves);
    const std::uint32_t granule = setup.gpu.lds_granule_bytes;
    const std::uint32_t lds_bytes = (packet.group_segment_size + granule - 1) / granule * granule;
    if (lds_ == nullptr) lds_.reset(static_cast<std::byte*>(allocate(setup.gpu.lds_bytes)));
    if (setup.garbage) {
        setup.garbage->fill(lds_.get(), lds_bytes, Random{setup.queue.dispatch_id}.next() + index);
    } else {
        std::memset(lds_.get(), 0, lds_bytes);
    }

    dispatch_ = &dispatch;
    id_ = id;
    waves_ = live_ = place.waves;
    waiting_ = signals_ = cursor_ = 0;
    shuffled_ = setup.order.given();
    if (shuffled_) random_ = setup.order.random(index);
    begun_ += 1;
    begun_waves_ += waves_;
    scratch_slot_count_ = scratch_slots != nullptr ? waves_per_group(packet, width) : 0;
    std::copy_n(scratch_slots, scratch_slot_count_, scratch_slots_.begin());
    if (code_serial_ != dispatch.serial_) prepare(dispatch, lds_bytes);

    initial_->begin_group(id);
    for (place.wave = 0; place.wave < waves_; ++place.wave) {
        Resident& resident = *residents_[place.wave];
        resident.at_barrier = resident.ended = resident.may_pass = false;
        resident.signals = 0;
        isa::Wave& wave = resident.wave;
        if (setup.garbage)
            place.garbage_place = Random{setup.queue.dispatch_id}.next() + index * kMaxWaves + place.wave;
        place.scratch_slot = scratch_slots != nullptr ? scratch_slots[place.wave] : 0;
        initial_->set(wave, registers_.get() + place.wave * kWaveRegisterDwords, place);
        if (resident.constants_for != dispatch.serial_) isa::set_constants(wave);
        resident.constants_for = dispatch.serial_;
    }
    if (setup.session.any()) check_waves(dispatch);
    if (dispatch.counted_ != nullptr) count_waves(dispatch);
}

/// What the groups of a dispatch have in common.
void WorkGroup::prepare(const Dispatch& dispatch, std::uint32_t lds_bytes) {
    const Dispatch::Setup& setup = dispatch.setup_;
    code_.fill({});
    tlb_.flush();
    code_serial_ = dispatch.serial_;
    initial_.emplace(LaunchState{dispatch.kernel_, setup.packet, setup.packet_va, setup.queue, setup.gpu,
                                 std::span{dispatch.preloaded_}.first(dispatch.kernel_.preload_dwords), setup.garbage});
    isa::Wave& wave = initial_->common;
    wave.fetch = &WorkGroup::fetch;
    wave.fetcher = this;
    wave.memory = setup.memory;
    wave.tlb = &tlb_;
    wave.frame = frame_.get();
    wave.lds = lds_.get();
    wave.lds_size_bytes = lds_bytes;
    wave.gws = setup.gws;
    wave.interpreted = shuffled_ || dispatch.watches();
}

void WorkGroup::check_waves(const Dispatch& dispatch) {
    const Dispatch::Setup& setup = dispatch.setup_;
    if (!checker_) checker_ = std::make_unique<check::GroupChecker>();
    check::Scene scene{setup.session, setup.gpu.target, setup.packet.kernel_object, setup.queue.dispatch_id, id_};
    scene.gpu = setup.queue.gpu;
    scene.queue_id = setup.queue.queue_id;
    scene.kernarg_va = setup.packet.kernarg_address;
    scene.kernarg_bytes = dispatch.kernel_.kernarg_bytes;
    scene.lds_bytes = setup.packet.group_segment_size;
    scene.lane_scratch_bytes = setup.packet.private_segment_size;
    scene.memory_races = dispatch.memory_races_.get();
    scene.initial = initial_->registers();
    checker_->begin(scene, waves_);
    for (unsigned n = 0; n < waves_; ++n) residents_[n]->wave.watcher = checker_->watcher(n);
    setup.session.report->coverage.waves += waves_;
}

/// After check_waves(): the counter calls the checkers.
void WorkGroup::count_waves(const Dispatch& dispatch) {
    if (!counter_) counter_ = std::make_unique<count::GroupCounter>();
    counter_->begin(*dispatch.setup_.counts, *dispatch.counted_, waves_);
    for (unsigned n = 0; n < waves_; ++n) {
        isa::Wave& wave = residents_[n]->wave;
        wave.watcher = counter_->watcher(n, wave.watcher);
    }
}

const isa::Inst* WorkGroup::fetch(isa::Wave& wave, std::uint64_t pc) {
    auto& self = *static_cast<WorkGroup*>(wave.fetcher);
    Code& code = self.code_[pc / kCodePageBytes % kCodeEntries];
    const bool known = code.page != nullptr && code.page->contains(pc) && pc % 4 == 0;
    if (known && code.page->planned) {
        // Later waves begin there without asking.
        if (pc == self.initial_->common.pc) self.initial_->common.next = code.page->at(pc);
        return code.page->at(pc);
    }
    if (known && ++code.visits < CodeCache::kVisitsAtOnce) return code.page->at(pc);
    const CodePage* page =
        self.dispatch_->setup_.code->find(*wave.memory, pc, wave.width, self.code_serial_, known ? code.visits : 1);
    if (page == nullptr) {
        wave.stop = isa::Stop::FetchFault;
        wave.pc = pc;
        wave.next = nullptr;
        return nullptr;
    }
    code = {page, 0};
    return page->at(pc);
}

WorkGroup::Resident& WorkGroup::next_runnable() {
    if (shuffled_) cursor_ = static_cast<unsigned>(random_.below(waves_));
    for (;;) {
        Resident& resident = *residents_[cursor_];
        cursor_ = cursor_ + 1 == waves_ ? 0 : cursor_ + 1;
        if (!resident.ended && !resident.at_barrier) return resident;
    }
}

void WorkGroup::forget_translations() {
    const std::uint64_t now = dispatch_->setup_.memory->generation();
    if (now != map_generation_) tlb_.flush();
    map_generation_ = now;
}

WorkGroup::Progress WorkGroup::run(std::uint64_t quantum_instructions) {
    AddressSpace::Hold hold{*dispatch_->setup_.memory};
    return run(quantum_instructions, hold);
}

WorkGroup::Progress WorkGroup::run(std::uint64_t quantum_instructions, AddressSpace::Hold& hold) {
    forget_translations();
    quantum_ = quantum_instructions;
    const Progress progress = run_waves(hold);
    if (progress == Progress::Ended || progress == Progress::Stopped) return finish(progress);
    if (!reports_later_) report();
    return progress;
}

WorkGroup::Progress WorkGroup::run_waves(AddressSpace::Hold& hold) {
    isa::HostFloats floats;
    slept_ = 0;
    for (;;) {
        bool all_taken = false;
        Progress progress{};
        const auto fault =
            host_fault::guarded(dispatch_->setup_.memory, [&] { all_taken = take_turns(hold, floats, progress); });
        if (fault) {
            isa::stop_by_fault(running_->wave, *fault, floats);
            end_turn();
            cursor_ = running_->wave.index_in_group;  // if it goes on, before the others
        } else if (all_taken) {
            return progress;
        }
        if (!handle(*running_, running_->wave.stop)) return Progress::Stopped;
    }
}

/// False: `running_` stopped for a reason that is handled outside the guard. Not an optional: a short wave's time is
/// measurable in the CPU's wait for one read of the two members that were just written.
bool WorkGroup::take_turns(AddressSpace::Hold& hold, isa::HostFloats& floats, Progress& progress) {
    const auto ends = [&](Progress how) {
        progress = how;
        return true;
    };
    while (live_ > 0) {
        if (hold.renew()) forget_translations();
        if (dispatch_->stopping()) return ends(Progress::Stopped);
        if (quantum_ == 0) return ends(Progress::Paused);
        // All wait if a kernel waits for more signals than it sends.
        if (waiting_ == live_ || (slept_ > 0 && slept_ >= live_ - waiting_)) return ends(Progress::Idle);
        running_ = &next_runnable();
        slice_ = slice_left_ = std::min(quantum_, shuffled_ ? 1 + random_.below(kShuffledSlice) : kSlice);
        const isa::Stop why = isa::run_guarded(running_->wave, slice_left_, floats);
        end_turn();
        if (!is_usual(why)) return false;
        fetch_again(running_->wave);
        handle(*running_, why);
    }
    return ends(Progress::Ended);
}

void WorkGroup::end_turn() {
    isa::Wave& wave = running_->wave;
    executed_ += slice_ - slice_left_ + std::exchange(wave.translated, 0);
    quantum_ -= wave.stop == isa::Stop::Budget ? slice_ : std::min(quantum_, kShortSlice);
    slept_ = wave.stop == isa::Stop::Sleep ? slept_ + 1 : 0;
}

/// False: the kernel failed.
bool WorkGroup::handle(Resident& resident, isa::Stop why) {
    constexpr std::uint32_t kMessageInterrupt = 1, kTrapDebug = 3;
    isa::Wave& wave = resident.wave;
    switch (why) {
        case isa::Stop::Budget:
        case isa::Stop::Sleep:
            return true;
        case isa::Stop::Barrier:
            arrive_at_barrier(resident);
            return true;
        case isa::Stop::Signal:
            signal(resident);
            return true;
        case isa::Stop::BarrierWait:
            wait_for_signals(resident);
            return true;
        case isa::Stop::BarrierState:
            wave.s[wave.argument] = barrier_state();
            return true;
        case isa::Stop::End:
            count_ended(resident);
            return true;
        case isa::Stop::Message:
            if ((wave.argument & 0xf) != kMessageInterrupt) return fail(wave, isa::Stop::Illegal);
            if (dispatch_->setup_.interrupt) dispatch_->setup_.interrupt(wave.s[isa::kM0]);
            return true;
        case isa::Stop::Trap:
            // A debugger trap without a debugger: as the runtime's trap handler, continue after it.
            if (wave.argument != kTrapDebug) return fail(wave, why);
            wave.pc += 4;
            return true;
        default:
            return fail(wave, why);
    }
}

void WorkGroup::arrive_at_barrier(Resident& resident) {
    resident.at_barrier = true;
    ++waiting_;
    open_barrier_if_all_came();
}

/// Ended waves do not count ("Vega" ISA manual, S_BARRIER).
void WorkGroup::open_barrier_if_all_came() {
    if (waiting_ == 0 || waiting_ < live_) return;
    for (unsigned w = 0; w < waves_; ++w) residents_[w]->at_barrier = false;
    waiting_ = 0;
}

/// Signals are counted, not the waves that send them ("RDNA 4" ISA manual, "Work-group barriers"). A work-group of one
/// wave has no barrier, and its SCC stays: LLVM counts on that (SIISelLowering.cpp).
void WorkGroup::signal(Resident& resident) {
    isa::Wave& wave = resident.wave;
    if (waves_ == 1) return;
    if (wave.argument != 0) wave.scc = signals_ == 0;
    ++resident.signals;
    ++signals_;
    open_if_all_signalled();
}

/// VALID 0, members from 4 on, signals from 16 on (kfd's trap handler of GFX12).
std::uint32_t WorkGroup::barrier_state() const { return waves_ == 1 ? 0 : 1 | live_ << 4 | signals_ << 16; }

void WorkGroup::wait_for_signals(Resident& resident) {
    if (waves_ == 1) return;
    if (std::exchange(resident.may_pass, false)) return;
    resident.at_barrier = true;
    ++waiting_;
}

/// Waves that have ended neither count nor are waited for. Whether the hardware keeps their signals is not published.
void WorkGroup::open_if_all_signalled() {
    if (signals_ == 0 || signals_ < live_) return;
    for (unsigned w = 0; w < waves_; ++w) {
        Resident& resident = *residents_[w];
        resident.may_pass = !resident.at_barrier;
        resident.at_barrier = false;
        resident.signals = 0;
    }
    waiting_ = signals_ = 0;
}

void WorkGroup::count_ended(Resident& resident) {
    resident.ended = true;
    --live_;
    signals_ -= std::exchange(resident.signals, 0);
    if (isa::traits_of(dispatch_->setup_.gpu.target).split_barriers)
        open_if_all_signalled();
    else
        open_barrier_if_all_came();
}

bool WorkGroup::fail(const isa::Wave& wave, isa::Stop why) {
    KernelFault fault;
    fault.what = why;
    fault.pc = wave.pc;
    fault.address = why == isa::Stop::FetchFault ? wave.pc : wave.fault.address;
    fault.access = why == isa::Stop::FetchFault ? std::uint32_t{kExecute} : wave.fault.access;
    fault.lane = wave.fault.lane;
    fault.wave = wave.index_in_group;
    fault.group = id_;
    fault.argument = wave.argument;
    const CodeCache& code = *dispatch_->setup_.code;
    if (why != isa::Stop::FetchFault)
        if (const CodePage* page = dispatch_->setup_.code->find(*wave.memory, wave.pc, wave.width, code_serial_)) {
            if (why == isa::Stop::MemoryFault && dispatch_->setup_.session.any())
                checker_->faulted(wave, *page->at(wave.pc));
            fault.instruction = why == isa::Stop::Illegal ? isa::describe_illegal(code.target(), *page->at(wave.pc))
                                                          : isa::disassemble(code.target(), *page->at(wave.pc));
        }
    dispatch_->group_failed(std::move(fault));
    return false;
}

WorkGroup::Progress WorkGroup::finish(Progress how) {
    Dispatch& dispatch = *dispatch_;
    ended_ += how == Progress::Ended;
    if (scratch_slot_count_ != 0) dispatch.setup_.scratch_slots->release(scratch_slots_.data(), scratch_slot_count_);
    dispatch_ = nullptr;
    if (!reports_later_ || how != Progress::Ended) report();
    return how;
}

void WorkGroup::report() {
    // Counted before the end of the groups is published.
    if (counter_ != nullptr) busy() ? counter_->hand_over() : counter_->end();
    if (begun_ != 0) counters.work_groups += std::exchange(begun_, 0);
    if (begun_waves_ != 0) counters.waves += std::exchange(begun_waves_, 0);
    if (executed_ != 0 && reports_to_ != nullptr && reports_to_->setup_.session.any())
        reports_to_->setup_.session.report->coverage.instructions += executed_;
    if (executed_ != 0) counters.instructions += std::exchange(executed_, 0);
    if (reports_to_ == nullptr) return;
    Dispatch& dispatch = *reports_to_;
    if (!busy()) {
        reports_to_ = nullptr;
        // What they refer to ends with the dispatch.
        initial_.reset();
        code_serial_ = 0;
    }
    dispatch.groups_ended(std::exchange(ended_, 0), reports_to_ == nullptr);
}

void WorkGroup::leave() {
    if (busy()) finish(Progress::Stopped);
    report();
}

}  // namespace kfdemu
