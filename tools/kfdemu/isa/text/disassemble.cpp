#include "tools/kfdemu/isa/text/disassemble.hpp"

#include "tools/kfdemu/isa/encodings/decode.hpp"
#include "tools/kfdemu/isa/encodings/dual.hpp"
#include "tools/kfdemu/isa/encodings/family.hpp"
#include "tools/kfdemu/isa/rows/traits.hpp"
#include "tools/kfdemu/isa/text/text.hpp"
#include "tools/kfdemu/isa/wave/wave.hpp"

namespace kfdemu::isa {
namespace {

/// Collects "mnemonic a, b, c modifier modifier".
class Line {
  public:
    explicit Line(std::string mnemonic) : text_{std::move(mnemonic)} {}
    void operand(const std::string& operand) {
        text_ += first_ ? " " : ", ";
        text_ += operand;
        first_ = false;
    }
    void modifier(const std::string& modifier) { text_ += " " + modifier; }
    void modifier_if(bool on, const char* modifier) {
        if (on) text_ += std::string(" ") + modifier;
    }
    void append(const std::string& text) { text_ += text; }
    std::string take() { return std::move(text_); }

  private:
    std::string text_;
    bool first_ = true;
};

/// Of one instruction.
struct Printer {
    const Inst& inst;
    const Row& row;
    const Target target;

    const Traits& traits() const { return traits_of(target); }
    std::string operand(Operand operand, Type type, std::uint32_t literal) const {
        return operand_text(operand, type, literal, {inst.has(kWave32), traits().null_register});
    }
    unsigned source_count() const {
        unsigned count = 0;
        while (count < 3 && row.src[count] != Type::none) ++count;
        return count;
    }

    std::string source_text(unsigned n) const {
        const bool constant_k = row.is(kMadk) || row.is(kMadmk);  // printed with 32 bits, although only 16 may be used
        return operand(inst.src[n], constant_k && inst.src[n] == kLiteral ? Type::b32 : row.src[n], inst.literal) +
               half_suffix(inst.src[n], n);
    }
    /// Of register n, the third of which is the destination: which half, in short formats whose registers say it.
    const char* half_suffix(Operand operand, unsigned n) const {
        const bool is_short = row.format != Format::Vop3 && row.format != Format::Vop3p && !inst.in_vop3();
        if (!traits().register_halves || !is_short || operand < kVgpr0) return "";
        // llvm-mc names both halves of these.
        const bool both = &row == &rows()[index(Op::v_mov_b16)] || &row == &rows()[index(Op::v_swap_b16)];
        return (inst.op_sel >> n & 1) != 0 ? ".h" : both ? ".l" : "";
    }

    // Scalar.

    std::string immediate_text() const {
        const std::uint32_t simm = static_cast<std::uint16_t>(inst.offset);
        switch (row.src[0]) {
            case Type::waitcnt:
            case Type::delay:
            case Type::depctr:
            case Type::message:
            case Type::hwreg:
            case Type::gpr_index:
                return special_text(target, row.src[0], simm);
            case Type::label:
                return format_text("%u", simm);
            case Type::hex:
                return format_text("0x%x", simm);
            default:
                return row.format == Format::Sopp && simm <= 64 ? format_text("%u", simm) : format_text("0x%x", simm);
        }
    }

    std::string sop_text() const {
        Line line{mnemonic_of(row, target)};
        const bool sets_register = row.src[0] == Type::hwreg && (row.dst == Type::none || row.is(kNoResult));
        if (row.dst != Type::none && !sets_register) line.operand(operand(inst.dst, row.dst, 0));
        if (row.format == Format::Sopk || row.format == Format::Sopp) {
            if (row.src[0] != Type::none) line.operand(immediate_text());
            if (sets_register) {
                line.operand(row.dst != Type::none ? operand(inst.dst, row.dst, 0) : format_text("0x%x", inst.literal));
            }
            return line.take();
        }
        for (unsigned n = 0; n < source_count(); ++n) {
            line.operand(row.src[n] == Type::gpr_index ? gpr_index_text(inst.src[n])
                         : row.src[n] == Type::message
                             ? special_text(target, Type::message, static_cast<std::uint16_t>(inst.offset))
                             : source_text(n));
        }
        return line.take();
    }

    // Vector.

    std::string modified_source(unsigned n) const {
        std::string text = source_text(n);
        const bool sext =
            inst.form == Form::Sdwa && n < 2 && (inst.literal >> (19 + 8 * n) & 1) && !is_float(row.src[n]);
        if (sext) text = "sext(" + text + ")";
        if (!is_float(row.src[n])) return text;
        const bool negative = inst.neg >> n & 1, absolute = inst.abs >> n & 1;
        if (absolute) text = "|" + text + "|";
        if (!negative) return text;
        const bool number = text.find_first_of("0123456789-") == 0;
        return number && !absolute ? "neg(" + text + ")" : "-" + text;
    }

    static std::string list_text(const char* name, unsigned bits, unsigned count) {
        std::string text = std::string(" ") + name + ":[";
        for (unsigned n = 0; n < count; ++n) text += format_text("%s%u", n ? "," : "", bits >> n & 1);
        return text + "]";
    }

    void output_modifiers(Line& line) const {
        constexpr const char* omods[] = {"", "mul:2", "mul:4", "div:2"};
        line.modifier_if(inst.clamp, "clamp");
        line.modifier_if(inst.omod != 0, omods[inst.omod]);
    }

    void sdwa_modifiers(Line& line) const {
        constexpr const char* selects[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD", ""};
        constexpr const char* unused[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE", ""};
        const std::uint32_t word = inst.literal;
        const auto select = [&](const char* name, unsigned low) {
            line.modifier(std::string(name) + ":" + selects[word >> low & 7]);
        };
        if (row.dst != Type::mask && row.dst != Type::none && row.src[0] != Type::f8) {
            select("dst_sel", 8);
            line.modifier(std::string("dst_unused:") + unused[word >> 11 & 3]);
        }
        if (row.src[0] != Type::none) select("src0_sel", 16);
        if (row.src[1] != Type::none) select("src1_sel", 24);
    }

    void dpp_modifiers(Line& line) const {
        const std::uint32_t word = inst.literal;
        const unsigned control = word >> 8 & 0x1ff, n = control & 15;
        if (control < 0x100) {
            line.modifier(format_text("quad_perm:[%u,%u,%u,%u]", control & 3, control >> 2 & 3, control >> 4 & 3,
                                      control >> 6 & 3));
        } else if (control < 0x130) {
            constexpr const char* shifts[] = {"row_shl", "row_shr", "row_ror"};
            line.modifier(format_text("%s:%u", shifts[control >> 4 & 3], n));
        } else if (control < 0x140) {
            constexpr const char* waves[] = {"wave_shl:1", "wave_rol:1", "wave_shr:1", "wave_ror:1"};
            line.modifier(waves[n / 4]);
        } else if (control < 0x150) {
            constexpr const char* others[] = {"row_mirror", "row_half_mirror", "row_bcast:15", "row_bcast:31"};
            line.modifier(others[n & 3]);
        } else {
            const char* const share = traits().row_share ? "row_share" : "row_newbcast";
            line.modifier(format_text("%s:%u", control < 0x160 ? share : "row_xmask", n));
        }
        line.modifier(format_text("row_mask:0x%x bank_mask:0x%x", word >> 28, word >> 24 & 15));
        line.modifier_if((word >> 19 & 1) != 0, "bound_ctrl:1");
        line.modifier_if((word & kFetchesInactive) != 0, "fi:1");
    }

    void dpp8_modifiers(Line& line) const {
        std::string from;
        for (unsigned n = 0; n < 8; ++n) from += format_text(",%u", inst.literal >> (8 + 3 * n) & 7);
        line.modifier("dpp8:[" + from.substr(1) + "]");
        line.modifier_if((inst.literal & kFetchesInactive8) != 0, "fi:1");
    }

    std::string vop_suffix() const {
        const bool no_operands = row.src[0] == Type::none;  // v_nop, v_clrexcp
        if (no_operands) return "";
        if (inst.moves_lanes() && inst.in_vop3()) return "_e64_dpp";
        if (row.format == Format::Vop3 || row.format == Format::Vop3p) return "";
        if (inst.form == Form::Sdwa) return "_sdwa";
        if (inst.moves_lanes()) return row.format == Format::Vopc ? "" : "_dpp";
        if (inst.form == Form::Vop3) return "_e64";
        return row.is(kNoVop3) && !row.is(kNamedShort) ? "" : "_e32";
    }

    std::string vop_text() const {
        Line line{mnemonic_of(row, target) + vop_suffix()};
        const bool to_exec = traits().compares_to_exec && row.dst == Type::mask && row.is(kWritesExec);
        if (to_exec) {
        } else if (row.dst == Type::mask) {
            line.operand(operand(inst.sdst, Type::mask, 0));
        } else if (row.dst != Type::none) {
            line.operand(operand(inst.dst, row.dst, 0) + half_suffix(inst.dst, 3));
        }
        if (row.is(kCarryOut)) line.operand(operand(inst.sdst, Type::mask, 0));
        for (unsigned n = 0; n < source_count(); ++n) line.operand(modified_source(n));
        if (row.is(kCarryIn)) line.operand(operand(inst.src[2], Type::mask, 0));
        if (row.is(kTruthTable) && inst.literal != 0) line.modifier(format_text("bitop3:0x%x", inst.literal));
        if (traits().gfx12_names && selected_byte() != 0) {
            line.modifier(format_text("byte_sel:%u", selected_byte()));
        } else if (traits().gfx12_names && (row.is(kExtracts) || row.is(kInserts))) {
        } else if (row.is(kSwaps) && row.is(kOpSel)) {
            line.modifier_if((inst.op_sel & 2) != 0, "bound_ctrl:1");
            line.modifier_if((inst.op_sel & 1) != 0, "fi:1");
        } else if (row.is(kPermutes) && inst.op_sel != 0) {
            line.append(list_text("op_sel", inst.op_sel, 2));
        } else if (inst.in_vop3() && (inst.op_sel & 15) && row.is(kInserts)) {
            line.append(list_text("op_sel", inst.op_sel & 15, 4));
        } else if (inst.in_vop3() && (inst.op_sel & 15)) {
            line.append(list_text("op_sel", inst.op_sel & ((1u << source_count()) - 1), source_count()));
            std::string text = line.take();
            text.back() = ',';
            line = Line{text + (inst.op_sel & 8 ? "1]" : "0]")};
        }
        output_modifiers(line);
        if (inst.form == Form::Sdwa) sdwa_modifiers(line);
        moving_modifiers(line);
        return line.take();
    }
    /// As GFX12 names it: OP_SEL's bits are in turned order where a byte is read.
    unsigned selected_byte() const {
        if (row.is(kInserts)) return inst.op_sel >> 2 & 3;
        return row.is(kExtracts) ? (inst.op_sel & 1u) << 1 | (inst.op_sel >> 1 & 1u) : 0;
    }
    void moving_modifiers(Line& line) const {
        if (inst.form == Form::Dpp) dpp_modifiers(line);
        if (inst.form == Form::Dpp8) dpp8_modifiers(line);
    }

    /// One operation of VOPD.
    std::string operation_text() const {
        Line line{mnemonic_of(row, target)};
        line.operand(operand(inst.dst, row.dst, 0));
        for (unsigned n = 0; n < source_count(); ++n) line.operand(source_text(n));
        return line.take();
    }
    std::string vopd_text() const {
        const Inst second = second_of(inst);
        return operation_text() + " :: " + Printer{second, rows()[second.row], target}.operation_text();
    }

    std::string matrix_text() const {
        Line line{mnemonic_of(row, target)};
        line.operand(operand(inst.dst, row.dst, 0));
        const bool is_double = row.shape.matrix.of == Matrix::Of::Double;
        for (unsigned n = 0; n < 3; ++n) {
            const bool constant = inst.src[n] < kVgpr0;
            line.operand(
                operand(inst.src[n], constant ? (is_double ? Type::f64 : Type::f32) : source_type(row, inst, n), 0));
        }
        if (inst.abs) line.modifier(format_text("cbsz:%u", inst.abs));
        if (inst.op_sel && !row.is(kMixedFormats)) line.modifier(format_text("abid:%u", inst.op_sel));
        if (inst.neg != 0 && inst.has(kNegates))
            line.append(list_text("neg", inst.neg, 3));
        else if (inst.neg != 0)
            line.modifier(format_text("blgp:%u", inst.neg));
        return line.take();
    }

    std::string vop3p_text() const {
        if (row.is(kMatrix)) return matrix_text();
        Line line{mnemonic_of(row, target) + vop_suffix()};
        const unsigned count = source_count();
        const unsigned all = (1u << count) - 1;
        if (row.dst != Type::none) line.operand(operand(inst.dst, row.dst, 0));
        const bool mix = row.is(kMix);
        for (unsigned n = 0; n < count; ++n) line.operand(mix ? modified_source(n) : source_text(n));
        if (row.is(kAccumulator)) return line.take();
        // Of 32 bits, or of both halves of a register: there are none to select.
        const bool whole = row.dst == Type::tile || row.dst == Type::tile128;
        if (row.multiplies_tiles() && row.is(kSparse) && inst.op_sel != 0)
            line.modifier(format_text("index_key:%u", inst.op_sel));
        if (!whole && (inst.op_sel & all)) line.append(list_text("op_sel", inst.op_sel, count));
        if (!whole && (inst.op_sel_hi & all) != (mix ? 0 : all))
            line.append(list_text("op_sel_hi", inst.op_sel_hi, count));
        if (!mix && (inst.neg & all)) line.append(list_text("neg_lo", inst.neg, count));
        if (!mix && !row.is(kSigned) && (inst.abs & all)) line.append(list_text("neg_hi", inst.abs, count));
        line.modifier_if(inst.clamp, "clamp");
        moving_modifiers(line);
        return line.take();
    }

    // Memory.

    /// GFX12's scope and temporal hint, whose names depend on what accesses memory.
    void temporal_hint(Line& line) const {
        constexpr const char *loads[] = {"", "NT", "HT", "LU", "NT_RT", "RT_NT", "NT_HT", nullptr},
                             *stores[] = {"", "NT", "HT", "WB", "NT_RT", "RT_NT", "NT_HT", "NT_WB"},
                             *atomics[] = {"", "RETURN", "NT", "NT_RETURN"}, *cascades[] = {"CASCADE_RT", "CASCADE_NT"};
        constexpr const char* scopes[] = {"", "SE", "DEV", "SYS"};
        const bool scalar = row.format == Format::Smem;
        const auto scope = static_cast<unsigned>(scope_of(inst));
        const unsigned hint = scalar ? inst.dwords[0] >> 23 & 3 : inst.dwords[1] >> 20 & 7;
        const char* const kind = row.is(kAtomic) ? "ATOMIC" : row.is(kStore) ? "STORE" : "LOAD";
        const char* name = row.is(kStore) ? stores[hint] : loads[hint];
        if (row.is(kAtomic)) name = hint < 4 ? atomics[hint] : scope >= 2 ? cascades[hint >> 1 & 1] : nullptr;
        if (!row.is(kAtomic) && hint == 3 && scope == 3) name = "BYPASS";
        if (name == nullptr)
            line.modifier(row.is(kAtomic) ? format_text("th:TH_ATOMIC_0x%x", hint) : format_text("th:0x%x", hint));
        else if (*name != 0)
            line.modifier(format_text("th:TH_%s_%s", kind, name));
        if (scope != 0) line.modifier(format_text("scope:SCOPE_%s", scopes[scope]));
    }
    void cache_modifiers(Line& line) const {
        if (traits().temporal_hints) return temporal_hint(line);
        const bool scopes = traits_of(target).scope_bits;
        line.modifier_if(inst.has(kGlc), scopes ? "sc0" : "glc");
        line.modifier_if(inst.has(kSlc), scopes ? "nt" : "slc");
        line.modifier_if(inst.has(kScc), scopes ? "sc1" : "scc");
        line.modifier_if(traits().dlc_bit && inst.has(kDlc), "dlc");
    }

    std::string scalar_offset_text() const {
        const std::uint32_t offset = static_cast<std::uint32_t>(inst.offset);
        return inst.offset < 0 ? format_text("-0x%x", 0u - offset) : format_text("0x%x", offset);
    }
    std::string prefetch_text() const {
        Line line{mnemonic_of(row, target)};
        if (row.src[0] != Type::none) line.operand(operand(inst.src[0], row.src[0], 0));
        line.operand(scalar_offset_text());
        line.operand(inst.src[1] != kNoOperand ? operand(inst.src[1], Type::b32, 0) : "null");
        line.operand(format_text(inst.dst > 64 ? "0x%x" : "%u", inst.dst));
        return line.take();
    }
    std::string smem_text() const {
        Line line{mnemonic_of(row, target)};
        const bool probe = row.dst == Type::uimm;
        if (row.dst == Type::length) return prefetch_text();
        if (row.dst != Type::none)
            line.operand(probe ? format_text(inst.dst > 64 ? "0x%x" : "%u", inst.dst) : operand(inst.dst, row.dst, 0));
        if (row.src[0] == Type::none) return line.take();
        line.operand(operand(inst.src[0], row.src[0], 0));
        const std::string number = scalar_offset_text();
        if (inst.src[1] != kNoOperand) {
            line.operand(operand(inst.src[1], Type::b32, 0));
            if (inst.has(kImm)) line.modifier("offset:" + number);
        } else {
            line.operand(traits().null_register && !traits().temporal_hints && inst.offset == 0 ? "null" : number);
        }
        if (traits().temporal_hints && row.dst != Type::none && !probe) temporal_hint(line);
        if (traits().temporal_hints) return line.take();
        line.modifier_if(inst.has(kGlc) && row.dst != Type::none && !probe, "glc");
        line.modifier_if(traits().dlc_bit && inst.has(kDlc) && row.dst != Type::none && !probe, "dlc");
        return line.take();
    }

    std::string flat_text() const {
        constexpr const char* prefixes[] = {"flat_", "scratch_", "global_"};
        Line line{std::string{prefixes[static_cast<unsigned>(inst.segment)]} +
                  (mnemonic_of(row, target) + sizeof "flat_" - 1)};
        const bool is_flat = inst.segment == Segment::Flat, has_saddr = inst.src[2] != kNoOperand;
        if (row.is(kScoped)) {
            cache_modifiers(line);
            return line.take();
        }
        const bool returns = row.dst != Type::none && (!row.is(kAtomic) || inst.has(kGlc));
        if (returns && !inst.has(kLds)) line.operand(operand(inst.dst, row.dst, 0));
        const bool narrow = has_saddr || inst.segment == Segment::Scratch;
        if (!row.is(kByLane))
            line.operand(inst.src[0] == kNoOperand ? "off" : operand(inst.src[0], narrow ? Type::b32 : Type::b64, 0));
        if (row.src[1] != Type::none) line.operand(operand(inst.src[1], row.src[1], 0));
        const Type base = inst.segment == Segment::Global ? Type::b64 : Type::b32;
        if (!is_flat) line.operand(has_saddr ? operand(inst.src[2], base, 0) : "off");
        if (inst.offset) line.modifier(format_text("offset:%d", inst.offset));
        cache_modifiers(line);
        line.modifier_if(inst.has(kLds) && !row.is(kToLds), "lds");
        return line.take();
    }

    std::uint32_t unified_format() const {
        return (traits().temporal_hints ? inst.dwords[1] >> 23 : inst.dwords[0] >> 19) & 127;
    }
    std::string buffer_text() const {
        Line line{mnemonic_of(row, target)};
        const bool no_data = row.dst == Type::none && row.src[1] == Type::none;
        if (no_data && !row.is(kStore)) {
            if (traits_of(target).scope_bits && row.is(kScoped)) cache_modifiers(line);
            return line.take();
        }
        const Type value = row.src[1] != Type::none ? row.src[1] : row.dst;
        const bool offen = inst.has(kOffen), idxen = inst.has(kIdxen);
        if (!inst.has(kLds)) line.operand(operand(inst.src[1], value, 0));
        if (!no_data)
            line.operand(offen || idxen ? operand(inst.src[0], offen && idxen ? Type::b64 : Type::b32, 0) : "off");
        line.operand(operand(inst.src[2], Type::b128, 0));
        line.operand(operand(inst.sdst, Type::b32, 0));
        if (row.format == Format::Mtbuf)
            line.append(traits().unified_formats ? unified_format_text(target, unified_format())
                                                 : buffer_format_text(inst.literal));
        line.modifier_if(idxen, "idxen");
        line.modifier_if(offen, "offen");
        if (inst.offset) line.modifier(format_text("offset:%d", inst.offset));
        cache_modifiers(line);
        line.modifier_if(inst.has(kLds) && !row.is(kToLds), "lds");
        return line.take();
    }

    std::string ds_text() const {
        Line line{mnemonic_of(row, target)};
        if (row.dst != Type::none) line.operand(operand(inst.dst, row.dst, 0));
        for (unsigned n = 0; n < 3; ++n) {
            if (row.src[n] != Type::none) line.operand(source_text(n));
        }
        const unsigned offset = static_cast<unsigned>(inst.offset);
        if (row.is(kPattern)) {
            line.append(swizzle_text(offset));
        } else if (row.is(kTwoOffsets)) {
            if (offset & 0xff) line.modifier(format_text("offset0:%u", offset & 0xff));
            if (offset >> 8) line.modifier(format_text("offset1:%u", offset >> 8));
        } else if (offset) {
            line.modifier(format_text("offset:%u", offset));
        }
        line.modifier_if(inst.has(kLds), "gds");
        return line.take();
    }
};

}  // namespace

std::string disassemble(Target target, const Inst& inst) {
    if (inst.row == Decoder::kNoRow) return describe_illegal(target, inst);
    const Row& row = rows()[inst.row];
    const Printer printer{inst, row, target};
    switch (inst.format) {
        case Format::Vop1:
        case Format::Vop2:
        case Format::Vopc:
        case Format::Vop3:
            return printer.vop_text();
        case Format::Vop3p:
            return printer.vop3p_text();
        case Format::Vopd:
            return printer.vopd_text();
        case Format::Smem:
            return printer.smem_text();
        case Format::Flat:
            return printer.flat_text();
        case Format::Mubuf:
        case Format::Mtbuf:
            return printer.buffer_text();
        case Format::Ds:
            return printer.ds_text();
        default:
            return printer.sop_text();
    }
}

std::string describe_illegal(Target target, const Inst& inst) {
    const Encoding encoding = family_of(target).encoding_of(std::span{inst.dwords});
    const std::string where = format_text("%s opcode %u (0x%x), dwords %08x %08x", name(encoding.format),
                                          encoding.opcode, encoding.opcode, inst.dwords[0], inst.dwords[1]);
    if (inst.row == Decoder::kNoRow) {
        return where + ": unknown or reserved on " + name(target);
    }
    return where + ": " + disassemble(target, inst) + " is not implemented";
}

}  // namespace kfdemu::isa
