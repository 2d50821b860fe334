#include "tools/kfdemu/check/init/vector_flow.hpp"

#include <algorithm>
#include <bit>

#include "tools/kfdemu/check/flow/register_use.hpp"
#include "tools/kfdemu/check/init/data_flow.hpp"
#include "tools/kfdemu/isa/encodings/dual.hpp"

namespace kfdemu::check {
namespace {

using namespace isa;

template <class Body>
void for_each_lane(std::uint64_t lanes, Body&& body) {
    for (; lanes != 0; lanes &= lanes - 1) body(static_cast<unsigned>(std::countr_zero(lanes)));
}

class VectorFlow {
  public:
    explicit VectorFlow(const Flow& flow)
        : flow_{flow}, inst_{flow.inst}, row_{flow.row()}, rule_{flow_of(flow.op())}, lanes_{written_lanes(flow)} {}

    void run() {
        if (row_.is(kFirstLane) || row_.is(kNamedLane)) return move_one_lane();
        if (row_.is_scalar_function()) return compute_scalar();
        if (row_.is(kPermutes)) return row_.src[1] == Type::b32 ? permute_by_lane() : permute();
        if (row_.is(kSwaps)) return swap();
        if (dwords(row_.dst) > 4) return convert();
        gather_sources();
        if (row_.format == Format::Vopc) return compare();
        compute();
    }

    // What run() does for those that only compute, in two steps: of two operations, both read before either writes.

    void gather_sources() {
        for (unsigned n = 0; n < 3; ++n) gather_source(n);
        if (row_.is(kReadsDst) && !row_.is(kInserts)) gather_old();
        if (row_.is(kCarryIn) || row_.is(kVccIn))
            carry_ = flow_.read_scalar(row_.is(kVccIn) ? Operand{kVcc} : inst_.src[2], inst_.mask_dwords());
    }
    void compute() {
        const unsigned count = std::min(dwords(row_.dst), 4u);
        const auto result = inst_.clamp ? rule_.clamped : rule_.result;
        const bool moves = rule_.moves && result == rule_.result, same = cancels();
        const std::uint64_t width = is_half(row_.dst) ? 0xffff : low_bits(32 * count);
        for (Column& column : results_)
            std::fill_n(column.bits, kMostLanes, 0), std::fill_n(column.origin, kMostLanes, 0);
        Value carry;
        for_each_lane(lanes_, [&](unsigned l) {
            const LaneSources s = sources(l);
            if (!s.any || same) return;
            const std::uint64_t bits =
                (result != nullptr ? result(s.operands).undefined : depends_on_all(s.operands)) & width;
            const bool computed = !moves || s.operands.carry.any();
            for (unsigned k = 0; k < count; ++k) {
                results_[k].bits[l] = k < 2 ? static_cast<std::uint32_t>(bits >> 32 * k) : ~0u;
                results_[k].origin[l] = s.origin | (computed ? kComputed : 0);
            }
            if (!row_.is(kCarryOut) || !condition_is_undefined(s.operands)) return;
            if (!carry.bits.any()) carry.origin = s.origin | kComputed;
            carry.bits.undefined |= std::uint64_t{1} << l;
        });
        if (row_.is(kCarryOut)) flow_.write_scalar(inst_.sdst, inst_.mask_dwords(), carry);
        if (inst_.form == Form::Sdwa && count == 1) modify_result(flow_, results_[0]);
        if ((inst_.op_sel & 16) != 0) keep_half();
        if (row_.is(kInserts)) keep_bytes();
        for (unsigned k = 0; k < count; ++k)
            for_each_lane(lanes_, [&](unsigned l) {
                flow_.own.registers.set(static_cast<Operand>(inst_.dst + k), l, results_[k].at(l));
            });
    }

  private:
    unsigned last_lane() const { return flow_.wave.width - 1u; }
    /// On undefined bits, then on their origins: from ShadowWave's register 0 to 1.
    void execute_on_bits(const Inst& move, const Column& column, Undefined* moved) {
        ShadowWave& shadow = flow_.shared.wave;
        for (const bool bits : {true, false}) {
            std::copy_n(bits ? column.bits : column.origin, shadow.width(), shadow.lanes(0));
            for (unsigned l = 0; l < shadow.width(); ++l) {
                const Undefined old = flow_.own.registers.at(inst_.dst, l);
                shadow.lanes(1)[l] = bits ? old.bits : old.origin;
            }
            shadow.run(move, flow_.op());
            for (unsigned l = 0; l < shadow.width(); ++l) (bits ? moved[l].bits : moved[l].origin) = shadow.lanes(1)[l];
        }
    }
    /// Between the lanes of rows, as SRC1 and SRC2 say in four bits for each lane of a row, or between the halves of a
    /// wave.
    void permute() {
        Column& column = results_[0];
        gather(flow_, 0, 0, column);
        const bool named = row_.src[1] != Type::none;
        const Value low = named ? flow_.read_scalar(inst_.src[1], 1) : Value{},
                    high = named ? flow_.read_scalar(inst_.src[2], 1) : Value{};
        ShadowWave& shadow = flow_.shared.wave;
        shadow.prepare(flow_.wave);
        Inst move = inst_;
        move.src[0] = ShadowWave::operand(0), move.dst = ShadowWave::operand(1);
        move.src[1] = shadow.scalar(0, low.bits.value), move.src[2] = shadow.scalar(1, high.bits.value);
        move.flags = 0;
        Undefined moved[kMostLanes];
        execute_on_bits(move, column, moved);
        for_each_lane(lanes_, [&](unsigned l) {
            const Value& numbers = (l & 8) != 0 ? high : low;
            if ((numbers.bits.undefined >> 4 * (l & 7) & 15) != 0) moved[l] = {~0u, numbers.origin | kComputed};
            flow_.own.registers.set(inst_.dst, l, moved[l]);
        });
    }
    /// The same, as the low four bits of the lane's SRC1 say.
    void permute_by_lane() {
        Column column, numbers;
        gather(flow_, 0, 0, column);
        gather(flow_, 1, 0, numbers);
        ShadowWave& shadow = flow_.shared.wave;
        shadow.prepare(flow_.wave);
        Inst move = inst_;
        move.src[0] = ShadowWave::operand(0), move.src[1] = ShadowWave::operand(2), move.dst = ShadowWave::operand(1);
        const std::uint32_t* const number = flow_.wave.v + (inst_.src[1] - kVgpr0) * flow_.wave.width;
        std::copy_n(number, shadow.width(), shadow.lanes(2));
        Undefined moved[kMostLanes];
        execute_on_bits(move, column, moved);
        for_each_lane(lanes_, [&](unsigned l) {
            if ((numbers.bits[l] & 15) != 0) moved[l] = {~0u, numbers.origin[l] | kComputed};
            flow_.own.registers.set(inst_.dst, l, moved[l]);
        });
    }
    void compute_scalar() {
        const Value source = flow_.read_scalar(inst_.src[0], 1);
        const Value all{{0, low_bits(32)}, source.origin | kComputed};
        flow_.write_scalar(inst_.dst, 1, source.bits.any() ? all : Value{});
    }
    void move_one_lane() {
        if (row_.is(kFirstLane)) {
            const std::uint64_t exec = flow_.wave.exec();
            return read_lane(exec == 0 ? 0 : static_cast<unsigned>(std::countr_zero(exec)));
        }
        const Value lane = flow_.read_scalar(inst_.src[1], 1);
        if (row_.dst != Type::s32) {
            const Value data = flow_.read_scalar(inst_.src[0], 1);
            return flow_.own.registers.set(inst_.dst, lane.bits.value & last_lane(),
                                           {static_cast<std::uint32_t>(data.bits.undefined), data.origin});
        }
        if ((lane.bits.undefined & last_lane()) != 0)
            flow_.write_scalar(inst_.dst, 1, {{0, low_bits(32)}, lane.origin | kComputed});
        else
            read_lane(lane.bits.value & last_lane());
    }
    void read_lane(std::uint64_t lane) {
        const Undefined u = flow_.read(inst_.src[0], static_cast<unsigned>(lane));
        flow_.write_scalar(inst_.dst, 1, {{0, u.bits}, u.origin});
    }
    /// Of rows: lane l of SRC0 and the lane of DST that is a row further change places.
    void swap_rows(unsigned size) {
        for (unsigned l = 0; l < kMostLanes; ++l) {
            if ((l & size) != 0) continue;
            const Undefined upper = flow_.read(inst_.dst, l + size), lower = flow_.read(inst_.src[0], l);
            if ((lanes_ >> l & 1) != 0) flow_.own.registers.set(inst_.src[0], l, upper);
            if ((lanes_ >> (l + size) & 1) != 0) flow_.own.registers.set(inst_.dst, l + size, lower);
        }
    }
    void swap() {
        if (flow_.op() == Op::v_permlane16_swap_b32) return swap_rows(16);
        if (flow_.op() == Op::v_permlane32_swap_b32) return swap_rows(32);
        if (is_half(row_.dst)) return swap_halves();
        for_each_lane(lanes_, [&](unsigned l) {
            const Undefined a = flow_.read(inst_.dst, l), b = flow_.read(inst_.src[0], l);
            flow_.own.registers.set(inst_.dst, l, b);
            flow_.own.registers.set(inst_.src[0], l, a);
        });
    }

    void swap_halves() {
        const unsigned a_at = (inst_.op_sel & 8) != 0 ? 16 : 0, b_at = (inst_.op_sel & 1) != 0 ? 16 : 0;
        for_each_lane(lanes_, [&](unsigned l) {
            const Undefined a = flow_.read(inst_.dst, l), b = flow_.read(inst_.src[0], l);
            const auto put = [&](Operand operand, std::uint32_t half, unsigned at, Origin origin) {
                const Undefined old = flow_.read(operand, l);
                const std::uint32_t bits = (old.bits & ~(0xffffu << at)) | half << at;
                flow_.own.registers.set(operand, l, {bits, half != 0 ? origin : old.origin});
            };
            put(inst_.dst, b.bits >> b_at & 0xffff, a_at, b.origin);
            put(inst_.src[0], a.bits >> a_at & 0xffff, b_at, a.origin);
        });
    }

    /// Numbers into as many: all of them depend on all.
    void convert() {
        std::uint64_t undefined = 0;
        Origin origin = 0;
        for (unsigned n = 0; n < 3; ++n)
            for (unsigned k = 0; k < dwords(row_.src[n]); ++k) {
                gather(flow_, n, k, results_[0]);
                for_each_lane(lanes_, [&](unsigned l) {
                    if (results_[0].bits[l] == 0) return;
                    undefined |= std::uint64_t{1} << l;
                    origin = results_[0].origin[l];
                });
            }
        for (unsigned k = 0; k < dwords(row_.dst); ++k)
            for_each_lane(lanes_, [&](unsigned l) {
                const Undefined all{~0u, origin | kComputed};
                flow_.own.registers.set(static_cast<Operand>(inst_.dst + k), l,
                                        (undefined >> l & 1) != 0 ? all : Undefined{});
            });
    }

    void gather_source(unsigned n) {
        const unsigned count = std::min(dwords(row_.src[n]), 4u);
        counts_[n] = count;
        for (unsigned k = 0; k < count; ++k) {
            Column& column = sources_[n][k];
            gather(flow_, n, k, column);
            if (inst_.moves_lanes() || inst_.form == Form::Sdwa) modify_source(flow_, n, column);
            if (n == 0 && row_.is(kExtracts)) {
                const unsigned shift = 8 * (inst_.op_sel & 3u);
                for (std::uint32_t& v : column.value) v = v >> shift & 0xff;
                for (std::uint32_t& v : column.bits) v = v >> shift & 0xff;
            }
            if (is_half(row_.src[n])) {
                const unsigned shift = (inst_.op_sel >> n & 1) != 0 ? 16 : 0;
                for (std::uint32_t& v : column.value) v = v >> shift & 0xffff;
                for (std::uint32_t& v : column.bits) v = v >> shift & 0xffff;
            }
            change_sign(n, column);
        }
    }
    /// ABS, then NEG, of floats of at most 32 bits.
    void change_sign(unsigned n, Column& column) const {
        if (!is_float(row_.src[n]) || counts_[n] != 1) return;
        const std::uint32_t sign = is_half(row_.src[n]) ? 0x8000 : 0x80000000;
        if ((inst_.abs >> n & 1) != 0) {
            for (std::uint32_t& v : column.value) v &= ~sign;
            for (std::uint32_t& v : column.bits) v &= ~sign;
        }
        if ((inst_.neg >> n & 1) != 0)
            for (std::uint32_t& v : column.value) v ^= sign;
    }
    /// What accumulates is a third source.
    void gather_old() {
        counts_[2] = std::min(dwords(row_.dst), 2u);
        const unsigned shift = is_half(row_.dst) && (inst_.op_sel & 8) != 0 ? 16 : 0;
        const std::uint32_t width = is_half(row_.dst) ? 0xffff : ~0u;
        for (unsigned k = 0; k < counts_[2]; ++k)
            for (unsigned l = 0; l < kMostLanes; ++l) {
                const Undefined u = flow_.read(static_cast<Operand>(inst_.dst + k), l);
                sources_[2][k].value[l] = 0, sources_[2][k].origin[l] = u.origin;
                sources_[2][k].bits[l] = u.bits >> shift & width;
            }
    }

    Value source(unsigned n, unsigned lane) const {
        Value v;
        for (unsigned k = std::min(counts_[n], 2u); k-- > 0;) {
            const Column& column = sources_[n][k];
            v.bits.value |= std::uint64_t{column.value[lane]} << 32 * k;
            v.bits.undefined |= std::uint64_t{column.bits[lane]} << 32 * k;
            if (column.bits[lane] != 0) v.origin = column.origin[lane];
        }
        // Of four dwords, the others only matter as a whole.
        for (unsigned k = 2; k < counts_[n]; ++k)
            if (sources_[n][k].bits[lane] != 0) v.bits.undefined = kAllBits, v.origin = sources_[n][k].origin[lane];
        return v;
    }
    struct LaneSources {
        Operands operands;
        Origin origin = 0;
        bool any = false;
    };
    LaneSources sources(unsigned lane) const {
        const Value a = source(0, lane), b = source(1, lane), c = source(2, lane);
        const Value carry{{carry_.bits.value >> lane & 1, carry_.bits.undefined >> lane & 1}, carry_.origin};
        LaneSources all{{a.bits, b.bits, c.bits, carry.bits, lane, inst_.literal}, 0, false};
        for (const Value* v : {&a, &b, &c, &carry}) {
            if (!v->bits.any()) continue;
            if (!all.any) all.origin = v->origin;
            all.any = true;
        }
        return all;
    }
    /// x ^ x and x - x are zero.
    bool cancels() const {
        return row_.is(kCancels) && inst_.src[0] == inst_.src[1] &&
               (inst_.form == Form::Plain || inst_.form == Form::Vop3);
    }
    bool condition_is_undefined(const Operands& o) const {
        return rule_.is_undefined != nullptr ? rule_.is_undefined(o, {}) : o.any();
    }

    void compare() {
        Value mask;
        for_each_lane(lanes_, [&](unsigned l) {
            const LaneSources s = sources(l);
            if (!s.any || !condition_is_undefined(s.operands)) return;
            if (!mask.bits.any()) mask.origin = s.origin | kComputed;
            mask.bits.undefined |= std::uint64_t{1} << l;
        });
        const unsigned dwords = inst_.mask_dwords();
        flow_.write_scalar(inst_.sdst, dwords, mask);
        if (row_.is(kWritesExec)) {
            flow_.write_exec(mask);
            flow_.write_scalar(inst_.sdst, dwords, {});
        }
    }
    /// Of packed halves, each half depends on those of the sources.
    std::uint64_t depends_on_all(const Operands& o) const {
        if (row_.dst != Type::pkf16) return kAllBits;
        const std::uint64_t undefined = o.a.undefined | o.b.undefined | o.c.undefined;
        return ((undefined & 0xffff) != 0 ? 0xffff : 0) | ((undefined >> 16) != 0 ? 0xffff0000 : 0);
    }

    void keep_half() { keep_all_but((inst_.op_sel & 8) != 0 ? 16 : 0, 0xffff); }
    void keep_bytes() { keep_all_but(8 * (inst_.op_sel >> 2 & 3), 0xff); }
    /// The result's lowest bits go where they are kept from the old value's.
    void keep_all_but(unsigned shift, std::uint32_t width) {
        for_each_lane(lanes_, [&](unsigned l) {
            const Undefined old = flow_.own.registers.at(inst_.dst, l);
            std::uint32_t& bits = results_[0].bits[l];
            if (bits == 0) results_[0].origin[l] = old.origin;
            bits = (old.bits & ~(width << shift)) | (bits & width) << shift;
        });
    }

    const Flow& flow_;
    const Inst& inst_;
    const Row& row_;
    const RowFlow& rule_;
    const std::uint64_t lanes_;
    unsigned counts_[3] = {};
    Column sources_[3][4], results_[4];
    Value carry_;
};

}  // namespace

void gather(const Flow& flow, unsigned n, unsigned k, Column& out) {
    const Operand operand = flow.inst.src[n];
    if (operand >= kVgpr0) {
        const auto dword = static_cast<Operand>(operand + k);
        std::copy_n(const_cast<Wave&>(flow.wave).lanes(dword), kMostLanes, out.value);
        const std::uint64_t undefined = flow.own.registers.undefined_lanes(dword);
        for (unsigned l = 0; l < kMostLanes; ++l) {
            const Undefined u = (undefined >> l & 1) != 0 ? flow.read(dword, l) : Undefined{};
            out.bits[l] = u.bits, out.origin[l] = u.origin;
        }
        return;
    }
    const bool wide = dwords(flow.row().src[n]) == 2;
    const Value value = wide ? flow.read_scalar(operand, 2)
                             : flow.read_scalar(static_cast<Operand>(operand + (operand < kConstants ? k : 0)), 1);
    const unsigned shift = wide ? 32 * k : 0;
    std::fill_n(out.value, kMostLanes, static_cast<std::uint32_t>(value.bits.value >> shift));
    std::fill_n(out.bits, kMostLanes, static_cast<std::uint32_t>(value.bits.undefined >> shift));
    std::fill_n(out.origin, kMostLanes, value.origin);
}

namespace {

/// The VOP1 or VOP2 that a row of VOPD executes.
Op executed_by(Op dual) {
    switch (dual) {
#define VOPD(op, name, same, ...) \
    case Op::name:                \
        return Op::same;
#include "tools/kfdemu/isa/rows/vopd.inc"
#undef VOPD
        default:
            return dual;
    }
}
Inst alone(Inst operation) {
    operation.row = static_cast<std::uint16_t>(index(executed_by(static_cast<Op>(operation.row))));
    operation.format = rows()[operation.row].format;
    return operation;
}

void flow_dual(const Flow& flow) {
    const auto with = [&](const Inst& inst) {
        return Flow{flow.scene, flow.shared, flow.own, flow.wave, inst, &flow.inst};
    };
    const Inst first = alone(flow.inst), second = alone(second_of(flow.inst));
    const Flow flows[] = {with(first), with(second)};
    VectorFlow one{flows[0]}, other{flows[1]};
    one.gather_sources();
    other.gather_sources();
    one.compute();
    other.compute();
}

}  // namespace

void flow_vector(const Flow& flow) {
    if (flow.row().format == Format::Vopd) return flow_dual(flow);
    if (!flow.row().is(kMovesFrom) && !flow.row().is(kMovesTo)) return VectorFlow{flow}.run();
    flow.judge_m0();
    const Inst moved = moved_by_m0(flow.inst, flow.wave.s[kM0]);
    VectorFlow{{flow.scene, flow.shared, flow.own, flow.wave, moved}}.run();
}

bool keeps_parts(const Inst& inst) {
    const Row& row = rows()[inst.row];
    return row.is(kLowHalf) || row.is(kHighHalf) || is_half(row.shape.element) || inst.moves_lanes() ||
           (inst.flags & kFinish) != 0 || (inst.has(kWave32) && inst.row == index(Op::v_permlane64_b32));
}

}  // namespace kfdemu::check
