// Operations with masks, a bit for each lane: carries, selects and comparisons. A mask that the stretch sets is in
// Frame::s, and with AVX-512 the last ones are in mask registers, from where they are saved at the end of a part.
// Internal to translator.cpp. Thread safety: none.
#pragma once

#include <algorithm>
#include <array>
#include <set>

#include "tools/kfdemu/jit/vector_code.hpp"

namespace kfdemu::jit {

class MaskCode : protected VectorCode {
  protected:
    using VectorCode::VectorCode;

    /// Where a mask that the stretch sets is; the bits of this part are r8 bytes further.
    Xbyak::RegExp in_frame(std::uint16_t mask) const { return rcx + (static_cast<int>(offsetof(Frame, s)) + mask * 4); }
    Xbyak::RegExp mask_in(std::uint16_t mask) const {
        return set_masks_.contains(mask) ? in_frame(mask) + r8 : rsi + r8 + mask * 4;
    }
    /// Those that are only in mask registers.
    void save_masks() {
        for (const std::uint16_t mask : held_masks_) save(mask);
    }
    /// r9 = all bits of a mask of `bits` that the stretch has set, read as its parts were written: the CPU waits long
    /// for a read of several writes.
    void join_mask(std::uint16_t mask, int bits) {
        const int bytes = lanes_ / 8;
        for (int part = 0; part < bits / lanes_; ++part) {
            const Xbyak::Reg32& to = part == 0 ? r9d : r11d;
            if (wide_)
                movzx(to, word[in_frame(mask) + part * bytes]);
            else
                movzx(to, byte[in_frame(mask) + part * bytes]);
            if (part == 0) continue;
            shl(r11, part * lanes_);
            or_(r9, r11);
        }
    }

    static constexpr std::uint8_t kLess = 1;  // as VPCMPUD encodes it
    /// A mask register with AVX-512, else all bits of a lane of a vector.
    struct Mask {
        explicit Mask(const Xbyak::Opmask& mask) : bits(mask), lanes(0) {}
        explicit Mask(const Xmm& mask) : bits(0), lanes(mask) {}
        Xbyak::Opmask bits;
        Xmm lanes;
    };
    Mask mask_in_part(std::uint16_t mask) {
        if (wide_) {
            const auto held = std::find(held_masks_.begin(), held_masks_.end(), mask);
            if (held != held_masks_.end()) return Mask(place_of(held));
            const Xbyak::Opmask to = hold(mask);
            kmovw(to, ptr[mask_in(mask)]);
            return Mask(to);
        }
        movzx(r9d, byte[mask_in(mask)]);
        return Mask(expand(r9d, vector(temporary())));
    }
    /// The bits of active lanes.
    void put_mask(std::uint16_t mask, const Mask& value) {
        if (wide_) {
            const Xbyak::Opmask to = hold(mask);
            kandw(to, value.bits, k1);
            unsaved_.insert(mask);
            return;
        }
        vmovmskps(r9d, Xbyak::Ymm(value.lanes.getIdx()));
        and_(r9d, r10d);
        mov(byte[in_frame(mask) + r8], r9b);
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
        if (wide_) {
            vpaddd(d, a, b);
            vpaddd(d | in.bits, d, constant(1));
            // Carried: d < a, or d == a with a carry.
            vpcmpud(k2, d, a, kLess);
            vpcmpeqd(k3 | in.bits, d, a);
            korw(k2, k2, k3);
            return put_mask(op.mask_out, Mask(k2));
        }
        const Xmm sum = vector(temporary());
        vpaddd(sum, a, b);
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

    std::set<std::uint16_t> set_masks_;  // by operations before this one

  private:
    using Held = std::array<std::uint16_t, 3>;
    Xbyak::Opmask place_of(Held::const_iterator held) const {
        return Xbyak::Opmask(4 + static_cast<int>(held - held_masks_.begin()));
    }
    /// The mask register that has it from here on.
    Xbyak::Opmask hold(std::uint16_t mask) {
        auto to = std::find(held_masks_.begin(), held_masks_.end(), mask);
        if (to == held_masks_.end()) {
            to = held_masks_.begin() + (held_last_ = (held_last_ + 1) % 3);
            save(*to);
        }
        *to = mask;
        return place_of(to);
    }
    void save(std::uint16_t mask) {
        if (unsaved_.erase(mask) == 0) return;
        kmovw(ptr[in_frame(mask) + r8], place_of(std::find(held_masks_.begin(), held_masks_.end(), mask)));
    }

    Held held_masks_{kNone, kNone, kNone};
    unsigned held_last_ = 0;
    std::set<std::uint16_t> unsaved_;
};

}  // namespace kfdemu::jit
