// Operations on vectors of lanes as instructions of AVX2 or AVX-512, where the CPU has none of its own; and what they
// need: constants, temporary vectors, masks and the test for NaNs.
//
// Registers of the code: rdi Wave::v, rsi Wave::s, rcx the Frame, rax the byte offset of the part in a VGPR, r8 that in
// a mask, r10d the part's EXEC; with AVX-512 k1 its EXEC and k7 its NaNs, with AVX2 ymm15 its NaNs. Internal to
// translator.cpp. Thread safety: none. Source: Intel's manual, volume 2.
#pragma once

#define XBYAK_NO_OP_NAMES
#include <xbyak/xbyak.h>

#include <map>
#include <set>
#include <span>
#include <stdexcept>

#include "translator.hpp"

namespace kfdemu::jit {

using Xbyak::Xmm;

class VectorCode : protected Xbyak::CodeGenerator {
  protected:
    VectorCode(Width width, std::span<std::uint8_t> room)
        : CodeGenerator(room.size(), room.data()),
          wide_(width == Width::bits512),
          lanes_(wide_ ? 16 : 8),
          temporaries_(wide_ ? 28 : 12) {}

    Xmm vector(int n) const { return wide_ ? Xmm(Xbyak::Zmm(n)) : Xmm(Xbyak::Ymm(n)); }

    /// A number in all lanes.
    Xbyak::Address constant(std::uint32_t number) { return ptr[rip + constants_[number]]; }
    void put_constants() {
        align(64);
        for (auto& [number, label] : constants_) {
            L(label);
            for (int lane = 0; lane < 16; ++lane) dd(number);
        }
        if (bits_used_) {
            L(bits_);
            for (unsigned lane = 0; lane < 8; ++lane) dd(1u << lane);
        }
    }
    int temporary() {
        if (temporaries_used_ == (wide_ ? 4 : 3)) throw std::logic_error{"jit: an operation with too many temporaries"};
        return temporaries_ + temporaries_used_++;
    }

    // NaNs.

    void clear_nans() {
        if (wide_)
            kxorw(k7, k7, k7);
        else
            vxorps(ymm15, ymm15, ymm15);
    }
    void test_for_nan(const Xmm& a, const Xmm& b) {
        if (wide_) {
            vcmpunordps(k2, a, b);
            korw(k7, k7, k2);
        } else {
            const Xmm unordered = vector(temporary());
            vcmpunordps(unordered, a, b);
            vorps(ymm15, ymm15, unordered);
            --temporaries_used_;
        }
    }

    /// If an active lane of those that were tested is one.
    void jump_if_nan(const Xbyak::Label& nan) {
        if (wide_) {
            kandw(k7, k7, k1);
            kortestw(k7, k7);
        } else {
            vandps(ymm15, ymm15, active_lanes(vector(temporaries_)));
            vptest(ymm15, ymm15);
        }
        jnz(nan, T_NEAR);
    }

    // Masks: a mask register with AVX-512, else all bits of a lane of a vector.

    /// A mask that the stretch sets; the bits of this part, or all.
    Xbyak::Address frame_mask(std::uint16_t mask, bool part = true) {
        const int offset = static_cast<int>(offsetof(Frame, s)) + mask * 4;
        return part ? ptr[rcx + r8 + offset] : qword[rcx + offset];
    }
    Xbyak::RegExp mask_in(std::uint16_t mask) const {
        return set_masks_.contains(mask) ? rcx + r8 + (static_cast<int>(offsetof(Frame, s)) + mask * 4)
                                         : rsi + r8 + mask * 4;
    }
    /// AVX2: all bits of the part's active lanes.
    Xmm active_lanes(const Xmm& to) { return expand(r10d, to); }
    Xmm expand(const Xbyak::Reg32& mask, const Xmm& to) {
        bits_used_ = true;
        vmovd(Xbyak::Xmm(to.getIdx()), mask);
        vpbroadcastd(to, Xbyak::Xmm(to.getIdx()));
        vpand(to, to, ptr[rip + bits_]);
        vpcmpeqd(to, to, ptr[rip + bits_]);
        return to;
    }

    static constexpr std::uint8_t kLess = 1;  // as VPCMPUD encodes it
    struct Mask {
        explicit Mask(const Xbyak::Opmask& mask) : bits(mask), lanes(0) {}
        explicit Mask(const Xmm& mask) : bits(0), lanes(mask) {}
        Xbyak::Opmask bits;
        Xmm lanes;
    };
    Mask mask_in_part(std::uint16_t mask) {
        const Xbyak::RegExp at = mask_in(mask);
        if (wide_) {
            kmovw(k3, ptr[at]);
            return Mask(k3);
        }
        movzx(r9d, byte[at]);
        return Mask(expand(r9d, vector(temporary())));
    }
    /// The bits of active lanes.
    void put_mask(std::uint16_t mask, const Mask& value) {
        if (wide_) {
            kandw(k2, value.bits, k1);
            kmovw(frame_mask(mask), k2);
            return;
        }
        vmovmskps(r9d, Xbyak::Ymm(value.lanes.getIdx()));
        and_(r9d, r10d);
        mov(byte[rcx + r8 + (static_cast<int>(offsetof(Frame, s)) + mask * 4)], r9b);
    }
    Mask less_unsigned(const Xmm& a, const Xmm& b) {
        if (wide_) {
            vpcmpud(k2, a, b, kLess);
            return Mask(k2);
        }
        const Xmm lanes = vector(temporary());
        vpminud(lanes, a, b);
        vpcmpeqd(lanes, lanes, b);
        vxorps(lanes, lanes, constant(~0u));
        return Mask(lanes);
    }
    void add_with_carry(const LaneOp& op, const Xmm& d, const Xmm& a, const Xmm& b) {
        const Mask in = mask_in_part(op.mask_in);
        const Xmm sum = vector(temporary());
        vpaddd(sum, a, b);
        if (wide_) {
            vmovaps(d, sum);
            vpaddd(d | in.bits, sum, constant(1));
            vpcmpud(k2, sum, a, kLess);
            vpcmpud(k3, d, sum, kLess);
            korw(k2, k2, k3);
            return put_mask(op.mask_out, Mask(k2));
        }
        vpsubd(d, sum, in.lanes);
        // Carried: sum < a, or d < sum, which is sum == ~0 with a carry.
        keep_where_full(in.lanes, sum);
        const Mask first = less_unsigned(sum, a);
        vorps(first.lanes, first.lanes, in.lanes);
        put_mask(op.mask_out, first);
    }
    /// lanes &= sum is all ones
    void keep_where_full(const Xmm& lanes, const Xmm& sum) {
        const Xmm all = vector(temporary());
        vpcmpeqd(all, sum, constant(~0u));
        vandps(lanes, lanes, all);
        --temporaries_used_;
    }
    void sub_with_carry(const LaneOp& op, const Xmm& d, const Xmm& a, const Xmm& b) {
        const Mask in = mask_in_part(op.mask_in);
        const Xmm rest = vector(temporary());
        vpsubd(rest, a, b);
        if (wide_) {
            vmovaps(d, rest);
            vpsubd(d | in.bits, rest, constant(1));
            vpcmpud(k2, a, b, kLess);
            vpcmpud(k3, rest, d, kLess);
            korw(k2, k2, k3);
            return put_mask(op.mask_out, Mask(k2));
        }
        vpaddd(d, rest, in.lanes);
        // Borrowed: a < b, or d > rest, which is rest == 0 with a borrow.
        vxorps(rest, rest, constant(~0u));
        keep_where_full(in.lanes, rest);
        const Mask first = less_unsigned(a, b);
        vorps(first.lanes, first.lanes, in.lanes);
        put_mask(op.mask_out, first);
    }
    /// d = the lane's bit of the mask ? b : a
    void select(std::uint16_t mask, const Xmm& d, const Xmm& a, const Xmm& b) {
        const Mask bits = mask_in_part(mask);
        if (wide_)
            vblendmps(d | bits.bits, a, b);
        else
            vblendvps(d, a, b, bits.lanes);
    }
    void compare(const LaneOp& op, const Xmm& a, const Xmm& b) {
        if (op.lane == Lane::compare_i16 || op.lane == Lane::compare_u16) {
            const Xmm left = vector(temporary()), right = vector(temporary());
            vpslld(left, a, 16);
            vpslld(right, b, 16);
            return compare_lanes(op, left, right);
        }
        compare_lanes(op, a, b);
    }
    void compare_lanes(const LaneOp& op, const Xmm& a, const Xmm& b) {
        if (wide_) {
            // less 1, equal 2, less or equal 3, greater 4, not equal 5, greater or equal 6
            static constexpr std::uint8_t predicate[] = {3, 1, 0, 2, 6, 4, 5};
            if (op.lane == Lane::compare_f)
                vcmpps(k2, a, b, op.code);
            else if (is_signed(op.lane))
                vpcmpd(k2, a, b, predicate[op.code]);
            else
                vpcmpud(k2, a, b, predicate[op.code]);
            return put_mask(op.mask_out, Mask(k2));
        }
        const Xmm lanes = vector(temporary());
        if (op.lane == Lane::compare_f) {
            vcmpps(lanes, a, b, op.code);
            return put_mask(op.mask_out, Mask(lanes));
        }
        const bool inverted = op.code == 3 || op.code == 5 || op.code == 6;
        if (op.code == 2 || op.code == 5)
            vpcmpeqd(lanes, a, b);
        else
            greater(lanes, op.code == 1 || op.code == 6 ? b : a, op.code == 1 || op.code == 6 ? a : b,
                    is_signed(op.lane));
        if (inverted) vxorps(lanes, lanes, constant(~0u));
        put_mask(op.mask_out, Mask(lanes));
    }
    static bool is_signed(Lane lane) { return lane == Lane::compare_i || lane == Lane::compare_i16; }
    void greater(const Xmm& lanes, const Xmm& a, const Xmm& b, bool as_signed) {
        if (as_signed) return vpcmpgtd(lanes, a, b);
        vpminud(lanes, a, b);
        vpcmpeqd(lanes, lanes, a);
        vxorps(lanes, lanes, constant(~0u));
    }

    /// MODE has no effect on the denormals of V_MAD_F32: they are zero.
    void multiply_add(const Xmm& d, const Xmm& a, const Xmm& b, const Xmm& c) {
        const Xmm factor = vector(temporary());
        flush(factor, a);
        flush(d, b);
        vmulps(d, d, factor);
        flush(d, d);
        flush(factor, c);
        vaddps(d, d, factor);
        flush(d, d);
    }
    void flush(const Xmm& to, const Xmm& from) {
        if (wide_) {
            vptestnmd(k2, from, constant(0x7f800000));
            if (to.getIdx() != from.getIdx()) vmovaps(to, from);
            return vandps(to | k2, from, constant(0x80000000));
        }
        const Xmm small = vector(temporary());
        vandps(small, from, constant(0x7f800000));
        vpcmpeqd(small, small, constant(0));
        vandps(small, small, constant(0x7fffffff));
        vandnps(to, small, from);
        --temporaries_used_;
    }

    /// Of numbers. -0 is less than +0; a product with one flushes denormals as MODE has it.
    void extreme(const Xmm& d, const Xmm& a, const Xmm& b, bool maximum) {
        test_for_nan(a, b);
        const Xmm left = vector(temporary());
        vmulps(left, a, constant(0x3f800000));
        vmulps(d, b, constant(0x3f800000));
        if (wide_) return vrangeps(d, left, d, maximum ? 5 : 4);
        const Xmm other = vector(temporary());
        if (maximum) {
            vmaxps(other, left, d);
            vmaxps(d, d, left);
            return vandps(d, d, other);
        }
        vminps(other, left, d);
        vminps(d, d, left);
        vorps(d, d, other);
    }
    void multiply_high(const Xmm& d, const Xmm& a, const Xmm& b) {
        const Xmm odd = vector(temporary()), factor = vector(temporary());
        vpsrlq(odd, a, 32);
        vpsrlq(factor, b, 32);
        vpmuludq(odd, odd, factor);
        vpmuludq(d, a, b);
        vpsrlq(d, d, 32);
        vpsrlq(odd, odd, 32);
        vpsllq(odd, odd, 32);
        vorps(d, d, odd);
    }

    enum class Shift { left, right, right_signed };
    /// Modulo 32.
    void shift(Shift how, const Source& amount, const Xmm& d, const Xmm& from, const Xmm& by) {
        if (amount.kind == Source::Kind::number) return shift_by(how, d, from, amount.number & 31);
        const Xmm bits = vector(temporary());
        vandps(bits, by, constant(31));
        switch (how) {
            case Shift::left:
                return vpsllvd(d, from, bits);
            case Shift::right:
                return vpsrlvd(d, from, bits);
            case Shift::right_signed:
                return vpsravd(d, from, bits);
        }
    }
    void shift_by(Shift how, const Xmm& d, const Xmm& from, std::uint32_t number) {
        const auto bits = static_cast<std::uint8_t>(number);
        switch (how) {
            case Shift::left:
                return vpslld(d, from, bits);
            case Shift::right:
                return vpsrld(d, from, bits);
            case Shift::right_signed:
                return vpsrad(d, from, bits);
        }
    }
    void multiply_24(const Xmm& d, const Xmm& a, const Xmm& b) {
        const Xmm low = vector(temporary());
        vandps(low, a, constant(0xffffff));
        vandps(d, b, constant(0xffffff));
        vpmulld(d, d, low);
    }
    void align_bits(const LaneOp& op, const Xmm& d, const Xmm& high, const Xmm& low, const Xmm& by) {
        const Xmm part = vector(temporary());
        if (op.source[2].kind == Source::Kind::number) {
            const std::uint32_t n = op.source[2].number & 31;
            if (n == 0) return vmovaps(d, low);
            if (wide_ && high.getIdx() == low.getIdx()) return vprord(d, low, static_cast<std::uint8_t>(n));
            shift_by(Shift::right, part, low, n);
            shift_by(Shift::left, d, high, 32 - n);
            return vorps(d, d, part);
        }
        vandps(part, by, constant(31));
        vpsrlvd(d, low, part);
        vxorps(part, part, constant(31));
        const Xmm upper = vector(temporary());
        vpaddd(upper, high, high);
        vpsllvd(upper, upper, part);
        vorps(d, d, upper);
    }
    void insert_bits(const Xmm& d, const Xmm& mask, const Xmm& b, const Xmm& c) {
        if (wide_) {
            vmovaps(d, mask);
            return vpternlogd(d, b, c, 0xca);
        }
        const Xmm part = vector(temporary());
        vandps(part, mask, b);
        vandnps(d, mask, c);
        vorps(d, d, part);
    }
    void extract(const LaneOp& op, const Xmm& d, const Xmm& from, const Xmm& offset, const Xmm& width) {
        shift(Shift::right, op.source[1], d, from, offset);
        if (op.source[2].kind == Source::Kind::number)
            return vandps(d, d, constant((1u << (op.source[2].number & 31)) - 1));
        const Xmm ones = vector(temporary()), count = vector(temporary());
        vandps(count, width, constant(31));
        vmovups(ones, constant(1));
        vpsllvd(ones, ones, count);
        vpaddd(ones, ones, constant(~0u));
        vandps(d, d, ones);
    }

    const bool wide_;
    const int lanes_;        // of a part
    const int temporaries_;  // the first of their vectors
    int temporaries_used_ = 0;
    std::set<std::uint16_t> set_masks_;  // by operations before this one

  private:
    std::map<std::uint32_t, Xbyak::Label> constants_;
    Xbyak::Label bits_;
    bool bits_used_ = false;
};

}  // namespace kfdemu::jit
