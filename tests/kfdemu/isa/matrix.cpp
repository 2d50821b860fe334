// Dot products and matrix multiply-add. The layout of matrix elements is written here as in the MI200 ISA manual's
// tables, shape by shape, not as the executor computes it.
#include <cmath>
#include <functional>

#include "tests/kfdemu/isa/case_table.hpp"
#include "tests/kfdemu/isa/random.hpp"
#include "tests/support/catch.hpp"

using namespace test_isa;
using namespace kfdemu::isa;

namespace {

struct Dot {
    const char* name;
    u32 a, b, c, expected;
    u32 low = 0, high = 3u << 27;  ///< OP_SEL_HI[1:0]; [2] is in the first dword
};

/// 16-bit floats of small whole numbers.
u32 half(int value) {
    if (value == 0) return 0;
    const float f = static_cast<float>(value);
    const u32 raw = bits(f);
    return (raw >> 16 & 0x8000) | (((raw >> 23 & 0xff) - 112) << 10) | (raw >> 13 & 0x3ff);
}
u32 halves(int low, int high) { return half(low) | half(high) << 16; }

}  // namespace

TEST_CASE("dot products of halves, bytes and nibbles", "[isa][matrix]") {
    const Dot cases[] = {
        {"v_dot2_f32_f16", halves(2, 3), halves(5, 7), bits(0.5f), bits(31.5f)},
        {"v_dot2_f32_f16", halves(2, 3), halves(5, 7), bits(0.5f), bits(29.5f), 1u << 11,
         2u << 27},  // a's halves swapped
        {"v_dot2_f32_f16", halves(2, 3), halves(5, 7), bits(0.5f), bits(-11.5f), 1u << 8, 3u << 27 | 4u << 29},
        {"v_dot2_f32_f16", halves(2, 3), halves(5, 7), bits(0.5f), bits(1.0f), kClamp},
        {"v_dot2_f32_f16", 0, 0, 1, 0},                     // a denormal addend is flushed
        {"v_dot2_f32_f16", 0x0001, halves(1024, 0), 0, 0},  // gfx90a: a denormal factor, too
        {"v_dot2_f32_f16", halves(1, 0), 0x7c00, 0, 0x7f800000},
        {"v_dot2_i32_i16", 0xffff0002, 0x00050003, 10, 11},
        {"v_dot2_i32_i16", 0x80008000, 0x80008000, 0, 0x80000000},
        {"v_dot2_i32_i16", 0x80008000, 0x80008000, 0, 0x7fffffff, kClamp},
        {"v_dot2_u32_u16", 0xffff0002, 0x00010003, 10, 0xffff + 6 + 10},
        {"v_dot2_u32_u16", 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, kClamp},
        {"v_dot4_i32_i8", 0xff020304, 0x01010180, 1000, 1000 - 1 + 2 + 3 - 512},
        {"v_dot4_i32_i8", 0x7f7f7f7f, 0x7f7f7f7f, 0x7fffffff, 0x7fffffff, kClamp},
        {"v_dot4_u32_u8", 0xff020304, 0x01010180, 1000, 1000 + 255 + 2 + 3 + 512},
        {"v_dot8_i32_i4", 0xf1234567, 0x11111111, 100, 100 - 1 + 1 + 2 + 3 + 4 + 5 + 6 + 7},
        {"v_dot8_i32_i4", 0x88888888, 0x88888888, 0, 512},
        {"v_dot8_u32_u4", 0xf1234567, 0x11111111, 100, 100 + 15 + 28},
        {"v_dot8_u32_u4", 0xffffffff, 0xffffffff, 0xffffffff, 1799},
    };
    for (const Level level : levels()) {
        for (const Dot& test : cases) {
            INFO(test.name << " on " << name(level) << std::hex << " " << test.a << " " << test.b);
            Machine m{Target::gfx90a, level};
            m.vgpr(1, test.a);
            m.vgpr(2, test.b);
            m.vgpr(3, test.c);
            m.vgpr(0, 7);
            m.exec(~u64{4});
            REQUIRE(m.run(vop3(test.name, 0, v(1), v(2), v(3), test.low | 0x4000, test.high)) == Stop::End);
            CHECK(m.lane(0, 9) == test.expected);
            CHECK(m.lane(0, 2) == 7);
        }
    }
}

TEST_CASE("NEG_HI of v_dot2_f32_f16 leaves the addend as it is", "[isa][matrix]") {
    Machine m;
    m.vgpr(1, 0);
    m.vgpr(2, 0);
    m.vgpr(3, bits(-1.0f));
    REQUIRE(m.run(vop3("v_dot2_f32_f16", 0, v(1), v(2), v(3), 0x4400, 3u << 27)) == Stop::End);
    CHECK(as_float(m.lane(0, 9)) == -1);
}

TEST_CASE("v_dot2_f32_f16 keeps 16-bit denormals before gfx90a", "[isa][matrix]") {
    Machine m{Target::gfx906};
    m.vgpr(1, 0x0001);
    m.vgpr(2, halves(1024, 0));
    m.run(vop3("v_dot2_f32_f16", 0, v(1), v(2), 128, 0x4000, 3u << 27, Target::gfx906));
    CHECK(as_float(m.lane(0, 9)) == 0x1p-14f);
}

TEST_CASE("v_dot2c adds to its destination", "[isa][matrix]") {
    Machine m;
    m.vgpr(1, halves(2, 3));
    m.vgpr(2, halves(5, 7));
    m.vgpr(0, bits(1.0f));
    m.run(vop2("v_dot2c_f32_f16", 0, v(1), 2));
    CHECK(as_float(m.lane(0, 9)) == 32.0f);
    m.run(vop2("v_dot2c_f32_f16", 0, v(1), 2));
    CHECK(as_float(m.lane(0, 9)) == 63.0f);
}

namespace {

enum class Factor { f32, f16, bf16, i8, f64, fp8, bf8 };

/// A shape and the manual's rule for A: which lane holds row i, depth k of block b, and as which element of that lane.
struct Mfma {
    const char* name;
    unsigned rows, depth, blocks;
    Factor element;
    unsigned per_lane;  ///< elements of A that a lane holds: K runs through them first
    Target target = Target::gfx90a;
    Factor b = element;
};

constexpr Mfma kShapes[] = {
    {"v_mfma_f32_32x32x1f32", 32, 1, 2, Factor::f32, 1},
    {"v_mfma_f32_16x16x1f32", 16, 1, 4, Factor::f32, 1},
    {"v_mfma_f32_4x4x1f32", 4, 1, 16, Factor::f32, 1},
    {"v_mfma_f32_32x32x2f32", 32, 2, 1, Factor::f32, 1},
    {"v_mfma_f32_16x16x4f32", 16, 4, 1, Factor::f32, 1},
    {"v_mfma_f32_32x32x4f16", 32, 4, 2, Factor::f16, 4},
    {"v_mfma_f32_16x16x4f16", 16, 4, 4, Factor::f16, 4},
    {"v_mfma_f32_4x4x4f16", 4, 4, 16, Factor::f16, 4},
    {"v_mfma_f32_32x32x8f16", 32, 8, 1, Factor::f16, 4},
    {"v_mfma_f32_16x16x16f16", 16, 16, 1, Factor::f16, 4},
    {"v_mfma_i32_32x32x4i8", 32, 4, 2, Factor::i8, 4},
    {"v_mfma_i32_16x16x4i8", 16, 4, 4, Factor::i8, 4},
    {"v_mfma_i32_4x4x4i8", 4, 4, 16, Factor::i8, 4},
    {"v_mfma_i32_32x32x8i8", 32, 8, 1, Factor::i8, 4},
    {"v_mfma_i32_16x16x16i8", 16, 16, 1, Factor::i8, 4},
    {"v_mfma_f32_32x32x4bf16_1k", 32, 4, 2, Factor::bf16, 4},
    {"v_mfma_f32_16x16x4bf16_1k", 16, 4, 4, Factor::bf16, 4},
    {"v_mfma_f32_4x4x4bf16_1k", 4, 4, 16, Factor::bf16, 4},
    {"v_mfma_f32_32x32x8bf16_1k", 32, 8, 1, Factor::bf16, 4},
    {"v_mfma_f32_16x16x16bf16_1k", 16, 16, 1, Factor::bf16, 4},
    {"v_mfma_f32_32x32x2bf16", 32, 2, 2, Factor::bf16, 2},
    {"v_mfma_f32_16x16x2bf16", 16, 2, 4, Factor::bf16, 2},
    {"v_mfma_f32_4x4x2bf16", 4, 2, 16, Factor::bf16, 2},
    {"v_mfma_f32_32x32x4bf16", 32, 4, 1, Factor::bf16, 2},
    {"v_mfma_f32_16x16x8bf16", 16, 8, 1, Factor::bf16, 2},
    {"v_mfma_f64_16x16x4f64", 16, 4, 1, Factor::f64, 1},
    {"v_mfma_f64_4x4x4f64", 4, 4, 4, Factor::f64, 1},
    {"v_mfma_f32_16x16x8_xf32", 16, 8, 1, Factor::f32, 2, Target::gfx942},
    {"v_mfma_f32_32x32x4_xf32", 32, 4, 1, Factor::f32, 2, Target::gfx942},
    {"v_mfma_i32_32x32x16_i8", 32, 16, 1, Factor::i8, 8, Target::gfx942},
    {"v_mfma_i32_16x16x32_i8", 16, 32, 1, Factor::i8, 8, Target::gfx942},
    {"v_mfma_f32_16x16x32_bf8_bf8", 16, 32, 1, Factor::bf8, 8, Target::gfx942, Factor::bf8},
    {"v_mfma_f32_16x16x32_bf8_fp8", 16, 32, 1, Factor::bf8, 8, Target::gfx942, Factor::fp8},
    {"v_mfma_f32_16x16x32_fp8_bf8", 16, 32, 1, Factor::fp8, 8, Target::gfx942, Factor::bf8},
    {"v_mfma_f32_16x16x32_fp8_fp8", 16, 32, 1, Factor::fp8, 8, Target::gfx942, Factor::fp8},
    {"v_mfma_f32_32x32x16_bf8_bf8", 32, 16, 1, Factor::bf8, 8, Target::gfx942, Factor::bf8},
    {"v_mfma_f32_32x32x16_bf8_fp8", 32, 16, 1, Factor::bf8, 8, Target::gfx942, Factor::fp8},
    {"v_mfma_f32_32x32x16_fp8_bf8", 32, 16, 1, Factor::fp8, 8, Target::gfx942, Factor::bf8},
    {"v_mfma_f32_32x32x16_fp8_fp8", 32, 16, 1, Factor::fp8, 8, Target::gfx942, Factor::fp8},
    {"v_mfma_f32_32x32x4bf16_1k", 32, 4, 2, Factor::bf16, 4, Target::gfx942},
    {"v_mfma_f32_16x16x16bf16_1k", 16, 16, 1, Factor::bf16, 4, Target::gfx942},
    {"v_mfma_f32_16x16x32_f16", 16, 32, 1, Factor::f16, 8, Target::gfx950},
    {"v_mfma_f32_32x32x16_f16", 32, 16, 1, Factor::f16, 8, Target::gfx950},
    {"v_mfma_f32_16x16x32_bf16", 16, 32, 1, Factor::bf16, 8, Target::gfx950},
    {"v_mfma_f32_32x32x16_bf16", 32, 16, 1, Factor::bf16, 8, Target::gfx950},
    {"v_mfma_i32_16x16x64_i8", 16, 64, 1, Factor::i8, 16, Target::gfx950},
    {"v_mfma_i32_32x32x32_i8", 32, 32, 1, Factor::i8, 16, Target::gfx950},
    {"v_mfma_f32_16x16x32_bf8_fp8_ocp", 16, 32, 1, Factor::bf8, 8, Target::gfx950, Factor::fp8},
    {"v_mfma_f32_32x32x16_fp8_bf8_ocp", 32, 16, 1, Factor::fp8, 8, Target::gfx950, Factor::bf8},
};

/// Lanes of one depth group stand together: block after block, row after row; the next group follows.
unsigned input_lane(const Mfma& s, unsigned b, unsigned i, unsigned k) {
    const unsigned group = k / s.per_lane;
    return group * (s.rows * s.blocks) + b * s.rows + i;
}

struct Place {
    unsigned reg, lane;
};
/// Where row i, column j of block b of C and D is.
Place output_place(const Mfma& s, unsigned b, unsigned i, unsigned j) {
    if (s.element == Factor::f64) {
        if (s.rows == 16) return {2 * (i / 4), 16 * (i % 4) + j};
        return {0, 16 * i + 4 * b + j};
    }
    if (s.rows == 32) return {16 * b + 4 * (i / 8) + i % 4, 32 * (i / 4 % 2) + j};
    if (s.rows == 16) return {4 * b + i % 4, 16 * (i / 4) + j};
    return {i, 4 * b + j};
}

/// FP8 or BF8 of a number of at most 4 in magnitude: one bit of mantissa is enough.
u32 small_float(int value, unsigned mantissa, unsigned bias) {
    if (value == 0) return 0;
    const unsigned size = static_cast<unsigned>(value < 0 ? -value : value), exponent = size >= 4   ? 2
                                                                                        : size >= 2 ? 1
                                                                                                    : 0;
    const unsigned fraction = (size << mantissa >> exponent) - (1u << mantissa);
    return (value < 0 ? 0x80u : 0) | (exponent + bias) << mantissa | fraction;
}

/// Writes a small whole number as an element of `first` and its successors.
void put(Machine& m, Target target, unsigned first, Factor element, unsigned lane, unsigned number, int value) {
    const unsigned ocp = target == Target::gfx950;  // its biases are less by one
    const u32 byte = element == Factor::fp8   ? small_float(value, 3, 8 - ocp)
                     : element == Factor::bf8 ? small_float(value, 2, 16 - ocp)
                                              : static_cast<u32>(value) & 0xff;
    switch (element) {
        case Factor::f32:
            m.lane(first + number, lane) = bits(static_cast<float>(value));
            return;
        case Factor::f64: {
            const u64 raw = bits(static_cast<double>(value));
            m.lane(first, lane) = static_cast<u32>(raw);
            m.lane(first + 1, lane) = static_cast<u32>(raw >> 32);
            return;
        }
        case Factor::i8:
        case Factor::fp8:
        case Factor::bf8: {
            u32& word = m.lane(first + number / 4, lane);
            word = (word & ~(0xffu << 8 * (number % 4))) | byte << 8 * (number % 4);
            return;
        }
        default: {
            const u32 raw = element == Factor::f16 ? half(value) : bits(static_cast<float>(value)) >> 16;
            u32& word = m.lane(first + number / 2, lane);
            const unsigned shift = number % 2 * 16;
            word = (word & ~(0xffffu << shift)) | raw << shift;
        }
    }
}

int result(Machine& m, const Mfma& s, unsigned first, Place place) {
    const u32 low = m.lane(first + place.reg, place.lane);
    if (s.element == Factor::i8) return static_cast<int>(low);
    if (s.element != Factor::f64) return static_cast<int>(as_float(low));
    return static_cast<int>(as_double(low | u64{m.lane(first + place.reg + 1, place.lane)} << 32));
}

using Matrix = std::vector<int>;

struct Modifiers {
    unsigned cbsz = 0, abid = 0, blgp = 0;
};

constexpr unsigned kA = 2, kB = 6, kD = 16;

/// v[16...] = v[2...] * v[6...] + 3 or 0.5, for random small numbers, which every sum holds exactly.
void check_shape(const Mfma& s, Level level, Modifiers modifiers, u64 exec) {
    INFO(s.name << " on " << name(level) << " cbsz " << modifiers.cbsz << " abid " << modifiers.abid << " blgp "
                << modifiers.blgp);
    Machine m{s.target, level};
    Random random{s.depth * 100u + s.rows};
    const bool tiny = s.element == Factor::bf8 || s.b == Factor::bf8 || s.element == Factor::fp8;
    const auto number = [&] { return static_cast<int>(random.below(tiny ? 9 : 15)) - (tiny ? 4 : 7); };
    const unsigned size = s.blocks * s.rows * s.depth;
    Matrix a(size), b(size);
    const auto at = [&s](unsigned block, unsigned i, unsigned k) { return (block * s.rows + i) * s.depth + k; };
    for (unsigned block = 0; block < s.blocks; ++block) {
        for (unsigned i = 0; i < s.rows; ++i) {
            for (unsigned k = 0; k < s.depth; ++k) {
                a[at(block, i, k)] = number();
                b[at(block, i, k)] = number();
                put(m, s.target, kA, s.element, input_lane(s, block, i, k), k % s.per_lane, a[at(block, i, k)]);
                put(m, s.target, kB, s.b, input_lane(s, block, i, k), k % s.per_lane, b[at(block, i, k)]);
            }
        }
    }
    m.exec(exec);
    const u32 three = s.element == Factor::i8 ? 131 : 244;  // 3, or 2.0
    const int c = s.element == Factor::i8 ? 3 : 2;
    REQUIRE(m.run(vop3(s.name, kD, v(kA), v(kB), three, modifiers.cbsz << 8 | modifiers.abid << 11,
                       modifiers.blgp << 29, s.target)) == Stop::End);
    unsigned wrong = 0;
    for (unsigned block = 0; block < s.blocks; ++block) {
        const unsigned group = 1u << modifiers.cbsz, a_block = block - block % group + modifiers.abid;
        for (unsigned i = 0; i < s.rows; ++i) {
            for (unsigned j = 0; j < s.rows; ++j) {
                int expected = c;
                for (unsigned k = 0; k < s.depth; ++k) {
                    unsigned b_block = block, b_column = j, b_depth = k;
                    if (modifiers.blgp == 1) {  // lanes 0-31 for all: of 32x32, the first block or depth group
                        b_block = 0;
                        b_depth = k % s.per_lane;
                    }
                    expected += a[at(a_block, i, k)] * b[at(b_block, b_column, b_depth)];
                }
                wrong += result(m, s, kD, output_place(s, block, i, j)) != expected;
            }
        }
    }
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("MFMA multiplies matrices of every shape, regardless of EXEC", "[isa][matrix]") {
    for (const Level level : levels()) {
        for (const Mfma& shape : kShapes) {
            check_shape(shape, level, {}, kAll);
            check_shape(shape, level, {}, 0x5555);
        }
    }
}

namespace {

/// D of a sparse product, of which this test knows A, B and the places.
void check_sparse(const Mfma& s, Level level, unsigned cbsz, unsigned abid) {
    INFO(s.name << " on " << name(level) << " cbsz " << cbsz << " abid " << abid);
    Machine m{s.target, level};
    Random random{s.depth * 10u + s.rows + abid};
    const auto number = [&] { return static_cast<int>(random.below(7)) - 3; };
    const Mfma given{s.name, s.rows, s.depth / 2, 1, s.element, s.per_lane / 2, s.target};
    const unsigned index_bits = 2 * given.per_lane;
    const unsigned set = cbsz != 0 ? 0 : abid % (32 / index_bits) * index_bits;
    std::vector<int> a(s.rows * s.depth), b(s.rows * s.depth);
    for (unsigned lane = 0; lane < 64; ++lane) m.lane(14, lane) = random.word();
    for (unsigned i = 0; i < s.rows; ++i) {
        for (unsigned k = 0; k < given.depth; ++k) {
            const unsigned lane = input_lane(given, 0, i, k), n = k % given.per_lane;
            // Two places of four differ, the first is lower.
            if (k % 2 == 0) {
                const unsigned low = random.below(3), high = low + 1 + random.below(3 - low), shift = set + 2 * n;
                m.lane(14, lane) = (m.lane(14, lane) & ~(15u << shift)) | (low | high << 2) << shift;
            }
            const unsigned place = m.lane(14, lane) >> (set + 2 * n) & 3;
            const int value = number();
            a[i * s.depth + k / 2 * 4 + place] = value;
            put(m, s.target, kA, s.element, lane, n, value);
        }
        for (unsigned k = 0; k < s.depth; ++k) {
            b[i * s.depth + k] = number();
            put(m, s.target, kB, s.b, input_lane(s, 0, i, k), k % s.per_lane, b[i * s.depth + k]);
        }
    }
    const bool whole = s.element == Factor::i8;
    for (unsigned n = 0; n < 16; ++n)
        for (unsigned lane = 0; lane < 64; ++lane) m.lane(kD + n, lane) = whole ? 5 : bits(5.0f);
    REQUIRE(m.run(vop3(s.name, kD, v(kA), v(kB), v(14), cbsz << 8 | abid << 11, 0, s.target)) == Stop::End);
    unsigned wrong = 0;
    for (unsigned i = 0; i < s.rows; ++i) {
        for (unsigned j = 0; j < s.rows; ++j) {
            int expected = 5;
            for (unsigned k = 0; k < s.depth; ++k) expected += a[i * s.depth + k] * b[j * s.depth + k];
            wrong += result(m, s, kD, output_place(s, 0, i, j)) != expected;
        }
    }
    CHECK(wrong == 0);
}

constexpr Mfma kSparseShapes[] = {
    {"v_smfmac_f32_16x16x32_f16", 16, 32, 1, Factor::f16, 8, Target::gfx942},
    {"v_smfmac_f32_32x32x16_f16", 32, 16, 1, Factor::f16, 8, Target::gfx942},
    {"v_smfmac_f32_16x16x32_bf16", 16, 32, 1, Factor::bf16, 8, Target::gfx942},
    {"v_smfmac_f32_32x32x16_bf16", 32, 16, 1, Factor::bf16, 8, Target::gfx942},
    {"v_smfmac_i32_16x16x64_i8", 16, 64, 1, Factor::i8, 16, Target::gfx942},
    {"v_smfmac_i32_32x32x32_i8", 32, 32, 1, Factor::i8, 16, Target::gfx942},
    {"v_smfmac_f32_16x16x64_bf8_fp8", 16, 64, 1, Factor::bf8, 16, Target::gfx942, Factor::fp8},
    {"v_smfmac_f32_16x16x64_fp8_bf8", 16, 64, 1, Factor::fp8, 16, Target::gfx942, Factor::bf8},
    {"v_smfmac_f32_32x32x32_bf8_bf8", 32, 32, 1, Factor::bf8, 16, Target::gfx942},
    {"v_smfmac_f32_32x32x32_fp8_fp8", 32, 32, 1, Factor::fp8, 16, Target::gfx942},
    {"v_smfmac_f32_16x16x64_f16", 16, 64, 1, Factor::f16, 16, Target::gfx950},
    {"v_smfmac_f32_32x32x32_bf16", 32, 32, 1, Factor::bf16, 16, Target::gfx950},
    {"v_smfmac_i32_16x16x128_i8", 16, 128, 1, Factor::i8, 32, Target::gfx950},
    {"v_smfmac_i32_32x32x64_i8", 32, 64, 1, Factor::i8, 32, Target::gfx950},
    {"v_smfmac_f32_16x16x128_fp8_bf8", 16, 128, 1, Factor::fp8, 32, Target::gfx950, Factor::bf8},
    {"v_smfmac_f32_32x32x64_bf8_fp8", 32, 64, 1, Factor::bf8, 32, Target::gfx950, Factor::fp8},
};

}  // namespace

TEST_CASE("SMFMAC multiplies two of every four elements, and adds to its destination", "[isa][matrix]") {
    for (const Level level : levels()) {
        for (const Mfma& s : kSparseShapes) {
            for (unsigned abid = 0; abid < 4; ++abid) check_sparse(s, level, 0, abid);
            check_sparse(s, level, 1, 3);
        }
    }
}

TEST_CASE("BLGP of 64-bit floats negates A, B and C on gfx942, and is reserved before", "[isa][matrix]") {
    for (unsigned blgp = 0; blgp < 8; ++blgp) {
        for (const Target target : {Target::gfx90a, Target::gfx942}) {
            Machine m{target};
            for (unsigned lane = 0; lane < 64; ++lane) {
                m.lane(kA + 1, lane) = 0x40000000;  // 2
                m.lane(kB + 1, lane) = 0x40080000;  // 3
            }
            const Stop stop =
                m.run(vop3("v_mfma_f64_4x4x4f64", kD, v(kA), v(kB), 242, 0, blgp << 29, target));  // plus 1
            CHECK(stop == (blgp == 0 || target == Target::gfx942 ? Stop::End : Stop::Illegal));
            if (stop != Stop::End) continue;
            const double product = (blgp & 1) != (blgp >> 1 & 1) ? -24 : 24, c = (blgp & 4) != 0 ? -1 : 1;
            CHECK(as_double(m.lane(kD, 9) | u64{m.lane(kD + 1, 9)} << 32) == product + c);
        }
    }
}

TEST_CASE("factors of XF32 have 10 bits after the point", "[isa][matrix]") {
    Machine m{Target::gfx942};
    for (unsigned lane = 0; lane < 64; ++lane) {
        m.lane(kA, lane) = bits(1.0f + 0x1p-11f);          // a tie, to even
        m.lane(kA + 1, lane) = bits(1.0f + 3 * 0x1p-11f);  // a tie, to even
        m.lane(kB, lane) = bits(1.0f), m.lane(kB + 1, lane) = bits(1.0f + 0x1.8p-11f);
    }
    REQUIRE(m.run(vop3("v_mfma_f32_16x16x8_xf32", kD, v(kA), v(kB), 128, 0, 0, Target::gfx942)) == Stop::End);
    const float second = 1.0f + 0x1p-9f, b = 1.0f + 0x1p-10f;
    CHECK(as_float(m.lane(kD, 5)) == 4 * (1.0f + second * b));
}

TEST_CASE("CBSZ and ABID give several blocks the same A", "[isa][matrix]") {
    for (const Mfma& shape : kShapes) {
        if (shape.element == Factor::f64) continue;
        for (unsigned cbsz = 1; (1u << cbsz) <= shape.blocks; ++cbsz) {
            for (unsigned abid = 0; abid < (1u << cbsz); ++abid)
                check_shape(shape, kfdemu::isa::best_level(), {cbsz, abid, 0}, kAll);
        }
    }
}

TEST_CASE("BLGP gives lanes of B to others", "[isa][matrix]") {
    for (const Mfma& shape : kShapes) {
        if (shape.rows == 32) check_shape(shape, kfdemu::isa::best_level(), {0, 0, 1}, kAll);
    }
    // One row and one depth a block: D's row i of block b is A[i] * B[j], lanes 4b to 4b + 3.
    const std::function<unsigned(unsigned)> patterns[] = {
        [](unsigned l) { return l; },           [](unsigned l) { return l % 32; },
        [](unsigned l) { return l % 32 + 32; }, [](unsigned l) { return (l + 16) % 64; },
        [](unsigned l) { return l % 16; },      [](unsigned l) { return l % 16 + 16; },
        [](unsigned l) { return l % 16 + 32; }, [](unsigned l) { return l % 16 + 48; },
    };
    for (u32 blgp = 0; blgp < 8; ++blgp) {
        Machine m;
        m.vgpr(kA, bits(1.0f));
        for (u32 l = 0; l < 64; ++l) m.lane(kB, l) = bits(static_cast<float>(l));
        REQUIRE(m.run(vop3("v_mfma_f32_4x4x1f32", kD, v(kA), v(kB), 128, 0, blgp << 29)) == Stop::End);
        for (u32 l = 0; l < 64; ++l) {
            INFO("blgp " << blgp << " lane " << l);
            CHECK(as_float(m.lane(kD + 2, l)) == static_cast<float>(patterns[blgp](l)));
        }
    }
}

TEST_CASE("MFMA reads and writes AccVGPRs according to the ACC bits", "[isa][matrix]") {
    Machine m;
    u32* const acc = m.wave().acc;
    for (u32 l = 0; l < 64; ++l) {
        acc[kA * 64 + l] = bits(2.0f);
        for (u32 n = 0; n < 4; ++n) acc[(8 + n) * 64 + l] = bits(0.25f);
    }
    m.vgpr(kB, bits(3.0f));
    m.run(vop3("v_mfma_f32_4x4x1f32", 8, v(kA), v(kB), v(8), 1u << 15,
               1u << 27));  // a[8:11] = a2 * v6 + a[8:11]
    for (u32 n = 0; n < 4; ++n) CHECK(as_float(acc[(8 + n) * 64 + 33]) == 6.25f);
    CHECK(m.lane(8, 33) == 0);
    // gfx908 has C and D there always.
    Machine old{Target::gfx908};
    old.vgpr(kA, bits(2.0f));
    old.vgpr(kB, bits(3.0f));
    old.run(vop3("v_mfma_f32_4x4x1f32", 8, v(kA), v(kB), 242, 0, 0, Target::gfx908));
    CHECK(as_float(old.wave().acc[9 * 64 + 33]) == 7.0f);
}

TEST_CASE("MFMA keeps 32-bit denormals and MODE out, and gfx90a flushes 16-bit ones", "[isa][matrix]") {
    Machine m;
    set_mode(m.wave(), 0x03);  // towards zero, no denormals
    m.vgpr(kA, 1);
    m.vgpr(kB, bits(3.0f));
    m.run(vop3("v_mfma_f32_4x4x1f32", kD, v(kA), v(kB), 128));
    CHECK(m.lane(kD, 5) == 3);
    m.vgpr(kA, bits(1.0f));
    m.vgpr(kB, bits(0x1.8p-24f));
    m.run(vop3("v_mfma_f32_4x4x1f32", kD, v(kA), v(kB), 242));
    CHECK(m.lane(kD, 5) == 0x3f800001);  // to nearest
    m.run(vop2("v_add_f32", 0, 242, kB));
    CHECK(m.lane(0, 5) == 0x3f800000);  // MODE is back
    for (const Target target : {Target::gfx908, Target::gfx90a}) {
        Machine h{target};
        h.vgpr(kA, 1);
        h.vgpr(kB, half(1024));
        h.run(vop3("v_mfma_f32_4x4x4f16", kD, v(kA), v(kB), 128, 0, 0, target));
        const u32 got = target == Target::gfx908 ? h.wave().acc[kD * 64 + 5] : h.lane(kD, 5);
        CHECK(as_float(got) == (target == Target::gfx908 ? 0x1p-14f : 0.0f));
    }
}

TEST_CASE("MFMA stops at a block that does not exist", "[isa][matrix]") {
    Machine m;
    CHECK(m.run(vop3("v_mfma_f32_32x32x1f32", kD, v(kA), v(kB), 128, 2u << 8)) == Stop::Illegal);
    CHECK(m.run(vop3("v_mfma_f32_32x32x1f32", kD, v(kA), v(kB), 128, 1u << 8 | 2u << 11)) == Stop::Illegal);
    CHECK(m.run(vop3("v_mfma_f64_4x4x4f64", kD, v(kA), v(kB), 128, 0, 1u << 29)) == Stop::Illegal);
}
