// Which instructions go past the caches between work-groups, empty them, or write them back.
//
//     const CacheModel& caches = cache_model(target);
//     if (caches.misses(load)) …
//
// Each CU has an L1 cache for vector memory, which stores write through, and shares one for scalar loads; neither sees
// what another CU stores. From gfx940 on, each XCC has an L2 cache, too, which is written back on demand, and SC0 and
// SC1 are the scope of an access: SC1 alone is the agent. Before, GLC is the agent, and GLC with SLC nontemporal. On
// GFX10 and GFX11, the cache of a CU is L0, and a shader array shares another, GL1, between all of them and the L2
// cache of the agent: GLC, of GFX10 with DLC, goes past both, and both have to be invalidated. On GFX12 an access, and
// what invalidates, has a scope: past what it names, the caches are coherent. Source: LLVM AMDGPUUsage, "Memory Model
// GFX6-GFX9", "GFX90A", "GFX942", "GFX10-GFX11", "GFX12". Pure. Thread safety: any thread.
#pragma once

#include "tools/kfdemu/isa/rows/row.hpp"
#include "tools/kfdemu/isa/rows/traits.hpp"

namespace kfdemu::check {

struct CacheModel {
    bool scopes = false;
    bool two_levels = false;  ///< L0 and GL1
    bool needs_dlc = false;   ///< to go past both
    bool named = false;       ///< the scope is a number

    /// A load that looks for what other work-groups wrote: volatile, or atomic.
    bool looks_for_others(const isa::Inst& inst) const {
        if (named) return of_agent(inst);
        return looks_in_group(inst) && (!scopes || inst.has(isa::kScc)) && (!needs_dlc || inst.has(isa::kDlc));
    }
    /// Or at least what the waves of its own wrote.
    bool looks_in_group(const isa::Inst& inst) const {
        if (named) return isa::scope_of(inst) != isa::Scope::compute_unit;
        return scopes ? inst.has(isa::kGlc) || inst.has(isa::kScc) : inst.has(isa::kGlc) && !inst.has(isa::kSlc);
    }
    /// A load from vector memory that sees what other CUs have stored.
    bool misses(const isa::Inst& inst) const {
        if (inst.format == isa::Format::Smem) return false;
        if (named) return of_agent(inst);
        return inst.has(scopes ? isa::kScc : isa::kGlc) && (!needs_dlc || inst.has(isa::kDlc));
    }
    /// The cache of vector memory.
    bool empties(const isa::Inst& inst) const {
        if (named) return (is(inst, isa::Op::flat_inv) || is(inst, isa::Op::flat_wbinv)) && of_agent(inst);
        if (two_levels) return is(inst, isa::Op::buffer_gl0_inv);
        if (scopes) return is(inst, isa::Op::buffer_invl2) && inst.has(isa::kScc);
        return is(inst, isa::Op::buffer_wbinvl1) || is(inst, isa::Op::buffer_wbinvl1_vol);
    }
    bool empties_scalar(const isa::Inst& inst) const {
        return is(inst, isa::Op::s_dcache_inv) || is(inst, isa::Op::s_dcache_inv_vol);
    }
    /// The cache behind both, where there is one.
    bool empties_shared(const isa::Inst& inst) const {
        return is(inst, isa::Op::buffer_gl1_inv) || is(inst, isa::Op::s_gl1_inv);
    }
    /// A store that others do not see until the cache is written back.
    bool keeps(const isa::Inst& inst) const { return scopes && !inst.has(isa::kScc); }
    bool writes_back(const isa::Inst& inst) const {
        return scopes && is(inst, isa::Op::buffer_wbl2) && inst.has(isa::kScc);
    }

    const char* acquire() const {
        if (named) return "global_inv scope:SCOPE_DEV";
        if (two_levels) return "buffer_gl1_inv with buffer_gl0_inv";
        return scopes ? "buffer_inv sc1" : "buffer_wbinvl1_vol";
    }
    const char* acquire_scalar() const { return two_levels ? "s_gl1_inv with s_dcache_inv" : "s_dcache_inv"; }
    const char* release() const {
        if (named) return "s_wait_storecnt 0x0";
        if (two_levels) return "s_waitcnt_vscnt null, 0x0";
        return scopes ? "buffer_wbl2 sc1 with s_waitcnt vmcnt(0)" : "s_waitcnt vmcnt(0)";
    }

  private:
    static bool is(const isa::Inst& inst, isa::Op op) { return inst.row == isa::index(op); }
    static bool of_agent(const isa::Inst& inst) { return isa::scope_of(inst) >= isa::Scope::agent; }
};

inline CacheModel cache_model(isa::Target target) {
    const isa::Traits& traits = isa::traits_of(target);
    const bool named = traits.temporal_hints;
    return {traits.scope_bits, traits.workgroup_processors && !named, traits.dlc_misses, named};
}

}  // namespace kfdemu::check
