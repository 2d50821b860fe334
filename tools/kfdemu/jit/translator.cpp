#include "tools/kfdemu/jit/translator.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <set>
#include <span>

#include "tools/kfdemu/jit/registers.hpp"
#include "tools/kfdemu/jit/scalar_code.hpp"
#include "tools/kfdemu/jit/value_uses.hpp"

namespace kfdemu::jit {
namespace {

// Values: VGPRs, from here on scalars in all lanes, and from there on numbers.
constexpr unsigned kScalars = 256, kNumbers = 512;

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

class Emitter : private ScalarCode {
  public:
    Emitter(const Stretch& stretch, Width width, std::span<std::uint8_t> room)
        : ScalarCode(width, room, static_cast<unsigned>(stretch.begin->pc / 4)),
          stretch_(stretch),
          wave_lanes_(static_cast<int>(stretch.lanes)),
          numbers_(numbers_of(stretch)),
          number_labels_(numbers_.size()),
          registers_(kNumbers + static_cast<unsigned>(numbers_.size()), wide_ ? 28 : 12) {
        for (std::size_t at = 0; at < stretch.ops.size(); ++at) {
            const LaneOp& op = stretch.ops[at];
            for (const Source& source : op.source)
                if (source.kind != Source::Kind::none) uses_.use(value_of(source), at);
            if (op.dst != kNone) uses_.set(op.dst, at);
        }
    }

    std::size_t emit() {
        Xbyak::Label part, next, not_begun;
        const bool nans = std::any_of(stretch_.ops.begin(), stretch_.ops.end(),
                                      [](const LaneOp& op) { return op.makes_nans() || op.wants_numbers(); });
        const bool global = stretch_.has(Lane::load_global) || stretch_.has(Lane::store_global);
        const bool scalar_loads = !stretch_.scalars.empty() && stretch_.scalars[0].is_scalar(Scalar::load);
        const std::vector<Xbyak::Reg64> saved = global || scalar_loads         ? std::vector{rbx, r12, r13, r14, r15}
                                                : stretch_.has(Lane::load_lds) ? std::vector{rbx}
                                                                               : std::vector<Xbyak::Reg64>{};
        for (const Xbyak::Reg64& reg : saved) push(reg);
        constexpr std::uint32_t nothing = 4096;
        if (scalar_loads) mov(dword[rcx + static_cast<int>(offsetof(Frame, done_bytes))], nothing);
        for (const LaneOp& op : stretch_.scalars) scalar_operation(op, not_begun);
        xor_(eax, eax);
        for (const std::uint16_t mask : stretch_.masks) put_mask_dwords(ptr[in_frame(mask)], rax);
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
        if (global) mov(dword[rcx + static_cast<int>(offsetof(Frame, done_bytes))], eax);
        for (now_ = 0; now_ < stretch_.ops.size(); ++now_) {
            const LaneOp& op = stretch_.ops[now_];
            // The last one, and not to be repeated.
            if (op.lane == Lane::store_global && nans) test_nans();
            operation(op);
        }
        save_masks();
        if (nans && !stretch_.has(Lane::store_global)) test_nans();
        store();
        L(next);
        shr(rdx, lanes_);
        add(eax, 4 * lanes_);
        cmp(eax, 4 * wave_lanes_);
        jne(part, T_NEAR);
        store_scalars();
        L(interpreted_);  // rax: bytes of lanes that are done
        shr(eax, 2);
        vzeroupper();
        for (auto reg = saved.rbegin(); reg != saved.rend(); ++reg) pop(*reg);
        ret();
        if (scalar_loads) {
            L(not_begun);
            mov(eax, nothing);
            jmp(interpreted_, T_NEAR);
        }
        put_search();
        put_constants();
        put_distances();
        put_numbers();
        return getSize();
    }

  private:
    // Operands.

    Xbyak::Address vgpr(unsigned n) { return ptr[rdi + rax + static_cast<int>(n) * 4 * wave_lanes_]; }
    Xbyak::Address spilled(unsigned n) { return ptr[rcx + static_cast<int>(offsetof(Frame, spilled) + n * 64)]; }
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
    void put_numbers() {
        for (std::size_t n = 0; n < numbers_.size(); ++n) {
            L(number_labels_[n]);
            dd(numbers_[n]);
        }
    }

    /// A vector whose content is not needed.
    int fresh() {
        int room = registers_.free_vector();
        if (room < 0) {
            room = static_cast<int>(registers_.victim([this](unsigned value) { return uses_.next_use(value, now_); }));
            evict(room);
        }
        registers_.pin(room);
        return room;
    }
    void evict(int room) {
        const auto value = static_cast<unsigned>(registers_.holder(static_cast<unsigned>(room)));
        if (value < kScalars && in_vector_only_.contains(value) && !uses_.is_dead(value, now_)) {
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
    void test_nans() {
        temporaries_used_ = 0;
        for (const unsigned value : untested_) {
            const Xmm at = vector(loaded(value));
            test_for_nan(at, at);
            registers_.release_pins();
        }
        jump_if_nan(interpreted_);
    }

    // Results.

    void put_mask_dwords(const Xbyak::Address& to, const Xbyak::Reg64& bits) {
        wave_lanes_ == 64 ? mov(to, bits) : mov(to, bits.cvt32());
    }
    void store_scalars() {
        for (const std::uint16_t mask : stretch_.masks) {
            join_mask(mask, wave_lanes_);
            put_mask_dwords(ptr[rsi + mask * 4], r9);
        }
        for (const auto& [sgpr, number] : stretch_.numbers) mov(dword[rsi + sgpr * 4], number);
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
            if (op.dst == layout_of_) layout_of_ = kNone;
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
        if (plain && (addend.index == op.dst || uses_.is_dead(addend.index, now_ + 1))) {
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

    /// From the address to the end of all that is loaded there, as long as the VGPR keeps it.
    std::uint32_t reach_bytes(std::uint16_t address) const {
        std::uint32_t reach = 0;
        for (std::size_t at = now_; at < stretch_.ops.size(); ++at) {
            const LaneOp& op = stretch_.ops[at];
            if (op.lane == Lane::load_lds && op.source[0].index == address)
                reach = std::max(reach, op.offset_bytes + std::uint32_t{sizeof(std::uint32_t)});
            if (op.dst == address) break;
        }
        return reach;
    }
    int load(const LaneOp& op) {
        const std::uint16_t address = op.source[0].index;
        const Xmm at = vector(loaded(address));
        const int to = fresh();
        if (layout_of_ != address) find_layout(at, reach_bytes(address), interpreted_);
        layout_of_ = address;
        load_lds(vector(to), at, op.offset_bytes);
        return to;
    }

    int access(const LaneOp& op) {
        const auto source = [&](unsigned n) {
            return op.source[n].kind == Source::Kind::none ? Xmm(0) : vector(loaded(value_of(op.source[n])));
        };
        const Xmm low = source(0), high = source(1), data = source(2);
        const Xmm* const upper = op.base == kNone ? &high : nullptr;
        layout_of_ = kNone;  // its registers are used for other things
        if (op.lane == Lane::store_global) {
            store_global(op, data, low, upper, interpreted_);
            return -1;
        }
        const int to = fresh();
        load_global(op, vector(to), low, upper, interpreted_);
        return to;
    }

    int compute(const LaneOp& op) {
        if (op.lane == Lane::load_lds) return load(op);
        if (op.is_global()) return access(op);
        if (op.lane == Lane::fma_f) {
            const Xmm a = operand(op.source[0]), b = operand(op.source[1]);
            const int to = accumulator(op);
            vfmadd231ps(vector(to), a, b);
            return to;
        }
        const Xmm a = operand(op.source[0]);
        const auto source = [&](unsigned n) {
            return op.source[n].kind == Source::Kind::none ? a : operand(op.source[n]);
        };
        const Xmm b = source(1), c = source(2);
        if (op.dst == kNone) {
            compare(op, a, b);
            return -1;
        }
        const int to = fresh();
        operate(op, vector(to), a, b, c);
        return to;
    }

    const Stretch& stretch_;
    const int wave_lanes_;
    const std::vector<std::uint32_t> numbers_;
    std::vector<Xbyak::Label> number_labels_;
    Registers registers_;
    ValueUses uses_;
    Xbyak::Label interpreted_;  // the lanes from this part on
    std::size_t now_ = 0;
    std::uint16_t layout_of_ = kNone;                               // the address that find_layout() was last at
    std::set<unsigned> set_, in_vector_only_, spilled_, untested_;  // VGPRs
};

}  // namespace

std::vector<std::uint8_t> translate(const Stretch& stretch, Width width) {
    // Per step three loads, three spills, and an operation with a constant; per VGPR a test and a store.
    const std::size_t most = 8192 + stretch.ops.size() * 1000 + stretch.scalars.size() * 200;
    // As aligned as where it will run, for its constants.
    const std::unique_ptr<std::byte[], decltype(&std::free)> room{
        static_cast<std::byte*>(std::aligned_alloc(64, (most + 63) / 64 * 64)), &std::free};
    if (!room) throw std::bad_alloc{};
    auto* const code = reinterpret_cast<std::uint8_t*>(room.get());
    const std::size_t size = Emitter(stretch, width, {code, most}).emit();
    return {code, code + size};
}

}  // namespace kfdemu::jit
