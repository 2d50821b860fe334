#include "tools/kfdemu/check/race/idiom.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tools/kfdemu/check/flow/access.hpp"
#include "tools/kfdemu/check/flow/register_use.hpp"
#include "tools/kfdemu/isa/encodings/decode.hpp"

namespace kfdemu::check {
namespace {

using namespace isa;

/// Loops that wait are short; unoptimised ones have some hundred instructions.
constexpr unsigned kLongestLoop = 400;
/// How far an atomic is from the load of its address.
constexpr unsigned kFarthestAtomic = 128;
/// How many instructions lead from a load to the compare-and-swap that it prepares; unoptimised, some hundred.
constexpr unsigned kFarthestSwap = 400;
/// How far a loop is from its first turn.
constexpr unsigned kFarthestLoop = 48;

/// Code by address.
class Reader {
  public:
    explicit Reader(const Wave& wave) : wave_{const_cast<Wave&>(wave)} {}

    /// Null at an address without code.
    const Inst* at(std::uint64_t pc) {
        const auto stop = wave_.stop;
        const auto next = wave_.next;
        const std::uint64_t wave_pc = wave_.pc;
        const Inst* inst = wave_.fetch(wave_, pc);
        wave_.stop = stop, wave_.next = next, wave_.pc = wave_pc;
        return inst == nullptr || inst->row == Decoder::kNoRow ? nullptr : inst;
    }
    const Inst* after(const Inst& inst) { return at(inst.next_pc()); }

  private:
    Wave& wave_;
};

bool is(const Inst& inst, Op op) { return inst.row == index(op); }

bool ends_scan(const Inst& inst) {
    return is(inst, Op::s_endpgm) || is(inst, Op::s_barrier) || is(inst, Op::s_barrier_wait) ||
           is(inst, Op::s_setpc_b64);
}

/// Whether it changes memory that others see, as far as its encoding tells.
enum class Change : std::uint8_t { No, Perhaps, Yes };
Change change_of(const Inst& inst) {
    if (is(inst, Op::s_swappc_b64)) return Change::Perhaps;
    const Row& row = rows()[inst.row];
    if (!may_access(inst.format) || !(row.is(kStore) || row.is(kAtomic))) return Change::No;
    if (row.is(kAtomic)) return Change::Yes;
    // Unoptimised code keeps variables in scratch, with buffer and FLAT instructions.
    if (inst.format == Format::Mubuf || (inst.format == Format::Flat && inst.segment == Segment::Scratch))
        return Change::No;
    return inst.format == Format::Flat && inst.segment == Segment::Flat ? Change::Perhaps : Change::Yes;
}

/// The instructions that lead from `inst` back to it without a change of memory that others see.
class Loop {
  public:
    Loop(Reader& code, const Inst& inst) {
        follow(code, inst);
        keep_what_leads_to(inst.pc);
    }

    bool empty() const { return body_.empty(); }
    bool may_change_memory(const Inst& inst) const {
        return std::any_of(body_.begin(), body_.end(),
                           [&](const Inst* each) { return each->pc != inst.pc && change_of(*each) != Change::No; });
    }
    bool changes_address(const Inst& inst) const {
        const bool flat = inst.format == Format::Flat, scalar = flat && inst.src[2] != kNoOperand;
        return changes(inst.src[0], flat && !scalar ? 2 : 1) || (scalar && changes(inst.src[2], 2));
    }

  private:
    void follow(Reader& code, const Inst& from) {
        const auto go_to = [&](std::uint64_t pc, std::uint64_t by) {
            std::vector<std::uint64_t>& preceding = preceding_[pc];
            preceding.push_back(by);
            if (preceding.size() > 1 || pc == from.pc) return;
            const Inst* inst = code.at(pc);
            if (inst != nullptr && !ends_scan(*inst) && change_of(*inst) != Change::Yes) found_.push_back(inst);
        };
        found_.push_back(&from);
        for (std::size_t n = 0; n < found_.size() && n < kLongestLoop; ++n) {
            const Inst& inst = *found_[n];
            if (inst.has(kBranch)) go_to(inst.target_pc(), inst.pc);
            if (!is(inst, Op::s_branch)) go_to(inst.next_pc(), inst.pc);
        }
    }
    void keep_what_leads_to(std::uint64_t pc) {
        std::vector<std::uint64_t> leads{pc};
        for (std::size_t n = 0; n < leads.size(); ++n)
            for (const std::uint64_t before : preceding_[leads[n]])
                if (std::find(leads.begin(), leads.end(), before) == leads.end()) leads.push_back(before);
        if (leads.size() == 1 && preceding_[pc].empty()) return;
        for (const Inst* inst : found_)
            if (std::find(leads.begin(), leads.end(), inst->pc) != leads.end()) body_.push_back(inst);
    }
    bool writes(Operand first, unsigned count, bool except_constants) const {
        for (const Inst* inst : body_)
            for (const RegisterUse& use : register_uses(*inst)) {
                if (!use.writes || use.first >= first + count || first >= use.first + use.count) continue;
                const bool constant = is(*inst, Op::v_mov_b32) && inst->src[0] < kVgpr0 &&
                                      (inst->src[0] >= kConstants || !writes(inst->src[0], 1, false));
                if (!except_constants || !constant) return true;
            }
        return false;
    }
    /// Whether the loop writes the registers, other than with a value that stays the same.
    bool changes(Operand first, unsigned count) const { return writes(first, count, true); }

    std::vector<const Inst*> found_, body_;
    std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> preceding_;
};

/// Whether an atomic on the load's address follows.
bool precedes_atomic(Reader& code, const Inst& load) {
    const Inst* inst = code.after(load);
    for (unsigned n = 0; n < kFarthestAtomic && inst != nullptr && !ends_scan(*inst); ++n, inst = code.after(*inst))
        if (rows()[inst->row].is(kAtomic) && inst->format == load.format && inst->src[0] == load.src[0] &&
            inst->src[2] == load.src[2] && inst->offset == load.offset)
            return true;
    return false;
}

/// Whether a compare-and-swap is on a path from the load, which may lead through the next turn of a loop.
bool leads_to_swap(Reader& code, const Inst& load) {
    std::vector<const Inst*> found{&load};
    std::unordered_set<std::uint64_t> seen{load.pc};
    const auto go_to = [&](std::uint64_t pc) {
        if (!seen.insert(pc).second) return;
        const Inst* inst = code.at(pc);
        if (inst != nullptr && !ends_scan(*inst)) found.push_back(inst);
    };
    for (std::size_t n = 0; n < found.size() && n < kFarthestSwap; ++n) {
        const Inst& inst = *found[n];
        if (swaps(inst)) return true;
        if (inst.has(kBranch)) go_to(inst.target_pc());
        if (!is(inst, Op::s_branch)) go_to(inst.next_pc());
    }
    return false;
}

Idiom of_loop(Reader& code, const Inst& inst) {
    const Loop loop{code, inst};
    if (loop.empty()) return Idiom::Plain;
    if (!loop.may_change_memory(inst) && !loop.changes_address(inst)) return Idiom::Waits;
    return !rows()[inst.row].is(kAtomic) || swaps(inst) ? Idiom::MayWait : Idiom::Plain;
}

/// The first turn of a loop that waits may be in front of it.
bool begins_to_wait(Reader& code, const Inst& load) {
    const Inst* inst = code.after(load);
    for (unsigned n = 0; n < kFarthestLoop && inst != nullptr && !ends_scan(*inst); ++n, inst = code.after(*inst))
        if (inst->row == load.row && inst->src[0] == load.src[0] && inst->src[2] == load.src[2] &&
            inst->offset == load.offset)
            return of_loop(code, *inst) == Idiom::Waits;
    return false;
}

}  // namespace

Idiom idiom_of(const Wave& wave, const Inst& inst) {
    const Row& row = rows()[inst.row];
    const bool vector = inst.format == Format::Ds || inst.format == Format::Flat;
    if (!vector || row.is(kStore)) return Idiom::Plain;
    Reader code{wave};
    if (const Idiom idiom = of_loop(code, inst); idiom != Idiom::Plain) return idiom;
    if (row.is(kAtomic)) return Idiom::Plain;
    if (begins_to_wait(code, inst)) return Idiom::Waits;
    return idiom_if_it_does_not_wait(wave, inst);
}

Idiom idiom_if_it_does_not_wait(const Wave& wave, const Inst& inst) {
    Reader code{wave};
    if (rows()[inst.row].is(kAtomic)) return Idiom::Plain;
    if (precedes_atomic(code, inst)) return Idiom::Prepares;
    return leads_to_swap(code, inst) ? Idiom::Compares : Idiom::Plain;
}

bool swaps(const Inst& inst) {
    const std::string_view name = rows()[inst.row].name;
    return may_access(inst.format) && (name.find("cmpst") != name.npos || name.find("cmpswap") != name.npos);
}

}  // namespace kfdemu::check
