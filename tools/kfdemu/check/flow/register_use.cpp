#include "register_use.hpp"

#include <string_view>

#include "../../isa/wave/wave.hpp"

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
                scalar();
                break;
            case Format::Sopk:
                scalar_constant();
                break;
            case Format::Sopp:
                if (is(Op::s_cbranch_vccz) || is(Op::s_cbranch_vccnz)) reads(kVcc, 2);
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
            default:
                vector();
                break;
        }
        return uses_;
    }

  private:
    bool is(Op op) const { return inst_.row == index(op); }
    void reads(Operand first, unsigned count, LaneUse lanes = LaneUse::Active) {
        if (count != 0 && is_register(first)) uses_.add(first, count, false, lanes);
    }
    void writes(Operand first, unsigned count, LaneUse lanes = LaneUse::Active) {
        if (count != 0 && is_register(first)) uses_.add(first, count, true, lanes);
    }
    void reads_source(unsigned n, LaneUse lanes = LaneUse::Active) { reads(inst_.src[n], dwords(row_.src[n]), lanes); }

    void scalar() {
        if (is(Op::s_set_gpr_idx_on)) return reads_source(0);  // src[1] is a number
        for (unsigned n = 0; n < 2; ++n) reads_source(n);
        const bool keeps =
            is(Op::s_bitset0_b32) || is(Op::s_bitset0_b64) || is(Op::s_bitset1_b32) || is(Op::s_bitset1_b64);
        if (keeps) reads(inst_.dst, dwords(row_.dst));
        writes(inst_.dst, dwords(row_.dst));
    }
    /// SOPK names one register, which most read, write or both.
    void scalar_constant() {
        const unsigned count = dwords(row_.dst);
        const bool only_written = is(Op::s_movk_i32) || is(Op::s_getreg_b32) || is(Op::s_call_b64);
        const bool updated = is(Op::s_cmovk_i32) || is(Op::s_addk_i32) || is(Op::s_mulk_i32);
        if (!only_written) reads(inst_.dst, count);
        if (only_written || updated) writes(inst_.dst, count);
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
        if (scratch || inst_.segment == Segment::Flat) reads(kFlatScratch, 2);
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
    LaneUse lanes_of_sources() const {
        if (row_.is(kMatrix)) return LaneUse::All;
        if (is(Op::v_readfirstlane_b32)) return LaneUse::First;
        return is(Op::v_readlane_b32) ? LaneUse::Named : LaneUse::Active;
    }
    void vector() {
        const LaneUse lanes = lanes_of_sources();
        for (unsigned n = 0; n < 3; ++n) reads_source(n, lanes);
        if (row_.is(kCarryIn) || row_.is(kVccIn)) reads(row_.is(kVccIn) ? Operand{kVcc} : inst_.src[2], 2);
        if (row_.is(kReadsDst) || is(Op::v_swap_b32)) reads(inst_.dst, dwords(row_.dst));
        if (is(Op::v_swap_b32)) writes(inst_.src[0], 1);
        if (row_.format == Format::Vopc) return writes(inst_.sdst, 2);
        if (row_.is(kCarryOut)) writes(inst_.sdst, 2);
        writes(inst_.dst, dwords(row_.dst),
               is(Op::v_writelane_b32) ? LaneUse::Named
               : row_.is(kMatrix)      ? LaneUse::All
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
    if (row.is(kStore) || inst.dst == kNoOperand) return {};
    if (inst.has(kLds) && row.format != Format::Ds) return {};  // to LDS
    const bool returns = row.format == Format::Ds || !row.is(kAtomic) || inst.has(kGlc);
    if (!returns) return {};
    unsigned count = dwords(row.dst);
    // A compare-and-swap of SMEM has two operands in SDATA and returns one value.
    if (row.format == Format::Smem && row.is(kAtomic) &&
        std::string_view{row.name}.find("cmpswap") != std::string_view::npos)
        count /= 2;
    return {inst.dst, static_cast<std::uint8_t>(count), true, LaneUse::Active};
}

std::string register_name(Operand first, unsigned count) {
    if (first == kVcc) return "vcc";
    const char kind = first >= kAcc0 ? 'a' : first >= kVgpr0 ? 'v' : 's';
    const unsigned number = first >= kAcc0 ? first - kAcc0 : first >= kVgpr0 ? first - kVgpr0 : first;
    if (first == kFlatScratch) return "flat_scratch";
    if (first == kM0) return "m0";
    if (count == 1) return kind + std::to_string(number);
    return std::string{kind} + "[" + std::to_string(number) + ":" + std::to_string(number + count - 1) + "]";
}

}  // namespace kfdemu::check
