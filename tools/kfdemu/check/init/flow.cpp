#include "tools/kfdemu/check/init/flow.hpp"

#include <bit>

namespace kfdemu::check {
namespace {

using namespace isa;

std::uint64_t wide_float(Operand operand) {
    constexpr double floats[] = {0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0, 0.15915494309189532};
    return std::bit_cast<std::uint64_t>(floats[operand - kFloats]);
}

/// The value of a constant or special operand, before the instruction refreshes its slot.
std::uint64_t constant(const Wave& wave, const Inst& inst, Operand operand, unsigned dwords) {
    switch (operand) {
        case kVccz:
            return wave.vcc() == 0;
        case kExecz:
            return wave.exec() == 0;
        case kScc253:
            return wave.scc;
        case kLiteral:
            return inst.literal;
        default:
            break;
    }
    if (dwords == 2 && operand >= kFloats && operand < kFloats + 9) return wide_float(operand);
    const std::uint32_t value = wave.s[operand];
    return dwords == 2 ? static_cast<std::uint64_t>(sign_extended(value, 32)) : value;
}

}  // namespace

Undefined Flow::read(Operand operand, unsigned lane) const {
    Undefined what = own.registers.at(operand, lane);
    if (what.bits != 0 && what.origin == 0)
        what.origin = shared.origins.add({Source::Register, operand, dual != nullptr ? *dual : inst});
    return what;
}

Value Flow::read_scalar(Operand operand, unsigned dwords) const {
    if (dwords == 0) return {};
    if (operand >= kConstants) {
        Value value{{constant(wave, inst, operand, dwords), 0}, 0};
        if (operand == kScc253) value.bits.undefined = own.registers.scc.bits, value.origin = own.registers.scc.origin;
        return value;
    }
    const Undefined low = read(operand, 0);
    if (dwords == 1) return {{wave.s[operand], low.bits}, low.origin};
    const Undefined high = read(static_cast<Operand>(operand + 1), 0);
    return {{wave.s64(operand), low.bits | std::uint64_t{high.bits} << 32}, low.bits != 0 ? low.origin : high.origin};
}

void Flow::write_scalar(Operand operand, unsigned dwords, const Value& value) const {
    if (operand >= kConstants) return;
    if (operand == kExec || (operand == kExec + 1 && inst.mask_dwords() == 2)) {
        const std::uint64_t written = dwords == 2 && inst.mask_dwords() == 2 ? ~std::uint64_t{0} : 0xffff'ffff;
        write_exec({{value.bits.value & written, value.bits.undefined & written}, value.origin});
        if (dwords == 1 || inst.mask_dwords() == 2) return;
    }
    own.registers.set(operand, 0, {static_cast<std::uint32_t>(value.bits.undefined), value.origin});
    if (dwords == 2)
        own.registers.set(static_cast<Operand>(operand + 1), 0,
                          {static_cast<std::uint32_t>(value.bits.undefined >> 32), value.origin});
}

void Flow::write_exec(const Value& value) const {
    if (!value.bits.any()) return;
    report(kExecRule, "EXEC depends on", value.origin, static_cast<unsigned>(std::countr_zero(value.bits.undefined)));
}

void Flow::judge_m0() const {
    const Value m0 = read_scalar(kM0, 1);
    if (!m0.bits.any()) return;
    report(kAddress, "a register's number depends on", m0.origin, kWholeWave);
    write_scalar(kM0, 1, {});
}

void Flow::report(const char* rule, const std::string& what, Origin origin, unsigned lane, bool saves) const {
    if (!scene.session.report->is_new(Check::init, rule, inst)) return;
    Finding finding = scene.finding(Check::init, rule, wave, inst);
    const NeverWritten& never = shared.origins.at(origin);
    finding.what = what + " " + to_string(scene.target, never) + ", which nothing wrote";
    finding.lane = lane;
    finding.saves = saves;
    if (never.source == Source::Memory && scene.session.allocations != nullptr) {
        finding.address = never.where;
        finding.place = scene.session.allocations->describe(never.where);
    }
    if (never.inst.pc != inst.pc) finding.related.push_back({"first read by", scene.site(never.inst)});
    scene.session.report->add(std::move(finding));
}

}  // namespace kfdemu::check
