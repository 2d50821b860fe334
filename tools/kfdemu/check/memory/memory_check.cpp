#include "tools/kfdemu/check/memory/memory_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "tools/kfdemu/base/address_space.hpp"

namespace kfdemu::check {
namespace {

using namespace isa;

const char* verb(const Access& access) { return access.writes ? access.reads ? "updated" : "written" : "read"; }

struct Bounds {
    std::uint64_t low = ~std::uint64_t{0}, high = 0;
};

Bounds bounds_of(const Access& access) {
    Bounds b;
    if (access.lanes == ~std::uint64_t{0}) {
        for (unsigned l = 0; l < kMostLanes; ++l)
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
    bool in_memory = false;  ///< the address is, rather than in a segment
};

void report(const Scene& scene, const Wave& wave, const Inst& inst, Trouble&& trouble) {
    Finding finding = scene.finding(Check::memory, trouble.rule, wave, inst);
    finding.what = std::move(trouble.what);
    finding.place = std::move(trouble.place);
    finding.address = trouble.address;
    finding.lane = trouble.lane;
    if (trouble.in_memory) finding.stacks = scene.session.allocations->stacks(trouble.address);
    scene.session.report->add(std::move(finding));
}

bool is_wrong(Span::Kind kind, bool writes) {
    return kind == Span::Slack || kind == Span::Freed || (kind == Span::Code && writes);
}

/// What the bytes are that an access to such memory is reported for.
const char* rule_of(Span::Kind kind) {
    return kind == Span::Freed ? "use-after-free" : kind == Span::Code ? "write-to-code" : "out-of-bounds";
}

std::string what_of(Span::Kind kind, const Access& access) {
    switch (kind) {
        case Span::Freed:
            return fmt::format("{} bytes of freed memory are {}", access.bytes, verb(access));
        case Span::Code:
            return fmt::format("{} bytes of code are {}", access.bytes, verb(access));
        default:
            return fmt::format("{} bytes are {} outside of an allocation", access.bytes, verb(access));
    }
}

bool is_new(const Scene& scene, const Inst& inst, const char* rule) {
    return scene.session.report->is_new(Check::memory, rule, inst);
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
    if (fine(b.low, b.high - b.low + access.bytes, access.writes)) return;
    unsigned told = 0;  // kinds: each is told of one lane, and counted once
    for (std::uint64_t rest = access.lanes; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        const std::optional<std::uint64_t> va = first_wrong(*allocations, access, lane);
        if (!va) continue;
        const Span::Kind kind = span(*allocations, *va).kind;
        if ((told >> kind & 1) == 0) tell(where, access, lane, *va, kind);
        told |= 1u << kind;
    }
}

/// The address in the lane's access that is in no live allocation.
std::optional<std::uint64_t> MemoryCheck::first_wrong(const Allocations& allocations, const Access& access,
                                                      unsigned lane) {
    std::uint64_t va = access.at[lane];
    const std::uint64_t end = va + access.bytes;
    while (va < end) {
        const Span& here = span(allocations, va);
        if (is_wrong(here.kind, access.writes)) break;
        va = std::max(here.end, va + 1);
    }
    if (va >= end) return {};
    // Compilers widen a scalar load to its alignment, which cannot leave the page.
    const bool may_be_wider = access.scalar && !access.writes && va != access.at[0] &&
                              access.at[0] % std::bit_ceil(access.bytes) == 0 &&
                              span(allocations, va).kind == Span::Slack;
    if (may_be_wider) return {};
    return va;
}

void MemoryCheck::tell(const Where& where, const Access& access, unsigned lane, std::uint64_t va, Span::Kind kind) {
    const Allocations& allocations = *where.scene.session.allocations;
    if (!is_new(where.scene, where.inst, rule_of(kind))) return;
    report(where.scene, where.wave, where.inst,
           {rule_of(kind), what_of(kind, access), allocations.describe(va), va, access.scalar ? kWholeWave : lane,
            kind != Span::Code});
}

void MemoryCheck::faulted(const Scene& scene, const Wave& wave, const Inst& inst) {
    constexpr const char* kRule = "fault";
    if (scene.session.allocations == nullptr || !is_new(scene, inst, kRule)) return;
    const bool writes = (wave.fault.access & kWrite) != 0;
    report(scene, wave, inst,
           {kRule,
            fmt::format("memory that is not mapped{} is {}", writes ? " for writing" : "", writes ? "written" : "read"),
            scene.session.allocations->describe(wave.fault.address), wave.fault.address, wave.fault.lane, true});
}

bool MemoryCheck::fine(std::uint64_t va, std::uint64_t bytes, bool writes) const {
    for (const Span& span : spans_)
        if (span.contains(va, bytes)) return !is_wrong(span.kind, writes);
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
