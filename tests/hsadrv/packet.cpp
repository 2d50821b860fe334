// Packets: every field at hsa.h's offset, the header composed of its parts.
#include "hsadrv/packet.hpp"

#include "hsadrv/stream/launch_lane.hpp"

#include <cstring>

#include "tests/support/catch.hpp"

using namespace hsadrv;

TEST_CASE("a fresh packet is invalid, which is type 1", "[packet]") {
    CHECK(Packet{}.type() == PacketType::invalid);
    CHECK(Packet{}.header() == 1);
}

TEST_CASE("extents have a volume, and count the dimensions that are not 1", "[packet]") {
    CHECK(Dim3().volume() == 1);
    CHECK(Dim3(0xffffffff, 0xffffffff, 1).volume() == 0xfffffffe00000001);
    CHECK(Dim3().dimensions() == 1);
    CHECK(Dim3(7).dimensions() == 1);
    CHECK(Dim3(1, 2).dimensions() == 2);
    CHECK(Dim3(1, 1, 2).dimensions() == 3);
    CHECK(Dim3(2, 0).dimensions() == 2);
}

TEST_CASE("extents are printed as a product", "[packet]") {
    CHECK(Dim3(1024, 16).text() == "1024x16x1");
    CHECK(Dim3(0, 0xffffffff, 3).text() == "0x4294967295x3");
}

TEST_CASE("extents beyond 32 bits are refused, not truncated", "[packet]") {
    CHECK(Dim3(std::size_t{1} << 31).x == 1u << 31);
    CHECK_THROWS_AS(Dim3(std::size_t{1} << 32), InvalidArgument);
    CHECK_THROWS_AS(Dim3(1, std::size_t{1} << 32), InvalidArgument);
    CHECK_THROWS_AS(Dim3(-1), InvalidArgument);
}

TEST_CASE("a header has type, barrier bit and fence scopes at their places", "[packet]") {
    struct Row {
        PacketType type;
        PacketOrder order;
        std::uint16_t header;
    };
    const Row rows[] = {
        {PacketType::kernel_dispatch, {true, FenceScope::system, FenceScope::system}, 0x1502},
        {PacketType::kernel_dispatch, {false, FenceScope::agent, FenceScope::system}, 0x1202},
        {PacketType::kernel_dispatch, {false, FenceScope::none, FenceScope::none}, 0x0002},
        {PacketType::barrier_and, {true, FenceScope::none, FenceScope::agent}, 0x0903},
        {PacketType::barrier_or, {true, FenceScope::system, FenceScope::none}, 0x0505},
    };
    for (const Row& row : rows) {
        CAPTURE(row.header);
        CHECK(packet_header(row.type, row.order) == row.header);
        CHECK(packet_type(row.header) == row.type);
    }
}

TEST_CASE("a kernel dispatch has its fields", "[packet]") {
    int argument = 0;
    const Packet packet = kernel_dispatch({.kernel_object = 0x1122334455667788,
                                           .grid = {1000, 20, 3},
                                           .workgroup = {256, 2, 1},
                                           .private_segment_bytes = 48,
                                           .group_segment_bytes = 65536,
                                           .kernarg = &argument,
                                           .completion = {0xabcd},
                                           .order = {}});
    const auto native = packet.as<hsa_kernel_dispatch_packet_t>();
    CHECK(packet.type() == PacketType::kernel_dispatch);
    CHECK(native.header == packet_header(PacketType::kernel_dispatch, {}));
    CHECK(native.setup == 3);
    CHECK(native.workgroup_size_x == 256);
    CHECK(native.workgroup_size_y == 2);
    CHECK(native.workgroup_size_z == 1);
    CHECK(native.grid_size_x == 1000);
    CHECK(native.grid_size_y == 20);
    CHECK(native.grid_size_z == 3);
    CHECK(native.private_segment_size == 48);
    CHECK(native.group_segment_size == 65536);
    CHECK(native.kernel_object == 0x1122334455667788);
    CHECK(native.kernarg_address == &argument);
    CHECK(native.completion_signal.handle == 0xabcd);
    CHECK(native.reserved2 == 0);
}

TEST_CASE("the number of dimensions follows grid and work-group", "[packet]") {
    struct Row {
        Dim3 grid, workgroup;
        unsigned dimensions;
    };
    const Row rows[] = {{1, 1, 1}, {64, 64, 1}, {{8, 8}, 8, 2}, {8, {8, 2}, 2}, {{8, 1, 2}, 8, 3}, {8, {1, 1, 4}, 3}};
    for (const Row& row : rows) {
        const Packet packet = kernel_dispatch({.grid = row.grid, .workgroup = row.workgroup});
        CHECK(packet.as<hsa_kernel_dispatch_packet_t>().setup == row.dimensions);
    }
}

TEST_CASE("barrier packets carry up to five dependencies, the rest zero", "[packet]") {
    const hsa_signal_t signals[] = {{11}, {12}, {13}, {14}, {15}};
    for (std::size_t count = 0; count <= barrier_max_dependencies; ++count) {
        const Packet packet = barrier_and(std::span(signals, count), {99});
        const auto native = packet.as<hsa_barrier_and_packet_t>();
        CHECK(packet.type() == PacketType::barrier_and);
        for (std::size_t i = 0; i < barrier_max_dependencies; ++i)
            CHECK(native.dep_signal[i].handle == (i < count ? signals[i].handle : 0));
        CHECK(native.completion_signal.handle == 99);
    }
    CHECK(barrier_or(signals).type() == PacketType::barrier_or);
}

TEST_CASE("a barrier-value packet is AMD's vendor packet with its format", "[packet]") {
    const Packet packet = barrier_value(
        {.signal = {0x1000}, .condition = HSA_SIGNAL_CONDITION_LT, .value = -7, .mask = 0xff, .completion = {0x2000}});
    CHECK(packet.type() == PacketType::vendor_specific);
    const auto native = packet.as<hsa_amd_barrier_value_packet_t>();
    CHECK(native.header.AmdFormat == HSA_AMD_PACKET_TYPE_BARRIER_VALUE);
    CHECK(native.signal.handle == 0x1000);
    CHECK(native.cond == HSA_SIGNAL_CONDITION_LT);
    CHECK(native.value == -7);
    CHECK(native.mask == 0xff);
    CHECK(native.completion_signal.handle == 0x2000);
    CHECK(barrier_value({}).as<hsa_amd_barrier_value_packet_t>().mask == -1);
}

TEST_CASE("the launch path of streams writes the same packet as the builder", "[packet]") {
    struct Row {
        Dim3 grid, workgroup;
    };
    const Row rows[] = {{1, 1},
                        {1000, 256},
                        {{64, 64}, {16, 16}},
                        {{8, 8, 8}, {4, 4, 4}},
                        {{8, 1, 2}, 8u},
                        {{UINT32_MAX, 3}, 64u},
                        {{1, 1, 5}, {1, 1, 1024}}};
    for (const Row& row : rows) {
        CAPTURE(row.grid.x, row.grid.y, row.grid.z);
        const Dim3 workgroup{row.workgroup.x, row.workgroup.y, std::min(row.workgroup.z, row.grid.z)};
        const DispatchSpec spec{.grid = row.grid,
                                .workgroup = workgroup,
                                .private_segment_bytes = 7,
                                .group_segment_bytes = 9,
                                .kernel_object = 0x123456789a};
        std::byte kernarg[64];
        Packet written{};
        written.words.fill(~0u);
        const unsigned dimensions = detail::write_dispatch(written.words.data(), spec.grid, spec.workgroup, spec);
        detail::finish_dispatch(written.words.data(), dimensions, kernarg, 0xabcdef00);
        CHECK(detail::kernel_dispatch(spec, kernarg, {0xabcdef00}).words == written.words);
        const Packet expected = kernel_dispatch({.kernel_object = spec.kernel_object,
                                                 .grid = spec.grid,
                                                 .workgroup = spec.workgroup,
                                                 .private_segment_bytes = 7,
                                                 .group_segment_bytes = 9,
                                                 .kernarg = kernarg,
                                                 .completion = {0xabcdef00}});
        CHECK(written.words == expected.words);
    }
}
