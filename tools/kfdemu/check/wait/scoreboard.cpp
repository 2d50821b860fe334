#include "tools/kfdemu/check/wait/scoreboard.hpp"

#include <algorithm>
#include <string>

namespace kfdemu::check {
namespace {

/// s_waitcnt with every counter at its maximum.
constexpr std::uint32_t kHighestCounts = 0xcf7f;

/// A number for each register: SGPRs, VGPRs, AccVGPRs.
unsigned number_of(isa::Operand operand) { return operand < 128 ? operand : operand - isa::kVgpr0 + 128; }

bool overlap(const RegisterUse& a, const RegisterUse& b) {
    return a.first < b.first + b.count && b.first < a.first + a.count;
}

}  // namespace

void Scoreboard::clear() {
    loads_.clear();
    pending_.reset();
    vm_issued_ = lds_issued_ = 0;
}

void Scoreboard::issue(const isa::Inst& inst, const Route& route, std::uint64_t lanes) {
    if (route.memory) ++vm_issued_;
    if (route.lds && !route.flat) ++lds_issued_;
    // The hardware stalls rather than let a counter overflow, which waits for the oldest.
    if (overflows()) wait(kHighestCounts);
    const RegisterUse to = loaded_registers(inst);
    if (to.count == 0 || lanes == 0) return;
    Load load{inst, to, lanes};
    load.vm = route.memory ? vm_issued_ : 0;
    load.lds = route.lds && !route.flat ? lds_issued_ : 0;
    load.any_order = route.scalar || (route.lds && route.flat);
    loads_.push_back(load);
    for (unsigned n = 0; n < to.count; ++n) pending_.set(number_of(to.first) + n);
}

bool Scoreboard::overflows() const {
    return std::any_of(loads_.begin(), loads_.end(), [this](const Load& load) {
        return (load.vm != 0 && vm_issued_ - load.vm > 62) || (load.lds != 0 && lds_issued_ - load.lds > 14);
    });
}

void Scoreboard::wait(std::uint32_t operand) {
    if (loads_.empty()) return;
    const std::uint32_t vmcnt = (operand & 0xf) | (operand >> 14 & 3) << 4, lgkmcnt = operand >> 8 & 0xf;
    for (Load& load : loads_) {
        // In order: if so many were issued after it and at most that many are outstanding, it is not among them.
        if (vm_issued_ - load.vm >= vmcnt) load.vm = 0;
        if (lds_issued_ - load.lds >= lgkmcnt) load.lds = 0;
        if (lgkmcnt == 0) load.any_order = false;
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
    if (load.any_order || route.scalar || (route.flat && route.lds)) return false;
    return (load.vm == 0 || route.memory) && (load.lds == 0 || route.lds) && route.memory != route.lds;
}

std::string Scoreboard::needed(const Load& load) const {
    std::string text;
    if (load.vm != 0) text = "vmcnt(" + std::to_string(vm_issued_ - load.vm) + ")";
    if (load.lds == 0 && !load.any_order) return text;
    const std::uint32_t later = load.any_order ? 0 : lds_issued_ - load.lds;
    return text + (text.empty() ? "" : " ") + "lgkmcnt(" + std::to_string(later) + ")";
}

void Scoreboard::forget(const Load& load) {
    loads_.erase(loads_.begin() + (&load - loads_.data()));
    note_registers();
}

}  // namespace kfdemu::check
