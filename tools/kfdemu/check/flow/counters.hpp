// The counters of outstanding memory instructions: which of them an instruction raises, and what one waits for.
//
//     const Counters counters{target};
//     if (counters.counts_load(inst)) …                       // vmcnt counts it
//     const Waits waits = counters.waits(wave, inst);         // of any instruction
//     if (waits.loads == 0) …                                 // s_waitcnt vmcnt(0)
//
// vmcnt counts vector memory, lgkmcnt LDS, scalar memory and messages. From GFX10 on, vscnt counts the vector memory
// that returns nothing: stores, and atomics without GLC. Sources: "Vega", "RDNA 2" and "RDNA 3" ISA manuals, "Data
// Dependency Resolution"; LLVM's SIInsertWaitcnts.cpp. Pure. Thread safety: any thread.
#pragma once

#include <cstdint>

#include "tools/kfdemu/isa/rows/row.hpp"
#include "tools/kfdemu/isa/rows/traits.hpp"
#include "tools/kfdemu/isa/wave/wave.hpp"

namespace kfdemu::check {

/// At most so many are outstanding afterwards.
struct Waits {
    static constexpr std::uint32_t kAny = ~std::uint32_t{0};
    std::uint32_t loads = kAny;   ///< vmcnt
    std::uint32_t stores = kAny;  ///< vscnt, or vmcnt
    std::uint32_t local = kAny;   ///< lgkmcnt

    bool any() const { return loads != kAny || stores != kAny || local != kAny; }
};

class Counters {
  public:
    explicit Counters(isa::Target target)
        : separate_{isa::traits_of(target).vscnt}, gfx11_{isa::traits_of(target).gfx11_numbers} {}

    /// The hardware stalls rather than let a counter exceed these.
    Waits most() const { return {63, 63, separate_ ? 63u : 15u}; }
    bool counts_load(const isa::Inst& inst) const { return counts(inst) && !(separate_ && stores(inst)); }
    bool counts_store(const isa::Inst& inst) const { return counts(inst) && (!separate_ || stores(inst)); }
    /// S_SENDMSG_RTN: its result arrives with lgkmcnt.
    static bool is_answered(const isa::Inst& inst) {
        return inst.format == isa::Format::Sop1 && isa::rows()[inst.row].src[0] == isa::Type::message;
    }
    /// Whether instructions of the format may wait; tested for every instruction.
    static constexpr bool may_wait(isa::Format format) {
        return format == isa::Format::Sopp || format == isa::Format::Sopk;
    }
    /// FLAT raises lgkmcnt, too, and returns in order with the others of each counter, wherever its lanes go. Source:
    /// LLVM's hasFlatLgkmVMemCountInOrder.
    bool flat_in_order() const { return separate_; }
    Waits waits(const isa::Wave& wave, const isa::Inst& inst) const {
        return may_wait(inst.format) ? of_scalar(wave, inst) : Waits{};
    }

  private:
    static bool counts(const isa::Inst& inst);
    static bool stores(const isa::Inst& inst);
    Waits of_waitcnt(std::uint32_t operand) const;
    Waits of_scalar(const isa::Wave& wave, const isa::Inst& inst) const;

    bool separate_, gfx11_;
};

}  // namespace kfdemu::check
