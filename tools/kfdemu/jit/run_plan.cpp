#include "tools/kfdemu/jit/run_plan.hpp"

#include <algorithm>
#include <utility>

namespace kfdemu::jit {
namespace {

using isa::Inst;

std::vector<bool> branch_targets(std::span<const Inst> slots) {
    std::vector<bool> targets(slots.size());
    for (const Inst& inst : slots)
        if (inst.has(isa::kBranch) && inst.target != nullptr)
            targets[static_cast<std::size_t>(inst.target - slots.data())] = true;
    return targets;
}

class Planner {
  public:
    explicit Planner(const Shape& shape) : shape_(shape) { forget(); }

    /// False: the instruction does not continue the stretch.
    bool add(const Inst& inst) {
        new_.clear();
        if (stores_ || !append_operations(inst, shape_, new_)) return false;
        if (stretch_.ops.size() + new_.size() > Stretch::kMostOps) return false;
        for (LaneOp& op : new_)
            if (!put_numbers(op)) return false;
        if (stretch_.begin == nullptr) {
            // What fills the room in front of a kernel does not begin its stretch, which would then not be entered.
            if (new_.empty()) return true;
            stretch_.begin = &inst;
        }
        if (!new_.empty() && is_first(new_[0])) {
            stretch_.scalars.push_back(new_[0]);
            return true;
        }
        stretch_.insts.push_back(&inst);
        for (const LaneOp& op : new_) add_operation(op);
        return true;
    }
    bool loads_before(const Inst& inst) {
        new_.clear();
        return loads_ != 0 && append_operations(inst, shape_, new_) && !new_.empty() &&
               new_[0].lane == Lane::store_global;
    }
    bool ends_in_load() const { return !stretch_.ops.empty() && stretch_.ops.back().lane == Lane::load_global; }

    void close(const Inst* end, std::vector<Stretch>& found) {
        stretch_.end = end;
        if (stretch_.ops.size() - loads_ - stores_ >= Stretch::kFewestOps) found.push_back(std::move(stretch_));
        forget();
    }
    void forget() {
        stretch_ = {};
        stretch_.lanes = shape_.lanes;
        used_.clear();
        loads_ = 0;
        stores_ = false;
    }

  private:
    static bool is_first(const LaneOp& op) { return op.lane == Lane::scalar && !op.is_scalar(Scalar::number); }
    /// Whether it can be done ahead of all vector operations so far, and loads ahead of the other scalar ones, so that
    /// they can be repeated.
    bool may_be_first(const LaneOp& op) const {
        for (unsigned n = 0; n < op.dwords; ++n)
            if (used_.contains(static_cast<std::uint16_t>(op.dst + n)) ||
                stretch_.numbers.contains(static_cast<std::uint16_t>(op.dst + n)))
                return false;
        if (!op.is_scalar(Scalar::load)) return true;
        const auto keeps = [&](const LaneOp& load) {
            return load.is_scalar(Scalar::load) && (op.dst + op.dwords <= load.base || load.base + 2 <= op.dst);
        };
        return is_unchanged(op.base, 2) && keeps(op) &&
               std::all_of(stretch_.scalars.begin(), stretch_.scalars.end(), keeps);
    }
    void add_operation(const LaneOp& op) {
        if (op.lane == Lane::scalar) {
            stretch_.numbers[op.dst] = op.source[0].number;
            return;
        }
        for (const Source& source : op.source)
            if (source.kind == Source::Kind::scalar) used_.insert(source.index);
        use(op.mask_in, shape_.mask_sgprs());
        use(op.mask_out, shape_.mask_sgprs());
        use(op.base, 2);
        if (op.mask_out != kNone) stretch_.masks.insert(op.mask_out);
        loads_ += op.lane == Lane::load_global;
        stores_ = op.lane == Lane::store_global;
        stretch_.ops.push_back(op);
    }

    void use(std::uint16_t first, unsigned sgprs) {
        if (first == kNone) return;
        for (unsigned n = 0; n < sgprs; ++n) used_.insert(static_cast<std::uint16_t>(first + n));
    }

    /// Sources whose number is known become it. False: the operation uses what the stretch has changed in another way.
    bool put_numbers(LaneOp& op) const {
        for (Source& source : op.source) {
            if (source.kind != Source::Kind::scalar) continue;
            if (in_masks(source.index)) return false;
            const auto known = stretch_.numbers.find(source.index);
            if (known != stretch_.numbers.end())
                source = {Source::Kind::number, 0, known->second, source.absolute, source.negative};
        }
        if (op.lane == Lane::scalar) {
            for (unsigned n = 0; n < op.dwords; ++n)
                if (in_masks(op.dst + n)) return false;
            return !is_first(op) || may_be_first(op);
        }
        if (op.lane == Lane::store_global && loads_ != 0) return false;
        return fits(op.mask_in) && fits(op.mask_out) && (op.base == kNone || is_unchanged(op.base, 2));
    }
    bool in_masks(unsigned sgpr) const {
        return std::any_of(stretch_.masks.begin(), stretch_.masks.end(),
                           [=, this](unsigned mask) { return sgpr - mask < shape_.mask_sgprs(); });
    }
    /// None of the SGPRs is a number or in a mask.
    bool is_unchanged(std::uint16_t first, unsigned sgprs) const {
        for (unsigned n = 0; n < sgprs; ++n)
            if (in_masks(first + n) || stretch_.numbers.contains(static_cast<std::uint16_t>(first + n))) return false;
        return true;
    }
    /// A mask of the stretch, or SGPRs of which none is in use.
    bool fits(std::uint16_t mask) const {
        return mask == kNone || stretch_.masks.contains(mask) || is_unchanged(mask, shape_.mask_sgprs());
    }

    Shape shape_;
    std::vector<LaneOp> new_;
    Stretch stretch_;
    std::set<std::uint16_t> used_;  // SGPRs that vector operations use
    std::size_t loads_ = 0;         // global ones
    bool stores_ = false;
};

}  // namespace

std::vector<Stretch> stretches(std::span<const Inst> slots, const Shape& shape) {
    const std::vector<bool> targets = branch_targets(slots);
    std::vector<Stretch> found;
    Planner planner(shape);
    std::size_t begin = 0, after_load = 0;  // of the stretch, and of its last global load
    const auto close = [&](std::size_t at) {
        planner.close(slots.data() + at, found);
        begin = at;
    };
    for (std::size_t n = 0; n < slots.size();) {
        const Inst& inst = slots[n];
        if (targets[n]) close(n);
        if (planner.loads_before(inst)) {
            // Once more, up to the last load.
            planner.forget();
            for (n = begin; n < after_load; n += slots[n].size) planner.add(slots[n]);
            close(after_load);
            continue;
        }
        if (!planner.add(inst)) {
            close(n);
            planner.add(inst);
        }
        n += inst.size;
        if (inst.segment == isa::Segment::Global && planner.ends_in_load()) after_load = n;
    }
    close(slots.size());
    return found;
}

}  // namespace kfdemu::jit
