#include "shared/lds_layout.hpp"

#include <algorithm>
#include <cstddef>

#include "support/catch.hpp"

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

TEST_CASE("an empty array takes no room, whatever its other extents are", "[lds]") {
    CHECK(lds_array<float>(0, 0xffffffffu, 0xffffffffu).size_bytes() == 0);
    CHECK(lds_layout(lds_array<float>(4), lds_array<float>(0), lds_array<float>(4)).size_bytes() == 32);
}

TEST_CASE("sizes that leave 32 bits saturate, so that no launch accepts them", "[lds]") {
    CHECK(lds_array<float>(65536, 65536).size_bytes() == lds_overflow);
    CHECK(lds_array<double>(0x20000000u).size_bytes() == lds_overflow);
    CHECK(lds_array<float>(-1).size_bytes() == lds_overflow);
    CHECK(lds_array<char>(std::size_t{1} << 32).size_bytes() == lds_overflow);
    CHECK(lds_layout(lds_array<char>(0x80000000u), lds_array<char>(0x80000000u)).overflowed());
    CHECK(lds_layout(lds_array<char>(0xfffffffeu), lds_array<double>(0)).overflowed());
    CHECK(lds_layout(lds_array<char>(0xfffffffeu), lds_array<char>(0)).size_bytes() == 0xfffffffeu);
    CHECK(LdsDemand(-1).size_bytes == lds_overflow);
    CHECK(place_behind(16, LdsDemand(0xfffffff0u)).total_bytes == lds_overflow);
    CHECK(place_behind(0xfffffff1u, LdsDemand(0)).total_bytes == lds_overflow);
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

/// The most lanes that meet in a bank when `lanes` of them read one element each of a column.
template <class T>
std::uint32_t conflicts(std::uint32_t pitch, std::uint32_t lanes) {
    constexpr std::uint32_t banks = 32;
    std::uint32_t uses[banks] = {}, most = 0;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        const std::uint32_t first = lane * pitch * std::uint32_t{sizeof(T)} / lds_bank_bytes;
        for (std::uint32_t word = 0; word < (sizeof(T) + lds_bank_bytes - 1) / lds_bank_bytes; ++word) {
            most = std::max(most, ++uses[(first + word) % banks]);
        }
    }
    return most;
}

template <class T>
void columns_are_free_of_conflicts() {
    constexpr std::uint32_t bytes = std::max<std::uint32_t>(sizeof(T), lds_bank_bytes);
    constexpr std::uint32_t lanes = 32 * lds_bank_bytes / bytes;  // as many as all banks serve at once
    for (std::uint32_t extent = 1; extent < 140; ++extent) {
        CAPTURE(sizeof(T), extent);
        const auto padded = lds_array<T>(64, extent).conflict_free();
        CHECK(padded.row_padding < 8);
        CHECK(conflicts<T>(padded.row_pitch(), lanes) == 1);
    }
}

}  // namespace

TEST_CASE("columns of a padded array lie in different banks, whatever the elements", "[lds]") {
    columns_are_free_of_conflicts<std::uint8_t>();
    columns_are_free_of_conflicts<std::uint16_t>();
    columns_are_free_of_conflicts<float>();
    columns_are_free_of_conflicts<double>();
    struct Quad {
        float values[4];
    };
    columns_are_free_of_conflicts<Quad>();
    CHECK(conflicts<float>(32, 32) == 32);  // without the padding
    CHECK(lds_array<float>(32, 32).conflict_free().row_pitch() == 33);
    CHECK(lds_array<float>(32, 33).conflict_free().row_pitch() == 33);
}

TEST_CASE("a shape known at compile time takes the same place as one that is not", "[lds]") {
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

TEST_CASE("a launch takes a layout, plain bytes or nothing", "[lds]") {
    const Launch with_layout{.grid = 1, .lds = example(5)}, with_bytes{.grid = 1, .lds = 4096},
        without{.grid = 1};
    CHECK(with_layout.lds.size_bytes == 151);
    CHECK(with_layout.lds.count == 3);
    CHECK(with_layout.lds.offsets_bytes[1] == 128);
    CHECK(with_bytes.lds.size_bytes == 4096);
    CHECK(with_bytes.lds.align_bytes == 16);
    CHECK(with_bytes.lds.count == 1);
    CHECK(without.lds.size_bytes == 0);
    CHECK(without.lds.count == 0);
}

TEST_CASE("the dynamic part begins aligned behind the kernel's static arrays", "[lds]") {
    CHECK(place_behind(0, example(5)).base_bytes == 0);
    CHECK(place_behind(100, example(5)).base_bytes == 128);
    CHECK(place_behind(100, example(5)).total_bytes == 279);
    CHECK(place_behind(100, LdsDemand()).total_bytes == 100);
}
