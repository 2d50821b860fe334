#include "shared/lds_layout.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "tests/support/catch.hpp"

using namespace hsadrv::shared;

namespace {
constexpr auto example(std::uint32_t n) {
    return lds_layout(lds_array<float>(n, n), lds_array<std::uint32_t>(n).aligned<64>(), lds_array<char>(3));
}
struct Launch {
    int grid;
    LdsDemand lds = {};
};
}  // namespace

static_assert(example(5).offset_bytes(0) == 0, "the first array begins at the base");
static_assert(example(5).offset_bytes(1) == 128, "100 bytes of float, then the next multiple of 64");
static_assert(example(5).offset_bytes(2) == 148);
static_assert(example(5).size_bytes() == 151 && example(5).align_bytes() == 64);
static_assert(example(5).array<1>().extents.extent(0) == 5);

TEST_CASE("arrays follow one another, each at its alignment", "[lds]") {
    const auto layout = lds_layout(lds_array<char>(1), lds_array<double>(2), lds_array<short>(3, 1));
    CHECK(layout.offset_bytes(0) == 0);
    CHECK(layout.offset_bytes(1) == 8);
    CHECK(layout.offset_bytes(2) == 24);
    CHECK(layout.size_bytes() == 30);
    CHECK(layout.align_bytes() == 8);
}

TEST_CASE("an empty array takes no space, whatever its other extents are", "[lds]") {
    CHECK(lds_array<float>(0, 0xffffffffu, 0xffffffffu).size_bytes() == 0);
    CHECK(lds_layout(lds_array<float>(4), lds_array<float>(0), lds_array<float>(4)).size_bytes() == 32);
}

TEST_CASE("sizes beyond 32 bits saturate, so that no launch accepts them", "[lds]") {
    CHECK(lds_array<float>(65536, 65536).size_bytes() == lds_overflow);
    CHECK(lds_array<double>(0x20000000u).size_bytes() == lds_overflow);
    CHECK(lds_array<float>(-1).size_bytes() == lds_overflow);
    CHECK(lds_array<char>(std::size_t{1} << 32).size_bytes() == lds_overflow);
    CHECK(lds_layout(lds_array<char>(0x80000000u), lds_array<char>(0x80000000u)).overflowed());
    CHECK(lds_layout(lds_array<char>(0xfffffffeu), lds_array<double>(0)).overflowed());
    CHECK(lds_layout(lds_array<char>(0xfffffffeu), lds_array<char>(0)).size_bytes() == 0xfffffffeu);
    CHECK(LdsDemand(-1).size_bytes == lds_overflow);
    CHECK(place_after(16, LdsDemand(0xfffffff0u)).total_bytes == lds_overflow);
    CHECK(place_after(0xfffffff1u, LdsDemand(0)).total_bytes == lds_overflow);
}

TEST_CASE("padding follows each row, and its elements are not counted", "[lds]") {
    const auto padded = lds_array<float>(3, 4).padded(2);
    CHECK(padded.row_pitch() == 6);
    CHECK(padded.size() == 12);
    CHECK(padded.size_bytes() == 3 * 6 * sizeof(float));
    CHECK(lds_array<double>(2, 3, 4).padded(1).size_bytes() == 2 * 3 * 5 * sizeof(double));
    CHECK(lds_array<float>(0, 4).padded(2).size_bytes() == 0);
    CHECK(lds_array<float>(3, 0).padded(2).size_bytes() == 0);
    CHECK(lds_array<float>(3, 4).padded(-1).size_bytes() == lds_overflow);
    CHECK(lds_array<float>(3, 0xfffffff0u).padded(0x20).row_pitch() == lds_overflow);
    CHECK(lds_layout(lds_array<float>(3, 4).padded(2), lds_array<float>(1)).offset_bytes(1) == 72);
}

namespace {

/// The number of words that the busiest bank serves when a group of lanes, as many as there are banks, reads
/// `access` bytes each, at `first` bytes and every `stride` bytes. Lanes that read the same word are served together.
std::uint32_t turns(std::uint32_t access, std::uint32_t first, std::uint32_t stride) {
    constexpr std::uint32_t banks = 32;
    std::set<std::uint32_t> words[banks];
    for (std::uint32_t lane = 0; lane < banks * lds_bank_bytes / std::max(access, lds_bank_bytes); ++lane) {
        const std::uint32_t from = first + lane * stride;
        for (std::uint32_t word = from / lds_bank_bytes; word <= (from + access - 1) / lds_bank_bytes; ++word)
            words[word % banks].insert(word);
    }
    std::size_t most = 0;
    for (const auto& of_bank : words) most = std::max(most, of_bank.size());
    return static_cast<std::uint32_t>(most);
}

template <std::uint32_t Bytes>
struct Element {
    std::uint8_t bytes[Bytes];
};

/// For every access width that divides the element.
template <std::uint32_t Bytes>
void columns_are_as_fast_as_rows() {
    for (std::uint32_t extent = 1; extent < 140; ++extent) {
        const auto padded = lds_array<Element<Bytes>>(64, extent).conflict_free();
        const std::uint32_t pitch_bytes = padded.row_pitch() * Bytes;
        CAPTURE(Bytes, extent, padded.row_padding);
        CHECK(padded.row_padding < 8);
        for (std::uint32_t access : {1u, 2u, 4u, 8u, 16u}) {
            if (Bytes % access != 0) continue;
            for (std::uint32_t first = 0; first < Bytes; first += access) {
                const std::uint32_t column = turns(access, first, pitch_bytes), row = turns(access, first, Bytes);
                if (column > row)
                    FAIL_CHECK(column << " turns down a column, " << row << " along a row, of accesses of " << access
                                      << " bytes");
            }
        }
        // No padding if it is not needed.
        if (Bytes % lds_bank_bytes == 0) CHECK(padded.row_padding <= 1);
    }
}

template <std::uint32_t... Less>
void all_sizes(std::integer_sequence<std::uint32_t, Less...>) {
    (columns_are_as_fast_as_rows<Less + 1>(), ...);
}

}  // namespace

TEST_CASE("columns of a padded array are read as fast as rows, for any element type", "[lds]") {
    all_sizes(std::make_integer_sequence<std::uint32_t, 72>());
    columns_are_as_fast_as_rows<96>();
    columns_are_as_fast_as_rows<128>();
    columns_are_as_fast_as_rows<192>();
    columns_are_as_fast_as_rows<256>();
    CHECK(turns(4, 0, 32 * 4) == 32);  // without the padding
    CHECK(lds_array<float>(32, 32).conflict_free().row_pitch() == 33);
    CHECK(lds_array<float>(32, 33).conflict_free().row_pitch() == 33);
    CHECK(lds_array<Element<32>>(32, 32).conflict_free().row_pitch() == 33);
    CHECK(lds_array<Element<64>>(32, 32).conflict_free().row_pitch() == 33);
}

TEST_CASE("every array of a layout has its own and the requested alignment", "[lds]") {
    struct alignas(16) Wide {
        std::uint32_t words[4];
    };
    const auto check = [](const auto& layout, std::uint32_t index, std::uint32_t alignment) {
        CHECK(layout.offset_bytes(index) % alignment == 0);
        CHECK(layout.align_bytes() >= alignment);
        CHECK(layout.offset_bytes(index) <
              layout.offset_bytes(index - 1) + 128 + layout.template array<0>().size_bytes());
    };
    for (std::uint32_t bytes = 0; bytes < 300; ++bytes) {
        CAPTURE(bytes);
        const auto before = lds_array<std::uint8_t>(bytes);
        check(lds_layout(before, lds_array<std::uint16_t>(3)), 1, 2);
        check(lds_layout(before, lds_array<float>(3)), 1, 4);
        check(lds_layout(before, lds_array<double>(3)), 1, 8);
        check(lds_layout(before, lds_array<Wide>(3)), 1, 16);
        check(lds_layout(before, lds_array<float>(3).aligned<16>()), 1, 16);
        check(lds_layout(before, lds_array<float>(3).aligned<128>()), 1, 128);
        check(lds_layout(before, lds_array<Wide>(3).aligned<4>()), 1, 16);  // never less than its own
        for (std::uint32_t fixed = 0; fixed < 40; ++fixed) {
            const LdsDemand demand = lds_layout(before, lds_array<Wide>(3));
            const LdsPlacement placed = place_after(fixed, demand);
            CHECK(placed.base_bytes >= fixed);
            CHECK(placed.base_bytes < fixed + 16);
            CHECK((placed.base_bytes + demand.offsets_bytes[1]) % 16 == 0);
            CHECK(placed.total_bytes == placed.base_bytes + demand.size_bytes);
        }
    }
}

TEST_CASE("a compile-time shape has the same offset as a run-time shape", "[lds]") {
    constexpr auto known =
        lds_layout(lds_array<char, 5>(), lds_array<float, 16, 17>().aligned<64>(), lds_array<double, 2>());
    const std::uint32_t n = 16;
    const auto unknown = lds_layout(lds_array<char>(5), lds_array<float>(n, 17).aligned<64>(), lds_array<double>(2));
    for (std::uint32_t i = 0; i < known.count; ++i) CHECK(known.offset_bytes(i) == unknown.offset_bytes(i));
    CHECK(known.size_bytes() == unknown.size_bytes());
    CHECK(known.align_bytes() == unknown.align_bytes());
    static_assert(sizeof(known.array<1>()) < sizeof(unknown.array<1>()));
    static_assert(known.array<1>().extents.extent(1) == 17);
}

TEST_CASE("a launch takes a layout, plain bytes or no dynamic LDS", "[lds]") {
    const Launch with_layout{.grid = 1, .lds = example(5)}, with_bytes{.grid = 1, .lds = 4096}, without{.grid = 1};
    CHECK(with_layout.lds.size_bytes == 151);
    CHECK(with_layout.lds.count == 3);
    CHECK(with_layout.lds.offsets_bytes[1] == 128);
    CHECK(with_bytes.lds.size_bytes == 4096);
    CHECK(with_bytes.lds.align_bytes == 16);
    CHECK(with_bytes.lds.count == 1);
    CHECK(without.lds.size_bytes == 0);
    CHECK(without.lds.count == 0);
}

TEST_CASE("the dynamic part begins aligned after the kernel's static arrays", "[lds]") {
    CHECK(place_after(0, example(5)).base_bytes == 0);
    CHECK(place_after(100, example(5)).base_bytes == 128);
    CHECK(place_after(100, example(5)).total_bytes == 279);
    CHECK(place_after(100, LdsDemand()).total_bytes == 100);
}
