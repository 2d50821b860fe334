// Loads of LDS into a part's lanes. Lanes usually read adjacent dwords or the same one, and gathering takes the CPU
// much longer than that: code in front of the loads of an address finds out which it is, and that all of them are in
// range.
//
// Registers of the code: ebx holds the Layout. r11 holds the host's address of lane 0's dword, or, if the layout is
// `apart`, that of byte 0 of LDS.
// Internal to translator.cpp. Thread safety: none.
#pragma once

#include "tools/kfdemu/jit/lane_code.hpp"

namespace kfdemu::jit {

class LdsCode : protected LaneCode {
  protected:
    using LaneCode::LaneCode;

    enum Layout : std::uint8_t { adjacent, same, apart };

    /// `reach_bytes`: from an address to the end of what is loaded there. Jumps to `outside` if that is not LDS for an
    /// active lane. `at` must not be one of the temporaries.
    void find_layout(const Xmm& at, std::uint32_t reach_bytes, const Xbyak::Label& outside) {
        Xbyak::Label scattered, same_dword, in_a_row, ready;
        const Xmm distance = vector(temporary());
        mov(r9d, dword[rcx + static_cast<int>(offsetof(Frame, lds_size_bytes))]);
        sub(r9d, reach_bytes);  // the last address
        jb(outside, T_NEAR);
        cmp(r10d, wide_ ? 0xffff : 0xff);
        jne(scattered, T_NEAR);
        vmovd(r11d, Xbyak::Xmm(at.getIdx()));
        vpbroadcastd(distance, Xbyak::Xmm(at.getIdx()));
        vpsubd(distance, at, distance);
        jump_if_equal(distance, constant(0), same_dword);
        jump_if_equal(distance, adjacent_dwords(), in_a_row);
        L(scattered);
        jump_if_above_r9(at, outside);
        mov(ebx, apart);
        mov(r11, lds());
        jmp(ready);
        L(same_dword);
        cmp(r11d, r9d);
        ja(outside, T_NEAR);
        mov(ebx, same);
        add(r11, lds());
        jmp(ready);
        L(in_a_row);
        lea(rbx, ptr[r11 + 4 * (lanes_ - 1)]);
        cmp(rbx, r9);
        ja(outside, T_NEAR);
        mov(ebx, adjacent);
        add(r11, lds());
        L(ready);
        temporaries_used_ = 0;
    }

    /// d = the dword at `at` + offset, where find_layout() has been.
    void load_lds(const Xmm& d, const Xmm& at, std::uint32_t offset_bytes) {
        const int offset = static_cast<int>(offset_bytes);
        Xbyak::Label other, scattered, done;
        cmp(ebx, same);
        jae(other);
        vmovups(d, ptr[r11 + offset]);
        jmp(done);
        L(other);
        ja(scattered);
        vbroadcastss(d, ptr[r11 + offset]);
        jmp(done);
        L(scattered);
        if (wide_) {
            kmovw(k2, k1);
            vpgatherdd(d | k2, ptr[r11 + at + offset]);
        } else {
            const Xmm active = active_lanes(vector(temporary()));
            vpgatherdd(d, ptr[r11 + at + offset], active);
            --temporaries_used_;
        }
        L(done);
    }

    void put_distances() {
        if (!distances_used_) return;
        align(64);
        L(distances_);
        for (unsigned lane = 0; lane < 16; ++lane) dd(4 * lane);
    }

    Xbyak::Address adjacent_dwords() {
        distances_used_ = true;
        return ptr[rip + distances_];
    }
    /// In all lanes. AVX2: changes ebx.
    void jump_if_equal(const Xmm& lanes, const Xbyak::Operand& to, const Xbyak::Label& there) {
        compare_all(lanes, to);
        wide_ ? jc(there, T_NEAR) : je(there, T_NEAR);
    }
    void jump_unless_equal(const Xmm& lanes, const Xbyak::Operand& to, const Xbyak::Label& there) {
        compare_all(lanes, to);
        wide_ ? jnc(there, T_NEAR) : jne(there, T_NEAR);
    }
    /// In an active lane, unsigned. AVX2: changes ebx.
    void jump_if_above_r9(const Xmm& at, const Xbyak::Label& there) {
        const Xmm last = vector(temporary());
        if (wide_) {
            constexpr std::uint8_t above = 6;
            vpbroadcastd(last, r9d);
            vpcmpud(k2 | k1, at, last, above);
            kortestw(k2, k2);
        } else {
            vmovd(Xbyak::Xmm(last.getIdx()), r9d);
            vpbroadcastd(last, Xbyak::Xmm(last.getIdx()));
            vpminud(last, last, at);
            vpcmpeqd(last, last, at);
            vmovmskps(ebx, Xbyak::Ymm(last.getIdx()));
            not_(ebx);
            and_(ebx, r10d);
        }
        jnz(there, T_NEAR);
        --temporaries_used_;
    }

  private:
    static Xbyak::Address lds() {
        return Xbyak::util::qword[Xbyak::util::rcx + static_cast<int>(offsetof(Frame, lds))];
    }
    void compare_all(const Xmm& lanes, const Xbyak::Operand& to) {
        if (wide_) {
            vpcmpeqd(k2, lanes, to);
            return kortestw(k2, k2);
        }
        const Xmm equal = vector(temporary());
        vpcmpeqd(equal, lanes, to);
        vmovmskps(ebx, Xbyak::Ymm(equal.getIdx()));
        cmp(ebx, 0xff);
        --temporaries_used_;
    }

    Xbyak::Label distances_;
    bool distances_used_ = false;
};

}  // namespace kfdemu::jit
