#include "tools/kfdemu/check/wait/wait_check.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "tools/kfdemu/isa/execution/dpp.hpp"

namespace kfdemu::check {
namespace {

using namespace isa;

constexpr std::uint64_t kAll = ~std::uint64_t{0};

bool moves_relative(const Inst& inst) {
    const Row& row = rows()[inst.row];
    return row.is(kMovesFrom) || row.is(kMovesTo);
}

/// The lanes that those in EXEC read by DPP, if their row and bank are enabled.
std::uint64_t moved_from(const Wave& wave, const Inst& inst) {
    std::uint64_t from = 0;
    for (std::uint64_t rest = wave.exec(); rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        if (inst.form == Form::Dpp8) {
            from |= std::uint64_t{1} << ((lane & ~7u) | (inst.literal >> (8 + 3 * (lane & 7)) & 7));
            continue;
        }
        const DppLane source = dpp_source(inst.literal >> 8 & 0x1ff, lane, wave.width);
        const bool enabled = (inst.literal >> (28 + lane / 16) & inst.literal >> (24 + lane / 4 % 4) & 1) != 0;
        if (source.valid && enabled) from |= std::uint64_t{1} << source.from;
    }
    return from;
}

bool to_scalars(const Inst& inst) { return inst.format == Format::Smem || inst.format == Format::Sop1; }

/// The lanes of a vector register that `use` concerns.
std::uint64_t lanes_of(const Wave& wave, const Inst& inst, const RegisterUse& use) {
    if (use.first < kConstants) return kAll;
    switch (use.lanes) {
        case LaneUse::All:
            return kAll;
        case LaneUse::Moved:
            return moved_from(wave, inst);
        case LaneUse::First:
            return std::uint64_t{1} << (wave.exec() == 0 ? 0 : std::countr_zero(wave.exec()));
        case LaneUse::Named:
            // The lane's number comes from an SGPR or a constant, which Wave::s holds too.
            return inst.src[1] < kVgpr0 ? std::uint64_t{1} << (wave.s[inst.src[1]] & (wave.width - 1u)) : kAll;
        default:
            return wave.exec();
    }
}

/// "s_nop 4"; one instruction gives 16 states at most.
std::string nops(unsigned states) {
    std::string text = "s_nop " + std::to_string(std::min(states, 16u) - 1);
    return states > 16 ? text + " and " + nops(states - 16) : text;
}

}  // namespace

Route WaitCheck::route_of(const Wave& wave, const Inst& inst) const {
    if (to_scalars(inst)) return {.any_order = true};
    if (inst.format == Format::Ds) return {.lds = true};
    const bool flat = inst.format == Format::Flat && inst.segment == Segment::Flat;
    return flat ? route_of_flat(wave, inst) : Route{.memory = counters_.counts_load(inst)};
}

Route WaitCheck::route_of_flat(const Wave& wave, const Inst& inst) const {
    const std::uint32_t* high = const_cast<Wave&>(wave).lanes(inst.src[0]) + wave.width;
    const auto aperture = static_cast<std::uint32_t>(wave.shared_base >> 32);
    bool memory = false, lds = false;
    for (std::uint64_t rest = wave.exec(); rest != 0; rest &= rest - 1)
        (high[std::countr_zero(rest)] == aperture ? lds : memory) = true;
    const bool loads = counters_.counts_load(inst), ordered = counters_.flat_in_order();
    Route route{.memory = memory && loads, .lds = lds && ordered, .any_order = lds && !ordered};
    if (ordered) route.raises_vm = loads, route.raises_lds = true;
    return route;
}

void WaitCheck::before(const Scene& scene, InstCache& cache, const Wave& wave, const Inst& inst) {
    if (const Hazard* hazard = hazards_.before(inst)) report(scene, *hazard, wave, inst);
    const Waits waits = counters_.waits(wave, inst);
    const bool memory = may_access(inst.format) || Counters::is_answered(inst);
    const Route route = memory ? route_of(wave, inst) : Route{};
    if (!board_.empty())
        use_registers(scene, moves_relative(inst) ? register_uses(moved_by_m0(inst, wave.s[kM0])) : cache.uses(inst),
                      route, wave, inst);
    if (waits.any()) board_.wait(waits);
    if (memory) board_.issue(inst, route, to_scalars(inst) ? kAll : wave.exec());
}

void WaitCheck::use_registers(const Scene& scene, const RegisterUses& uses, const Route& route, const Wave& wave,
                              const Inst& inst) {
    for (const RegisterUse& use : uses) {
        const Load* load = board_.conflict(use, lanes_of(wave, inst, use));
        if (load == nullptr) continue;
        // Results of loads that arrive in order may follow each other into one register.
        if (use.writes && may_access(inst.format) && Scoreboard::in_order(*load, route)) continue;
        report(scene, *load, use, wave, inst);
        board_.forget(*load);
    }
}

void WaitCheck::report(const Scene& scene, const Load& load, const RegisterUse& use, const Wave& wave,
                       const Inst& inst) {
    const char* rule = use.writes ? "overwritten-before-wait" : "read-before-wait";
    if (!scene.session.report->is_new(Check::wait, rule, inst)) return;
    Finding finding = scene.finding(Check::wait, rule, wave, inst);
    finding.what = register_name(scene.target, use.first, use.count) + (use.writes ? " is overwritten" : " is read") +
                   " while a load may still write " + register_name(scene.target, load.to.first, load.to.count) + ": " +
                   counters_.text(board_.needed(load)) + " is missing";
    if (use.first >= kVgpr0)
        finding.lane = static_cast<std::uint32_t>(std::countr_zero(load.lanes & lanes_of(wave, inst, use)));
    finding.related.push_back({"the load", scene.site(load.inst)});
    scene.session.report->add(std::move(finding));
}

void WaitCheck::report(const Scene& scene, const Hazard& hazard, const Wave& wave, const Inst& inst) {
    constexpr const char* kRule = "wait-states";
    if (!scene.session.report->is_new(Check::wait, kRule, inst)) return;
    Finding finding = scene.finding(Check::wait, kRule, wave, inst);
    const auto states = [](unsigned n) { return std::to_string(n) + (n == 1 ? " wait state" : " wait states"); };
    if (hazard.remedy != nullptr)
        finding.what =
            std::string{"what an earlier instruction writes is read too soon: "} + hazard.remedy + " is missing";
    else
        finding.what = "the instruction needs " + states(hazard.needed) + " after an earlier one and has " +
                       std::to_string(hazard.found) + ": " + nops(hazard.missing()) +
                       (hazard.missing() > 16 ? " are missing" : " is missing");
    finding.related.push_back({"the earlier one", scene.site(hazard.earlier)});
    scene.session.report->add(std::move(finding));
}

}  // namespace kfdemu::check
