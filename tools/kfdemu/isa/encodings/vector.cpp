// Decoding of VOP1, VOP2, VOPC with their SDWA, DPP and VOP3 forms; VOP3, VOP3P.
#include "tools/kfdemu/isa/encodings/fields.hpp"

namespace kfdemu::isa {
namespace {

enum : unsigned { kDpp8Encoding = 233, kDpp8FetchesInactive = 234, kSdwaEncoding = 249, kDppEncoding = 250 };

unsigned vgpr(unsigned number) { return kVgpr0 + number; }

/// The upper half of a register, in a short format.
constexpr unsigned kUpperHalf = 128;
bool names_half(const BitFields& f, Type type) { return f.traits.register_halves && is_half(type); }

/// A VGPR or constant of a short format. Of 16 bits, the number says which half (RDNA 3 ISA manual, "16-bit VGPRs").
bool short_source(const BitFields& f, unsigned n, unsigned encoding, Type type) {
    if (names_half(f, type) && encoding >= vgpr(kUpperHalf)) {
        encoding -= kUpperHalf;
        f.inst.op_sel = static_cast<std::uint8_t>(f.inst.op_sel | 1u << n);
        f.flag(true, kPrepare);
    }
    return f.source(n, encoding, type);
}

bool vector_destination(const BitFields& f, unsigned number) {
    if (f.row.dst == Type::none) return true;
    f.inst.dst = static_cast<Operand>(vgpr(number));
    return number + f.count(f.row.dst) <= 256;
}

bool short_destination(const BitFields& f, unsigned number) {
    const bool upper = names_half(f, f.row.dst) && number >= kUpperHalf;
    if (upper) f.inst.op_sel |= 8;
    return vector_destination(f, upper ? number - kUpperHalf : number);
}

bool compares_to_exec(const BitFields& f) { return f.traits.compares_to_exec && f.row.is(kWritesExec); }

/// Sets the implicit operands of the short encodings: the destination of carries and comparisons, and the carry in.
void implicit_vcc(const BitFields& f) {
    f.inst.sdst = compares_to_exec(f) ? kExec : kVcc;
    if (f.row.is(kCarryIn)) f.inst.src[2] = kVcc;
}

bool sdwa_select_exists(const BitFields& f, unsigned low) { return f.bits(1, low + 2, low) != 7; }

bool sdwa(const BitFields& f) {
    if (!f.traits.sdwa || f.row.is(kNoModifiers) || f.row.is(kNoSdwa) || dwords(f.row.src[0]) == 2 || !f.two_words())
        return false;
    Inst& i = f.inst;
    i.form = Form::Sdwa;
    i.literal = f.words[1];
    f.flag(true, kPrepare);
    i.neg = static_cast<std::uint8_t>(f.bits(1, 20, 20) | f.bits(1, 28, 28) << 1);
    i.abs = static_cast<std::uint8_t>(f.bits(1, 21, 21) | f.bits(1, 29, 29) << 1);
    if (!f.source(0, f.bits(1, 7, 0) + (f.bit(1, 23) ? 0 : kVgpr0), f.row.src[0])) return false;
    if (f.row.src[1] != Type::none && f.bit(1, 31) && !f.source(1, i.src[1] - kVgpr0, f.row.src[1])) return false;
    if (!sdwa_select_exists(f, 16) || !sdwa_select_exists(f, 24)) return false;
    if (f.row.src[0] == Type::f8 && (f.bits(1, 21, 19) != 0 || f.bits(1, 10, 8) != 6)) return false;
    if (f.row.format == Format::Vopc) {
        if (compares_to_exec(f)) return f.bits(1, 15, 8) == 0;
        return !f.bit(1, 15) || f.scalar_destination(i.sdst, f.bits(1, 14, 8), Type::mask);
    }
    i.clamp = f.bit(1, 13);
    i.omod = static_cast<std::uint8_t>(f.bits(1, 15, 14));
    const bool plain = f.bits(1, 10, 8) == 6;
    f.flag(!plain || i.clamp || i.omod, kFinish);
    return sdwa_select_exists(f, 8) && f.bits(1, 12, 11) != 3;
}

bool dpp_control_exists(unsigned control, const Traits& traits) {
    const unsigned group = control & 0x1f0, n = control & 15;
    if (control < 0x100) return true;
    if (group == 0x100 || group == 0x110 || group == 0x120) return n != 0;
    if (group == 0x130) return n % 4 == 0 && !traits.row_share;
    if (group == 0x140) return n < (traits.row_share ? 2 : 4);
    return group == 0x150 ? traits.wide_dpp || traits.row_share : group == 0x160 && traits.row_share;
}

/// What NEG and ABS change of a pair of halves, or of what is wider than two registers, is not documented. Of a dot
/// product in VOP3, they change both halves (LLVM folds negations of vectors into v_dot2_f16_f16).
bool undocumented_modifiers(const BitFields& f) {
    if (f.row.format == Format::Vop3p) return false;
    const bool is_dot = f.row.is(kDot) && f.row.format == Format::Vop3;
    for (unsigned n = 0; n < 3; ++n) {
        const Type type = f.row.src[n];
        const bool signs = ((f.inst.neg | f.inst.abs) >> n & 1) != 0;
        if (signs && ((is_packed_float(type) && !is_dot) || dwords(type) > 2)) return true;
    }
    return false;
}

bool is_wide(Type type) { return type != Type::mask && dwords(type) > 1; }

/// Whether DPP may move source 0. Of VOP3P: what computes a 32-bit float from halves (LLVM's IsDPP, VOP3P_Real_dpp).
bool may_move_lanes(const BitFields& f) {
    const Row& row = f.row;
    if (row.is(kNoModifiers)) return false;
    const bool is_short = f.inst.form != Form::Vop3;
    if (!f.traits.dpp_everywhere) return is_short && row.format != Format::Vopc;
    for (const Type type : {row.dst, row.src[0], row.src[1], row.src[2]})
        if (type == Type::s32 || is_wide(type)) return false;
    if (row.format == Format::Vop3p) return row.dst == Type::f32;
    return row.src[0] != Type::none;
}

/// The dword that follows the format's own: the register, and where lanes read.
bool control_dword(const BitFields& f) {
    const unsigned at = f.inst.form == Form::Vop3 ? 2 : 1;
    if (f.words.size() <= at) return false;
    f.inst.size = static_cast<std::uint8_t>(at + 1);
    f.inst.dwords[1] = f.words[1];
    f.inst.literal = f.words[at];
    f.flag(true, kPrepare);
    return true;
}

/// VOP3 has modifiers of its own.
bool moved_source(const BitFields& f) {
    const unsigned number = vgpr(f.inst.literal & 0xff);
    return f.inst.in_vop3() ? f.source(0, number, f.row.src[0]) : short_source(f, 0, number, f.row.src[0]);
}

bool dpp(const BitFields& f) {
    if (!may_move_lanes(f) || !control_dword(f)) return false;
    Inst& i = f.inst;
    const std::uint32_t word = i.literal;
    const auto pair = [word](unsigned low) {
        return static_cast<std::uint8_t>((word >> low & 1) | (word >> (low + 2) & 1) << 1);
    };
    if (i.form != Form::Vop3) i.neg = pair(20), i.abs = pair(21);
    i.form = Form::Dpp;
    if (!f.traits.row_share) i.literal &= ~kFetchesInactive;
    if (undocumented_modifiers(f)) return false;
    const unsigned control = word >> 8 & 0x1ff;
    // 64-bit operations only support row_newbcast (MI200 ISA manual, "DPP").
    const bool wide = is_wide(f.row.src[0]) || is_wide(f.row.dst);
    if (wide && ((control & 0x1f0) != 0x150 || !f.traits.wide_dpp)) return false;
    return dpp_control_exists(control, f.traits) && moved_source(f);
}

/// The control dword names the register and, in three bits each, where eight lanes read.
bool dpp8(const BitFields& f, bool fetches_inactive) {
    if (!f.traits.row_share || !may_move_lanes(f) || !control_dword(f)) return false;
    if (is_wide(f.row.src[0]) || is_wide(f.row.dst)) return false;
    f.inst.form = Form::Dpp8;
    if (!moved_source(f)) return false;
    f.inst.literal = (f.inst.literal & ~0xffu) | (fetches_inactive ? kFetchesInactive8 : 0);
    return true;
}

/// Reserved values of source 0 that select DPP.
bool selects_dpp(unsigned encoding) {
    return encoding == kDppEncoding || encoding == kDpp8Encoding || encoding == kDpp8FetchesInactive;
}
bool by_dpp(const BitFields& f, unsigned encoding) {
    return encoding == kDppEncoding ? dpp(f) : dpp8(f, encoding == kDpp8FetchesInactive);
}

/// Source 0 of the short encodings; its reserved values select SDWA and DPP.
bool first_source(const BitFields& f) {
    const unsigned encoding = f.bits(0, 8, 0);
    if (encoding == kSdwaEncoding) return sdwa(f);
    if (selects_dpp(encoding)) return by_dpp(f, encoding);
    if (f.row.src[0] == Type::none) return true;
    return short_source(f, 0, encoding, f.row.src[0]) && (f.inst.src[0] >= kVgpr0 || !f.row.is(kVectorSource));
}

void keep_other_half(const BitFields& f) {
    const bool keeps = f.row.is(kOpSel) || f.traits.keeps_halves;
    if (!keeps || !is_half(f.row.dst) || f.inst.form == Form::Sdwa) return;
    f.inst.op_sel |= 16;
    f.flag(true, kFinish);
}

bool vop1(const BitFields& f) {
    implicit_vcc(f);
    const unsigned number = f.bits(0, 24, 17);
    if (f.row.dst == Type::s32) {
        return f.scalar_destination(f.inst.dst, number, Type::s32) && first_source(f) && f.inst.src[0] >= kVgpr0;
    }
    if (!short_destination(f, number) || !first_source(f)) return false;
    keep_other_half(f);
    if (f.row.is(kAccumulator) && f.inst.src[0] >= kVgpr0) {
        f.inst.dst = static_cast<Operand>(f.inst.dst - kVgpr0 + kAcc0);
        f.inst.src[0] = static_cast<Operand>(f.inst.src[0] - kVgpr0 + kAcc0);
        return true;
    }
    return !f.row.is(kNoModifiers) || f.row.src[0] == Type::none || f.inst.src[0] >= kVgpr0;  // v_swap_b32
}

/// Source 1 can be a scalar only in SDWA, which has checked it.
bool second_source(const BitFields& f) {
    return f.inst.src[1] < kVgpr0 || short_source(f, 1, f.inst.src[1], f.row.src[1]);
}

bool vop2(const BitFields& f) {
    implicit_vcc(f);
    f.inst.src[1] = static_cast<Operand>(vgpr(f.bits(0, 16, 9)));
    if (!short_destination(f, f.bits(0, 24, 17)) || !first_source(f) || !second_source(f)) return false;
    keep_other_half(f);
    if (!f.row.is(kMadk) && !f.row.is(kMadmk)) return true;
    // K is a literal in a separate dword; source 0 may read it too.
    if (f.inst.size == 1 && !f.two_words()) return false;
    f.inst.literal = f.words[1];
    f.flag(true, kScalarSetup);
    if (f.row.is(kMadk)) {
        f.inst.src[2] = kLiteral;
    } else {
        f.inst.src[2] = f.inst.src[1];
        f.inst.src[1] = kLiteral;
        f.inst.op_sel = static_cast<std::uint8_t>((f.inst.op_sel & ~6u) | (f.inst.op_sel & 2u) << 1);
    }
    return true;
}

bool vopc(const BitFields& f) {
    implicit_vcc(f);
    f.inst.src[1] = static_cast<Operand>(vgpr(f.bits(0, 16, 9)));
    return first_source(f) && second_source(f);
}

bool has_halves(const BitFields& f) {
    const Row& row = f.row;
    return names_half(f, row.dst) || names_half(f, row.src[0]) || names_half(f, row.src[1]) ||
           names_half(f, row.src[2]);
}

/// VOP3's modifiers. With SDST (VOP3b) there are no ABS and OP_SEL fields.
bool vop3_modifiers(const BitFields& f, bool with_sdst) {
    Inst& i = f.inst;
    i.neg = static_cast<std::uint8_t>(f.bits(1, 31, 29));
    i.omod = static_cast<std::uint8_t>(f.bits(1, 28, 27));
    i.clamp = f.bit(0, 15);
    if (!with_sdst) {
        i.abs = static_cast<std::uint8_t>(f.bits(0, 10, 8));
        i.op_sel = static_cast<std::uint8_t>(f.bits(0, 14, 11));
        const bool has_op_sel =
            ((f.row.format == Format::Vop3 || f.row.is(kSwaps) || f.row.is(kExtracts)) && f.row.is(kOpSel)) ||
            (has_halves(f) && !f.row.is_scalar_function());
        if ((i.op_sel && !has_op_sel) || undocumented_modifiers(f)) return false;
        const bool two_bits = f.row.is(kPermutes) || (f.row.is(kExtracts) && f.row.format == Format::Vop1);
        if (two_bits && (i.op_sel & 12u) != 0) return false;
    }
    if (f.row.is(kSwaps) && (i.neg | i.abs | i.omod | unsigned{i.clamp} | (i.op_sel & 12u)) != 0) return false;
    // v_cndmask_b16's signs are of floats whose bits are kept; not emulated.
    if (f.row.is(kCarryIn) && names_half(f, f.row.dst) && (i.neg | i.abs) != 0) return false;
    if (f.row.is(kDot) && f.row.format == Format::Vop3 && (i.clamp || i.omod != 0)) return false;
    if (f.row.is(kTruthTable)) {
        if (i.clamp) return false;
        i.literal = std::uint32_t{i.omod} << 6 | std::uint32_t{i.abs} << 3 | i.neg;
        i.omod = i.abs = i.neg = 0;
    }
    f.flag(i.neg || i.abs || (i.op_sel & 7), kPrepare);
    f.flag(is_float(f.row.dst) && (i.omod || i.clamp), kFinish);
    keep_other_half(f);
    return true;
}

/// Whether source 1 is one that DPP may have.
bool beside_dpp(const BitFields& f) {
    if (!f.inst.moves_lanes() || f.inst.src[1] >= kVgpr0) return true;
    return f.traits.scalar_beside_dpp && !f.row.is(kMix);
}

bool vop3_sources(const BitFields& f) {
    const unsigned encodings[] = {f.bits(1, 8, 0), f.bits(1, 17, 9), f.bits(1, 26, 18)};
    for (unsigned n = 0; n < 3; ++n) {
        const bool mask = n == 2 && f.row.is(kCarryIn);
        const Type type = mask ? Type::mask : f.row.src[n];
        if (type == Type::none) continue;
        if (n == 0 && f.traits.dpp_everywhere && selects_dpp(encodings[n])) {
            if (!by_dpp(f, encodings[n])) return false;
            continue;
        }
        if (!f.source(n, encodings[n], type) || (n == 1 && !beside_dpp(f))) return false;
        const bool scalar = mask || type == Type::s32 || f.row.is_scalar_function();
        if (scalar && f.inst.src[n] >= kVgpr0) return false;
    }
    return true;
}

/// Of kVectorSource rows.
bool is_vector_source(const Row& row, unsigned n) {
    return n == 0 || dwords(row.src[n]) > 2 || (row.is(kPermutes) && row.src[n] == Type::b32);
}

bool vop3(const BitFields& f) {
    if (!f.two_words()) return false;
    Inst& i = f.inst;
    i.form = Form::Vop3;
    const bool with_sdst = f.row.is(kCarryOut);
    implicit_vcc(f);
    if (!vop3_modifiers(f, with_sdst) || !vop3_sources(f)) return false;
    if (with_sdst && !f.scalar_destination(i.sdst, f.bits(0, 14, 8), Type::mask)) return false;
    if (compares_to_exec(f)) return f.bits(0, 7, 0) == kExec;
    if (f.row.format == Format::Vopc) return f.scalar_destination(i.sdst, f.bits(0, 7, 0), Type::mask);
    if (f.row.dst == Type::s32)
        return f.scalar_destination(i.dst, f.bits(0, 7, 0), Type::s32) &&
               (f.row.is_scalar_function() || i.src[0] >= kVgpr0);
    if (f.row.is(kVectorSource))
        for (unsigned n = 0; n < 3; ++n)
            if (is_vector_source(f.row, n) && i.src[n] < kVgpr0) return false;
    return vector_destination(f, f.bits(0, 7, 0));
}

Operand to_accumulator(Operand operand) { return static_cast<Operand>(operand - kVgpr0 + kAcc0); }

/// v_accvgpr_read_b32, v_accvgpr_write_b32: one side is an AccVGPR.
bool accumulator(const BitFields& f) {
    Inst& i = f.inst;
    const bool reads = &f.row == &rows()[index(Op::v_accvgpr_read_b32)];
    if (!f.source(0, f.bits(1, 8, 0), f.row.src[0]) || !vector_destination(f, f.bits(0, 7, 0))) return false;
    if (reads && i.src[0] < kVgpr0) return false;
    Operand& side = reads ? i.src[0] : i.dst;
    side = to_accumulator(side);
    return true;
}

/// C and D are AccVGPRs; of unified registers, ACC_CD selects AccVGPRs or VGPRs for both. The ACC bits select for A and
/// B separately (MI100 and MI200 ISA manuals, "VOP3P-MAI").
bool matrix(const BitFields& f) {
    Inst& i = f.inst;
    const bool acc_cd = !f.traits.unified_registers || f.bit(0, 15);
    i.abs = static_cast<std::uint8_t>(f.bits(0, 10, 8));
    i.op_sel = static_cast<std::uint8_t>(f.bits(0, 14, 11));
    i.neg = static_cast<std::uint8_t>(f.bits(1, 31, 29));
    const unsigned encodings[] = {f.bits(1, 8, 0), f.bits(1, 17, 9), f.bits(1, 26, 18)};
    const bool sparse = f.row.is(kSparse);
    if (sparse && i.neg != 0) return false;
    if (f.row.is(kMixedFormats) && i.op_sel > 1) return false;  // 1: after v_mfma_ld_scale_b32
    f.flag(f.traits.negates_doubles && f.row.shape.matrix.of == Matrix::Of::Double, kNegates);
    for (unsigned n = 0; n < 3; ++n) {
        const Type type = source_type(f.row, i, n);
        if (type == Type::none || !f.source(n, encodings[n], type)) return false;
        const bool is_vgpr = i.src[n] >= kVgpr0;
        if (!is_vgpr && (n < 2 || sparse || i.src[n] < kConstants)) return false;
        const bool acc = n < 2 ? f.bit(1, 27 + n) : acc_cd && !sparse;
        if (is_vgpr && acc) i.src[n] = to_accumulator(i.src[n]);
    }
    if (!vector_destination(f, f.bits(0, 7, 0))) return false;
    if (acc_cd) i.dst = to_accumulator(i.dst);
    return true;
}

/// SWMMAC's OP_SEL says which part of the indices it takes. Signs are of floats of 16 bits, and of C.
bool spread_tiles(const BitFields& f) {
    const Inst& i = f.inst;
    const bool sparse = f.row.is(kSparse);
    if (i.op_sel >= (sparse ? index_parts(f.row, f.width) : 1)) return false;
    const Matrix::Of of = f.row.shape.matrix.of;
    const bool signs_factors = of == Matrix::Of::Half || of == Matrix::Of::Brain || f.row.is(kSigned);
    const unsigned allowed = (signs_factors ? 3u : 0) | (sparse || f.row.is(kSigned) ? 0 : 4u);
    return (i.neg & ~allowed) == 0 && (i.abs & ~(f.row.is(kSigned) ? 0 : allowed)) == 0;
}

/// A constant C of results of 16 bits is one.
Type type_of_tile_source(const Row& row, unsigned n, unsigned encoding) {
    if (n != 2 || encoding >= kVgpr0 || row.dst == Type::tile) return row.src[n];
    return row.shape.matrix.of == Matrix::Of::Brain ? Type::bf16 : Type::f16;
}

/// WMMA: A and B are VGPRs. OP_SEL is of 16-bit results, CLAMP of integers. NEG and NEG_HI are of floats; of integers,
/// NEG says which factors are signed.
bool tiles(const BitFields& f) {
    const unsigned encodings[] = {f.bits(1, 8, 0), f.bits(1, 17, 9), f.bits(1, 26, 18)};
    const bool sparse = f.row.is(kSparse);
    if (f.inst.clamp && !f.row.is(kSigned)) return false;
    if (f.traits.spread_tiles ? !spread_tiles(f) : f.row.dst == Type::tile && f.inst.op_sel != 0) return false;
    for (unsigned n = 0; n < 3; ++n) {
        if (!f.source(n, encodings[n], type_of_tile_source(f.row, n, encodings[n]))) return false;
        const Operand source = f.inst.src[n];
        if (source < kVgpr0 && (n < 2 || sparse || source < kConstants || source == kLiteral)) return false;
    }
    return vector_destination(f, f.bits(0, 7, 0));
}

/// v_dot4_f32_fp8_bf8 and similar: NEG and NEG_HI are of C alone.
bool dots_bytes_of_floats(const Row& row) { return row.is(kDot) && row.dst == Type::f32 && row.src[0] == Type::b32; }

bool vop3p(const BitFields& f) {
    if (!f.two_words()) return false;
    Inst& i = f.inst;
    i.form = Form::Vop3;
    if (f.row.is(kAccumulator)) return accumulator(f);
    if (f.row.is(kMatrix)) return matrix(f);
    i.neg = static_cast<std::uint8_t>(f.bits(1, 31, 29));
    i.abs = static_cast<std::uint8_t>(f.bits(0, 10, 8));
    i.op_sel = static_cast<std::uint8_t>(f.bits(0, 13, 11));
    i.op_sel_hi = static_cast<std::uint8_t>(f.bits(1, 28, 27) | f.bits(0, 14, 14) << 2);
    i.clamp = f.bit(0, 15);
    const unsigned encodings[] = {f.bits(1, 8, 0), f.bits(1, 17, 9), f.bits(1, 26, 18)};
    if (f.row.multiplies_tiles()) return tiles(f);
    if (f.row.is(kScales) && (f.bits(0, 7, 0) | i.neg | i.abs | unsigned{i.clamp} | (i.op_sel & 4u)) != 0) return false;
    for (unsigned n = 0; n < 3; ++n) {
        if (f.row.src[n] == Type::none) continue;
        if (n == 0 && f.traits.dpp_everywhere && selects_dpp(encodings[n])) {
            if (!by_dpp(f, encodings[n])) return false;
            continue;
        }
        const bool narrow = f.row.is(kMix) && ((i.op_sel_hi >> n) & 1);
        if (!f.source(n, encodings[n], narrow ? Type::f16 : f.row.src[n])) return false;
        if (n == 1 && !beside_dpp(f)) return false;
    }
    if (dots_bytes_of_floats(f.row) && ((i.neg | i.abs) & 3u) + i.op_sel + unsigned{i.clamp} + (i.op_sel_hi ^ 7u) != 0)
        return false;
    return vector_destination(f, f.bits(0, 7, 0));
}

}  // namespace

bool decode_vector(const BitFields& f) {
    f.flag(f.row.is(kFlushesHalves) && f.traits.flushes_factors, kFlushHalves);
    if (f.words[0] >> 31 != 0) return f.row.format == Format::Vop3p ? vop3p(f) : vop3(f);
    switch (f.row.format) {
        case Format::Vop1:
            return vop1(f);
        case Format::Vop2:
            return vop2(f);
        default:
            return vopc(f);
    }
}

}  // namespace kfdemu::isa
