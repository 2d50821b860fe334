// Matrix multiply-add of a wave: MFMA ("VOP3P-MAI"). All lanes take part regardless of EXEC. Rounds to nearest even and
// keeps denormals regardless of MODE, except that gfx90a flushes them if A and B have 16 bits.
//
// Each element of D is C plus one product after the other in ascending depth, each step rounded once. The manuals do
// not define that order; hardware with another order differs in the last bits of float sums.
//
// Sources: MI100 and MI200 ISA manuals, "Matrix Arithmetic Instructions"; for the element layout, AMD's matrix
// instruction calculator.
#include "tools/kfdemu/isa/execution/executors.hpp"
#include "tools/kfdemu/isa/execution/float_math.hpp"
#include "tools/kfdemu/isa/execution/lanes.hpp"
#include "tools/kfdemu/isa/execution/small_float_math.hpp"

namespace kfdemu::isa::KFDEMU_EXECUTOR {
#if KFDEMU_WIDTH == 64  // their operands are laid out over 64 lanes
namespace {

// Element types: the number of bits of an element of A and B, its conversion, and the type of the sum.

struct Single {
    using A = Single;
    using B = Single;
    using Sum = float;
    static constexpr unsigned width = 32;
    static KFDEMU_INLINE Sum of(u32 raw, bool) { return bits<float>(raw); }
};
/// 32 bits of which the upper 19 count. The manual does not say how the others are dropped: rounded to nearest even.
struct Xf32 {
    using A = Xf32;
    using B = Xf32;
    using Sum = float;
    static constexpr unsigned width = 32;
    static KFDEMU_INLINE Sum of(u32 raw, bool) {
        const bool number = (raw & 0x7f800000) != 0x7f800000;
        return bits<float>(number ? (raw + 0xfff + (raw >> 13 & 1)) & ~0x1fffu : raw);
    }
};
struct Half {
    using A = Half;
    using B = Half;
    using Sum = float;
    static constexpr unsigned width = 16;
    static KFDEMU_INLINE Sum of(u32 raw, bool flushed) {
        return float_of_half((raw & 0x7c00) == 0 && flushed ? raw & 0x8000 : raw);
    }
};
struct Brain {
    using A = Brain;
    using B = Brain;
    using Sum = float;
    static constexpr unsigned width = 16;
    static KFDEMU_INLINE Sum of(u32 raw, bool flushed) { return flush(bits<float>(raw << 16), flushed); }
};
struct Byte {
    using A = Byte;
    using B = Byte;
    using Sum = i32;
    static constexpr unsigned width = 8;
    static KFDEMU_INLINE Sum of(u32 raw, bool) { return static_cast<i8>(raw); }
};
struct Double {
    using A = Double;
    using B = Double;
    using Sum = double;
    static constexpr unsigned width = 64;
};
template <class F>
struct FloatByte {
    static KFDEMU_INLINE float of(u32 raw, bool) { return F::of(raw); }
};
template <class A_, class B_>
struct Bytes {
    using A = FloatByte<A_>;
    using B = FloatByte<B_>;
    using Sum = float;
    static constexpr unsigned width = 8;
};
using Bf8Bf8 = Bytes<Bf8Float, Bf8Float>;
using Bf8Fp8 = Bytes<Bf8Float, Fp8Float>;
using Fp8Bf8 = Bytes<Fp8Float, Bf8Float>;
using Fp8Fp8 = Bytes<Fp8Float, Fp8Float>;
using OcpBf8Bf8 = Bytes<OcpBf8Float, OcpBf8Float>;
using OcpBf8Fp8 = Bytes<OcpBf8Float, OcpFp8Float>;
using OcpFp8Bf8 = Bytes<OcpFp8Float, OcpBf8Float>;
using OcpFp8Fp8 = Bytes<OcpFp8Float, OcpFp8Float>;

KFDEMU_INLINE float accumulate(float c, float a, float b) { return fused(a, b, c); }
KFDEMU_INLINE double accumulate(double c, double a, double b) { return fused(a, b, c); }
KFDEMU_INLINE i32 accumulate(i32 c, i32 a, i32 b) {
    return static_cast<i32>(static_cast<u32>(c) + static_cast<u32>(a * b));
}

/// The shape, and the location of the element of block b, row i (column i of B) and depth k: its lane, and its index
/// within the lane.
template <class E, unsigned rows_, unsigned depth_, unsigned blocks_>
struct Shape {
    using Element = E;
    using Sum = typename E::Sum;
    static constexpr unsigned rows = rows_, depth = depth_, blocks = blocks_;
    static constexpr unsigned per_lane = depth * rows * blocks / kLanes;
    static constexpr unsigned words = sizeof(Sum) / 4;
    static constexpr unsigned lane(unsigned b, unsigned i, unsigned k) {
        return k / per_lane * rows * blocks + b * rows + i;
    }
    // C and D: strips of `height` rows, one register (pair) per row, with as many strips side by side as there are
    // lanes for.
    static constexpr unsigned height = words == 2 ? 1 : 4;
    static constexpr unsigned strips = kLanes / rows;
    static constexpr unsigned blocks_abreast = rows * rows / height < kLanes ? kLanes * height / (rows * rows) : 1;
    static constexpr unsigned result_register(unsigned b, unsigned i) {
        return b * (rows * rows / kLanes) + i / (height * strips) * height + i % height;
    }
    static constexpr unsigned result_lane(unsigned b, unsigned i) {  // lane of column 0
        return b % blocks_abreast * rows + i / height % strips * blocks_abreast * rows;
    }
};

/// The lane from which BLGP fetches lane l of B.
KFDEMU_INLINE unsigned b_lane(unsigned pattern, unsigned l) {
    switch (pattern) {
        case 0:
            return l;
        case 1:
            return l % 32;
        case 2:
            return 32 + l % 32;
        case 3:
            return (l + 16) % 64;
        default:
            return (pattern - 4) * 16 + l % 16;
    }
}

template <class S, class Side>
KFDEMU_INLINE typename S::Sum element(const u32* registers, unsigned lane, unsigned number, bool flushed) {
    using E = typename S::Element;
    if constexpr (S::words == 2) {
        return bits<double>(registers[lane] | static_cast<u64>(registers[lane + kLanes]) << 32);
    } else {
        constexpr unsigned per_word = 32 / E::width;
        const u32 word = registers[number / per_word * kLanes + lane] >> number % per_word * E::width % 32;
        return Side::of(E::width == 32 ? word : word & ((1u << E::width % 32) - 1), flushed);
    }
}

/// C of one lane of one register: from registers, or a constant.
template <class S>
KFDEMU_INLINE typename S::Sum addend(Wave& w, const Inst& i, unsigned number, unsigned lane) {
    using Sum = typename S::Sum;
    if constexpr (S::words == 2) {
        if (i.src[2] < kVgpr0) return bits<Sum>(read64(w, i.src[2], Literal::Float));
        const u32* const c = lanes_of(w, i.src[2]) + 2 * number * kLanes + lane;
        return bits<Sum>(c[0] | static_cast<u64>(c[kLanes]) << 32);
    } else {
        return bits<Sum>(i.src[2] < kVgpr0 ? w.s[i.src[2]] : lanes_of(w, i.src[2])[number * kLanes + lane]);
    }
}

/// CBSZ: 2^CBSZ blocks share one block of A; ABID: which one. BLGP: see b_lane. Naming a block that does not exist is
/// reserved. BLGP of 64-bit floats is reserved, or negates A, B and C (Traits::negates_doubles).
template <class S>
const Inst* multiply_matrices(Wave& w, const Inst& i) {
    using Sum = typename S::Sum;
    const unsigned share = 1u << i.abs, shared = i.op_sel;
    const bool negates = (i.flags & kNegates) != 0;
    const unsigned pattern = negates ? 0 : i.neg;
    if (share > S::blocks || shared >= share || (S::words == 2 && pattern != 0)) return w.stop_at(Stop::Illegal, i);
    scalar_setup(w, i);
    if constexpr (!__is_same(Sum, i32)) use_mxcsr(w, 0x1f80);
    const u32 *const a = lanes_of(w, i.src[0]), *const b = lanes_of(w, i.src[1]);
    const bool flushed = S::Element::width == 16 && (i.flags & kFlushHalves) != 0;
    alignas(64) Sum columns[S::depth][S::rows], sums[S::rows];
    alignas(64) u32 result[S::rows * S::rows * S::blocks * S::words];
    for (unsigned block = 0; block < S::blocks; ++block) {
        for (unsigned k = 0; k < S::depth; ++k)
            for (unsigned j = 0; j < S::rows; ++j)
                columns[k][j] = element<S, typename S::Element::B>(b, b_lane(pattern, S::lane(block, j, k)),
                                                                   k % S::per_lane, flushed);
        const unsigned a_block = block / share * share + shared;
        for (unsigned row = 0; row < S::rows; ++row) {
            const unsigned number = S::result_register(block, row), first = S::result_lane(block, row);
            for (unsigned j = 0; j < S::rows; ++j) {
                sums[j] = addend<S>(w, i, number, first + j);
                if constexpr (S::words == 2) sums[j] = negates && (i.neg & 4) != 0 ? -sums[j] : sums[j];
                if constexpr (S::Element::width == 16) sums[j] = flush(sums[j], flushed);
            }
            for (unsigned k = 0; k < S::depth; ++k) {
                const Sum factor =
                    element<S, typename S::Element::A>(a, S::lane(a_block, row, k), k % S::per_lane, flushed);
                const Sum turned = S::words == 2 && negates && ((i.neg ^ i.neg >> 1) & 1) != 0 ? -factor : factor;
                for (unsigned j = 0; j < S::rows; ++j) sums[j] = accumulate(sums[j], turned, columns[k][j]);
            }
            for (unsigned j = 0; j < S::rows; ++j) {
                u32* const out = result + number * S::words * kLanes + first + j;
                if constexpr (S::words == 2) {
                    out[0] = static_cast<u32>(bits<u64>(sums[j]));
                    out[kLanes] = static_cast<u32>(bits<u64>(sums[j]) >> 32);
                } else if constexpr (S::Element::width == 16) {
                    out[0] = bits<u32>(flush(sums[j], flushed));
                } else {
                    out[0] = bits<u32>(sums[j]);
                }
            }
        }
    }
    __builtin_memcpy(lanes_of(w, i.dst), result, sizeof result);
    return next_of(i);
}

/// SMFMAC: A has half the depth. Of the third source's register, four bits belong to two elements of A in a lane: their
/// places among four of B. CBSZ: zero, and ABID says which bits of the register; else the lowest ones count.
template <class S>
const Inst* multiply_sparse(Wave& w, const Inst& i) {
    using Sum = typename S::Sum;
    using Given = Shape<typename S::Element, S::rows, S::depth / 2, 1>;  // what A has of it
    constexpr unsigned index_bits = 2 * Given::per_lane, sets = 32 / index_bits;
    if (i.neg != 0) return w.stop_at(Stop::Illegal, i);
    if constexpr (!__is_same(Sum, i32)) use_mxcsr(w, 0x1f80);
    const u32 *const a = lanes_of(w, i.src[0]), *const b = lanes_of(w, i.src[1]), *const places = lanes_of(w, i.src[2]);
    const unsigned shift = i.abs == 0 ? i.op_sel % sets * index_bits : 0;
    alignas(64) Sum columns[S::depth][S::rows], sums[S::rows];
    alignas(64) u32 result[S::rows * S::rows];
    for (unsigned k = 0; k < S::depth; ++k)
        for (unsigned j = 0; j < S::rows; ++j)
            columns[k][j] = element<S, typename S::Element::B>(b, S::lane(0, j, k), k % S::per_lane, false);
    for (unsigned row = 0; row < S::rows; ++row) {
        const unsigned number = S::result_register(0, row), first = S::result_lane(0, row);
        const u32* const c = lanes_of(w, i.dst) + number * kLanes + first;
        for (unsigned j = 0; j < S::rows; ++j) sums[j] = bits<Sum>(c[j]);
        for (unsigned k = 0; k < Given::depth; ++k) {
            const unsigned lane = Given::lane(0, row, k), n = k % Given::per_lane;
            const unsigned place = places[lane] >> shift >> 2 * n & 3;
            const Sum factor = element<Given, typename S::Element::A>(a, lane, n, false);
            for (unsigned j = 0; j < S::rows; ++j) sums[j] = accumulate(sums[j], factor, columns[k / 2 * 4 + place][j]);
        }
        for (unsigned j = 0; j < S::rows; ++j) result[number * kLanes + first + j] = bits<u32>(sums[j]);
    }
    __builtin_memcpy(lanes_of(w, i.dst), result, sizeof result);
    return next_of(i);
}

// Of formats: A and B have the formats that CBSZ and BLGP name.

using DecodeNumber = float (*)(u32);
struct NumberFormat {
    unsigned width;
    DecodeNumber of;
};
template <class F>
constexpr NumberFormat kFormatOf = {F::width, [](u32 raw) { return F::of(raw); }};
constexpr NumberFormat kNumberFormats[] = {kFormatOf<OcpFp8Float>, kFormatOf<OcpBf8Float>, kFormatOf<Fp6Float>,
                                           kFormatOf<Bf6Float>, kFormatOf<Fp4Float>};

/// Where a lane's 32 elements of one row are in depth: next to each other; of factors that both have 8 bits, the first
/// 16 in the lower half of the depth, the others in the upper. A scale is for 32 elements next to each other in depth,
/// in either case (AMD's "Matrix Core Programming on AMD CDNA3 and CDNA4").
template <unsigned rows, unsigned depth>
struct FormatShape {
    static constexpr unsigned per_lane = 32, groups = kMostLanes / rows;
    static_assert(depth == per_lane * groups);
    struct Place {
        unsigned group, number;
    };
    static constexpr Place place(unsigned k, bool bytes) {
        if (!bytes) return {k / per_lane, k % per_lane};
        constexpr unsigned half = per_lane / 2;
        return {k % (depth / 2) / half, k / (depth / 2) * half + k % half};
    }
};

/// Of one row or column: its elements by depth.
template <unsigned rows, unsigned depth>
void decode_row(const u32* registers, const NumberFormat& format, bool bytes, unsigned row, float* to) {
    for (unsigned k = 0; k < depth; ++k) {
        const auto place = FormatShape<rows, depth>::place(k, bytes);
        to[k] = format.of(packed_element(registers + place.group * rows + row, place.number, format.width));
    }
}

/// The sum of 32 products, one after the other, is scaled and added to C. ABID: the scales are those that were loaded
/// before.
template <unsigned rows, unsigned depth>
const Inst* multiply_formats(Wave& w, const Inst& i) {
    using S = Shape<Single, rows, depth, 1>;  // of C and D
    const NumberFormat &format_a = kNumberFormats[i.abs], &format_b = kNumberFormats[i.neg];
    const bool bytes = format_a.width == 8 && format_b.width == 8, scaled = i.op_sel != 0, loaded = w.scaled;
    w.scaled = false;
    if (scaled && !loaded) return w.stop_at(Stop::Illegal, i);
    scalar_setup(w, i);
    use_mxcsr(w, 0x1f80);
    alignas(64) float a[depth], columns[depth][rows], one[depth];
    for (unsigned j = 0; j < rows; ++j) {
        decode_row<rows, depth>(lanes_of(w, i.src[1]), format_b, bytes, j, one);
        for (unsigned k = 0; k < depth; ++k) columns[k][j] = one[k];
    }
    alignas(64) u32 result[rows * rows];
    for (unsigned row = 0; row < rows; ++row) {
        const unsigned number = S::result_register(0, row), first = S::result_lane(0, row);
        alignas(64) float sums[rows];
        for (unsigned j = 0; j < rows; ++j) sums[j] = addend<S>(w, i, number, first + j);
        decode_row<rows, depth>(lanes_of(w, i.src[0]), format_a, bytes, row, a);
        for (unsigned block = 0; block < depth / 32; ++block) {
            alignas(64) float products[rows] = {};
            for (unsigned k = 32 * block; k < 32 * (block + 1); ++k)
                for (unsigned j = 0; j < rows; ++j) products[j] = accumulate(products[j], a[k], columns[k][j]);
            for (unsigned j = 0; j < rows; ++j) {
                const double scale =
                    scaled ? scale_of(w.scales[0][block * rows + row]) * scale_of(w.scales[1][block * rows + j]) : 1;
                sums[j] = static_cast<float>(static_cast<double>(products[j]) * scale + static_cast<double>(sums[j]));
            }
        }
        for (unsigned j = 0; j < rows; ++j) result[number * kLanes + first + j] = bits<u32>(sums[j]);
    }
    __builtin_memcpy(lanes_of(w, i.dst), result, sizeof result);
    return next_of(i);
}

}  // namespace

void fill_mfma(Handler* handlers) {
#define MFMA(op, name, on, cd, ab, rows, depth, blocks, element) \
    handlers[index(Op::name)] = &multiply_matrices<Shape<element, rows, depth, blocks>>;
#define SMFMAC(op, name, on, d, a, b, rows, depth, blocks, element) \
    handlers[index(Op::name)] = &multiply_sparse<Shape<element, rows, depth, blocks>>;
#define MFMA_FORMATS(op, name, on, cd, rows, depth) handlers[index(Op::name)] = &multiply_formats<rows, depth>;
#include "tools/kfdemu/isa/rows/mfma.inc"
#undef MFMA
#undef SMFMAC
#undef MFMA_FORMATS
}
#else
void fill_mfma(Handler*) {}
#endif

}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
