// Counts what the waves of work-groups execute: one for a worker, without locks until it hands over its sums.
//
//     GroupCounter counter;
//     counter.begin(*counts, *kernel, waves);            // a new work-group
//     wave.watcher = counter.watcher(n, wave.watcher);   // for each of its waves; it calls the wave's checker, too
//     counter.end();                                     // after groups: what was counted is part of the kernel's sums
//
// What waits and is tried again, a GWS operation, counts once a try. Accesses whose width a buffer's format decides,
// those of swizzled buffers that are not scratch, of s_scratch_…, buffer_store_lds_dword, ds_…_src2 and of GDS have
// executions, but no bytes. Thread safety: that of its work-group. Borrows: the counts, the kernel and the checkers,
// until end().
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "tools/kfdemu/check/flow/access.hpp"
#include "tools/kfdemu/count/kernel_counts.hpp"
#include "tools/kfdemu/isa/wave/watcher.hpp"

namespace kfdemu::count {

class GroupCounter {
  public:
    void begin(KernelCounts& counts, KernelCounts::Kernel& kernel, unsigned waves);
    /// `checker` may be null.
    isa::Watcher* watcher(unsigned wave, isa::Watcher* checker);
    /// What was counted so far.
    void hand_over();
    void end();

  private:
    class WaveCounter final : public isa::Watcher {
      public:
        explicit WaveCounter(GroupCounter& group) : group_{group} {}
        void before(const isa::Wave& wave, const isa::Inst& inst) noexcept override;

        isa::Watcher* next = nullptr;

      private:
        GroupCounter& group_;
    };

    static constexpr std::uint64_t kPageBytes = 4096;
    /// Of each dword of the page, the number of its instruction in counted_, plus 1; 0: not executed yet.
    using Page = std::array<std::uint32_t, kPageBytes / 4>;

    Counted& counted(const isa::Wave& wave, const isa::Inst& inst);
    void count(const isa::Wave& wave, const isa::Inst& inst);
    void count_accesses(const check::Segments& segments, Sums& sums) const;
    /// The end of a buffer is in the accesses of some lanes.
    void count_cut(const check::Access& whole, const check::Access& cut, Sums& sums) const;

    KernelCounts* counts_ = nullptr;
    KernelCounts::Kernel* kernel_ = nullptr;
    Lines lines_;
    std::uint64_t groups_ = 0, waves_ = 0;  // not handed over
    std::vector<Counted> counted_;
    std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
    std::uint64_t page_number_ = ~std::uint64_t{0};
    Page* page_ = nullptr;
    std::deque<WaveCounter> watchers_;
};

}  // namespace kfdemu::count
