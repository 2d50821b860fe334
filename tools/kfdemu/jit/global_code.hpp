// Global loads and stores of a part's lanes, whose addresses have 64 bits. Lanes that access adjacent dwords, or load
// the same one, are moved at once; others are gathered. The host's addresses are those of the work-group's Tlb, of
// which each access remembers where it last found its own. What is not there, or in more than one of its entries, is
// interpreted, which also fills it.
//
// Registers of the code: r11, r12 an address, r13 the Tlb's entry, r14 a distance in it, then the host's address, r15
// bytes. Internal to translator.cpp. Thread safety: none.
#pragma once

#include "tools/kfdemu/base/address_space.hpp"
#include "tools/kfdemu/isa/memory/tlb.hpp"
#include "tools/kfdemu/jit/lds_code.hpp"

namespace kfdemu::jit {

class GlobalCode : protected LdsCode {
  protected:
    using Label = Xbyak::Label;

    /// `first`: a number that differs between stretches.
    GlobalCode(Width width, std::span<std::uint8_t> room, unsigned first)
        : LdsCode(width, room), loads_{first}, stores_{first} {}

    /// d = the dwords. `high` is null if the address has a base. Jumps to `outside` before anything has changed. No
    /// vector may be one of the temporaries, nor d one of the others.
    void load_global(const LaneOp& op, const Xmm& d, const Xmm& low, const Xmm* high, const Label& outside) {
        Label same, apart, done;
        find_block(op, low, high, same);
        const unsigned place = kOfLoads + loads_++ % kOfEach;
        find_host({place, kMostBytes, kRead}, 4 * lanes_, outside);
        vmovups(d, ptr[r14]);
        prefetcht0(ptr[r14 + kAheadBytes]);
        jmp(done, T_NEAR);
        L(same);
        find_dword(op, low, high, apart);
        find_host({place, kMostBytes, kRead}, 4, outside);
        vbroadcastss(d, ptr[r14]);
        jmp(done, T_NEAR);
        L(apart);
        const Xmm distances = find_distances(op, kRead, low, high, outside);
        if (wide_) {
            kmovw(k2, k1);
            vpgatherdd(d | k2, ptr[r14 + distances]);
        } else {
            const Xmm active = active_lanes(vector(temporary()));
            vpgatherdd(d, ptr[r14 + distances], active);
        }
        L(done);
        temporaries_used_ = 0;
    }

    /// Lanes that store to the same dword do so in order.
    void store_global(const LaneOp& op, const Xmm& data, const Xmm& low, const Xmm* high, const Label& outside) {
        Label apart, done;
        find_block(op, low, high, apart);
        find_host({kOfStores + stores_++ % kOfEach, kMostBytes, kWrite}, 4 * lanes_, outside);
        vmovups(ptr[r14], data);
        prefetchw(ptr[r14 + kAheadBytes]);
        jmp(done, T_NEAR);
        L(apart);
        const Xmm distances = find_distances(op, kWrite, low, high, outside);
        if (wide_) {
            kmovw(k2, k1);
            vpscatterdd(ptr[r14 + distances] | k2, data);
        } else {
            store_each(data, distances);
        }
        L(done);
        temporaries_used_ = 0;
    }

    /// A subroutine, placed after the code that calls it.
    void put_search() {
        if (!search_used_) return;
        // Called: r13 = the entry that has r15 bytes at r12, or 0; r14 = the distance from its begin to r12.
        L(search_);
        mov(r13, tlb());
        for (unsigned n = 0; n < isa::Tlb::kEntries; ++n) {
            Label other;
            if (n > 0) add(r13, sizeof(isa::Tlb::Entry));
            mov(r14, r12);
            sub(r14, entry(offsetof(Entry, begin)));
            mov(r9, entry(offsetof(Entry, size_bytes)));
            sub(r9, r14);
            jbe(other);
            cmp(r9, r15);
            jb(other);
            ret();
            L(other);
        }
        xor_(r13d, r13d);
        ret();
    }

    /// What shares a place in Tlb::near has the same most bytes, and the same access.
    struct Place {
        unsigned number;
        int most_bytes;
        std::uint32_t access;
    };
    /// From a block to the one that is prefetched with it: eight waves of a copy of floats.
    static constexpr int kAheadBytes = 2048;
    static constexpr int kMostBytes = 64;  // of a part, in either width
    static constexpr unsigned kOfLoads = 0, kOfStores = 16, kOfScalars = 32, kOfEach = 16;
    static_assert(kOfScalars + kOfEach == isa::Tlb::kNear);

    /// r14 = the host's address of `bytes` at r12.
    void find_host(const Place& place, int bytes, const Label& outside) {
        const unsigned number = place.number;
        Label elsewhere, inside;
        mov(r9, tlb());
        mov(r14, r12);
        sub(r14, near(number, offsetof(Near, begin)));
        cmp(r14, near(number, offsetof(Near, bytes)));
        jae(elsewhere);
        add(r14, near(number, offsetof(Near, host)));
        jmp(inside);
        L(elsewhere);
        search(bytes, place.access, outside);
        add(r14, entry(offsetof(Entry, host)));
        mov(r11, entry(offsetof(Entry, size_bytes)));
        sub(r11, place.most_bytes - 1);
        jbe(inside);
        mov(r9, tlb());
        mov(near(number, offsetof(Near, bytes)), r11);
        mov(r11, entry(offsetof(Entry, begin)));
        mov(near(number, offsetof(Near, begin)), r11);
        mov(r11, entry(offsetof(Entry, host)));
        mov(near(number, offsetof(Near, host)), r11);
        L(inside);
    }

  private:
    using Entry = isa::Tlb::Entry;
    using Near = isa::Tlb::Near;
    static Xbyak::Address tlb() {
        return Xbyak::util::qword[Xbyak::util::rcx + static_cast<int>(offsetof(Frame, tlb))];
    }
    static Xbyak::Address entry(std::size_t offset) {
        return Xbyak::util::qword[Xbyak::util::r13 + static_cast<int>(offset)];
    }
    static Xbyak::Address near(unsigned number, std::size_t offset) {
        return Xbyak::util::qword[Xbyak::util::r9 +
                                  static_cast<int>(offsetof(isa::Tlb, near) + number * sizeof(Near) + offset)];
    }

    /// r12 = the address of lane 0, if all lanes are active, and access the dwords from there on.
    void find_block(const LaneOp& op, const Xmm& low, const Xmm* high, const Label& other) {
        find_lane_0(op, low, high, adjacent_dwords(), other);
        cmp(r11d, static_cast<std::uint32_t>(-4 * lanes_));  // a carry into the upper half?
        ja(other, T_NEAR);
    }
    void find_dword(const LaneOp& op, const Xmm& low, const Xmm* high, const Label& other) {
        find_lane_0(op, low, high, constant(0), other);
    }
    /// If all lanes are active, and their lower halves are `distances` from lane 0's, which r11d is.
    void find_lane_0(const LaneOp& op, const Xmm& low, const Xmm* high, const Xbyak::Address& distances,
                     const Label& other) {
        const Xmm distance = vector(temporary());
        vpbroadcastd(distance, Xbyak::Xmm(low.getIdx()));
        vpsubd(distance, low, distance);
        if (wide_) {
            vpcmpeqd(k2 | k1, distance, distances);
            if (high != nullptr) {
                vpbroadcastd(distance, Xbyak::Xmm(high->getIdx()));
                vpcmpeqd(k2 | k2, *high, distance);
            }
            kortestw(k2, k2);
            jnc(other, T_NEAR);
        } else {
            cmp(r10d, 0xff);
            jne(other, T_NEAR);
            jump_unless_equal(distance, distances, other);
            if (high != nullptr) {
                vpbroadcastd(distance, Xbyak::Xmm(high->getIdx()));
                jump_unless_equal(distance, *high, other);
            }
        }
        --temporaries_used_;
        vmovd(r11d, Xbyak::Xmm(low.getIdx()));
        if (high != nullptr) {
            vmovd(r12d, Xbyak::Xmm(high->getIdx()));
            shl(r12, 32);
            or_(r12, r11);
        } else {
            mov(r12d, r11d);
        }
        add_base(op);
    }
    void add_base(const LaneOp& op) {
        if (op.base != kNone) add(r12, qword[rsi + op.base * 4]);
        if (op.offset_bytes != 0) add(r12, static_cast<std::uint32_t>(op.offset_bytes));
    }

    /// r13 = the entry of `bytes` at r12, r14 = their distance from its begin.
    void search(int bytes, std::uint32_t access, const Label& outside) {
        search_used_ = true;
        mov(r15d, bytes);
        call(search_);
        test(r13, r13);
        jz(outside, T_NEAR);
        test(dword[r13 + static_cast<int>(offsetof(Entry, access))], access);
        jz(outside, T_NEAR);
    }

    /// The active lanes' distances from the host's address r14.
    Xmm find_distances(const LaneOp& op, std::uint32_t access, const Xmm& low, const Xmm* high, const Label& outside) {
        temporaries_used_ = 0;
        // The entry that the first active lane's address is in.
        vmovups(ptr[rcx + static_cast<int>(offsetof(Frame, low))], low);
        bsf(r9d, r10d);
        mov(r12d, dword[rcx + r9 * 4 + static_cast<int>(offsetof(Frame, low))]);
        if (high != nullptr) {
            vmovups(ptr[rcx + static_cast<int>(offsetof(Frame, high))], *high);
            mov(r14d, dword[rcx + r9 * 4 + static_cast<int>(offsetof(Frame, high))]);
            shl(r14, 32);
            or_(r12, r14);
        }
        add_base(op);
        search(4, access, outside);
        // The distance of address 0 from its begin, and of its last dword; indices of lanes are signed.
        xor_(r12d, r12d);
        add_base(op);
        sub(r12, entry(offsetof(Entry, begin)));
        mov(r14, entry(offsetof(Entry, host)));
        mov(r9, entry(offsetof(Entry, size_bytes)));
        sub(r9, 4);
        mov(r15d, 0x7ffffffc);
        cmp(r9, r15);
        cmova(r9, r15);
        const Xmm distance = vector(temporary()), upper = vector(temporary());
        put_in_all(upper, r12d);
        vpaddd(distance, low, upper);
        if (wide_) {
            vpcmpud(k2, distance, upper, kLess);  // the carries
            shr(r12, 32);
            put_in_all(upper, r12d);
            if (high != nullptr) vpaddd(upper, upper, *high);
            vpaddd(upper | k2, upper, constant(1));
            vptestmd(k2 | k1, upper, upper);
            kortestw(k2, k2);
            jnz(outside, T_NEAR);
        } else {
            const Xmm carries = less_unsigned(distance, upper).lanes;
            shr(r12, 32);
            put_in_all(upper, r12d);
            if (high != nullptr) vpaddd(upper, upper, *high);
            vpsubd(upper, upper, carries);
            vptest(upper, active_lanes(carries));
            jnz(outside, T_NEAR);
            --temporaries_used_;
        }
        --temporaries_used_;
        jump_if_above_r9(distance, outside);
        return distance;
    }
    void put_in_all(const Xmm& to, const Xbyak::Reg32& number) {
        if (wide_) return vpbroadcastd(to, number);
        vmovd(Xbyak::Xmm(to.getIdx()), number);
        vpbroadcastd(to, Xbyak::Xmm(to.getIdx()));
    }

    void store_each(const Xmm& data, const Xmm& distances) {
        Label next;
        const int low = static_cast<int>(offsetof(Frame, low)), high = static_cast<int>(offsetof(Frame, high));
        vmovups(ptr[rcx + low], distances);
        vmovups(ptr[rcx + high], data);
        mov(r15d, r10d);
        L(next);
        bsf(r9d, r15d);
        mov(r12d, dword[rcx + r9 * 4 + low]);
        mov(r13d, dword[rcx + r9 * 4 + high]);
        mov(dword[r14 + r12], r13d);
        blsr(r15d, r15d);
        jnz(next);
    }

    unsigned loads_, stores_;  // before this; of any stretch, so that not all look in the same place
    Label search_;
    bool search_used_ = false;
};

}  // namespace kfdemu::jit
