#include "translator.hpp"

#define XBYAK_NO_OP_NAMES
#include <xbyak/xbyak.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <span>
#include <stdexcept>
#include <unordered_map>

#include "registers.hpp"

namespace kfdemu::jit {
namespace {

using Xbyak::Xmm;

// Values: VGPRs, from here on scalars in all lanes, and from there on numbers.
constexpr unsigned kScalars = 256, kNumbers = 512;
constexpr std::size_t kNever = ~std::size_t{0};

/// Where each value is used and set, in order.
class Events {
  public:
    void use(unsigned value, std::size_t at) { of_[value].push_back({at, true}); }
    void set(unsigned value, std::size_t at) { of_[value].push_back({at, false}); }
    /// From operation `now` on: the next use, kNever if it is set before or never used.
    std::size_t next_use(unsigned value, std::size_t now) const {
        const Event* const next = from(value, now);
        return next != nullptr && next->uses ? next->at : kNever;
    }
    /// Whether the value is set again before it is used.
    bool is_dead(unsigned value, std::size_t now) const {
        const Event* const next = from(value, now);
        return next != nullptr && !next->uses;
    }

  private:
    struct Event {
        std::size_t at;
        bool uses;
    };
    const Event* from(unsigned value, std::size_t now) const {
        const auto found = of_.find(value);
        if (found == of_.end()) return nullptr;
        const auto& events = found->second;
        const auto next = std::lower_bound(events.begin(), events.end(), now,
                                           [](const Event& event, std::size_t at) { return event.at < at; });
        return next == events.end() ? nullptr : &*next;
    }
    std::unordered_map<unsigned, std::vector<Event>> of_;
};

/// The different numbers of a stretch.
std::vector<std::uint32_t> numbers_of(const Stretch& stretch) {
    std::vector<std::uint32_t> numbers;
    for (const LaneOp& op : stretch.ops)
        for (const Source& source : op.source)
            if (source.kind == Source::Kind::number) numbers.push_back(source.number);
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    return numbers;
}

class Emitter : private Xbyak::CodeGenerator {
  public:
    Emitter(const Stretch& stretch, Width width, std::span<std::uint8_t> room)
        : CodeGenerator(room.size(), room.data()),
          stretch_(stretch),
          wide_(width == Width::bits512),
          lanes_(wide_ ? 16 : 8),
          temporaries_(wide_ ? 28 : 12),
          numbers_(numbers_of(stretch)),
          number_labels_(numbers_.size()),
          masks_(masks_of(stretch)),
          registers_(kNumbers + static_cast<unsigned>(numbers_.size()), wide_ ? 28 : 12) {
        for (std::size_t at = 0; at < stretch.ops.size(); ++at) {
            const LaneOp& op = stretch.ops[at];
            for (const Source& source : op.source)
                if (source.kind != Source::Kind::none) events_.use(value_of(source), at);
            if (op.dst != kNone) events_.set(op.dst, at);
        }
    }

    std::size_t emit() {
        Xbyak::Label part, next, nan;
        const bool nans = std::any_of(stretch_.ops.begin(), stretch_.ops.end(),
                                      [](const LaneOp& op) { return op.makes_nans() || op.wants_numbers(); });
        xor_(eax, eax);
        for (const std::uint16_t mask : masks_) mov(frame_mask(mask, false), rax);
        L(part);
        if (wide_)
            movzx(r10d, dx);
        else
            movzx(r10d, dl);
        test(r10d, r10d);
        jz(next, T_NEAR);
        mov(r8d, eax);
        shr(r8d, 5);
        if (wide_) kmovw(k1, r10d);
        if (nans) clear_nans();
        for (now_ = 0; now_ < stretch_.ops.size(); ++now_) operation(stretch_.ops[now_]);
        if (nans) test_nans(nan);
        store();
        L(next);
        shr(rdx, lanes_);
        add(eax, 4 * lanes_);
        cmp(eax, 256);
        jne(part, T_NEAR);
        for (const std::uint16_t mask : masks_) {
            mov(r9, frame_mask(mask, false));
            mov(qword[rsi + mask * 4], r9);
        }
        for (const auto& [sgpr, number] : stretch_.numbers) mov(dword[rsi + sgpr * 4], number);
        if (nans) L(nan);  // rax: bytes of lanes that are done
        shr(eax, 2);
        vzeroupper();
        ret();
        put_constants();
        return getSize();
    }

  private:
    // Operands.

    Xmm vector(int n) const { return wide_ ? Xmm(Xbyak::Zmm(n)) : Xmm(Xbyak::Ymm(n)); }
    Xbyak::Address vgpr(unsigned n) { return ptr[rdi + rax + static_cast<int>(n * 256)]; }
    Xbyak::Address spilled(unsigned n) { return ptr[rcx + static_cast<int>(offsetof(Frame, spilled) + n * 64)]; }
    /// A mask that the stretch sets; the bits of this part, or all.
    Xbyak::Address frame_mask(std::uint16_t mask, bool part = true) {
        const int offset = static_cast<int>(offsetof(Frame, s)) + mask * 4;
        return part ? ptr[rcx + r8 + offset] : qword[rcx + offset];
    }
    Xbyak::RegExp mask_in(std::uint16_t mask) const {
        return set_masks_.contains(mask) ? rcx + r8 + (static_cast<int>(offsetof(Frame, s)) + mask * 4)
                                         : rsi + r8 + mask * 4;
    }
    unsigned value_of(const Source& source) const {
        switch (source.kind) {
            case Source::Kind::vgpr:
                return source.index;
            case Source::Kind::scalar:
                return kScalars + source.index;
            default:
                return kNumbers +
                       static_cast<unsigned>(std::lower_bound(numbers_.begin(), numbers_.end(), source.number) -
                                             numbers_.begin());
        }
    }
    /// A number in all lanes.
    Xbyak::Address constant(std::uint32_t number) { return ptr[rip + constants_[number]]; }
    void put_constants() {
        align(64);
        for (auto& [number, label] : constants_) {
            L(label);
            for (int lane = 0; lane < 16; ++lane) dd(number);
        }
        for (std::size_t n = 0; n < numbers_.size(); ++n) {
            L(number_labels_[n]);
            dd(numbers_[n]);
        }
        if (bits_used_) {
            L(bits_);
            for (unsigned lane = 0; lane < 8; ++lane) dd(1u << lane);
        }
    }

    /// A vector whose content is not needed.
    int fresh() {
        int room = registers_.free_vector();
        if (room < 0) {
            room =
                static_cast<int>(registers_.victim([this](unsigned value) { return events_.next_use(value, now_); }));
            evict(room);
        }
        registers_.pin(room);
        return room;
    }
    void evict(int room) {
        const auto value = static_cast<unsigned>(registers_.holder(static_cast<unsigned>(room)));
        if (value < kScalars && in_vector_only_.contains(value) && !events_.is_dead(value, now_)) {
            vmovups(spilled(value), vector(room));
            spilled_.insert(value);
        }
        in_vector_only_.erase(value);
        registers_.drop(value);
    }
    /// The vector that holds a value.
    int loaded(unsigned value) {
        int at = registers_.find(value);
        if (at >= 0) {
            registers_.pin(at);
            return at;
        }
        at = fresh();
        if (value >= kNumbers)
            vbroadcastss(vector(at), ptr[rip + number_labels_[value - kNumbers]]);
        else if (value >= kScalars)
            vbroadcastss(vector(at), ptr[rsi + static_cast<int>((value - kScalars) * 4)]);
        else
            vmovups(vector(at), spilled_.contains(value) ? spilled(value) : vgpr(value));
        registers_.put(value, at);
        return at;
    }
    int temporary() {
        if (temporaries_used_ == (wide_ ? 4 : 3)) throw std::logic_error{"jit: an operation with too many temporaries"};
        return temporaries_ + temporaries_used_++;
    }

    /// A source with its signs.
    Xmm operand(const Source& source) {
        const Xmm from = vector(loaded(value_of(source)));
        if (!source.absolute && !source.negative) return from;
        const Xmm to = vector(temporary());
        if (source.absolute) vandps(to, from, constant(0x7fffffff));
        if (source.negative) vxorps(to, source.absolute ? to : from, constant(0x80000000));
        return to;
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
    /// A value that may be a NaN of the CPU's making is tested before it is more than a number.
    void require_tested(const LaneOp& op) {
        for (const Source& source : op.source) {
            if (source.kind != Source::Kind::vgpr || !untested_.contains(source.index)) continue;
            const Xmm at = vector(loaded(source.index));
            test_for_nan(at, at);
            untested_.erase(source.index);
        }
        registers_.release_pins();
    }
    void test_nans(const Xbyak::Label& nan) {
        temporaries_used_ = 0;
        for (const unsigned value : untested_) {
            const Xmm at = vector(loaded(value));
            test_for_nan(at, at);
            registers_.release_pins();
        }
        if (wide_) {
            kandw(k7, k7, k1);
            kortestw(k7, k7);
        } else {
            vandps(ymm15, ymm15, active_lanes(vector(temporaries_)));
            vptest(ymm15, ymm15);
        }
        jnz(nan, T_NEAR);
    }

    // Results.

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
    void store() {
        if (!wide_) active_lanes(vector(temporaries_));
        for (const unsigned value : set_) {
            const Xmm at = vector(loaded(value));
            registers_.release_pins();
            if (wide_) {
                vmovups(vgpr(value) | k1, at);
            } else {
                const Xmm merged = vector(temporaries_ + 1);
                vmovups(merged, vgpr(value));
                vblendvps(merged, merged, at, vector(temporaries_));
                vmovups(vgpr(value), merged);
            }
        }
    }

    void operation(const LaneOp& op) {
        temporaries_used_ = 0;
        if (!op.ignores_payload() && !op.passes_on()) require_tested(op);
        const bool untested = op.makes_nans() || (op.passes_on() && any_untested(op));
        const int to = compute(op);
        if (op.mask_out != kNone) set_masks_.insert(op.mask_out);
        if (op.dst != kNone) {
            registers_.put(op.dst, to);
            set_.insert(op.dst);
            in_vector_only_.insert(op.dst);
            spilled_.erase(op.dst);
            if (untested)
                untested_.insert(op.dst);
            else
                untested_.erase(op.dst);
        }
        registers_.release_pins();
    }
    bool any_untested(const LaneOp& op) const {
        return std::any_of(op.source.begin(), op.source.end(), [this](const Source& source) {
            return source.kind == Source::Kind::vgpr && untested_.contains(source.index);
        });
    }

    /// The addend's vector, if it is not needed after this operation; else a copy of it.
    int accumulator(const LaneOp& op) {
        const Source& addend = op.source[2];
        const bool is_factor = op.source[0].is_vgpr(addend.index) || op.source[1].is_vgpr(addend.index);
        const bool plain = addend.kind == Source::Kind::vgpr && !addend.absolute && !addend.negative && !is_factor;
        if (plain && (addend.index == op.dst || events_.is_dead(addend.index, now_ + 1))) {
            const int at = loaded(addend.index);
            registers_.drop(addend.index);
            in_vector_only_.erase(addend.index);
            return at;
        }
        const Xmm from = operand(addend);
        const int to = fresh();
        vmovaps(vector(to), from);
        return to;
    }

    int compute(const LaneOp& op) {
        if (op.lane == Lane::fma_f) {
            const Xmm a = operand(op.source[0]), b = operand(op.source[1]);
            const int to = accumulator(op);
            vfmadd231ps(vector(to), a, b);
            return to;
        }
        const auto source = [&](unsigned n) {
            return operand(op.source[op.source[n].kind == Source::Kind::none ? 0 : n]);
        };
        const Xmm a = source(0);
        const Xmm b = op.source[1].kind == Source::Kind::none ? a : source(1);
        const Xmm c = op.source[2].kind == Source::Kind::none ? a : source(2);
        if (op.dst == kNone) {
            compare(op, a, b);
            return -1;
        }
        const int to = fresh();
        compute(op, vector(to), a, b, c);
        return to;
    }

    void compute(const LaneOp& op, const Xmm& d, const Xmm& a, const Xmm& b, const Xmm& c) {
        switch (op.lane) {
            case Lane::scalar:
            case Lane::fma_f:
            case Lane::compare_f:
            case Lane::compare_i:
            case Lane::compare_u:
                return;
            case Lane::move:
                return vmovaps(d, a);
            case Lane::negate:
                return vxorps(d, a, constant(~0u));
            case Lane::select:
                return select(op.mask_in, d, a, b);
            case Lane::add_f:
                return vaddps(d, a, b);
            case Lane::sub_f:
                return vsubps(d, a, b);
            case Lane::mul_f:
                return vmulps(d, a, b);
            case Lane::mad_f:
                return multiply_add(d, a, b, c);
            case Lane::min_f:
            case Lane::max_f:
                return extreme(d, a, b, op.lane == Lane::max_f);
            case Lane::round_f:
                return wide_ ? vrndscaleps(d, a, op.code) : vroundps(d, a, op.code);
            case Lane::convert_i:
                return vcvtdq2ps(d, a);
            case Lane::convert_u:
                return vcvtudq2ps(d, a);
            case Lane::add:
                return vpaddd(d, a, b);
            case Lane::sub:
                return vpsubd(d, a, b);
            case Lane::bit_and:
                return vandps(d, a, b);
            case Lane::bit_or:
                return vorps(d, a, b);
            case Lane::bit_xor:
                return vxorps(d, a, b);
            case Lane::min_i:
                return vpminsd(d, a, b);
            case Lane::max_i:
                return vpmaxsd(d, a, b);
            case Lane::min_u:
                return vpminud(d, a, b);
            case Lane::max_u:
                return vpmaxud(d, a, b);
            case Lane::shift_right:
                return shift(Shift::right, op.source[1], d, a, b);
            case Lane::shift_right_signed:
                return shift(Shift::right_signed, op.source[1], d, a, b);
            case Lane::shift_left:
                return shift(Shift::left, op.source[1], d, a, b);
            case Lane::mul_low:
                return vpmulld(d, a, b);
            case Lane::mul_high:
                return multiply_high(d, a, b);
            case Lane::add_16:
                vpaddd(d, a, b);
                return vandps(d, d, constant(0xffff));
            case Lane::sub_16:
                vpsubd(d, a, b);
                return vandps(d, d, constant(0xffff));
            case Lane::mul_16:
                vpmulld(d, a, b);
                return vandps(d, d, constant(0xffff));
            case Lane::mul_u24:
                return multiply_24(d, a, b);
            case Lane::mad_u24:
                multiply_24(d, a, b);
                return vpaddd(d, d, c);
            case Lane::align_bits:
                return align_bits(op, d, a, b, c);
            case Lane::insert_bits:
                return insert_bits(d, a, b, c);
            case Lane::extract:
                return extract(op, d, a, b, c);
            case Lane::shift_left_add:
                shift(Shift::left, op.source[1], d, a, b);
                return vpaddd(d, d, c);
            case Lane::add_shift_left:
                vpaddd(d, a, b);
                return shift(Shift::left, op.source[2], d, d, c);
            case Lane::add3:
                vpaddd(d, a, b);
                return vpaddd(d, d, c);
            case Lane::shift_left_or:
                shift(Shift::left, op.source[1], d, a, b);
                return vorps(d, d, c);
            case Lane::and_or:
                vandps(d, a, b);
                return vorps(d, d, c);
            case Lane::or3:
                vorps(d, a, b);
                return vorps(d, d, c);
            case Lane::xor_add:
                vxorps(d, a, b);
                return vpaddd(d, d, c);
            case Lane::add_carry:
                vpaddd(d, a, b);
                return put_mask(op.mask_out, less_unsigned(d, a));
            case Lane::sub_carry:
                vpsubd(d, a, b);
                return put_mask(op.mask_out, less_unsigned(a, b));
            case Lane::add_with_carry:
                return add_with_carry(op, d, a, b);
            case Lane::sub_with_carry:
                return sub_with_carry(op, d, a, b);
        }
    }

    // Masks: a mask register with AVX-512, else all bits of a lane of a vector.

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
        if (wide_) {
            // less 1, equal 2, less or equal 3, greater 4, not equal 5, greater or equal 6
            static constexpr std::uint8_t predicate[] = {3, 1, 0, 2, 6, 4, 5};
            if (op.lane == Lane::compare_f)
                vcmpps(k2, a, b, op.code);
            else if (op.lane == Lane::compare_i)
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
        const bool is_signed = op.lane == Lane::compare_i;
        const bool inverted = op.code == 3 || op.code == 5 || op.code == 6;
        if (op.code == 2 || op.code == 5)
            vpcmpeqd(lanes, a, b);
        else
            greater(lanes, op.code == 1 || op.code == 6 ? b : a, op.code == 1 || op.code == 6 ? a : b, is_signed);
        if (inverted) vxorps(lanes, lanes, constant(~0u));
        put_mask(op.mask_out, Mask(lanes));
    }
    void greater(const Xmm& lanes, const Xmm& a, const Xmm& b, bool is_signed) {
        if (is_signed) return vpcmpgtd(lanes, a, b);
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

    const Stretch& stretch_;
    const bool wide_;
    const int lanes_;
    const int temporaries_;  // the first of their vectors
    int temporaries_used_ = 0;
    const std::vector<std::uint32_t> numbers_;
    std::vector<Xbyak::Label> number_labels_;
    const std::vector<std::uint16_t> masks_;
    std::set<std::uint16_t> set_masks_;
    Registers registers_;
    Events events_;
    std::size_t now_ = 0;
    std::set<unsigned> set_, in_vector_only_, spilled_, untested_;  // VGPRs
    std::map<std::uint32_t, Xbyak::Label> constants_;
    Xbyak::Label bits_;
    bool bits_used_ = false;
};

}  // namespace

std::vector<std::uint16_t> masks_of(const Stretch& stretch) {
    std::set<std::uint16_t> masks;
    for (const LaneOp& op : stretch.ops)
        if (op.mask_out != kNone) masks.insert(op.mask_out);
    return {masks.begin(), masks.end()};
}

std::vector<std::uint8_t> translate(const Stretch& stretch, Width width) {
    // Per step three loads, three spills, and an operation with a constant; per VGPR a test and a store.
    const std::size_t most = 8192 + stretch.ops.size() * 400;
    // As aligned as where it will run, for its constants.
    const std::unique_ptr<std::byte[], decltype(&std::free)> room{
        static_cast<std::byte*>(std::aligned_alloc(64, (most + 63) / 64 * 64)), &std::free};
    if (!room) throw std::bad_alloc{};
    auto* const code = reinterpret_cast<std::uint8_t*>(room.get());
    const std::size_t size = Emitter(stretch, width, {code, most}).emit();
    return {code, code + size};
}

}  // namespace kfdemu::jit
