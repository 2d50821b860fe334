// Decoding of SOP1, SOP2, SOPC, SOPK and SOPP.
#include "tools/kfdemu/isa/encodings/fields.hpp"

namespace kfdemu::isa {
namespace {

bool destination(const BitFields& f) {
    if (f.row.dst == Type::none) return true;
    return f.scalar_destination(f.inst.dst, f.bits(0, 22, 16), f.row.dst);
}

bool sop1(const BitFields& f) {
    if (!destination(f)) return false;
    f.inst.offset = static_cast<std::int32_t>(f.bits(0, 7, 0));
    return f.row.src[0] == Type::none || f.row.src[0] == Type::message || f.source(0, f.bits(0, 7, 0), f.row.src[0]);
}

/// s_fmaak_f32, s_fmamk_f32: K is a literal, which the other sources may read, too.
bool sop2_with_k(const BitFields& f) {
    Inst& i = f.inst;
    if (!destination(f) || !f.literal()) return false;
    if (!f.source(0, f.bits(0, 7, 0), f.row.src[0]) || !f.source(1, f.bits(0, 15, 8), f.row.src[1])) return false;
    i.src[2] = f.row.is(kMadk) ? Operand{kLiteral} : i.src[1];
    if (f.row.is(kMadmk)) i.src[1] = kLiteral;
    return true;
}

bool sop2(const BitFields& f) {
    if (f.row.is(kMadk) || f.row.is(kMadmk)) return sop2_with_k(f);
    return destination(f) && f.source(0, f.bits(0, 7, 0), f.row.src[0]) && f.source(1, f.bits(0, 15, 8), f.row.src[1]);
}

bool sopc(const BitFields& f) {
    if (!f.source(0, f.bits(0, 7, 0), f.row.src[0])) return false;
    if (f.row.src[1] != Type::gpr_index) return f.source(1, f.bits(0, 15, 8), f.row.src[1]);
    f.inst.src[1] = static_cast<Operand>(f.bits(0, 15, 8));  // s_set_gpr_idx_on: the operands to index, four bits
    return f.inst.src[1] < 16;
}

bool immediate(const BitFields& f) {
    f.inst.offset = static_cast<std::int16_t>(f.bits(0, 15, 0));
    f.flag(f.row.src[0] == Type::label, kBranch);
    return true;
}

bool sopk(const BitFields& f) {
    immediate(f);
    if (f.row.dst != Type::none) return destination(f);
    if (f.row.src[0] != Type::hwreg) return true;          // s_version
    f.inst.literal = f.words.size() > 1 ? f.words[1] : 0;  // s_setreg_imm32_b32
    return f.two_words();
}

}  // namespace

bool decode_scalar(const BitFields& f) {
    switch (f.row.format) {
        case Format::Sop1:
            return sop1(f);
        case Format::Sop2:
            return sop2(f);
        case Format::Sopc:
            return sopc(f);
        case Format::Sopk:
            return sopk(f);
        default:
            return immediate(f);
    }
}

}  // namespace kfdemu::isa
