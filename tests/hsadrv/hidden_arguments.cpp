#include "hsadrv/hidden_arguments.hpp"

#include "hsadrv/error.hpp"
#include "tests/hsadrv/code_objects.hpp"
#include "tests/support/catch.hpp"

using namespace hsadrv;
using namespace test_support;

namespace {

/// The hidden arguments of a real kernel.
HiddenArguments of(const std::string& file, const char* kernel_name) {
    const CodeObject code = read_code_object(test_code_object(file));
    HiddenArguments hidden;
    for (const ArgumentMetadata& a : code.find(kernel_name)->arguments) {
        if (is_hidden(a.kind)) hidden.add(a);
    }
    return hidden;
}

}  // namespace

TEST_CASE("V5's hidden arguments are where the compiled kernel reads them", "[hidden_arguments]") {
    const unsigned version = GENERATE(5u, 6u);
    const HiddenArguments hidden = of("launch.gfx90a.v" + std::to_string(version) + ".O2.hsaco", "hidden");
    REQUIRE(hidden.needs_queue());
    Bytes kernarg(272, std::byte{0xee});
    hidden.fill(kernarg.data(), {{1000, 20, 3}, {256, 4, 3}, 0}, {0x1122334455667788, 0, 0});

    const std::size_t base = 16;  // after the two explicit arguments; LLVM AMDGPUUsage gives the offsets from there
    CHECK(peek<std::uint32_t>(kernarg, base + 0) == 3);  // whole work-groups
    CHECK(peek<std::uint32_t>(kernarg, base + 4) == 5);
    CHECK(peek<std::uint32_t>(kernarg, base + 8) == 1);
    CHECK(peek<std::uint16_t>(kernarg, base + 12) == 256);
    CHECK(peek<std::uint16_t>(kernarg, base + 14) == 4);
    CHECK(peek<std::uint16_t>(kernarg, base + 16) == 3);
    CHECK(peek<std::uint16_t>(kernarg, base + 18) == 1000 - 3 * 256);
    CHECK(peek<std::uint16_t>(kernarg, base + 20) == 0);
    CHECK(peek<std::uint16_t>(kernarg, base + 22) == 0);
    CHECK(peek<std::uint64_t>(kernarg, base + 40) == 0);
    CHECK(peek<std::uint64_t>(kernarg, base + 48) == 0);
    CHECK(peek<std::uint64_t>(kernarg, base + 56) == 0);
    CHECK(peek<std::uint16_t>(kernarg, base + 64) == 3);
    CHECK(peek<std::uint64_t>(kernarg, base + 80) == 0);   // hostcall
    CHECK(peek<std::uint64_t>(kernarg, base + 112) == 0);  // completion action
    CHECK(peek<std::uint64_t>(kernarg, base + 200) == 0x1122334455667788);
    CHECK(peek<std::uint64_t>(kernarg, 0) == 0xeeeeeeeeeeeeeeee);  // explicit arguments are not touched
}

TEST_CASE("the buffers of services are passed to kernels that ask for them", "[hidden_arguments]") {
    HiddenArguments hidden({.hostcall_buffer = 0x1000, .heap = 0x2000});
    hidden.add(argument(ValueKind::hidden_printf_buffer, 0, 8));
    hidden.add(argument(ValueKind::hidden_hostcall_buffer, 8, 8));
    hidden.add(argument(ValueKind::hidden_multigrid_sync_arg, 16, 8));
    hidden.add(argument(ValueKind::hidden_heap_v1, 24, 8));
    Bytes kernarg(32, std::byte{0xee});
    hidden.fill(kernarg.data(), {{1}, {1}, 0, 0, 0x3000}, {});
    CHECK(peek<std::uint64_t>(kernarg, 0) == 0x3000);
    CHECK(peek<std::uint64_t>(kernarg, 8) == 0x1000);
    CHECK(peek<std::uint64_t>(kernarg, 16) == 0);
    CHECK(peek<std::uint64_t>(kernarg, 24) == 0x2000);

    KernelMetadata kernel;
    CHECK_FALSE(ServiceNeeds::of(kernel).hostcall);
    kernel.arguments = {argument(ValueKind::hidden_heap_v1, 0, 8)};
    CHECK(ServiceNeeds::of(kernel).heap);
    CHECK_FALSE(ServiceNeeds::of(kernel).hostcall);
}

TEST_CASE("when filled arguments are refreshed, only the queue changes", "[hidden_arguments]") {
    HiddenArguments hidden;
    hidden.add(argument(ValueKind::hidden_block_count_x, 0, 4));
    hidden.add(argument(ValueKind::hidden_private_base, 8, 4));
    hidden.add(argument(ValueKind::hidden_shared_base, 12, 4));
    hidden.add(argument(ValueKind::hidden_queue_ptr, 16, 8));
    Bytes kernarg(24, std::byte{0xee});
    hidden.fill(kernarg.data(), {1000, 100, 0}, {});
    hidden.fill_queue(kernarg.data(), {.address = 0x1122334455667788, .shared_base_hi = 5, .private_base_hi = 6});
    CHECK(peek<std::uint32_t>(kernarg, 0) == 10);
    CHECK(peek<std::uint32_t>(kernarg, 8) == 6);
    CHECK(peek<std::uint32_t>(kernarg, 12) == 5);
    CHECK(peek<std::uint64_t>(kernarg, 16) == 0x1122334455667788);
}

TEST_CASE("V4's hidden arguments are zeros: offsets, and unused buffers", "[hidden_arguments]") {
    const HiddenArguments hidden = of("launch.gfx90a.v4.O0.hsaco", "saxpy");
    Bytes kernarg(24 + 56, std::byte{0xee});
    hidden.fill(kernarg.data(), {1000, 256, 0}, {~0ull, 0, 0});
    CHECK(peek<std::uint8_t>(kernarg, 23) == 0xee);
    for (std::size_t at = 24; at < kernarg.size(); at += 8) CHECK(peek<std::uint64_t>(kernarg, at) == 0);
}

TEST_CASE("a grid smaller than the work-group has no whole group, only a remainder", "[hidden_arguments]") {
    HiddenArguments hidden;
    hidden.add(argument(ValueKind::hidden_block_count_x, 0, 4));
    hidden.add(argument(ValueKind::hidden_group_size_x, 4, 2));
    hidden.add(argument(ValueKind::hidden_remainder_x, 6, 2));
    hidden.add(argument(ValueKind::hidden_grid_dims, 8, 2));
    Bytes kernarg(16, std::byte{0xee});
    hidden.fill(kernarg.data(), {100, 256, 0}, {});
    CHECK(peek<std::uint32_t>(kernarg, 0) == 0);
    CHECK(peek<std::uint16_t>(kernarg, 4) == 256);
    CHECK(peek<std::uint16_t>(kernarg, 6) == 100);
    CHECK(peek<std::uint16_t>(kernarg, 8) == 1);
}

TEST_CASE("hidden arguments are filled at their metadata offsets, whatever the version", "[hidden_arguments]") {
    HiddenArguments hidden;
    hidden.add(argument(ValueKind::hidden_dynamic_lds_size, 4, 4));
    hidden.add(argument(ValueKind::hidden_shared_base, 12, 4));
    hidden.add(argument(ValueKind::hidden_private_base, 16, 4));
    hidden.add(argument(ValueKind::hidden_none, 24, 8));
    hidden.add(argument(ValueKind::hidden_queue_ptr, 40, 8));
    Bytes kernarg(56, std::byte{0xee});
    hidden.fill(kernarg.data(), {1, 1, 4096}, {7, 8, 9});
    CHECK(peek<std::uint32_t>(kernarg, 0) == 0xeeeeeeee);
    CHECK(peek<std::uint32_t>(kernarg, 4) == 4096);
    CHECK(peek<std::uint32_t>(kernarg, 8) == 0);
    CHECK(peek<std::uint32_t>(kernarg, 12) == 8);
    CHECK(peek<std::uint32_t>(kernarg, 16) == 9);
    CHECK(peek<std::uint64_t>(kernarg, 24) == 0);
    CHECK(peek<std::uint64_t>(kernarg, 40) == 7);
    CHECK(peek<std::uint64_t>(kernarg, 48) == 0xeeeeeeeeeeeeeeee);
}

TEST_CASE("a hidden argument of an unexpected size is refused", "[hidden_arguments]") {
    HiddenArguments hidden;
    CHECK_THROWS_AS(hidden.add(argument(ValueKind::hidden_group_size_x, 0, 4)), InvalidCodeObject);
    CHECK_THROWS_AS(hidden.add(argument(ValueKind::hidden_queue_ptr, 0, 4)), InvalidCodeObject);
    CHECK(hidden.empty());
}
