// Which instructions go past the caches between work-groups, empty them, or write them back.
//
//     const CacheModel& caches = cache_model(target);
//     if (caches.misses(load)) …
//
// Each CU has an L1 cache for vector memory, which stores write through, and shares one for scalar loads; neither sees
// what another CU stores. From gfx940 on, each XCC has an L2 cache, too, which is written back on demand, and SC0 and
// SC1 are the scope of an access: SC1 alone is the agent. Before, GLC is the agent, and GLC with SLC nontemporal.
// Source: LLVM AMDGPUUsage, "Memory Model GFX6-GFX9", "GFX90A", "GFX942". Pure. Thread safety: any thread.
#pragma once

#include "tools/kfdemu/isa/rows/row.hpp"
#include "tools/kfdemu/isa/rows/traits.hpp"

namespace kfdemu::check {

struct CacheModel {
    bool scopes = false;

    /// A load that looks for what others wrote: volatile, or atomic.
    bool looks_for_others(const isa::Inst& inst) const {
        return scopes ? inst.has(isa::kGlc) || inst.has(isa::kScc) : inst.has(isa::kGlc) && !inst.has(isa::kSlc);
    }
    /// A load from vector memory that sees what other CUs have stored.
    bool misses(const isa::Inst& inst) const {
        return inst.format != isa::Format::Smem && inst.has(scopes ? isa::kScc : isa::kGlc);
    }
    /// The cache of vector memory.
    bool empties(const isa::Inst& inst) const {
        if (scopes) return is(inst, isa::Op::buffer_invl2) && inst.has(isa::kScc);
        return is(inst, isa::Op::buffer_wbinvl1) || is(inst, isa::Op::buffer_wbinvl1_vol);
    }
    bool empties_scalar(const isa::Inst& inst) const {
        return is(inst, isa::Op::s_dcache_inv) || is(inst, isa::Op::s_dcache_inv_vol);
    }
    /// A store that others do not see until the cache is written back.
    bool keeps(const isa::Inst& inst) const { return scopes && !inst.has(isa::kScc); }
    bool writes_back(const isa::Inst& inst) const {
        return scopes && is(inst, isa::Op::buffer_wbl2) && inst.has(isa::kScc);
    }

    const char* acquire() const { return scopes ? "buffer_inv sc1" : "buffer_wbinvl1_vol"; }
    const char* release() const { return scopes ? "buffer_wbl2 sc1 with s_waitcnt vmcnt(0)" : "s_waitcnt vmcnt(0)"; }

  private:
    static bool is(const isa::Inst& inst, isa::Op op) { return inst.row == isa::index(op); }
};

inline CacheModel cache_model(isa::Target target) { return {isa::traits_of(target).scope_bits}; }

}  // namespace kfdemu::check
