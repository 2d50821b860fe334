// Operations on vectors of lanes as instructions of AVX2 or AVX-512, where the CPU has none of its own; and what they
// need: constants, temporary vectors and the test for NaNs.
//
// Registers of the code: rdi Wave::v, rsi Wave::s, rcx the Frame, rax the byte offset of the part in a VGPR, r8 that in
// a mask, r10d the part's EXEC; with AVX-512 k1 its EXEC, k4 to k6 the last masks and k7 its NaNs, with AVX2 ymm15 its
// NaNs. Internal to translator.cpp. Thread safety: none. Source: Intel's manual, volume 2.
#pragma once

#define XBYAK_NO_OP_NAMES
#include <xbyak/xbyak.h>

#include <map>
#include <span>
#include <stdexcept>

#include "tools/kfdemu/jit/translator.hpp"

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

  private:
    std::map<std::uint32_t, Xbyak::Label> constants_;
    Xbyak::Label bits_;
    bool bits_used_ = false;
};

}  // namespace kfdemu::jit
