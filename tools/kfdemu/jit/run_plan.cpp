#include "run_plan.hpp"

#include <algorithm>
#include <utility>

namespace kfdemu::jit {
namespace {

using gfx9::Inst;

std::vector<bool> branch_targets(std::span<const Inst> slots) {
    std::vector<bool> targets(slots.size());
    for (const Inst& inst : slots)
        if (inst.has(gfx9::kBranch) && inst.target != nullptr)
            targets[static_cast<std::size_t>(inst.target - slots.data())] = true;
    return targets;
}

class Planner {
  public:
    explicit Planner(Width width) : width_(width) {}

    /// False: the instruction does not continue the stretch.
    bool add(const Inst& inst) {
        new_.clear();
        if (!append_operations(inst, width_, new_)) return false;
        if (stretch_.ops.size() + new_.size() > Stretch::most_ops) return false;
        for (LaneOp& op : new_)
            if (!put_numbers(op)) return false;
        stretch_.insts.push_back(&inst);
        for (const LaneOp& op : new_) {
            if (op.lane == Lane::scalar) {
                stretch_.numbers[op.dst] = op.source[0].number;
                continue;
            }
            if (op.mask_out != kNone) stretch_.masks.insert(op.mask_out);
            stretch_.ops.push_back(op);
        }
        return true;
    }

    void close(const Inst* end, std::vector<Stretch>& found) {
        stretch_.end = end;
        if (stretch_.ops.size() >= Stretch::fewest_ops) found.push_back(std::move(stretch_));
        stretch_ = {};
    }

  private:
    /// Sources whose number is known become it. False: the operation uses what the stretch has changed in another way.
    bool put_numbers(LaneOp& op) const {
        if (op.lane == Lane::scalar) return !in_masks(op.dst);
        for (Source& source : op.source) {
            if (source.kind != Source::Kind::scalar) continue;
            if (in_masks(source.index)) return false;
            const auto known = stretch_.numbers.find(source.index);
            if (known != stretch_.numbers.end())
                source = {Source::Kind::number, 0, known->second, source.absolute, source.negative};
        }
        return fits(op.mask_in) && fits(op.mask_out);
    }
    bool in_masks(unsigned sgpr) const {
        return std::any_of(stretch_.masks.begin(), stretch_.masks.end(),
                           [=](unsigned mask) { return sgpr - mask < 2; });
    }
    /// A pair that is a mask of the stretch, or none of whose halves is in use.
    bool fits(std::uint16_t mask) const {
        if (mask == kNone || stretch_.masks.contains(mask)) return true;
        return !in_masks(mask) && !in_masks(mask + 1u) && !stretch_.numbers.contains(mask) &&
               !stretch_.numbers.contains(static_cast<std::uint16_t>(mask + 1));
    }

    Width width_;
    std::vector<LaneOp> new_;
    Stretch stretch_;
};

}  // namespace

std::vector<Stretch> stretches(std::span<const Inst> slots, Width width) {
    const std::vector<bool> targets = branch_targets(slots);
    std::vector<Stretch> found;
    Planner planner(width);
    for (std::size_t n = 0; n < slots.size(); n += slots[n].size) {
        const Inst& inst = slots[n];
        if (targets[n]) planner.close(&inst, found);
        if (planner.add(inst)) continue;
        planner.close(&inst, found);
        planner.add(inst);
    }
    planner.close(slots.data() + slots.size(), found);
    return found;
}

}  // namespace kfdemu::jit
