// Products of matrices of GFX12 (WMMA, SWMMAC).
#include "tests/kfdemu/isa/samples.hpp"
#include "tests/kfdemu/isa/tiles.hpp"
#include "tests/support/catch.hpp"

using namespace test_isa;
using namespace kfdemu::isa;

namespace {

struct ElementPlace {
    unsigned number, lane;  ///< among the elements of the lane
};
/// Element k of a row of A, or of a column of B, of `width` bits (AMD's matrix instruction calculator, RDNA 4).
ElementPlace factor_place(unsigned width, unsigned depth, unsigned row, unsigned k, unsigned lanes) {
    const bool wide = lanes == 64;
    if (width == 16) {
        const unsigned number = wide ? k % 4 : k / 8 * 4 + k % 4;
        return {number, wide ? k / 8 * 32 + k / 4 % 2 * 16 + row : k / 4 % 2 * 16 + row};
    }
    if (width == 8) return {wide ? k % 4 : k % 8, wide ? k / 4 % 2 * 32 + k / 8 * 16 + row : k / 8 * 16 + row};
    if (depth == 16) return {k % 8, k / 8 * 16 + row};
    return {wide ? k % 8 : k % 16, wide ? k / 8 % 2 * 32 + k / 16 * 16 + row : k / 16 * 16 + row};
}
/// The same of a sparse product's B.
ElementPlace sparse_factor_place(unsigned width, unsigned depth, unsigned column, unsigned k, unsigned lanes) {
    const bool wide = lanes == 64;
    if (width == 16) return {wide ? k % 8 : k / 16 * 8 + k % 8, wide ? k / 8 * 16 + column : k / 8 % 2 * 16 + column};
    if (depth == 64)
        return {wide ? k % 16 : k % 32, wide ? k / 16 % 2 * 32 + k / 32 * 16 + column : k / 32 * 16 + column};
    return {wide ? k % 8 : k % 16, wide ? k / 8 % 2 * 32 + k / 16 * 16 + column : k / 16 * 16 + column};
}
/// And of its A, of whose elements from k to k + 3 two are given: the first of them.
ElementPlace given_place(unsigned width, unsigned depth, unsigned row, unsigned k, unsigned lanes) {
    if (width == 4 && depth == 32) return {k % 16 / 2, k / 16 * 16 + row};
    const ElementPlace b = sparse_factor_place(width, depth, row, k, lanes);
    return {b.number / 2, b.lane};
}
ElementPlace result_place(unsigned row, unsigned column, unsigned lanes) {
    return lanes == 64 ? ElementPlace{row % 4, row / 4 % 2 * 32 + row / 8 * 16 + column}
                       : ElementPlace{row % 8, row / 8 * 16 + column};
}

u32 fp8_code(int n) {
    constexpr u32 codes[] = {0, 0x38, 0x40, 0x44};
    return codes[std::abs(n)] | (n < 0 ? 0x80 : 0);
}
u32 bf8_code(int n) {
    constexpr u32 codes[] = {0, 0x3c, 0x40, 0x42};
    return codes[std::abs(n)] | (n < 0 ? 0x80 : 0);
}
u32 single_code(int n) { return bits(static_cast<float>(n)); }

struct TileProduct {
    const char* name;
    u32 opcode;
    unsigned depth, width, result_width;
    u32 (*a)(int);
    u32 (*b)(int);
    u32 (*result)(int);
    bool is_signed;
};

double value_of_brain(u32 brain) { return static_cast<double>(as_float(brain << 16)); }

constexpr unsigned kSum = 0, kLeft = 8, kRight = 16, kPlaces = 30;

void check_result(Machine& m, const TileProduct& p, unsigned row, unsigned column, int wanted) {
    const ElementPlace at = result_place(row, column, m.wave().width);
    INFO(p.name << " row " << row << " column " << column);
    const u32 got = m.packed(kSum, at.lane, at.number, p.result_width);
    if (p.result_width == 32) {
        REQUIRE(got == p.result(wanted));
        return;
    }
    REQUIRE((p.result == half_code ? value_of_half(got) : value_of_brain(got)) == wanted);
}
u32 low_places(u32 code, unsigned width) { return width == 32 ? code : code & ((1u << width) - 1); }

}  // namespace

TEST_CASE("products of tiles: each lane has elements of its own", "[isa][gfx1201][matrix]") {
    const TileProduct products[] = {
        {"v_wmma_f32_16x16x16_f16", 0x40, 16, 16, 32, half_code, half_code, single_code, false},
        {"v_wmma_f32_16x16x16_bf16", 0x41, 16, 16, 32, brain_code, brain_code, single_code, false},
        {"v_wmma_f16_16x16x16_f16", 0x42, 16, 16, 16, half_code, half_code, half_code, false},
        {"v_wmma_bf16_16x16x16_bf16", 0x43, 16, 16, 16, brain_code, brain_code, brain_code, false},
        {"v_wmma_i32_16x16x16_iu8", 0x44, 16, 8, 32, integer_code, integer_code, integer_code, true},
        {"v_wmma_i32_16x16x16_iu4", 0x45, 16, 4, 32, integer_code, integer_code, integer_code, true},
        {"v_wmma_f32_16x16x16_fp8_fp8", 0x46, 16, 8, 32, fp8_code, fp8_code, single_code, false},
        {"v_wmma_f32_16x16x16_fp8_bf8", 0x47, 16, 8, 32, fp8_code, bf8_code, single_code, false},
        {"v_wmma_f32_16x16x16_bf8_fp8", 0x48, 16, 8, 32, bf8_code, fp8_code, single_code, false},
        {"v_wmma_f32_16x16x16_bf8_bf8", 0x49, 16, 8, 32, bf8_code, bf8_code, single_code, false},
        {"v_wmma_i32_16x16x32_iu4", 0x4a, 32, 4, 32, integer_code, integer_code, integer_code, true},
    };
    for (const TileProduct& p : products)
        for (const unsigned lanes : widths()) {
            Machine m{Target::gfx1201, best_level(), lanes};
            m.exec(1);  // has no effect
            for (unsigned n = 0; n < 16; ++n)
                for (unsigned k = 0; k < p.depth; ++k) {
                    const ElementPlace at = factor_place(p.width, p.depth, n, k, lanes);
                    m.put_packed(kLeft, at.lane, at.number, p.width, low_places(p.a(left(n, k)), p.width));
                    m.put_packed(kRight, at.lane, at.number, p.width, low_places(p.b(right(n, k)), p.width));
                }
            // C is 1, as a constant, and D is elsewhere.
            const u32 one = p.is_signed ? 129 : 242;
            const u32 signs = p.is_signed ? 3u << 29 : 0;
            REQUIRE(m.run({0xcc004000 | p.opcode << 16 | kSum,
                           (256 + kLeft) | (256 + kRight) << 9 | one << 18 | 3u << 27 | signs}) == Stop::End);
            for (unsigned r = 0; r < 16; ++r)
                for (unsigned c = 0; c < 16; ++c) {
                    int sum = 1;
                    for (unsigned k = 0; k < p.depth; ++k) sum += left(r, k) * right(c, k);
                    check_result(m, p, r, c, sum);
                }
        }
}

TEST_CASE("sparse products of tiles take the elements that their indices name", "[isa][gfx1201][matrix]") {
    const TileProduct products[] = {
        {"v_swmmac_f32_16x16x32_f16", 0x50, 32, 16, 32, half_code, half_code, single_code, false},
        {"v_swmmac_f32_16x16x32_bf16", 0x51, 32, 16, 32, brain_code, brain_code, single_code, false},
        {"v_swmmac_f16_16x16x32_f16", 0x52, 32, 16, 16, half_code, half_code, half_code, false},
        {"v_swmmac_bf16_16x16x32_bf16", 0x53, 32, 16, 16, brain_code, brain_code, brain_code, false},
        {"v_swmmac_i32_16x16x32_iu8", 0x54, 32, 8, 32, integer_code, integer_code, integer_code, true},
        {"v_swmmac_i32_16x16x32_iu4", 0x55, 32, 4, 32, integer_code, integer_code, integer_code, true},
        {"v_swmmac_i32_16x16x64_iu4", 0x56, 64, 4, 32, integer_code, integer_code, integer_code, true},
        {"v_swmmac_f32_16x16x32_fp8_fp8", 0x57, 32, 8, 32, fp8_code, fp8_code, single_code, false},
        {"v_swmmac_f32_16x16x32_fp8_bf8", 0x58, 32, 8, 32, fp8_code, bf8_code, single_code, false},
        {"v_swmmac_f32_16x16x32_bf8_fp8", 0x59, 32, 8, 32, bf8_code, fp8_code, single_code, false},
        {"v_swmmac_f32_16x16x32_bf8_bf8", 0x5a, 32, 8, 32, bf8_code, bf8_code, single_code, false},
    };
    constexpr unsigned pairs[][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    const auto pair_of = [&](unsigned row, unsigned k) { return pairs[(row * 5 + k / 4 * 7) % 6]; };
    for (const TileProduct& p : products)
        for (const unsigned lanes : widths()) {
            const u32 last_part = index_parts(row_of(p.name, Target::gfx1201), lanes) - 1;
            for (u32 part = 0; part <= last_part; part += last_part == 0 ? 1 : last_part) {
                Machine m{Target::gfx1201, best_level(), lanes};
                for (unsigned n = 0; n < 16; ++n)
                    for (unsigned k = 0; k < p.depth; ++k) {
                        const ElementPlace at = sparse_factor_place(p.width, p.depth, n, k, lanes);
                        m.put_packed(kRight, at.lane, at.number, p.width, low_places(p.b(right(n, k)), p.width));
                        if (k % 4 != 0) continue;
                        const ElementPlace given = given_place(p.width, p.depth, n, k, lanes);
                        const unsigned bits_of_part = 32 / (last_part + 1);
                        for (unsigned e = 0; e < 2; ++e) {
                            const unsigned which = pair_of(n, k)[e];
                            m.put_packed(kLeft, given.lane, given.number + e, p.width,
                                         low_places(p.a(left(n, k + which)), p.width));
                            m.put_packed(kPlaces, given.lane, part * bits_of_part / 2 + given.number + e, 2, which);
                        }
                    }
                for (unsigned n = 0; n < 8; ++n)
                    m.vgpr(kSum + n, p.result_width == 32 ? p.result(1) : p.result(1) * 0x10001);
                const u32 signs = p.is_signed ? 3u << 29 : 0;
                REQUIRE(m.run({0xcc004000 | p.opcode << 16 | part << 11 | kSum,
                               (256 + kLeft) | (256 + kRight) << 9 | (256 + kPlaces) << 18 | 3u << 27 | signs}) ==
                        Stop::End);
                for (unsigned r = 0; r < 16; ++r)
                    for (unsigned c = 0; c < 16; ++c) {
                        int sum = 1;
                        for (unsigned k = 0; k < p.depth; k += 4)
                            for (unsigned e = 0; e < 2; ++e)
                                sum += left(r, k + pair_of(r, k)[e]) * right(c, k + pair_of(r, k)[e]);
                        check_result(m, p, r, c, sum);
                    }
            }
        }
}
