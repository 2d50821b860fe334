// What the check of undefined values has to look at for one instruction, compact: nearly all instructions read and
// write defined registers only, and are done with after a few words.
//
//     plans.begin();
//     const InitPlan& plan = plans.of(inst);
//
// Thread safety: that of its work-group.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "tools/kfdemu/check/flow/register_use.hpp"
#include "tools/kfdemu/check/init/defined_registers.hpp"

namespace kfdemu::check {

struct InitPlan {
    enum Kind : std::uint8_t { Scalar, Vector, Packed, Memory };

    /// Registers that follow each other, by DefinedRegisters::number().
    struct Run {
        std::uint16_t number, count;
    };
    /// SGPRs that are read, then vector registers that are read, then all that are written.
    Run runs[8];
    std::uint8_t first_vector = 0, first_written = 0, count = 0;
    Kind kind = Vector;
    bool all_lanes = false;    ///< reads lanes regardless of EXEC
    bool writes_all = false;   ///< likewise writes
    bool always = false;       ///< has to be looked at: uses other registers than it names
    bool keeps_parts = false;  ///< of what it writes
    bool loads = false;        ///< from memory
    bool only_memory = false;  ///< accesses neither LDS nor scratch, as far as its encoding tells
    bool only_lds = false;

    const Run* scalars() const { return runs; }
    const Run* vectors() const { return runs + first_vector; }
    const Run* written() const { return runs + first_written; }
    const Run* end() const { return runs + count; }
};

class InitPlans {
  public:
    /// Before the first of().
    void begin() { entries_.resize(kEntries); }
    const InitPlan& of(const isa::Inst& inst) {
        Entry& entry = entries_[inst.pc / 4 % kEntries];
        const Key key = key_of(inst);
        if (!(entry.key == key)) entry = {key, make(inst)};
        return entry.plan;
    }

  private:
    static constexpr std::size_t kEntries = 8192;
    /// The encoding, and the operands: register indexing changes those.
    struct Key {
        std::uint64_t pc = ~std::uint64_t{0}, code = 0, operands = 0, last = 0;
        bool operator==(const Key& o) const {
            return ((pc ^ o.pc) | (code ^ o.code) | (operands ^ o.operands) | (last ^ o.last)) == 0;
        }
    };
    struct Entry {
        Key key;
        InitPlan plan;
    };
    static Key key_of(const isa::Inst& inst) {
        Key key{inst.pc, inst.dwords[0] | std::uint64_t{inst.dwords[1]} << 32, 0, 0};
        key.operands = inst.dst | std::uint64_t{inst.sdst} << 16 | std::uint64_t{inst.src[0]} << 32 |
                       std::uint64_t{inst.src[1]} << 48;
        key.last = inst.src[2] | std::uint64_t{inst.row} << 16;
        return key;
    }
    static InitPlan make(const isa::Inst& inst);

    std::vector<Entry> entries_;
};

}  // namespace kfdemu::check
