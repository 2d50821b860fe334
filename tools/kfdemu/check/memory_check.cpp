#include "memory_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "../base/address_space.hpp"

namespace kfdemu::check {
namespace {

using namespace gfx9;

const char* verb(const Access& access) { return access.writes ? access.reads ? "updated" : "written" : "read"; }

struct Bounds {
    std::uint64_t low = ~std::uint64_t{0}, high = 0;
};

Bounds bounds_of(const Access& access) {
    Bounds b;
    if (access.lanes == ~std::uint64_t{0}) {
        for (unsigned l = 0; l < kLanes; ++l)
            b.low = std::min(b.low, access.at[l]), b.high = std::max(b.high, access.at[l]);
        return b;
    }
    for (std::uint64_t rest = access.lanes; rest != 0; rest &= rest - 1) {
        const std::uint64_t at = access.at[static_cast<unsigned>(std::countr_zero(rest))];
        b.low = std::min(b.low, at), b.high = std::max(b.high, at);
    }
    return b;
}

struct Trouble {
    const char* rule;
    std::string what, place;
    std::uint64_t address;
    std::uint32_t lane;
};

void report(const Scene& scene, const Wave& wave, const Inst& inst, Trouble&& trouble) {
    Finding finding = scene.finding(Check::memory, trouble.rule, wave, inst);
    finding.what = std::move(trouble.what);
    finding.place = std::move(trouble.place);
    finding.address = trouble.address;
    finding.lane = trouble.lane;
    scene.session.report->add(std::move(finding));
}

bool is_new(const Scene& scene, const Inst& inst, const char* rule) {
    return scene.session.report->is_new(Check::memory, rule, inst.pc);
}

}  // namespace

void MemoryCheck::before(const Scene& scene, const Wave& wave, const Inst& inst, const Segments& segments) {
    const Where where{scene, wave, inst};
    for (unsigned n = 0; n < segments.count; ++n) {
        const Access& access = segments.access[n];
        if (access.lanes == 0) continue;
        if (access.place == Place::Memory)
            memory(where, access);
        else
            segment(where, access, access.place == Place::Lds ? scene.lds_bytes : scene.lane_scratch_bytes);
    }
}

void MemoryCheck::segment(const Where& where, const Access& access, std::uint32_t size) {
    if (bounds_of(access).high + access.bytes <= size) return;
    const bool lds = access.place == Place::Lds;
    const char* rule = lds ? "lds-out-of-bounds" : "scratch-out-of-bounds";
    if (!is_new(where.scene, where.inst, rule)) return;
    std::uint64_t rest = access.lanes;
    while (access.at[static_cast<unsigned>(std::countr_zero(rest))] + access.bytes <= size) rest &= rest - 1;
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    report(where.scene, where.wave, where.inst,
           {rule,
            fmt::format("{} bytes are {} outside of the {}", access.bytes, verb(access),
                        lds ? "work-group's LDS" : "lane's scratch"),
            fmt::format("offset {} of {} bytes of {}", access.at[lane], size, lds ? "LDS" : "scratch"), access.at[lane],
            lane});
}

/// Only accesses relative to the address that the kernel was given: other data may follow the arguments.
bool MemoryCheck::beyond_arguments(const Where& where, const Access& access) {
    const Scene& scene = where.scene;
    if (!access.scalar || scene.kernarg_bytes == 0 || where.wave.s64(where.inst.src[0]) != scene.kernarg_va)
        return false;
    // What is wider than needed begins inside.
    if (access.at[0] - scene.kernarg_va < scene.kernarg_bytes) return false;
    constexpr const char* kRule = "arguments-out-of-bounds";
    if (is_new(scene, where.inst, kRule))
        report(scene, where.wave, where.inst,
               {kRule, fmt::format("{} bytes are {} outside of the kernel's arguments", access.bytes, verb(access)),
                fmt::format("offset {} of {} bytes of arguments at {:#x}",
                            static_cast<std::int64_t>(access.at[0] - scene.kernarg_va), scene.kernarg_bytes,
                            scene.kernarg_va),
                access.at[0], kWholeWave});
    return true;
}

void MemoryCheck::memory(const Where& where, const Access& access) {
    if (beyond_arguments(where, access)) return;
    const Allocations* allocations = where.scene.session.allocations;
    if (allocations == nullptr) return;
    if (const std::uint64_t now = allocations->generation(); now != generation_) {
        spans_ = {};
        generation_ = now;
    }
    const Bounds b = bounds_of(access);
    if (fine(b.low, b.high - b.low + access.bytes)) return;
    for (std::uint64_t rest = access.lanes; rest != 0; rest &= rest - 1)
        one_lane(where, access, static_cast<unsigned>(std::countr_zero(rest)));
}

void MemoryCheck::one_lane(const Where& where, const Access& access, unsigned lane) {
    const Allocations& allocations = *where.scene.session.allocations;
    std::uint64_t va = access.at[lane];
    const std::uint64_t end = va + access.bytes;
    while (va < end) {
        const Span& here = span(allocations, va);
        if (here.kind == Span::Slack || here.kind == Span::Freed) break;
        va = std::max(here.end, va + 1);
    }
    if (va >= end) return;
    const bool freed = span(allocations, va).kind == Span::Freed;
    const char* rule = freed ? "use-after-free" : "out-of-bounds";
    if (!is_new(where.scene, where.inst, rule)) return;
    report(where.scene, where.wave, where.inst,
           {rule,
            fmt::format("{} bytes{} are {}{}", access.bytes, freed ? " of freed memory" : "", verb(access),
                        freed ? "" : " outside of an allocation"),
            allocations.describe(va), va, access.scalar ? kWholeWave : lane});
}

void MemoryCheck::faulted(const Scene& scene, const Wave& wave, const Inst& inst) {
    constexpr const char* kRule = "fault";
    if (scene.session.allocations == nullptr || !is_new(scene, inst, kRule)) return;
    const bool writes = (wave.fault.access & kWrite) != 0;
    report(scene, wave, inst,
           {kRule,
            fmt::format("memory that is not mapped{} is {}", writes ? " for writing" : "", writes ? "written" : "read"),
            scene.session.allocations->describe(wave.fault.address), wave.fault.address, wave.fault.lane});
}

bool MemoryCheck::fine(std::uint64_t va, std::uint64_t bytes) const {
    for (const Span& span : spans_)
        if (span.contains(va, bytes)) return span.kind == Span::Live || span.kind == Span::Unknown;
    return false;
}

const Span& MemoryCheck::span(const Allocations& allocations, std::uint64_t va) {
    for (const Span& span : spans_)
        if (span.contains(va, 1)) return span;
    Span& entry = spans_[next_];
    next_ = (next_ + 1) % spans_.size();
    return entry = allocations.span(va);
}

}  // namespace kfdemu::check
