#include "tools/kfdemu/check/flow/register_use.hpp"

#include <algorithm>

#include "tools/kfdemu/isa/encodings/dual.hpp"
#include "tools/kfdemu/isa/rows/traits.hpp"
#include "tools/kfdemu/isa/wave/wave.hpp"

namespace kfdemu::check {
namespace {

using namespace isa;

bool is_register(Operand operand) { return operand < kConstants || (operand >= kVgpr0 && operand < kAcc0 + 256); }

class Collector {
  public:
    explicit Collector(const Inst& inst) : inst_{inst}, row_{rows()[inst.row]} {}

    RegisterUses collect() {
        switch (row_.format) {
            case Format::Sop1:
            case Format::Sop2:
            case Format::Sopc:
            case Format::Sopk:
            case Format::Sopp:
                scalar();
                break;
            case Format::Smem:
                scalar_memory();
                break;
            case Format::Flat:
                flat();
                break;
            case Format::Mubuf:
            case Format::Mtbuf:
                buffer();
                break;
            case Format::Ds:
                data_share();
                break;
            case Format::Vopd:
                vector();
                also(second_of(inst_));
                break;
            default:
                vector();
                break;
        }
        return uses_;
    }

  private:
    void reads(Operand first, unsigned count, LaneUse lanes = LaneUse::Active) {
        if (count != 0 && is_register(first)) uses_.add(first, count, false, lanes);
    }
    void writes(Operand first, unsigned count, LaneUse lanes = LaneUse::Active) {
        if (count != 0 && is_register(first)) uses_.add(first, count, true, lanes);
    }
    void reads_source(unsigned n, LaneUse lanes = LaneUse::Active) {
        reads(inst_.src[n], count(source_type(row_, inst_, n)), lanes);
    }

    unsigned count(Type type) const { return isa::registers(type, inst_.has(kWave32) ? 32 : 64); }

    void scalar() {
        const bool immediate = row_.format == Format::Sopk || row_.format == Format::Sopp;
        for (unsigned n = 0; n < 3 && !immediate; ++n) reads_source(n);
        if (row_.is(kReadsVcc)) reads(kVcc, inst_.mask_dwords());
        if (row_.is(kReadsDst)) reads(inst_.dst, dwords(row_.dst));
        if (!row_.is(kNoResult)) writes(inst_.dst, dwords(row_.dst));
    }
    void scalar_memory() {
        reads_source(0);
        reads(inst_.src[1], 1);
        const unsigned count = dwords(row_.dst);
        const bool takes_data = row_.is(kStore) || row_.is(kAtomic);
        if (takes_data) reads(inst_.dst, count);
        if (!takes_data || inst_.has(kGlc)) writes(inst_.dst, loaded_registers(inst_).count);
    }
    void flat() {
        const bool scratch = inst_.segment == Segment::Scratch, with_base = inst_.src[2] != kNoOperand;
        reads(inst_.sdst, 2);
        if (inst_.src[0] != kNoOperand) reads(inst_.src[0], scratch || with_base ? 1 : 2);
        if (with_base) reads(inst_.src[2], scratch ? 1 : 2);
        reads(inst_.src[1], dwords(row_.src[1]));
        loaded();
    }
    void buffer() {
        if (row_.src[1] == Type::none && row_.dst == Type::none) return;  // cache control, or from LDS
        reads(inst_.src[0], unsigned{inst_.has(kIdxen)} + unsigned{inst_.has(kOffen)});
        reads(inst_.src[2], 4);
        reads(inst_.sdst, 1);
        reads(inst_.src[1], dwords(row_.src[1]));
        loaded();
    }
    void data_share() {
        for (unsigned n = 0; n < 3; ++n) reads_source(n);
        loaded();
    }
    void loaded() {
        const RegisterUse to = loaded_registers(inst_);
        writes(to.first, to.count);
    }
    bool fetches_inactive() const {
        return (inst_.form == Form::Dpp && (inst_.literal & kFetchesInactive) != 0) ||
               (inst_.form == Form::Dpp8 && (inst_.literal & kFetchesInactive8) != 0);
    }
    void also(const Inst& operation) {
        Collector other{operation};
        other.vector();
        for (const RegisterUse& use : other.uses_) uses_.add(use.first, use.count, use.writes, use.lanes);
    }
    LaneUse lanes_of_sources() const {
        if (row_.is(kMatrix) || row_.multiplies_tiles() || row_.is(kScales) || row_.is(kPermutes)) return LaneUse::All;
        if (row_.is(kFirstLane)) return LaneUse::First;
        return row_.is(kNamedLane) && row_.dst == Type::s32 ? LaneUse::Named : LaneUse::Active;
    }
    void vector() {
        const LaneUse lanes = lanes_of_sources();
        for (unsigned n = 0; n < 3; ++n) reads_source(n, n == 0 && fetches_inactive() ? LaneUse::Moved : lanes);
        const unsigned mask = inst_.mask_dwords();
        if (row_.is(kCarryIn) || row_.is(kVccIn)) reads(row_.is(kVccIn) ? Operand{kVcc} : inst_.src[2], mask);
        if (row_.is(kReadsDst) || row_.is(kSwaps)) reads(inst_.dst, count(row_.dst));
        if (row_.is(kSwaps)) writes(inst_.src[0], 1);
        if (row_.format == Format::Vopc) return writes(inst_.sdst, mask);
        if (row_.is(kCarryOut)) writes(inst_.sdst, mask);
        writes(inst_.dst, count(row_.dst),
               row_.is(kNamedLane) && row_.dst != Type::s32  ? LaneUse::Named
               : row_.is(kMatrix) || row_.multiplies_tiles() ? LaneUse::All
                                                             : LaneUse::Active);
    }

    const Inst& inst_;
    const Row& row_;
    RegisterUses uses_;
};

}  // namespace

void RegisterUses::add(Operand first, unsigned count, bool writes, LaneUse lanes) {
    if (size_ < uses_.size()) uses_[size_++] = {first, static_cast<std::uint8_t>(count), writes, lanes};
}

RegisterUses register_uses(const Inst& inst) { return Collector{inst}.collect(); }

RegisterUse loaded_registers(const Inst& inst) {
    const Row& row = rows()[inst.row];
    if (row.is(kStore) || !is_register(inst.dst)) return {};
    if (inst.has(kLds) && row.format != Format::Ds) return {};  // to LDS
    const bool returns = row.format == Format::Ds || !row.is(kAtomic) || inst.has(kGlc);
    if (!returns) return {};
    unsigned count = dwords(row.dst);
    // A compare-and-swap of SMEM has two operands in SDATA and returns one value.
    if (row.format == Format::Smem && row.is(kPair)) count /= 2;
    return {inst.dst, static_cast<std::uint8_t>(count), true, LaneUse::Active};
}

Inst moved_by_m0(const Inst& inst, std::uint32_t m0) {
    const Row& row = rows()[inst.row];
    const auto moved = [count = dwords(row.dst)](Operand operand, std::uint32_t distance) {
        const std::uint32_t end = operand < kVgpr0 ? kConstants : kVgpr0 + 256;
        return static_cast<Operand>(std::min<std::uint64_t>(std::uint64_t{operand} + distance, end - count));
    };
    Inst result = inst;
    const bool halves = row.is(kByHalves);
    if (row.is(kMovesFrom)) result.src[0] = moved(inst.src[0], halves ? m0 & 0x3ff : m0);
    if (row.is(kMovesTo)) result.dst = moved(inst.dst, halves ? m0 >> 16 & 0x3ff : m0);
    return result;
}

std::string register_name(Target target, Operand first, unsigned count) {
    if (first == kVcc) return "vcc";
    const bool trap = first >= kTtmp0 && first < kTtmp0 + 16;
    const std::string kind = first >= kAcc0 ? "a" : first >= kVgpr0 ? "v" : trap ? "ttmp" : "s";
    const unsigned number = first - (first >= kAcc0 ? kAcc0 : first >= kVgpr0 ? kVgpr0 : trap ? Operand{kTtmp0} : 0);
    if (first == kFlatScratch && !traits_of(target).scratch_register) return "flat_scratch";
    if (first == kM0) return "m0";
    if (count == 1) return kind + std::to_string(number);
    return kind + "[" + std::to_string(number) + ":" + std::to_string(number + count - 1) + "]";
}

}  // namespace kfdemu::check
