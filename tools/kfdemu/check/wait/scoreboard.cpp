#include "tools/kfdemu/check/wait/scoreboard.hpp"

#include <algorithm>
#include <string>

namespace kfdemu::check {
namespace {

/// A number for each register: SGPRs, VGPRs, AccVGPRs.
unsigned number_of(isa::Operand operand) { return operand < 128 ? operand : operand - isa::kVgpr0 + 128; }

bool overlap(const RegisterUse& a, const RegisterUse& b) {
    return a.first < b.first + b.count && b.first < a.first + a.count;
}

}  // namespace

void Scoreboard::clear(const Waits& most) {
    most_ = most;
    loads_.clear();
    pending_.reset();
    vm_issued_ = lds_issued_ = 0;
}

void Scoreboard::issue(const isa::Inst& inst, const Route& route, std::uint64_t lanes) {
    if (route.raises_vm) ++vm_issued_;
    if (route.raises_lds) ++lds_issued_;
    // The hardware stalls rather than let a counter overflow, which waits for the oldest.
    if (overflows()) wait(most_);
    const RegisterUse to = loaded_registers(inst);
    if (to.count == 0 || lanes == 0) return;
    Load load{inst, to, lanes};
    load.vm = route.memory ? vm_issued_ : 0;
    load.lds = route.lds ? lds_issued_ : 0;
    load.any_order = route.any_order;
    loads_.push_back(load);
    for (unsigned n = 0; n < to.count; ++n) pending_.set(number_of(to.first) + n);
}

bool Scoreboard::overflows() const {
    return std::any_of(loads_.begin(), loads_.end(), [this](const Load& load) {
        return (load.vm != 0 && vm_issued_ - load.vm >= most_.loads) ||
               (load.lds != 0 && lds_issued_ - load.lds >= most_.lds);
    });
}

void Scoreboard::wait(const Waits& waits) {
    if (loads_.empty()) return;
    for (Load& load : loads_) {
        // In order: if so many were issued after it and at most that many are outstanding, it is not among them.
        if (vm_issued_ - load.vm >= waits.loads) load.vm = 0;
        if (lds_issued_ - load.lds >= waits.lds) load.lds = 0;
        if (waits.scalar == 0) load.any_order = false;
    }
    std::erase_if(loads_, [](const Load& load) { return load.arrived(); });
    note_registers();
}

void Scoreboard::note_registers() {
    pending_.reset();
    for (const Load& load : loads_)
        for (unsigned n = 0; n < load.to.count; ++n) pending_.set(number_of(load.to.first) + n);
}

const Load* Scoreboard::conflict(const RegisterUse& use, std::uint64_t lanes) const {
    bool any = false;
    for (unsigned n = 0; n < use.count; ++n) any |= pending_[number_of(use.first) + n];
    if (!any) return nullptr;
    for (const Load& load : loads_)
        if ((load.lanes & lanes) != 0 && overlap(load.to, use)) return &load;
    return nullptr;
}

bool Scoreboard::in_order(const Load& load, const Route& route) {
    if (load.any_order || route.any_order) return false;
    return (load.vm == 0 || route.memory) && (load.lds == 0 || route.lds) && route.memory != route.lds;
}

Waits Scoreboard::needed(const Load& load) const {
    Waits waits;
    if (load.vm != 0) waits.loads = vm_issued_ - load.vm;
    if (load.lds != 0) waits.lds = lds_issued_ - load.lds;
    if (load.any_order) waits.scalar = 0;
    return waits;
}

void Scoreboard::forget(const Load& load) {
    loads_.erase(loads_.begin() + (&load - loads_.data()));
    note_registers();
}

}  // namespace kfdemu::check
