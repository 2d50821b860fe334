// Undefined bits through VOP3P: packed halves and pairs, dot products, mixed precision, matrices, tiles.
#include <algorithm>
#include <bit>

#include "tools/kfdemu/check/init/vector_flow.hpp"

namespace kfdemu::check {
namespace {

using namespace isa;

class PackedFlow {
  public:
    explicit PackedFlow(const Flow& flow) : flow_{flow}, inst_{flow.inst}, row_{flow.row()} {}

    void run() {
        for (unsigned n = 0; n < 3; ++n)
            for (unsigned k = 0; k < std::min(dwords(row_.src[n]), 2u); ++k) gather(flow_, n, k, sources_[n][k]);
        if (inst_.moves_lanes()) modify_source(flow_, 0, sources_[0][0]);
        for (std::uint64_t rest = written_lanes(flow_); rest != 0; rest &= rest - 1)
            one_lane(static_cast<unsigned>(std::countr_zero(rest)));
    }

  private:
    bool chosen(unsigned n, bool high) const { return ((high ? inst_.op_sel_hi : inst_.op_sel) >> n & 1) != 0; }
    bool has(unsigned n) const { return row_.src[n] != Type::none; }

    void one_lane(unsigned lane) {
        if (row_.dst == Type::b64) {  // v_pk_mov_b32
            write(0, lane, sources_[0][chosen(0, false)].at(lane));
            return write(1, lane, sources_[1][chosen(1, false)].at(lane));
        }
        if (row_.dst == Type::pkf32) {
            for (unsigned k = 0; k < 2; ++k)
                write(k, lane, any_of([&](unsigned n) { return sources_[n][chosen(n, k != 0)].at(lane); }, ~0u));
            return;
        }
        if (row_.dst == Type::pk16 || row_.dst == Type::pkf16) return halves(lane);
        if (row_.is(kMix)) return mixed(lane);
        write(0, lane, any_of([&](unsigned n) { return sources_[n][0].at(lane); }, ~0u));
    }

    /// `bits` if any source is undefined.
    template <class SourceBits>
    Undefined any_of(SourceBits&& source, std::uint32_t bits) const {
        for (unsigned n = 0; n < 3; ++n) {
            if (!has(n)) continue;
            if (const Undefined u = source(n); u.bits != 0) return {bits, u.origin | kComputed};
        }
        return {};
    }
    Undefined half_of(unsigned n, unsigned lane, bool high) const {
        const Undefined u = sources_[n][0].at(lane);
        return {u.bits >> (high ? 16 : 0) & 0xffff, u.origin};
    }
    void halves(unsigned lane) {
        const Undefined low = any_of([&](unsigned n) { return half_of(n, lane, chosen(n, false)); }, 0xffff);
        const Undefined high = any_of([&](unsigned n) { return half_of(n, lane, chosen(n, true)); }, 0xffff0000);
        write(0, lane, {low.bits | high.bits, low.bits != 0 ? low.origin : high.origin});
    }
    void mixed(unsigned lane) {
        const auto source = [&](unsigned n) {
            return chosen(n, true) ? half_of(n, lane, chosen(n, false)) : sources_[n][0].at(lane);
        };
        const std::uint32_t places = row_.is(kLowHalf) ? 0xffff : row_.is(kHighHalf) ? 0xffff0000 : ~0u;
        const Undefined old = flow_.own.registers.at(inst_.dst, lane), now = any_of(source, places);
        write(0, lane, {(old.bits & ~places) | now.bits, now.bits != 0 ? now.origin : old.origin});
    }
    void write(unsigned k, unsigned lane, Undefined what) {
        flow_.own.registers.set(static_cast<Operand>(inst_.dst + k), lane, what);
    }

    const Flow& flow_;
    const Inst& inst_;
    const Row& row_;
    Column sources_[3][2];
};

/// A matrix product depends on rows of A, columns of B and elements of C. To learn which, it is executed twice: on ones
/// where A and C are undefined, and zeros elsewhere, with a B of ones; and likewise for B. Results that are not zero
/// are undefined. With undefined places of a sparse A, all are. Signs are left out: sums must not cancel.
class MatrixFlow {
  public:
    explicit MatrixFlow(const Flow& flow) : flow_{flow}, inst_{flow.inst}, row_{flow.row()} { find_one(); }

    void run() {
        ShadowWave& shadow = flow_.shared.wave;
        shadow.prepare(flow_.wave);
        const unsigned result = count(row_.dst);
        const bool sparse = row_.is(kSparse);
        const unsigned addend = sparse ? kD : kC;
        fill_factors(true);
        fill_ones(addend, sparse ? inst_.dst : inst_.src[2], row_.dst, sum_one_, true);
        if (sparse) copy_places();
        if (row_.is(kMixedFormats)) take_scales();
        execute();
        find(result);
        fill_factors(false);
        for (unsigned k = 0; k < result; ++k) std::fill_n(shadow.lanes(addend + k), shadow.width(), 0);
        execute();
        find(result);
        for (unsigned k = 0; k < result; ++k) {
            // Both dwords of a 64-bit element.
            const std::uint64_t lanes = lost_   ? ~std::uint64_t{0}
                                        : wide_ ? found_[k & ~1u] | found_[k | 1u]
                                                : found_[k];
            for (unsigned l = 0; l < shadow.width(); ++l) write(k, l, (lanes >> l & 1) != 0);
        }
    }

  private:
    enum : unsigned { kA = 0, kB = 8, kC = 16, kD = 48 };

    unsigned count(Type type) const { return registers(type, flow_.wave.width); }

    void find_one() {
        const Matrix::Of of = row_.shape.matrix.of;
        wide_ = of == Matrix::Of::Double;
        one_ = wide_                      ? 0x3ff00000
               : of == Matrix::Of::Brain  ? 0x3f803f80
               : of == Matrix::Of::Half   ? 0x3c003c00
               : of == Matrix::Of::Byte   ? 0x01010101
               : of == Matrix::Of::Nibble ? 0x11111111
               // Positive numbers of 4, 6 and 8 bits, whichever dword of a lane it is.
               : of == Matrix::Of::Formats ? 0x55555555
               : of >= Matrix::Of::Bf8Bf8  ? 0x40404040
                                           : 0x3f800000;
        const bool integers = of == Matrix::Of::Byte || of == Matrix::Of::Nibble;
        sum_one_ = integers ? 1 : wide_ ? 0x3ff00000 : 0x3f800000;
        if (row_.dst == Type::tile128) sum_one_ = one_;
        if (row_.dst != Type::halftile) return;
        sum_one_ = one_;
        places_ = (inst_.op_sel & 4) != 0 ? 0xffff0000 : 0xffff;
    }
    void find(unsigned result) {
        ShadowWave& shadow = flow_.shared.wave;
        for (unsigned k = 0; k < result; ++k)
            for (unsigned l = 0; l < shadow.width(); ++l)
                found_[k] |= std::uint64_t{(shadow.lanes(kD + k)[l] & places_) != 0} << l;
    }
    /// Of halves, the other one is kept.
    void write(unsigned k, unsigned lane, bool undefined) {
        const auto operand = static_cast<Operand>(inst_.dst + k);
        const Undefined old = places_ != ~0u ? flow_.own.registers.at(operand, lane) : Undefined{};
        const std::uint32_t bits = (old.bits & ~places_) | (undefined ? places_ : 0);
        flow_.own.registers.set(operand, lane, {bits, undefined ? origin_ | kComputed : old.origin});
    }
    std::uint64_t undefined_lanes(Operand operand, bool of_sum) const {
        std::uint64_t lanes = flow_.own.registers.undefined_lanes(operand);
        for (std::uint64_t rest = of_sum && places_ != ~0u ? lanes : 0; rest != 0; rest &= rest - 1) {
            const auto lane = static_cast<unsigned>(std::countr_zero(rest));
            if ((flow_.own.registers.at(operand, lane).bits & places_) == 0) lanes &= ~(std::uint64_t{1} << lane);
        }
        return lanes;
    }
    void take_scales() {
        if (flow_.own.scales != 0 && inst_.op_sel != 0) lost_ = true, origin_ = flow_.own.scales;
        flow_.own.scales = 0;
    }
    void copy_places() {
        const std::uint32_t* const places = flow_.wave.v + (inst_.src[2] - kVgpr0) * flow_.wave.width;
        std::copy_n(places, flow_.wave.width, flow_.shared.wave.lanes(kC));
        lost_ = flow_.own.registers.undefined_lanes(inst_.src[2]) != 0;
        if (lost_ && origin_ == 0) origin_ = flow_.read(inst_.src[2], 0).origin;
    }
    /// `first`: ones where A is undefined and everywhere in B; else the other way round.
    void fill_factors(bool first) {
        fill_ones(kA, inst_.src[0], source_type(row_, inst_, 0), one_, first);
        fill_ones(kB, inst_.src[1], source_type(row_, inst_, 1), one_, !first);
    }
    /// `undefined`: ones where the operand is undefined, else everywhere.
    void fill_ones(unsigned to, Operand operand, Type type, std::uint32_t one, bool undefined) {
        ShadowWave& shadow = flow_.shared.wave;
        for (unsigned k = 0; k < count(type); ++k) {
            std::uint64_t lanes = undefined ? 0 : ~std::uint64_t{0};
            if (undefined && operand >= kVgpr0) {
                lanes = undefined_lanes(static_cast<Operand>(operand + k), to == kC);
                // A wide element is undefined if either of its dwords is.
                if (wide_) lanes |= flow_.own.registers.undefined_lanes(static_cast<Operand>(operand + (k ^ 1u)));
                if (lanes != 0 && origin_ == 0)
                    origin_ =
                        flow_.read(static_cast<Operand>(operand + k), static_cast<unsigned>(std::countr_zero(lanes)))
                            .origin;
            }
            const bool low_half = wide_ && k % 2 == 0;
            for (unsigned l = 0; l < shadow.width(); ++l)
                shadow.lanes(to + k)[l] = !low_half && (lanes >> l & 1) != 0 ? one : 0;
        }
    }
    void execute() {
        Inst product = inst_;
        product.src[0] = ShadowWave::operand(kA), product.src[1] = ShadowWave::operand(kB);
        product.src[2] = ShadowWave::operand(kC), product.dst = ShadowWave::operand(kD);
        if (row_.multiplies_tiles()) product.neg = product.abs = 0;
        flow_.shared.wave.run(product, flow_.op());
    }

    const Flow& flow_;
    const Inst& inst_;
    const Row& row_;
    std::uint32_t one_ = 0, sum_one_ = 0;
    std::uint32_t places_ = ~0u;  // of the result's registers
    bool wide_ = false, lost_ = false;
    Origin origin_ = 0;
    std::uint64_t found_[32] = {};
};

void flow_scales(const Flow& flow) {
    flow.own.scales = 0;
    for (unsigned n = 0; n < 2; ++n) {
        Column column;
        gather(flow, n, 0, column);
        const unsigned byte = flow.inst.scale_byte(n);
        for (unsigned l = 0; l < kMostLanes; ++l)
            if ((column.bits[l] >> 8 * byte & 0xff) != 0) flow.own.scales = column.origin[l] | kComputed;
    }
}

}  // namespace

void flow_packed(const Flow& flow) {
    if (flow.row().is(kMatrix) || flow.row().multiplies_tiles()) return MatrixFlow{flow}.run();
    if (flow.row().is(kAccumulator)) return flow_vector(flow);
    if (flow.row().is(kScales)) return flow_scales(flow);
    PackedFlow{flow}.run();
}

}  // namespace kfdemu::check
