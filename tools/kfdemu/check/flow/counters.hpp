// The counters of outstanding memory instructions: which of them an instruction raises, and what one waits for.
//
//     const Counters counters{target};
//     if (counters.counts_load(inst)) …                       // vmcnt counts it
//     const Waits waits = counters.waits(wave, inst);         // of any instruction
//     if (waits.loads == 0) …                                 // s_waitcnt vmcnt(0)
//
// vmcnt counts vector memory, lgkmcnt LDS, scalar memory and messages. From GFX10 on, vscnt counts the vector memory
// that returns nothing: stores, and atomics without GLC. On GFX12 these are loadcnt and storecnt, and lgkmcnt is dscnt
// and kmcnt. Sources: "Vega" and "RDNA 2" to "RDNA 4" ISA manuals, "Data Dependency Resolution"; LLVM's
// SIInsertWaitcnts.cpp. Pure. Thread safety: any thread.
#pragma once

#include <cstdint>
#include <string>

#include "tools/kfdemu/isa/rows/row.hpp"
#include "tools/kfdemu/isa/rows/traits.hpp"
#include "tools/kfdemu/isa/wave/wave.hpp"

namespace kfdemu::check {

/// At most so many are outstanding afterwards.
struct Waits {
    static constexpr std::uint32_t kAny = ~std::uint32_t{0};
    std::uint32_t loads = kAny;   ///< vmcnt
    std::uint32_t stores = kAny;  ///< vscnt, or vmcnt
    std::uint32_t lds = kAny;     ///< lgkmcnt, or dscnt
    std::uint32_t scalar = kAny;  ///< lgkmcnt, or kmcnt

    bool any() const { return loads != kAny || stores != kAny || lds != kAny || scalar != kAny; }
};

class Counters {
  public:
    explicit Counters(isa::Target target)
        : separate_{isa::traits_of(target).vscnt},
          gfx11_{isa::traits_of(target).gfx11_numbers},
          split_{isa::traits_of(target).split_counters} {}

    /// The hardware stalls rather than let a counter exceed these.
    Waits most() const { return {63, 63, separate_ ? 63u : 15u, split_ ? 31u : separate_ ? 63u : 15u}; }
    bool counts_load(const isa::Inst& inst) const { return counts(inst) && !(separate_ && stores(inst)); }
    bool counts_store(const isa::Inst& inst) const { return counts(inst) && (!separate_ || stores(inst)); }
    /// S_SENDMSG_RTN, S_GET_BARRIER_STATE: the result arrives with lgkmcnt.
    static bool is_answered(const isa::Inst& inst) {
        return inst.format == isa::Format::Sop1 && (isa::rows()[inst.row].src[0] == isa::Type::message ||
                                                    inst.row == isa::index(isa::Op::s_get_barrier_state));
    }
    /// Whether instructions of the format may wait; tested for every instruction.
    static constexpr bool may_wait(isa::Format format) {
        return format == isa::Format::Sopp || format == isa::Format::Sopk;
    }
    /// FLAT raises lgkmcnt, too, and returns in order with the others of each counter, wherever its lanes go. Source:
    /// LLVM's hasFlatLgkmVMemCountInOrder.
    bool flat_in_order() const { return separate_; }
    /// The instructions that wait so long: "s_waitcnt vmcnt(1) lgkmcnt(0)". Of `stores` says nothing.
    std::string text(const Waits& waits) const;
    Waits waits(const isa::Wave& wave, const isa::Inst& inst) const {
        return may_wait(inst.format) ? of_scalar(wave, inst) : Waits{};
    }

  private:
    static bool counts(const isa::Inst& inst);
    static bool stores(const isa::Inst& inst);
    Waits of_waitcnt(std::uint32_t operand) const;
    Waits of_scalar(const isa::Wave& wave, const isa::Inst& inst) const;

    bool separate_, gfx11_, split_;
};

}  // namespace kfdemu::check
