// The loads of one wave whose results may not have arrived, as the hardware's counters tell.
//
//     Scoreboard board;
//     board.issue(inst, route, lanes);                    // a memory instruction begins
//     board.wait(counters.waits(wave, inst));             // s_waitcnt
//     const Load* load = board.conflict(use, lanes);      // a load that is still to write these registers
//
// A load is taken to have arrived only when the counter proves it. What vmcnt counts returns in order (Counters).
// lgkmcnt counts LDS, in order; scalar memory, in any order; and messages. FLAT counts in both; lanes that address
// memory return with vmcnt, lanes that address LDS with lgkmcnt, before GFX10 in any order. Sources: "Vega" and "RDNA
// 2" ISA manuals, "Data Dependency Resolution" and "Flat Memory Instructions".
//
// Thread safety: that of its wave. Pure: knows nothing of memory.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <vector>

#include "tools/kfdemu/check/flow/counters.hpp"
#include "tools/kfdemu/check/flow/register_use.hpp"

namespace kfdemu::check {

/// Which counters a memory instruction raises, and with which its lanes return.
struct Route {
    bool memory = false;     ///< with vmcnt
    bool lds = false;        ///< with lgkmcnt, in order
    bool any_order = false;  ///< with lgkmcnt, in any order: scalar memory, and LDS lanes of GFX9's FLAT
    bool raises_vm = memory, raises_lds = lds;  ///< in order; GFX10's FLAT, wherever its lanes go
};

struct Load {
    isa::Inst inst;
    RegisterUse to;
    std::uint64_t lanes = 0;  ///< that it writes; scalar: all
    std::uint32_t vm = 0;     ///< its number among operations of vmcnt; 0: does not wait for vmcnt
    std::uint32_t lds = 0;    ///< likewise among in-order operations of lgkmcnt
    bool any_order = false;   ///< only lgkmcnt(0) or kmcnt(0) proves that it has arrived

    bool arrived() const { return vm == 0 && lds == 0 && !any_order; }
};

class Scoreboard {
  public:
    /// `most`: Counters::most().
    void clear(const Waits& most);
    bool empty() const { return loads_.empty(); }
    void issue(const isa::Inst& inst, const Route& route, std::uint64_t lanes);
    void wait(const Waits& waits);
    /// The oldest outstanding load that writes some of these registers in some of these lanes; null if there is none.
    const Load* conflict(const RegisterUse& use, std::uint64_t lanes) const;
    /// Whether results of a new instruction on `route` arrive after those of `load` in any case.
    static bool in_order(const Load& load, const Route& route);
    /// The wait that would have been long enough for `load`.
    Waits needed(const Load& load) const;
    /// Reports each load once.
    void forget(const Load& load);

  private:
    static constexpr unsigned kRegisters = 128 + 256 + 256;
    bool overflows() const;
    void note_registers();

    std::vector<Load> loads_;
    std::bitset<kRegisters> pending_;  // the registers of loads_, to reject most questions quickly
    std::uint32_t vm_issued_ = 0, lds_issued_ = 0;
    Waits most_;
};

}  // namespace kfdemu::check
