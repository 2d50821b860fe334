#include "tests/kfdemu/isa/samples.hpp"

#include <cstring>

#include "tests/kfdemu/isa/matrix_samples.hpp"
#include "tests/kfdemu/isa/random.hpp"
#include "tools/kfdemu/isa/encodings/family.hpp"

namespace test_isa {
namespace {

using namespace kfdemu::isa;
using u32 = std::uint32_t;

/// Makes the samples of one row.
class Maker {
  public:
    Maker(const Row& row, Target target, unsigned width)
        : row_{row},
          target_{target},
          width_{width},
          random_{std::uint64_t{opcode_of(row, target)} * 77 + static_cast<u32>(row.format)} {}

    std::vector<Words> take() {
        for (unsigned n = 0; n < 12; ++n) {
            literal_ = 0x12345678 + n;
            make();
        }
        return std::move(made_);
    }

  private:
    u32 vgpr() { return 2 * random_.below(110); }
    const Traits& traits() const { return traits_of(target_); }
    bool is_gfx10() const { return &family_of(target_) == &kGfx10; }
    bool is_gfx11() const { return &family_of(target_) == &kGfx11; }
    bool is_gfx12() const { return &family_of(target_) == &kGfx12; }
    bool is_rdna() const { return traits().wave32; }
    /// The llvm-mc of these is the newest (llvm_mc.cpp).
    bool is_newest() const { return target_ == Target::gfx950 || is_gfx12(); }
    u32 m0() const { return traits().null_before_m0 ? 125 : 124; }
    u32 null() const { return 249 - m0(); }
    /// Of a short format: llvm-mc names no upper halves of registers.
    u32 short_vgpr(Type type) {
        return traits().register_halves && kfdemu::isa::is_half(type) ? 2 * random_.below(64) : vgpr();
    }
    u32 sgpr(Type type) {
        const unsigned count = registers(type, width_);
        if (count == 1 && random_.one_in(8)) return m0();
        if (count <= 2 && random_.one_in(4)) return random_.one_in(2) ? 106 : 126;
        if (count <= 4 && random_.one_in(8)) return 108 + 4 * random_.below(2);
        return 4 * random_.below(count > 8 ? 20 : 22);
    }
    u32 constant(Type type) {
        switch (random_.below(dwords(type) == 1 ? 5u : 4u)) {
            case 0:
                return 128 + random_.below(65);
            case 1:
                return 193 + random_.below(16);
            case 2:
                return 240 + random_.below(9);
            case 3:
                return dwords(type) == 2 ? 235 + random_.below(4) : 128;
            default:
                return 251 + random_.below(3);
        }
    }
    static bool takes_float_constants(Type type) {
        return type != Type::u16 && type != Type::i16 && type != Type::b16 && type != Type::bf16 && type != Type::pk16;
    }
    /// 8 bits; 255 asks for the literal.
    u32 scalar_source(Type type, bool literals) {
        if (type == Type::none) return 0;
        // llvm-mc prints constants of the scalar unit's halves in ways of its own.
        if (traits().register_halves && row_.format <= Format::Sopc && type == Type::f16)
            return 128 + random_.below(81);
        if (literals && dwords(type) == 1 && random_.one_in(4)) return 255;
        if (dwords(type) <= 2 && random_.one_in(2)) {
            const u32 value = constant(type);
            return value >= 235 && value < 251 && !takes_float_constants(type) ? 129 : value;
        }
        if (traits().null_register && dwords(type) <= 2 && random_.one_in(8)) return null();
        return sgpr(type);
    }
    /// 9 bits.
    u32 source(Type type, bool literals) {
        if (type == Type::none) return 0;
        if (type == Type::mask) return 4 * random_.below(24);
        if (type == Type::s32) return sgpr(Type::b32);
        if (random_.one_in(2) || dwords(type) > 2) return 256 + vgpr();
        return scalar_source(type, literals);
    }
    u32 short_source(Type type, bool literals) {
        const u32 value = source(type, literals);
        return value < 256 ? value : 256 + short_vgpr(type);
    }
    /// A destination that may be none.
    u32 scalar_destination(Type type) {
        if (type == Type::none) return 0;
        const bool null = traits().null_register && !row_.is(kReadsDst) && dwords(type) <= 2 && random_.one_in(8);
        return null ? this->null() : sgpr(type);
    }
    void add(u32 word, bool with_literal) { made_.push_back(with_literal ? Words{word, literal_} : Words{word}); }

    void make() {
        switch (row_.format) {
            case Format::Sop1:
                return sop1();
            case Format::Sop2:
                return sop2();
            case Format::Sopc:
                return sopc();
            case Format::Sopk:
                return sopk();
            case Format::Sopp:
                return add(0xbf800000 | opcode_of(row_, target_) << 16 | simm(), false);
            case Format::Vop1:
            case Format::Vop2:
            case Format::Vopc:
                return short_forms();
            case Format::Vop3:
                return vop3(opcode_of(row_, target_));
            case Format::Vop3p:
                return vop3p();
            case Format::Vopd:
                return dual();
            case Format::Smem:
                return smem();
            case Format::Flat:
                return flat();
            case Format::Mubuf:
                return mubuf();
            case Format::Mtbuf:
                return mtbuf();
            case Format::Ds:
                return ds();
            default:
                return;
        }
    }

    u32 simm() {
        if (!std::strcmp(row_.name, "s_set_gpr_idx_mode")) return random_.bits(4);
        if (std::strstr(row_.name, "sendmsg"))
            return random_.one_in(2) ? random_.bits(4) : traits().gfx11_numbers ? random_.bits(9) : random_.bits(6);
        if (row_.src[0] == Type::delay) return random_.below(12) | random_.below(6) << 4 | random_.below(12) << 7;
        return row_.src[0] == Type::none ? 0 : random_.bits(16);
    }
    void sop1() {
        const u32 d = scalar_destination(row_.dst);
        const bool registers_only = std::strstr(row_.name, "pc_b64") || std::strstr(row_.name, "movrels") ||
                                    std::strstr(row_.name, "rfe") || std::strstr(row_.name, "join");
        const bool barrier = std::strstr(row_.name, "barrier");
        const u32 s = row_.src[0] == Type::message ? 0x80 + random_.below(8)
                      : barrier                    ? (random_.one_in(2) ? 193 : m0())
                      : registers_only             ? 4 * random_.below(20)
                                                   : scalar_source(row_.src[0], true);
        add(0xbe800000 | d << 16 | opcode_of(row_, target_) << 8 | s, s == 255 && row_.src[0] != Type::message);
    }
    void sop2() {
        const u32 d = scalar_destination(row_.dst);
        const bool with_k = row_.is(kMadk) || row_.is(kMadmk);
        const u32 a = scalar_source(row_.src[0], !with_k), b = scalar_source(row_.src[1], !with_k && a != 255);
        add(0x80000000 | opcode_of(row_, target_) << 23 | d << 16 | b << 8 | a, with_k || a == 255 || b == 255);
    }
    void sopc() {
        const bool index = row_.src[1] == Type::gpr_index;
        const u32 a = scalar_source(row_.src[0], true),
                  b = index ? random_.bits(4) : scalar_source(row_.src[1], a != 255);
        add(0xbf000000 | opcode_of(row_, target_) << 16 | b << 8 | a, a == 255 || b == 255);
    }
    void sopk() {
        const bool literal = row_.dst == Type::none && row_.src[0] == Type::hwreg;
        const u32 d = row_.dst == Type::none ? 0 : sgpr(row_.dst);
        add(0xb0000000 | opcode_of(row_, target_) << 23 | d << 16 | random_.bits(16), literal);
    }

    // VOP1, VOP2, VOPC: short, with SDWA, with DPP, as VOP3.

    u32 short_word(u32 first) {
        const u32 d = row_.dst == Type::s32 ? 4 * random_.below(22) : row_.dst == Type::none ? 0 : short_vgpr(row_.dst);
        if (row_.format == Format::Vop1) return 0x7e000000 | d << 17 | opcode_of(row_, target_) << 9 | first;
        if (row_.format == Format::Vopc)
            return 0x7c000000 | opcode_of(row_, target_) << 17 | short_vgpr(row_.src[1]) << 9 | first;
        return opcode_of(row_, target_) << 25 | d << 17 | short_vgpr(row_.src[1]) << 9 | first;
    }
    void short_forms() {
        // llvm-mc 22 knows this one by halves of registers alone.
        if (is_gfx12() && !std::strcmp(row_.name, "v_mov_b16")) return;
        const bool only_vgpr = row_.dst == Type::s32 || row_.is(kVectorSource) || only_registers();
        const bool constant_k = row_.is(kMadk) || row_.is(kMadmk);
        u32 first = only_vgpr ? 256 + short_vgpr(row_.src[0]) : short_source(row_.src[0], !constant_k);
        if (!takes_float_constants(row_.src[0]) && first >= 240 && first < 250) first = 130;
        add(short_word(first), first == 255 || constant_k);
        const bool wide = dwords(row_.dst == Type::mask ? Type::b32 : row_.dst) == 2 || dwords(row_.src[0]) == 2;
        if (!row_.is(kNoModifiers) && !wide) {
            if (!row_.is(kNoSdwa) && traits().sdwa) sdwa();
            const bool moves = traits().dpp_everywhere ? row_.src[0] != Type::none : row_.format != Format::Vopc;
            if (moves) dpp();
            if (moves && traits().row_share) dpp8();
        }
        // llvm-mc 19 knows this one's long form by halves of registers alone.
        if (!row_.is(kNoVop3) && std::strcmp(row_.name, "v_mov_b16") != 0)
            vop3(opcode_of(row_, target_) + (row_.format == Format::Vop2   ? family_of(target_).vop2_in_vop3
                                             : row_.format == Format::Vop1 ? family_of(target_).vop1_in_vop3
                                                                           : 0));
    }
    static bool is_float(Type type) { return kfdemu::isa::is_float(type); }
    void sdwa() {
        const bool compares = row_.format == Format::Vopc, none = row_.src[0] == Type::none;
        const auto modifiers = [&](Type type) {
            if (type == Type::none) return u32{0};
            if (type == Type::f8) return random_.below(7);
            return random_.below(7) | (is_float(type) ? random_.bits(2) << 4 : random_.bits(1) << 3);
        };
        u32 word = none ? 0 : vgpr();
        word |= modifiers(row_.src[0]) << 16 | modifiers(row_.src[1]) << 24;
        if (compares) {
            if (!compares_to_exec() && random_.one_in(2)) word |= 1u << 15 | (2 * random_.below(50)) << 8;
        } else {
            word |= none || row_.src[0] == Type::f8 ? 6u << 8 : random_.below(7) << 8 | random_.below(3) << 11;
            if (is_float(row_.dst)) word |= random_.bits(1) << 13 | (random_.one_in(2) ? random_.bits(2) << 14 : 0);
        }
        u32 first_word = short_word(249);
        if (!none && random_.one_in(3)) word = (word & ~0xffu) | sgpr(Type::b32) | 1u << 23;
        if (row_.src[1] != Type::none && random_.one_in(3)) {
            first_word = (first_word & ~(0xffu << 9)) | sgpr(Type::b32) << 9;
            word |= 1u << 31;
        }
        made_.push_back({first_word, word});
    }
    bool only_registers() const { return row_.is(kNoModifiers) && row_.format == Format::Vop1; }
    bool compares_to_exec() const { return traits().compares_to_exec && row_.is(kWritesExec); }
    void dpp8() {
        const u32 word = (row_.src[0] == Type::none ? 0 : short_vgpr(row_.src[0])) | random_.bits(24) << 8;
        made_.push_back({short_word(233 + random_.bits(1)), word});
    }
    /// The same with DPP or DPP8, which llvm-mc knows of some. It disassembles more scalars than it assembles.
    void vop3_with_dpp(Words words) {
        const bool eight = random_.one_in(2);
        const u32 control = dpp_control() << 8 | random_.bits(2) << 18 | random_.bits(8) << 24;
        words.resize(2);
        if (row_.src[1] != Type::none && !traits().scalar_beside_dpp) words[1] |= 256u << 9;
        // What llvm-mc 22 does not know, or prints with errors.
        if (is_newest() && row_.src[1] != Type::none && !row_.is(kPermutes)) words[1] |= 256u << 9;
        words[1] = (words[1] & ~0x1ffu) | (eight ? 233 + random_.bits(1) : 250);
        words.push_back(vgpr() | (eight ? random_.bits(24) << 8 : control));
        const bool lacks_bit = row_.is(kLowHalf) || row_.is(kHighHalf) || std::strstr(row_.name, "v_cvt_pk_fp8") ||
                               std::strstr(row_.name, "v_cvt_pk_bf8");
        if (is_newest() && !eight && lacks_bit) words[2] &= ~(1u << 15);
        made_.push_back(words);
    }
    u32 dpp_control() {
        const u32 n = 1 + random_.below(15);
        switch (random_.below(8)) {
            case 3:
                if (traits().row_share) return 0x160 | n;
                return 0x130 | 4 * random_.below(4);
            case 4:
                return 0x140 | random_.below(traits().row_share ? 2 : 4);
            case 5:
                return traits().wide_dpp || traits().row_share ? 0x150 | n : 0x140;
            case 0:
                return 0x100 | n;
            case 1:
                return 0x110 | n;
            case 2:
                return 0x120 | n;
            default:
                return random_.bits(8);
        }
    }
    void dpp() {
        const bool none = row_.src[0] == Type::none;
        u32 word =
            (none ? 0 : short_vgpr(row_.src[0])) | dpp_control() << 8 | random_.bits(1) << 19 | random_.bits(8) << 24;
        if (traits().row_share) word |= random_.bits(1) << 18;
        if (is_float(row_.src[0])) word |= random_.bits(2) << 20;
        if (is_float(row_.src[1])) word |= random_.bits(2) << 22;
        if (is_newest() && row_.is(kCarryIn)) word &= ~(5u << 21);  // llvm-mc 22 prints VCC in the magnitude
        made_.push_back({short_word(250), word});
    }
    void vop3(u32 opcode) {
        u32 first = (is_rdna() ? 0xd4000000 : 0xd0000000) | opcode << 16, second = 0, neg = 0, abs = 0;
        bool has_literal = false;
        const bool with_sdst = row_.is(kCarryOut);
        for (unsigned n = 0; n < 3; ++n) {
            const bool mask = n == 2 && row_.is(kCarryIn);
            const Type type = mask ? Type::mask : row_.src[n];
            // llvm-mc prints the literals of these in 32 bits.
            const bool wide_mask = (n == 1 && traits().register_halves && std::strstr(row_.name, "class_f16")) ||
                                   (n == 2 && traits().register_halves && std::strstr(row_.name, "v_align"));
            const bool may = traits().literals_everywhere && !has_literal && !mask && dwords(type) == 1 && !wide_mask;
            u32 value = may && random_.one_in(8) ? 255 : source(type, false);
            // llvm-mc 22 takes this distance for 16 bits.
            if (is_newest() && n == 2 && std::strstr(row_.name, "v_align") && value >= 240 && value < 256) value = 129;
            const bool lanes = !std::strcmp(row_.name, "v_readlane_b32") && n == 0;
            if (lanes || (row_.is(kVectorSource) && n == 0) || is_permuted_by(n)) value = 256 + vgpr();
            if (row_.is_scalar_function() && type != Type::none) value = scalar_source(type, may);
            has_literal |= value == 255;
            second |= value << (9 * n);
            if (!mask && is_float(type) && random_.one_in(3)) neg |= 1u << n;
            if (!mask && is_float(type) && random_.one_in(3)) abs |= 1u << n;
        }
        if (compares_to_exec()) {
            first |= 126;
        } else if (row_.dst == Type::mask) {
            first |= sgpr(Type::mask);
        } else if (row_.dst != Type::none) {
            first |= row_.dst == Type::s32 ? 4 * random_.below(22) : vgpr();
        }
        first |= with_sdst ? sgpr(Type::mask) << 8 : abs << 8;
        const bool is_dot = row_.format == Format::Vop3 && row_.is(kDot);           // has neither CLAMP nor OMOD
        const bool reads_byte = row_.format == Format::Vop1 && row_.is(kExtracts);  // likewise
        if ((is_float(row_.dst) && !is_dot && !reads_byte) || row_.is_scalar_function()) {
            if (random_.one_in(3)) first |= 1u << 15;
            if (random_.one_in(3)) second |= random_.bits(2) << 27;
        }
        if ((row_.format == Format::Vop3 || reads_byte) && row_.is(kOpSel) && random_.one_in(2))
            first |= op_sel() << 11;
        made_.push_back({first, second | neg << 29});
        const Words plain = made_.back();
        if (has_literal) made_.back().push_back(literal_);
        // llvm-mc 22 crashes at DPP with a literal.
        if (traits().dpp_everywhere && row_.src[0] != Type::none && !(is_newest() && has_literal)) vop3_with_dpp(plain);
    }
    bool is_permuted_by(unsigned n) const { return row_.is(kPermutes) && n == 1 && row_.src[1] == Type::b32; }
    u32 op_sel() {
        if (row_.is(kPermutes)) return random_.bits(2);
        const u32 half = row_.is(kInserts) && is_float(row_.src[0]) && is_half(row_.src[0]) ? random_.bits(1) : 0;
        if (row_.is(kInserts)) return random_.bits(2) << 2 | half;
        if (row_.is(kExtracts)) return random_.bits(2);
        u32 allowed =
            dwords(row_.dst) == 1 && (is_float(row_.dst) || row_.dst == Type::u16 || row_.dst == Type::i16) ? 8 : 0;
        for (unsigned n = 0; n < 3; ++n) {
            if (row_.src[n] == Type::f16 || row_.src[n] == Type::u16 || row_.src[n] == Type::i16) allowed |= 1u << n;
        }
        return random_.bits(4) & allowed;
    }
    void vop3p() {
        if (row_.is(kMatrix)) {
            made_.push_back(matrix_sample(row_, target_, random_, made_.empty()));
            return;
        }
        if (is_gfx12() && row_.multiplies_tiles()) return spread_tiles();
        if (row_.is(kDot) && row_.dst == Type::f32 && row_.src[0] == Type::b32) return dot_of_small_floats();
        const u32 d = row_.dst == Type::none ? 0 : vgpr();
        u32 first = (is_rdna() ? 0xcc000000 : 0xd3800000) | opcode_of(row_, target_) << 16 | d, second = 0;
        if (row_.is(kAccumulator)) {
            const bool reads = opcode_of(row_, target_) == 0x58;
            second = reads ? 0x18000000 | (256 + vgpr()) : 0x18000000 | (256 + vgpr());
            made_.push_back({first | 0x4000, second});
            return;
        }
        const bool plain = row_.dst == Type::i32 || row_.dst == Type::u32;
        // llvm-mc has no OP_SEL for the dot products of bytes and nibbles from 22 on, when it learned of gfx950.
        const bool whole = is_newest() && plain && row_.src[0] == Type::b32;
        for (unsigned n = 0; n < 3; ++n) {
            if (row_.src[n] != Type::none) second |= source(row_.src[n], false) << (9 * n);
        }
        if (row_.multiplies_tiles()) second = (second & ~0x3ffffu) | (256 + vgpr()) | (256 + vgpr()) << 9;
        if (row_.multiplies_tiles() && random_.one_in(4)) second = (second & 0x3ffff) | (128 + random_.below(65)) << 18;
        const unsigned count = row_.src[2] == Type::none ? 2 : 3;
        const u32 all = (1u << count) - 1;
        const bool is_int = !row_.is(kSigned) && !row_.multiplies_tiles() &&
                            (row_.dst == Type::pk16 || plain || row_.dst == Type::b64 || row_.is(kScales));
        const u32 high = whole || random_.one_in(2) ? all : random_.bits(3) & all;
        const u32 neg = is_int ? 0 : random_.bits(row_.is(kSigned) ? 2 : 3) & all;
        const u32 neg_hi = is_int || row_.is(kSigned) ? 0 : random_.bits(3) & all;
        first |= neg_hi << 8 | (whole || row_.dst == Type::tile ? 0 : random_.bits(3) & all) << 11 | (high >> 2) << 14;
        if (row_.is(kScales)) first |= 1u << 14;
        const bool clamps = row_.multiplies_tiles() ? row_.is(kSigned) : row_.dst != Type::b64 && !row_.is(kScales);
        if (clamps && random_.one_in(3)) first |= 1u << 15;
        made_.push_back({first, second | (high & 3) << 27 | neg << 29});
        // llvm-mc 19 does not know this one's.
        if (!traits().dpp_everywhere || std::strcmp(row_.name, "v_dot2_f32_bf16") == 0) return;
        Words moved = made_.back();
        moved[1] |= 256u << 9;  // llvm-mc takes some constants, too
        vop3_with_dpp(moved);
    }

    /// All of OP_SEL_HI, and of OP_SEL, NEG and NEG_HI the bits that there are.
    void vop3p_word(u32 first, u32 second, u32 op_sel, u32 signs_low, u32 signs_high) {
        const u32 neg = random_.bits(3) & signs_low, neg_hi = random_.bits(3) & signs_high;
        made_.push_back({0xcc004000 | opcode_of(row_, target_) << 16 | first | neg_hi << 8 | op_sel << 11 | vgpr(),
                         second | 3u << 27 | neg << 29});
    }
    void spread_tiles() {
        const bool sparse = row_.is(kSparse), integers = row_.is(kSigned);
        const kfdemu::isa::Matrix::Of of = row_.shape.matrix.of;
        const bool signs = integers || of == kfdemu::isa::Matrix::Of::Half || of == kfdemu::isa::Matrix::Of::Brain;
        const u32 low = (signs ? 3u : 0) | (sparse || integers ? 0 : 4u);
        const u32 c = !sparse && random_.one_in(4) ? 128 + random_.below(65) : 256 + vgpr();
        const u32 op_sel = sparse ? random_.below(index_parts(row_, width_)) : 0;
        vop3p_word(integers ? random_.bits(1) << 15 : 0, (256 + vgpr()) | (256 + vgpr()) << 9 | c << 18, op_sel, low,
                   integers ? 0 : low);
    }
    void dot_of_small_floats() {
        vop3p_word(0, (256 + vgpr()) | (256 + vgpr()) << 9 | source(Type::f32, false) << 18, 0, 4, 4);
        Words moved = made_.back();
        moved[1] |= 256u << 18;  // llvm-mc knows no other third source
        vop3_with_dpp(moved);
    }

    /// The row in both places, where it may be, beside a v_dual_mov_b32.
    void dual() {
        constexpr u32 move = 8, y_only = 16;
        const u32 opcode = opcode_of(row_, target_), literal = row_.is(kMadk) || row_.is(kMadmk);
        const u32 second = row_.src[1] == Type::none ? 0 : vgpr();
        const auto add_with = [&](u32 x, u32 y, u32 source_x, u32 source_y, u32 second_x, u32 second_y) {
            const u32 d = random_.bits(8);
            made_.push_back({0xc8000000 | x << 22 | y << 17 | second_x << 9 | source_x,
                             d << 24 | random_.bits(7) << 17 | second_y << 9 | source_y});
            if (literal || source_x == 255 || source_y == 255) made_.back().push_back(literal_);
        };
        const u32 one = source(row_.src[0], !literal);
        if (opcode < y_only) add_with(opcode, move, one, 256 + vgpr(), second, 0);
        add_with(move, opcode, 256 + vgpr(), one, 0, second);
    }

    // Memory.

    void smem() {
        const bool plain = row_.src[0] == Type::none;
        if (is_gfx12()) return gfx12_smem();
        if (is_rdna()) return rdna_smem();
        u32 first =
            0xc0000000 | opcode_of(row_, target_) << 18 | (row_.dst == Type::none ? 0 : (4 * random_.below(20)) << 6);
        if (plain) {
            made_.push_back({first, 0});
            return;
        }
        const bool moves_data = row_.dst != Type::none && row_.dst != Type::uimm;
        first |= 2 * random_.below(20) | (moves_data ? random_.bits(1) : 0) << 16;
        const u32 kind = random_.below(3);
        const u32 offset = random_.bits(20);
        if (kind == 0) made_.push_back({first | 1u << 17, offset});
        if (kind == 1) made_.push_back({first, 4 * random_.below(25)});
        if (kind == 2) made_.push_back({first | 1u << 17 | 1u << 14, offset | 4 * random_.below(25) << 25});
    }
    void rdna_smem() {
        const u32 data = row_.dst == Type::none ? 0 : (4 * random_.below(20)) << 6;
        const u32 first = 0xf4000000 | opcode_of(row_, target_) << 18 | data;
        if (row_.src[0] == Type::none) {
            made_.push_back({first, 0});
            return;
        }
        const bool moves_data = row_.dst != Type::none && row_.dst != Type::uimm;
        const u32 glc = is_gfx10() ? 16 : 14, dlc = is_gfx10() ? 14 : 13;
        const u32 cache = moves_data ? random_.bits(1) << glc | random_.bits(1) << dlc : 0;
        const u32 offset = random_.one_in(3) ? 0 : random_.bits(21);
        const u32 soffset = random_.one_in(2) ? null() : 4 * random_.below(25);
        made_.push_back({first | cache | 2 * random_.below(20), offset | soffset << 25});
    }
    void gfx12_smem() {
        const bool number = row_.dst == Type::uimm || row_.dst == Type::length;
        const u32 data = row_.dst == Type::none ? 0 : (number ? random_.bits(5) : 4 * random_.below(20)) << 6;
        const u32 first = 0xf4000000 | opcode_of(row_, target_) << 13 | data;
        if (row_.src[0] == Type::none && row_.dst == Type::none) {
            made_.push_back({first, 0});
            return;
        }
        const u32 cache = !number ? random_.bits(4) << 21 : 0,
                  base = row_.src[0] == Type::none ? 0 : 2 * random_.below(20);
        const u32 soffset = random_.one_in(2) ? null() : 4 * random_.below(25);
        made_.push_back({first | cache | base,
                         (random_.one_in(3) ? 0 : random_.bits(row_.src[0] == Type::b128 ? 23 : 24)) | soffset << 25});
    }
    void gfx12_flat() {
        const u32 segment = row_.is(kOnlyGlobal) && !row_.is(kFloatAtomic) ? 2 : random_.below(3);
        const bool block = row_.dst == Type::b1024 || row_.src[1] == Type::b1024;
        if ((segment == 1 && row_.is(kNoScratch)) || (segment == 0 && block)) return;
        const u32 opcode = opcode_of(row_, target_), cache = random_.bits(5) << 18;
        const u32 none = segment == 0 || row_.is(kScoped) || random_.one_in(2);
        const u32 saddr = none ? null() : 4 * random_.below(25);
        const bool no_vgpr = row_.is(kByLane) || row_.is(kScoped) || (segment == 1 && random_.one_in(2));
        const bool returns = row_.dst != Type::none && (!row_.is(kAtomic) || (cache >> 20 & 1) != 0);
        const u32 sve = u32{segment == 1 && !no_vgpr} << 17;
        const u32 offset = row_.is(kScoped) || random_.one_in(2) ? 0 : random_.bits(24);
        made_.push_back({0xec000000 | segment << 24 | opcode << 14 | saddr,
                         (returns ? vgpr() : 0) | sve | cache | (row_.src[1] == Type::none ? 0 : vgpr()) << 23,
                         (no_vgpr ? 0 : vgpr()) | offset << 8});
    }
    /// MUBUF and MTBUF, whose opcodes have a bit more.
    void gfx12_buffer(u32 opcode, u32 format) {
        const u32 address_bits = random_.bits(2), offset = random_.one_in(2) ? random_.bits(23) : 0;
        made_.push_back({0xc4000000 | opcode << 14 | (random_.one_in(8) ? null() : 4 * random_.below(25)),
                         vgpr() | random_.below(20) << 11 | random_.bits(5) << 18 | format << 23 | address_bits << 30,
                         (address_bits != 0 ? vgpr() : 0) | offset << 8});
    }
    /// gfx908's float atomics return no value.
    u32 glc() {
        return target_ == Target::gfx908 && row_.is(kAtomic) && row_.targets == targets::from908 ? 0 : random_.bits(1);
    }
    /// llvm-mc 22, which learned of gfx950, has no float atomics of AccVGPRs that return.
    u32 acc_bit() {
        const bool lacks = target_ == Target::gfx950 && row_.is(kFloatAtomic);
        return traits_of(target_).unified_registers && !lacks ? random_.bits(1) : 0;
    }
    void gfx10_flat() {
        const u32 segment = row_.is(kOnlyGlobal) ? 2 : random_.below(3);
        if (segment == 1 && row_.is(kNoScratch)) return;
        const u32 offset = random_.one_in(2) ? 0 : random_.bits(segment == 0 ? 11 : 12);
        const u32 saddr = segment == 0 || random_.one_in(2)   ? 125
                          : segment == 1 && random_.one_in(3) ? 127
                                                              : 4 * random_.below(25);
        const u32 first = 0xdc000000 | opcode_of(row_, target_) << 18 | segment << 14 | offset | random_.bits(1) << 12 |
                          random_.bits(1) << 17 | random_.bits(1) << 16;
        const bool no_vgpr = row_.is(kByLane) || (segment == 1 && saddr != 125);
        const bool returns = row_.dst != Type::none && (!row_.is(kAtomic) || (first >> 16 & 1));
        made_.push_back({first, (no_vgpr ? 0 : vgpr()) | (row_.src[1] == Type::none ? 0 : vgpr()) << 8 | saddr << 16 |
                                    (returns ? vgpr() << 24 : 0)});
    }
    void gfx11_flat() {
        const u32 segment = row_.is(kOnlyGlobal) ? 2 : random_.below(3);
        if (segment == 1 && row_.is(kNoScratch)) return;
        const u32 offset = random_.one_in(2) ? 0 : random_.bits(segment == 0 ? 12 : 13);
        const u32 saddr = segment == 0 || random_.one_in(2) ? null() : 4 * random_.below(25);
        const u32 first = 0xdc000000 | opcode_of(row_, target_) << 18 | segment << 16 | offset | random_.bits(3) << 13;
        const bool no_vgpr = row_.is(kByLane) || (segment == 1 && random_.one_in(2));
        const bool returns = row_.dst != Type::none && (!row_.is(kAtomic) || (first >> 14 & 1));
        made_.push_back({first, (no_vgpr ? 0 : vgpr()) | (row_.src[1] == Type::none ? 0 : vgpr()) << 8 | saddr << 16 |
                                    u32{segment == 1 && !no_vgpr} << 23 | (returns ? vgpr() << 24 : 0)});
    }
    void flat() {
        if (is_gfx12()) return gfx12_flat();
        if (is_gfx10()) return gfx10_flat();
        if (is_gfx11()) return gfx11_flat();
        const bool is_global = row_.is(kOnlyGlobal);
        const u32 segment = is_global ? 2 : random_.below(3);
        if (segment == 1 && row_.is(kNoScratch)) return;
        const bool sve_bit = traits_of(target_).sve_bit;
        if (segment == 0 && row_.is(kToLds)) return;
        const u32 offset = segment == 0 ? random_.bits(12) : random_.bits(13);
        const u32 saddr = segment == 0 ? 0 : random_.one_in(2) ? 0x7f : 4 * random_.below(25);
        const u32 first = 0xdc000000 | opcode_of(row_, target_) << 18 | segment << 14 |
                          (random_.one_in(2) ? offset : 0) | random_.bits(1) << 17 | glc() << 16;
        if (segment != 0 && !sve_bit && to_lds()) {
            const u32 where = segment == 1 && saddr != 0x7f ? 0 : vgpr();
            made_.push_back({first | 1u << 13, where | saddr << 16});
            return;
        }
        const u32 sve = sve_bit && segment == 1 ? random_.bits(1) : 0;
        const u32 address = segment == 1 && (sve_bit ? sve == 0 : saddr != 0x7f) ? 0 : vgpr();
        const u32 data = row_.src[1] == Type::none ? 0 : vgpr();
        const bool returns = row_.dst != Type::none && (!row_.is(kAtomic) || (first >> 16 & 1));
        const u32 acc = returns || row_.src[1] != Type::none ? acc_bit() << 23 : 0;
        made_.push_back({first | sve << 13, address | data << 8 | saddr << 16 | acc | (returns ? vgpr() << 24 : 0)});
    }
    /// Loads of up to a dword may go straight into LDS: no VDATA then.
    bool to_lds() {
        const bool small =
            opcode_of(row_, target_) == 0 || (opcode_of(row_, target_) >= 0x10 && opcode_of(row_, target_) <= 0x14);
        return small && row_.src[1] == Type::none && random_.one_in(4);
    }
    /// VADDR, VDATA, SRSRC and SOFFSET.
    u32 buffer_operands(u32 address_bits, bool has_data) {
        const u32 address = address_bits ? vgpr() : 0;
        const u32 offset = random_.one_in(2) ? 128 + random_.below(40) : sgpr(Type::b32);
        return address | (has_data ? vgpr() : 0) << 8 | random_.below(20) << 16 | (has_data ? acc_bit() : 0) << 23 |
               offset << 24;
    }
    void gfx10_mubuf() {
        const u32 opcode = opcode_of(row_, target_);
        const u32 word = 0xe0000000 | (opcode & 127) << 18 | (opcode >> 7) << 25;
        if (row_.dst == Type::none && row_.src[1] == Type::none) {
            made_.push_back({word, 0});
            return;
        }
        const u32 address_bits = random_.bits(2), offset = random_.one_in(2) ? random_.bits(12) : 0;
        const u32 dlc = row_.is(kAtomic) ? 0 : random_.bits(1) << 15;  // llvm-mc has none there
        made_.push_back({word | offset | address_bits << 12 | random_.bits(1) << 14 | dlc,
                         buffer_operands(address_bits, true) | random_.bits(1) << 22});
    }
    void gfx10_mtbuf() {
        const u32 opcode = opcode_of(row_, target_), address_bits = random_.bits(2);
        const u32 first = 0xe8000000 | (opcode & 7) << 16 | random_.bits(7) << 19 | address_bits << 12 |
                          random_.bits(1) << 14 | random_.bits(1) << 15 | (random_.one_in(2) ? random_.bits(12) : 0);
        made_.push_back({first, buffer_operands(address_bits, true) | random_.bits(1) << 22 | (opcode >> 3) << 21});
    }
    /// MUBUF and MTBUF.
    void gfx11_buffer(u32 first) {
        if (row_.dst == Type::none && row_.src[1] == Type::none) {
            made_.push_back({first, 0});
            return;
        }
        const u32 address_bits = random_.bits(2), offset = random_.one_in(2) ? random_.bits(12) : 0;
        made_.push_back({first | offset | random_.bits(3) << 12,
                         buffer_operands(address_bits, !row_.is(kToLds)) | address_bits << 22});
    }
    void mubuf() {
        if (is_gfx12()) return gfx12_buffer(opcode_of(row_, target_), 1);
        if (is_gfx11()) return gfx11_buffer(0xe0000000 | opcode_of(row_, target_) << 18);
        if (is_gfx10()) return gfx10_mubuf();
        const u32 word = 0xe0000000 | opcode_of(row_, target_) << 18 | (random_.one_in(2) ? random_.bits(12) : 0);
        if (row_.dst == Type::none && row_.src[1] == Type::none) {
            const bool moves_lds = row_.is(kStore);
            const u32 scopes = traits_of(target_).scope_bits && row_.is(kScoped) ? random_.bits(2) << 14 : 0;
            made_.push_back(
                {moves_lds ? word | 1u << 16 : (word & ~0xfffu) | scopes, moves_lds ? buffer_operands(0, false) : 0});
            return;
        }
        const bool lds = to_lds();
        const u32 address_bits = random_.bits(2);
        const u32 first = word | address_bits << 12 | glc() << 14 | random_.bits(1) << 17 | u32{lds} << 16;
        made_.push_back({first, buffer_operands(address_bits, !lds)});
    }
    void mtbuf() {
        if (is_gfx12()) return gfx12_buffer(128 | opcode_of(row_, target_), random_.bits(7));
        if (is_gfx11()) return gfx11_buffer(0xe8000000 | opcode_of(row_, target_) << 15 | random_.bits(7) << 19);
        if (is_gfx10()) return gfx10_mtbuf();
        const u32 address_bits = random_.bits(2);
        const u32 first = 0xe8000000 | opcode_of(row_, target_) << 15 | random_.bits(7) << 19 | address_bits << 12 |
                          random_.bits(1) << 14 | (random_.one_in(2) ? random_.bits(12) : 0);
        made_.push_back({first, buffer_operands(address_bits, true) | random_.bits(1) << 22});
    }
    void ds() {
        const bool plain = !std::strcmp(row_.name, "ds_nop");
        // llvm-mc 22 prints the patterns from 0xc000 on by name.
        const bool named = is_newest() && row_.is(kPattern);
        const u32 offset = plain || random_.one_in(3) ? 0 : named ? random_.below(0xc000) : random_.bits(16);
        const unsigned gds_bit = is_rdna() ? 17 : 16;
        u32 first = 0xd8000000 | opcode_of(row_, target_) << (gds_bit + 1) | offset;
        if (traits_of(target_).gds && !plain && random_.one_in(4) && !std::strstr(row_.name, "permute") &&
            !std::strstr(row_.name, "swizzle") && !std::strstr(row_.name, "bvh"))
            first |= 1u << gds_bit;
        if (row_.is(kGws)) first |= 1u << gds_bit;
        const bool data = row_.dst != Type::none || row_.src[1] != Type::none;
        if (data && acc_bit()) first |= 1u << 25;
        u32 second = row_.dst == Type::none ? 0 : vgpr() << 24;
        for (unsigned n = 0; n < 3; ++n) {
            if (row_.src[n] != Type::none) second |= vgpr() << (8 * n);
        }
        made_.push_back({first, second});
    }

    const Row& row_;
    Target target_;
    unsigned width_;
    Random random_;
    u32 literal_ = 0;
    std::vector<Words> made_;
};

}  // namespace

std::vector<Words> samples(const Row& row, Target target, unsigned width) { return Maker{row, target, width}.take(); }

}  // namespace test_isa
