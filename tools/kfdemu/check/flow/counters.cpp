#include "tools/kfdemu/check/flow/counters.hpp"

#include <fmt/format.h>

namespace kfdemu::check {

using namespace isa;

namespace {

/// What invalidates a cache is not counted before GFX12 (LLVM's SIInsertWaitcnts agrees).
bool invalidates(const Inst& inst) {
    switch (static_cast<Op>(inst.row)) {
        case Op::buffer_wbinvl1:
        case Op::buffer_wbinvl1_vol:
        case Op::buffer_gl0_inv:
        case Op::buffer_gl1_inv:
            return true;
        default:
            return false;
    }
}

/// SIMM16, and an SGPR or NULL, are added in six bits.
std::uint32_t sum(const Wave& wave, const Inst& inst) {
    return (static_cast<std::uint32_t>(inst.offset) + wave.s[inst.dst]) & 63;
}

}  // namespace

/// By vmcnt or vscnt.
bool Counters::counts(const Inst& inst) {
    return inst.format != Format::Ds && is_vector_memory(inst.format) && !invalidates(inst);
}

bool Counters::stores(const Inst& inst) {
    const Row& row = rows()[inst.row];
    if (inst.row == index(Op::flat_wb) || inst.row == index(Op::flat_wbinv)) return true;
    return row.is(kStore) || (row.is(kAtomic) && !inst.has(kGlc));
}

/// VMCNT in bits 3:0 and 15:14, LGKMCNT from bit 8 on: four bits, six on GFX10. GFX11: bits 15:10 and 9:4.
Waits Counters::of_waitcnt(std::uint32_t operand) const {
    Waits waits;
    waits.loads = gfx11_ ? operand >> 10 & 63 : (operand & 15) | (operand >> 14 & 3) << 4;
    waits.lds = waits.scalar = operand >> (gfx11_ ? 4 : 8) & most().lds;
    if (!separate_) waits.stores = waits.loads;
    return waits;
}

Waits Counters::of_scalar(const Wave& wave, const Inst& inst) const {
    const std::uint32_t operand = static_cast<std::uint32_t>(inst.offset), low = operand & 63, high = operand >> 8 & 63;
    switch (static_cast<Op>(inst.row)) {
        case Op::s_waitcnt:
            return of_waitcnt(operand);
        case Op::s_waitcnt_vmcnt:
            return {.loads = sum(wave, inst)};
        case Op::s_waitcnt_vscnt:
            return {.stores = sum(wave, inst)};
        case Op::s_waitcnt_lgkmcnt:
            return {.lds = sum(wave, inst), .scalar = sum(wave, inst)};
        case Op::s_wait_idle:
            return {0, 0, 0, 0};
        case Op::s_wait_loadcnt:
            return {.loads = low};
        case Op::s_wait_storecnt:
            return {.stores = low};
        case Op::s_wait_dscnt:
            return {.lds = low};
        case Op::s_wait_kmcnt:
            return {.scalar = low & 31};
        case Op::s_wait_loadcnt_dscnt:
            return {.loads = high, .lds = low};
        case Op::s_wait_storecnt_dscnt:
            return {.stores = high, .lds = low};
        default:
            return {};
    }
}

std::string Counters::text(const Waits& waits) const {
    std::string text;
    const auto add = [&](const char* usual, const char* split, std::uint32_t most) {
        if (most == Waits::kAny) return;
        text += split_ ? fmt::format("{}s_wait_{} {:#x}", text.empty() ? "" : " and ", split, most)
                       : fmt::format("{} {}({})", text.empty() ? "s_waitcnt" : "", usual, most);
    };
    add("vmcnt", "loadcnt", waits.loads);
    add("lgkmcnt", "dscnt", waits.lds);
    if (split_ || waits.lds == Waits::kAny) add("lgkmcnt", "kmcnt", waits.scalar);
    return text;
}

}  // namespace kfdemu::check
