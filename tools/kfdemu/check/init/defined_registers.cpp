#include "tools/kfdemu/check/init/defined_registers.hpp"

#include <algorithm>

namespace kfdemu::check {

using namespace isa;

DefinedRegisters::DefinedRegisters() : vectors_(kVectors * kMostLanes) {}

void DefinedRegisters::begin(const InitialRegisters& initial) {
    const auto set = [&](unsigned first, unsigned count, std::uint64_t lanes) {
        for (unsigned n = first; n < first + count; ++n) undefined_[n] = never_[n] = lanes;
    };
    const auto defined = [&](unsigned first, unsigned count) { set(first, count, 0); };
    const unsigned vectors = std::min(initial.allocated_vgprs, 256u);
    set(0, kScalars, ~std::uint64_t{0});
    for (const unsigned first : {kScalars, kScalars + 256}) {  // VGPRs, AccVGPRs
        set(first, vectors, ~std::uint64_t{0} >> (kMostLanes - initial.lanes));
        if (vectors < allocated_) defined(first + vectors, allocated_ - vectors);
    }
    allocated_ = vectors;
    defined(0, initial.user_sgprs);
    defined(initial.first_system_sgpr, initial.system_sgprs);
    if (initial.flat_scratch) defined(isa::kFlatScratch, 2);
    if (initial.xnack_mask) defined(kXnackMask, 2);
    defined(kTtmp0, 16);
    if (!initial.group_id_yz) set(kTtmp0 + 7, 1, ~std::uint64_t{0});
    defined(kExec, 2);
    defined(kScalars, initial.vgprs);
    scc = {1, 0};
}

Undefined DefinedRegisters::at(Operand operand, unsigned lane) const {
    if (operand >= kConstants && operand < kVgpr0) return {};
    const unsigned n = number(operand);
    if ((undefined_[n] >> lane & 1) == 0) return {};
    if ((never_[n] >> lane & 1) != 0) return {~0u, 0};
    return n < kScalars ? scalars_[n] : vectors_[(n - kScalars) * kMostLanes + lane];
}

void DefinedRegisters::set(Operand operand, unsigned lane, Undefined what) {
    if (what.bits == 0) return define(operand, std::uint64_t{1} << lane);
    if (operand == kExec || operand == kExec + 1 || (operand >= kConstants && operand < kVgpr0)) return;
    const unsigned n = number(operand);
    if (n < kScalars) {
        scalars_[n] = what;
        undefined_[n] = ~std::uint64_t{0}, never_[n] = 0;
        return;
    }
    if (n >= kScalars + kVectors) return;
    vectors_[(n - kScalars) * kMostLanes + lane] = what;
    undefined_[n] |= std::uint64_t{1} << lane;
    never_[n] &= ~(std::uint64_t{1} << lane);
}

}  // namespace kfdemu::check
