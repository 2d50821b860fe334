#include "tools/kfdemu/count/group_counter.hpp"

#include <bit>

namespace kfdemu::count {

void GroupCounter::begin(KernelCounts& counts, KernelCounts::Kernel& kernel, unsigned waves) {
    if (kernel_ != &kernel) {
        // Other code may be at these addresses.
        counted_.clear();
        pages_.clear();
        page_number_ = ~std::uint64_t{0};
    }
    counts_ = &counts, kernel_ = &kernel, lines_ = KernelCounts::lines_of(kernel);
    groups_ += 1, waves_ += waves;
    while (watchers_.size() < waves) watchers_.emplace_back(*this);
}

isa::Watcher* GroupCounter::watcher(unsigned wave, isa::Watcher* checker) {
    watchers_[wave].next = checker;
    return &watchers_[wave];
}

void GroupCounter::hand_over() {
    if (counts_ == nullptr) return;
    counts_->add(*kernel_, groups_, waves_, counted_);
    groups_ = waves_ = 0;
    for (Counted& each : counted_) each.sums = {};
}

void GroupCounter::end() {
    hand_over();
    counts_ = nullptr;
}

void GroupCounter::WaveCounter::before(const isa::Wave& wave, const isa::Inst& inst) noexcept {
    group_.count(wave, inst);
    if (next != nullptr) next->before(wave, inst);
}

Counted& GroupCounter::counted(const isa::Wave& wave, const isa::Inst& inst) {
    if (const std::uint64_t number = inst.pc / kPageBytes; number != page_number_) {
        std::unique_ptr<Page>& page = pages_[number];
        if (page == nullptr) page = std::make_unique<Page>();
        page_ = page.get(), page_number_ = number;
    }
    std::uint32_t& at = (*page_)[inst.pc % kPageBytes / 4];
    // Kernels may change their own code.
    if (at != 0 && counted_[at - 1].inst.code() == inst.code()) return counted_[at - 1];
    // With GPR indexing on, `inst` is a copy with other registers than the code names.
    const isa::Inst& as_written = wave.slow && wave.next != nullptr ? *wave.next : inst;
    counted_.push_back({as_written, kind_of(inst), {}});
    at = static_cast<std::uint32_t>(counted_.size());
    return counted_.back();
}

void GroupCounter::count(const isa::Wave& wave, const isa::Inst& inst) {
    Counted& here = counted(wave, inst);
    const std::uint64_t exec = wave.exec();
    here.sums.executions += 1;
    here.sums.lanes += static_cast<std::uint64_t>(std::popcount(exec));
    here.sums.partial += exec != ~std::uint64_t{0} >> (isa::kMostLanes - wave.width);
    if (here.kind == Kind::Branch) here.sums.taken += is_taken(wave, inst);
    if (!check::may_access(inst.format)) return;
    check::Segments segments;
    find_accesses(wave, inst, segments);
    const bool cut = inst.format == isa::Format::Mubuf && segments.count == 2 && segments.access[1].lanes != 0;
    cut ? count_cut(segments.access[0], segments.access[1], here.sums) : count_accesses(segments, here.sums);
}

void GroupCounter::count_accesses(const check::Segments& segments, Sums& sums) const {
    for (unsigned n = 0; n < segments.count; ++n) {
        const check::Access& access = segments.access[n];
        if (access.lanes == 0) continue;
        const std::uint64_t bytes = static_cast<std::uint64_t>(std::popcount(access.lanes)) * access.bytes;
        if (access.place == check::Place::Lds) {
            const Direction direction = access.writes ? Direction::Store : Direction::Load;
            sums.lds += {1, bytes, bank_conflicts(access.at, access.lanes, access.bytes, direction)};
        } else if (access.place == check::Place::Scratch) {
            sums.scratch += {1, bytes, scratch_lines(access.at, access.lanes, access.bytes, lines_), lines_.bytes};
        } else if (access.scalar) {
            sums.scalar += {1, bytes, scalar_lines(access.at[0], access.bytes), kScalarLineBytes};
        } else {
            sums.memory += {1, bytes, memory_lines(access.at, access.lanes, access.bytes, lines_), lines_.bytes};
        }
    }
}

void GroupCounter::count_cut(const check::Access& whole, const check::Access& cut, Sums& sums) const {
    const std::uint64_t lanes = whole.lanes | cut.lanes;
    Addresses last;
    std::uint64_t bytes = 0;
    for (std::uint64_t rest = lanes; rest != 0; rest &= rest - 1) {
        const auto l = static_cast<unsigned>(std::countr_zero(rest));
        last[l] = (cut.lanes >> l & 1) != 0 ? cut.at[l] + cut.bytes - 1 : whole.at[l] + whole.bytes - 1;
        bytes += last[l] + 1 - whole.at[l];
    }
    sums.memory += {1, bytes, memory_lines(whole.at, last, lanes, lines_), lines_.bytes};
}

}  // namespace kfdemu::count
