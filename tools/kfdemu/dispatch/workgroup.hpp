// Executes one work-group: its waves, LDS and barrier. Reused for many work-groups.
//
//     WorkGroup group;                                            // one per worker
//     while (dispatch->start_group(group) == Dispatch::Start::Started)
//         while (group.run(1'000'000) == WorkGroup::Progress::Paused) {}  // or do other work first
//
// Thread safety: one thread at a time; the thread may change between quanta if the hand-over synchronises. Memory
// ordering: run() returning Ended publishes the writes of the waves (Dispatch counts it with release). Borrows: the
// Dispatch, from start_group() until run() returns Ended or Stopped, or leave() is called.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include "tools/kfdemu/base/address_space.hpp"
#include "tools/kfdemu/base/order.hpp"
#include "tools/kfdemu/check/group_checker.hpp"
#include "tools/kfdemu/count/group_counter.hpp"
#include "tools/kfdemu/dispatch/code_cache.hpp"
#include "tools/kfdemu/dispatch/fault.hpp"
#include "tools/kfdemu/dispatch/initial_state.hpp"
#include "tools/kfdemu/dispatch/launch.hpp"
#include "tools/kfdemu/isa/memory/tlb.hpp"
#include "tools/kfdemu/isa/wave/wave.hpp"
#include "tools/kfdemu/jit/frame.hpp"

namespace kfdemu {

class Dispatch;

class WorkGroup {
  public:
    enum class Progress {
        Ended,    ///< all waves ended; the group is free
        Paused,   ///< the quantum is used up
        Idle,     ///< every runnable wave sleeps (s_sleep), probably for an external event: run other groups
                  ///< first
        Stopped,  ///< it failed, or the dispatch was aborted or failed elsewhere; the group is free
    };

    WorkGroup() = default;
    ~WorkGroup() { leave(); }
    WorkGroup(const WorkGroup&) = delete;
    WorkGroup& operator=(const WorkGroup&) = delete;

    /// Runs about `quantum_instructions`, round robin over the waves. The calling thread must not have a Hold of the
    /// address space: run() takes one and renews it every few thousand instructions.
    Progress run(std::uint64_t quantum_instructions);
    /// The same under a Hold that the caller keeps for several groups.
    Progress run(std::uint64_t quantum_instructions, AddressSpace::Hold& hold);
    /// Keeps what ended groups change in the dispatch and the counters until report(), which must follow. Workers share
    /// these, and groups may be short. The dispatch does not end in between. report() may be called in a group, too.
    void report_later() { reports_later_ = true; }
    void report();
    bool busy() const { return dispatch_ != nullptr; }
    /// Abandons an unfinished group. Its dispatch then never finishes: abort it.
    void leave();

  private:
    friend class Dispatch;

    struct Resident {
        isa::Wave wave;
        bool at_barrier = false, ended = false;
        unsigned signals = 0;             ///< to a barrier in two steps that has not opened
        bool may_pass = false;            ///< one has opened since the wave waited last, perhaps an earlier one
        std::uint64_t constants_for = 0;  ///< serial of the dispatch for which its constants were set
    };
    struct Code {
        const CodePage* page = nullptr;
        std::uint64_t visits = 0;  ///< since CodeCache::find()
    };
    struct FreeAligned {
        void operator()(void* p) const { std::free(p); }
    };

    void begin(Dispatch& dispatch, std::uint64_t index, const std::uint16_t* scratch_slots);
    void reserve_waves(unsigned count);
    void prepare(const Dispatch& dispatch, std::uint32_t lds_bytes);
    void check_waves(const Dispatch& dispatch);
    void count_waves(const Dispatch& dispatch);
    void forget_translations();
    Progress run_waves(AddressSpace::Hold& hold);
    bool take_turns(AddressSpace::Hold& hold, isa::HostFloats& floats, Progress& progress);
    void end_turn();
    Resident& next_runnable();
    bool handle(Resident& resident, isa::Stop why);
    bool fail(const isa::Wave& wave, isa::Stop why);
    void arrive_at_barrier(Resident& resident);
    void open_barrier_if_all_came();
    void signal(Resident& resident);
    void wait_for_signals(Resident& resident);
    void open_if_all_signalled();
    std::uint32_t barrier_state() const;
    void count_ended(Resident& resident);
    Progress finish(Progress how);
    static const isa::Inst* fetch(isa::Wave& wave, std::uint64_t pc);

    static constexpr unsigned kMaxWaves = kMaxGroupWorkitems / 32;
    static constexpr unsigned kCodeEntries = 32;

    Dispatch* dispatch_ = nullptr;
    Dispatch* reports_to_ = nullptr;  // counts this object as outstanding; its ended groups are not reported
    bool reports_later_ = false;
    std::uint64_t ended_ = 0, begun_ = 0, begun_waves_ = 0;  // not reported
    std::array<std::uint32_t, 3> id_{};
    unsigned waves_ = 0, live_ = 0, waiting_ = 0, signals_ = 0, cursor_ = 0;
    Resident* running_ = nullptr;                             // whose turn it is, or was last
    std::uint64_t quantum_ = 0, slice_ = 0, slice_left_ = 0;  // instructions, of run() and of the turn
    unsigned slept_ = 0;                                      // waves in a row that only slept
    bool shuffled_ = false;                                   // turns and their lengths come from random_
    Random random_;
    std::uint64_t executed_ = 0;  // instructions, not reported
    std::array<std::uint16_t, kMaxWaves> scratch_slots_{};
    unsigned scratch_slot_count_ = 0;
    std::uint64_t map_generation_ = 0;
    isa::Tlb tlb_;
    std::unique_ptr<jit::Frame> frame_ = std::make_unique<jit::Frame>();
    std::array<Code, kCodeEntries> code_{};
    std::uint64_t code_serial_ = 0;
    std::optional<InitialState> initial_;  // of the same dispatch
    std::vector<std::unique_ptr<Resident>> residents_;
    std::unique_ptr<std::uint32_t[], FreeAligned> registers_;
    unsigned register_waves_ = 0;
    std::unique_ptr<std::byte[], FreeAligned> lds_;
    std::unique_ptr<check::GroupChecker> checker_;  // once a dispatch is checked
    std::unique_ptr<count::GroupCounter> counter_;  // once one is counted
};

}  // namespace kfdemu
