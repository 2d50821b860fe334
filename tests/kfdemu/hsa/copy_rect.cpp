// Copies of rectangles and boxes out of larger ones: hsa_amd_memory_async_copy_rect.
#include <random>

#include "tests/kfdemu/hsa/kernel.hpp"
#include "tests/support/catch.hpp"

using namespace hsa_test;

namespace {

struct Box {
    std::size_t pitch, rows, slices;  // bytes a row, rows a slice
    hsa_dim3_t offset;                // x in bytes

    std::size_t slice_bytes() const { return pitch * rows; }
    std::size_t size_bytes() const { return slice_bytes() * slices; }
    std::size_t at(std::size_t x, std::size_t y, std::size_t z) const {
        return (z + offset.z) * slice_bytes() + (y + offset.y) * pitch + x + offset.x;
    }
};

struct RectRow {
    const char* name;
    Box from, to;
    hsa_dim3_t range;
};

const RectRow kRectRows[] = {
    {"all of a plane", {64, 8, 1, {0, 0, 0}}, {64, 8, 1, {0, 0, 0}}, {64, 8, 1}},
    {"a window of words", {256, 32, 1, {16, 3, 0}}, {128, 16, 1, {4, 5, 0}}, {64, 9, 1}},
    {"a window of odd bytes", {256, 32, 1, {13, 3, 0}}, {128, 16, 1, {5, 5, 0}}, {51, 9, 1}},
    {"one byte", {64, 4, 1, {63, 3, 0}}, {64, 4, 1, {1, 2, 0}}, {1, 1, 1}},
    {"one row", {4096, 3, 1, {8, 1, 0}}, {4096, 3, 1, {16, 2, 0}}, {4000, 1, 1}},
    {"one column", {64, 300, 1, {7, 0, 0}}, {128, 300, 1, {9, 0, 0}}, {1, 300, 1}},
    {"a box of halves", {64, 16, 8, {2, 1, 1}}, {128, 12, 6, {6, 2, 0}}, {30, 9, 5}},
    {"a box of vectors", {256, 16, 8, {32, 1, 1}}, {512, 12, 6, {64, 2, 0}}, {128, 9, 5}},
    {"a box of odd bytes", {64, 16, 8, {3, 1, 1}}, {100, 12, 6, {5, 2, 1}}, {31, 9, 5}},
    {"a pitch of no power of two", {108, 20, 3, {4, 2, 0}}, {92, 25, 3, {8, 1, 0}}, {76, 15, 3}},
    {"wider than a packet's rectangle", {40000, 5, 1, {1, 1, 0}}, {40000, 5, 1, {3, 0, 0}}, {39001, 4, 1}},
    {"higher than a packet's rectangle", {16, 20000, 1, {4, 7, 0}}, {8, 20000, 1, {0, 3, 0}}, {8, 19990, 1}},
    {"deeper than a packet's box", {8, 2, 3000, {0, 0, 1}}, {8, 2, 3000, {0, 0, 0}}, {8, 2, 2999}},
    {"a pitch wider than a packet's", {1 << 20, 4, 1, {5, 1, 0}}, {64, 4, 1, {9, 0, 0}}, {50, 3, 1}},
};

enum class Direction { up, down, across };

/// Runs a row in one direction; whether exactly the window has been written.
bool copies_exactly(const Machine& machine, const RectRow& row, Direction direction) {
    const Gpu& gpu = machine.gpu();
    std::vector<std::uint8_t> source(row.from.size_bytes()), expected(row.to.size_bytes(), 0xee);
    std::minstd_rand random{7};
    for (auto& byte : source) byte = static_cast<std::uint8_t>(random() >> 8);
    for (std::size_t z = 0; z < row.range.z; ++z)
        for (std::size_t y = 0; y < row.range.y; ++y)
            for (std::size_t x = 0; x < row.range.x; ++x) expected[row.to.at(x, y, z)] = source[row.from.at(x, y, z)];

    const auto place = [&](bool host, std::size_t size) {
        return host ? Memory{machine.cpu().fine, size, machine.agents()} : Memory{gpu.coarse, size, {}};
    };
    const Memory from = place(direction == Direction::up, source.size()),
                 to = place(direction == Direction::down, expected.size());
    HSA_CHECK(hsa_memory_copy(from.data(), source.data(), source.size()));
    const std::vector<std::uint8_t> before(expected.size(), 0xee);
    HSA_CHECK(hsa_memory_copy(to.data(), before.data(), before.size()));

    const auto pitched = [](const Memory& memory, const Box& box) {
        return hsa_pitched_ptr_t{memory.data(), box.pitch, box.slices == 1 ? 0 : box.slice_bytes()};
    };
    const hsa_pitched_ptr_t to_pointer = pitched(to, row.to), from_pointer = pitched(from, row.from);
    const Signal dependency, done;
    const hsa_signal_t wait_for = dependency;
    const hsa_amd_copy_direction_t directions[] = {hsaHostToDevice, hsaDeviceToHost, hsaDeviceToDevice};
    HSA_CHECK(hsa_amd_memory_async_copy_rect(&to_pointer, &row.to.offset, &from_pointer, &row.from.offset, &row.range,
                                             gpu.agent, directions[static_cast<int>(direction)], 1, &wait_for, done));
    dependency.store(0);
    if (!done.completed()) return false;
    std::vector<std::uint8_t> after(expected.size());
    HSA_CHECK(hsa_memory_copy(after.data(), to.data(), after.size()));
    return after == expected;
}

}  // namespace

TEST_CASE("a window is copied exactly, in every direction", "[device][rect]") {
    NEEDS_GPUS(1);
    Machine machine;
    for (const RectRow& row : kRectRows) {
        CAPTURE(row.name);
        CHECK(copies_exactly(machine, row, Direction::up));
        CHECK(copies_exactly(machine, row, Direction::down));
        CHECK(copies_exactly(machine, row, Direction::across));
    }
}

TEST_CASE("windows of any shape are copied exactly", "[device][rect]") {
    NEEDS_GPUS(1);
    Machine machine;
    std::minstd_rand random{2024};
    const auto up_to = [&](std::size_t most) { return static_cast<std::uint32_t>((random() >> 5) % (most + 1)); };
    for (int i = 0; i < 60; ++i) {
        RectRow row{};
        row.range = {1 + up_to(70), 1 + up_to(9), 1 + up_to(3)};
        for (Box* box : {&row.from, &row.to}) {
            box->offset = {up_to(20), up_to(4), up_to(2)};
            box->pitch = (row.range.x + box->offset.x + up_to(30) + 3) / 4 * 4;
            box->rows = row.range.y + box->offset.y + up_to(3);
            box->slices = row.range.z + box->offset.z + 1;
        }
        CAPTURE(i, row.range.x, row.range.y, row.range.z, row.from.pitch, row.to.pitch);
        CHECK(copies_exactly(machine, row, static_cast<Direction>(i % 3)));
    }
}

TEST_CASE("rectangles that the hardware cannot address are refused", "[device][rect]") {
    NEEDS_GPUS(1);
    Machine machine;
    const Memory a{machine.gpu().coarse, 1 << 16, {}}, b{machine.gpu().coarse, 1 << 16, {}};
    const Signal done;
    struct Case {
        const char* name;
        hsa_pitched_ptr_t to, from;
        hsa_dim3_t to_offset, from_offset, range;
    };
    const auto at = [](const Memory& memory, std::size_t shift, std::size_t pitch, std::size_t slice) {
        return hsa_pitched_ptr_t{memory.as<std::byte>() + shift, pitch, slice};
    };
    const Case cases[] = {
        {"an odd base", at(a, 1, 64, 0), at(b, 0, 64, 0), {}, {}, {4, 4, 1}},
        {"a pitch of no whole words", at(a, 0, 66, 0), at(b, 0, 64, 0), {}, {}, {4, 4, 1}},
        {"a slice of no whole words", at(a, 0, 64, 642), at(b, 0, 64, 640), {}, {}, {4, 4, 2}},
        {"wider than its pitch", at(a, 0, 64, 0), at(b, 0, 64, 0), {4, 0, 0}, {}, {61, 4, 1}},
        {"higher than its slice", at(a, 0, 64, 640), at(b, 0, 64, 640), {0, 1, 0}, {}, {4, 10, 1}},
        {"deep, without a slice", at(a, 0, 64, 0), at(b, 0, 64, 0), {}, {}, {4, 4, 2}},
    };
    for (const Case& one : cases) {
        CAPTURE(one.name);
        HSA_STATUS(hsa_amd_memory_async_copy_rect(&one.to, &one.to_offset, &one.from, &one.from_offset, &one.range,
                                                  machine.gpu().agent, hsaDeviceToDevice, 0, nullptr, done),
                   HSA_STATUS_ERROR_INVALID_ARGUMENT);
    }
    const Case good = {"", at(a, 0, 64, 0), at(b, 0, 64, 0), {}, {}, {4, 4, 1}};
    HSA_STATUS(hsa_amd_memory_async_copy_rect(&good.to, &good.to_offset, &good.from, &good.from_offset, &good.range,
                                              machine.gpu().agent, hsaHostToHost, 0, nullptr, done),
               HSA_STATUS_ERROR_INVALID_ARGUMENT);
    HSA_STATUS(hsa_amd_memory_async_copy_rect(&good.to, &good.to_offset, &good.from, &good.from_offset, &good.range,
                                              machine.cpu().agent, hsaDeviceToDevice, 0, nullptr, done),
               HSA_STATUS_ERROR_INVALID_AGENT);
    CHECK(done.load() == 1);
    HSA_CHECK(hsa_amd_memory_async_copy_rect(&good.to, &good.to_offset, &good.from, &good.from_offset, &good.range,
                                             machine.gpu().agent, hsaDeviceToDevice, 0, nullptr, done));
    CHECK(done.completed());
}
