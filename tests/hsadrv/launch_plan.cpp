#include "hsadrv/launch_plan.hpp"

#include "hsadrv/error.hpp"
#include "tests/hsadrv/code_objects.hpp"
#include "tests/support/catch.hpp"

using namespace hsadrv;
using namespace test_support;
using test_support::Contains;

namespace {

const LaunchLimits limits{1024, Dim3(1024, 512, 256), 0xffffffff, Dim3(0xffffffff, 0xffffffff, 1 << 20), 65536};

KernelMetadata kernel(std::vector<ArgumentMetadata> arguments = {}) {
    KernelMetadata result;
    result.name = "k";
    result.kernarg_size_bytes = 512;
    result.max_flat_workgroup_size = 1024;
    result.wavefront_size = 64;
    result.arguments = std::move(arguments);
    return result;
}

ArgumentMetadata lds_pointer(std::uint32_t offset, std::uint32_t align) {
    ArgumentMetadata result = argument(ValueKind::dynamic_shared_pointer, offset, 4, "int*", "tile");
    result.pointee_align_bytes = align;
    return result;
}

template <class... Args>
std::string arguments_refusal(const LaunchPlan& plan) {
    const auto shapes = detail::argument_shapes<Args...>();
    return message_of<InvalidArgument>([&] { plan.check_arguments(shapes); });
}

std::string refusal(const LaunchPlan& plan, const LaunchConfig& config) {
    return message_of<InvalidArgument>([&] { plan.shape(config); });
}

std::string size_refusal(Dim3 grid, Dim3 workgroup) {
    return refusal(LaunchPlan(kernel(), limits), {.grid = grid, .workgroup = workgroup});
}

}  // namespace

TEST_CASE("a plan has its kernel's argument bytes, and says whether they name the queue", "[launch_plan]") {
    const LaunchPlan plan(
        kernel({argument(ValueKind::by_value, 0, 4, "uint"), argument(ValueKind::hidden_queue_ptr, 8, 8)}), limits);
    CHECK(plan.kernarg_bytes() == 512);
    CHECK(plan.has_implicit());
    CHECK(plan.needs_queue());
}

TEST_CASE("a runtime's limits for grids of blocks are none for grids of work-items", "[launch_plan]") {
    const std::uint32_t most = UINT32_MAX;
    CHECK(detail::grid_limits({0x7fffffff, 65535, 65535}) == Dim3(most, most, most));
    CHECK(detail::grid_limits({most, most, most}) == Dim3(most, most, most));
    CHECK(detail::grid_limits({most, 1000, 65535}) == Dim3(most, 1000, 65535));
}

TEST_CASE("gfx12 has 16 bits for the number of a work-group in y and z", "[launch_plan]") {
    const std::uint32_t most = UINT32_MAX;
    CHECK(detail::workgroup_limits("gfx1100") == Dim3(most, most, most));
    LaunchLimits gfx12 = limits;
    gfx12.grid_max_dim = {most, most, most};
    gfx12.max_workgroups = detail::workgroup_limits("gfx1201");
    const LaunchPlan plan(kernel(), gfx12);
    const auto refused = [&](Dim3 grid, Dim3 workgroup) {
        return refusal(plan, {.grid = grid, .workgroup = workgroup});
    };
    CHECK(refused({1 << 20, 1, 1}, {1, 1, 1}).empty());
    CHECK(refused({1, 1 << 16, 1}, {1, 1, 1}).empty());
    CHECK(refused({1, 1 << 18, 1}, {1, 4, 1}).empty());
    CHECK_THAT(refused({1, (1 << 16) + 1, 1}, {1, 1, 1}), Contains("65536"));
    CHECK_THAT(refused({1, 1, (1 << 18) + 1}, {1, 1, 4}), Contains("65536"));
}

TEST_CASE("arguments that match the metadata are accepted", "[launch_plan]") {
    const LaunchPlan plan(
        kernel({argument(ValueKind::global_buffer, 0, 8, "float*"), argument(ValueKind::by_value, 8, 4, "float"),
                argument(ValueKind::by_value, 12, 4, "uint"), argument(ValueKind::by_value, 16, 1, "bool"),
                argument(ValueKind::by_value, 24, 16, "S")}),
        limits);
    struct Pair {
        double a, b;
    };
    CHECK(arguments_refusal<float*, float, unsigned, bool, Pair>(plan).empty());
    CHECK(arguments_refusal<const void*, float, int, bool, Pair>(plan).empty());
    CHECK(arguments_refusal<std::nullptr_t, float, int, char, Pair>(plan).empty());
    CHECK(plan.offset_bytes(2) == 12);
}

TEST_CASE("pointers to elements of another type are refused where the metadata state the type", "[launch_plan]") {
    const LaunchPlan plan(
        kernel({argument(ValueKind::global_buffer, 0, 8, "uint*", "words"),
                argument(ValueKind::global_buffer, 8, 8, "float4*"), argument(ValueKind::global_buffer, 16, 8)}),
        limits);
    CHECK(arguments_refusal<int*, float*, double*>(plan).empty());
    CHECK(arguments_refusal<const void*, std::byte*, char*>(plan).empty());
    CHECK(arguments_refusal<std::nullptr_t, ArgumentShape*, float**>(plan).empty());
    CHECK_THAT(
        (arguments_refusal<double*, float*, float*>(plan)),
        Contains("argument 1 of 3 (uint* words): wanted a pointer to elements that are an integer of 4 bytes, given "
                 "a pointer to a floating-point number of 8 bytes"));
    CHECK_THAT((arguments_refusal<float*, float*, float*>(plan)), Contains("a floating-point number of 4 bytes"));
    CHECK_THAT((arguments_refusal<short*, float*, float*>(plan)), Contains("an integer of 2 bytes"));
    CHECK_THAT((arguments_refusal<unsigned*, const volatile double*, float*>(plan)),
               Contains("argument 2 of 3 (float4*)"));
    CHECK(plan.argument_count() == 3);
    CHECK(plan.argument(0).name == "words");
    CHECK_NOTHROW(plan.check_element(0, element_type<std::uint32_t>));
    CHECK_THROWS_AS(plan.check_element(0, element_type<double>), InvalidArgument);
}

TEST_CASE("a wrong count is refused with the kernel's signature", "[launch_plan]") {
    const LaunchPlan plan(kernel({argument(ValueKind::global_buffer, 0, 8, "float*", "x"),
                                  argument(ValueKind::by_value, 8, 4, "uint", "n")}),
                          limits);
    CHECK_THAT(arguments_refusal<float*>(plan),
               Contains("kernel 'k'") && Contains("k(float* x, uint n) takes 2 arguments, given 1"));
    CHECK_THAT((arguments_refusal<float*, int, int>(plan)), Contains("takes 2 arguments, given 3"));
    CHECK_THAT(arguments_refusal<>(plan), Contains("given 0"));
}

TEST_CASE("a wrong size or kind is refused with the argument, wanted and given", "[launch_plan]") {
    const LaunchPlan plan(
        kernel({argument(ValueKind::global_buffer, 0, 8, "float*", "x"),
                argument(ValueKind::by_value, 8, 4, "uint", "n"), argument(ValueKind::by_value, 12, 4, "float", "a")}),
        limits);
    CHECK_THAT((arguments_refusal<float*, unsigned long, float>(plan)),
               Contains("argument 2 of 3 (uint n): wanted an integer of 4 bytes, given an integer of 8 bytes"));
    CHECK_THAT((arguments_refusal<float*, float, float>(plan)),
               Contains("argument 2 of 3 (uint n)") && Contains("given a floating-point number of 4 bytes"));
    CHECK_THAT((arguments_refusal<float*, unsigned, double>(plan)),
               Contains("argument 3 of 3 (float a)") && Contains("of 8 bytes"));
    CHECK_THAT((arguments_refusal<float*, unsigned, int>(plan)),
               Contains("wanted a floating-point number of 4 bytes, given an integer"));
    CHECK_THAT((arguments_refusal<unsigned long, unsigned, float>(plan)),
               Contains("argument 1 of 3 (float* x): wanted a pointer"));
    CHECK_THAT((arguments_refusal<float*, float*, float>(plan)),
               Contains("argument 2") && Contains("given a pointer of 8 bytes"));
}

TEST_CASE("without a known type name, the size decides", "[launch_plan]") {
    const char* type = GENERATE("", "real_t", "float4");
    const LaunchPlan plan(kernel({argument(ValueKind::by_value, 0, 4, type)}), limits);
    struct Four {
        char bytes[4];
    };
    CHECK(arguments_refusal<int>(plan).empty());
    CHECK(arguments_refusal<float>(plan).empty());
    CHECK(arguments_refusal<Four>(plan).empty());
    CHECK_FALSE(arguments_refusal<double>(plan).empty());
    CHECK_FALSE(arguments_refusal<void*>(plan).empty());
}

TEST_CASE("work-group and grid at their limits are accepted", "[launch_plan]") {
    CHECK(size_refusal(1, 1).empty());
    CHECK(size_refusal(1024, 1024).empty());
    CHECK(size_refusal({1, 512, 1}, {1, 512, 1}).empty());
    CHECK(size_refusal(0xffffffff, 64).empty());
    CHECK(size_refusal(100, 256).empty());   // one partial work-group
    CHECK(size_refusal(1000, 256).empty());  // the last one partial
    CHECK(size_refusal({5, 7, 3}, {4, 4, 4}).empty());
}

TEST_CASE("work-group and grid beyond a limit are refused with the numbers", "[launch_plan]") {
    CHECK_THAT(size_refusal(64, 0), Contains("work-group 0x1x1 is empty"));
    CHECK_THAT(size_refusal(1000, {0, 0, 0}), Contains("no work-group is given") && Contains("suggest_group_size"));
    CHECK_THAT(size_refusal(0, 64), Contains("grid 0x1x1 is empty"));
    CHECK_THAT(size_refusal({1, 1, 0}, 64), Contains("grid 1x1x0 is empty"));
    CHECK_THAT(size_refusal(2048, 1025), Contains("work-group 1025x1x1: the agent's limit is 1024x512x256"));
    CHECK_THAT(size_refusal(2048, {1, 513}), Contains("1x513x1"));
    CHECK_THAT(size_refusal(2048, {1, 1, 257}), Contains("1x1x257"));
    CHECK_THAT(size_refusal(2048, {33, 32}), Contains("has 1056 work-items, the agent's limit is 1024"));
    CHECK_THAT(size_refusal({1, 1, (1 << 20) + 1}, 64), Contains("grid 1x1x1048577: the agent's limit"));
    CHECK_THAT(size_refusal({0xffffffff, 2}, 64), Contains("more work-items than the agent's limit, 4294967295"));
    CHECK_THAT(size_refusal({0xffffffff, 0xffffffff, 1 << 20}, 64), Contains("more work-items"));  // 2^84
    CHECK_THAT(size_refusal(64, {0xffffffff, 0xffffffff, 0xffffffff}), Contains("the agent's limit"));
}

TEST_CASE("the work-group sizes of compilation limit its launches", "[launch_plan]") {
    KernelMetadata small = kernel();
    small.max_flat_workgroup_size = 128;
    const LaunchPlan at_most(small, limits);
    CHECK(refusal(at_most, {.grid = 1024, .workgroup = 128}).empty());
    CHECK_THAT(refusal(at_most, {.grid = 1024, .workgroup = 129}),
               Contains("has 129 work-items, the kernel was compiled for up to 128"));

    KernelMetadata fixed = kernel();
    fixed.required_workgroup_size = {64, 2, 1};
    const LaunchPlan exactly(fixed, limits);
    CHECK(refusal(exactly, {.grid = {128, 2}, .workgroup = {64, 2}}).empty());
    CHECK_THAT(refusal(exactly, {.grid = 128, .workgroup = 128}),
               Contains("work-group 128x1x1: the kernel requires 64x2x1"));

    CHECK(exactly.shape({.grid = {128, 2}}).workgroup == Dim3(64, 2));  // the only one
    CHECK_THAT(refusal(exactly, {.grid = {63, 2}, .workgroup = {64, 2}}),
               Contains("grid 63x2x1 is smaller than the work-group 64x2x1 that the kernel requires"));

    KernelMetadata uniform = kernel();
    uniform.uniform_workgroups = true;
    const LaunchPlan whole(uniform, limits);
    CHECK(refusal(whole, {.grid = 1024, .workgroup = 256}).empty());
    CHECK_THAT(refusal(whole, {.grid = 1000, .workgroup = 256}),
               Contains("grid 1000x1x1 is not a multiple of the work-group 256x1x1"));
}

TEST_CASE("arguments have the alignment that compilers require, and no more", "[launch_plan]") {
    KernelMetadata aligned = kernel();
    aligned.kernarg_align_bytes = 256;
    CHECK_NOTHROW(LaunchPlan(aligned, limits));
    aligned.kernarg_align_bytes = 512;
    CHECK_THROWS_WITH(LaunchPlan(aligned, limits), Contains("512 bytes") && Contains("256 bytes"));
}

TEST_CASE("a kernel's compiled number of work-groups is a limit", "[launch_plan]") {
    KernelMetadata few = kernel();
    few.max_workgroups = {10, 0, 2};
    const LaunchPlan plan(few, limits);
    CHECK(refusal(plan, {.grid = {640, 5000, 2}, .workgroup = {64, 1, 1}}).empty());
    CHECK(refusal(plan, {.grid = {577, 1, 1}, .workgroup = {64, 1, 1}}).empty());  // the tenth is partial
    CHECK_THAT(refusal(plan, {.grid = {641, 1, 1}, .workgroup = {64, 1, 1}}),
               Contains("compiled for at most 10x0x2 work-groups"));
    CHECK_THAT(refusal(plan, {.grid = {64, 1, 3}, .workgroup = {64, 1, 1}}), Contains("at most 10x0x2"));
}

TEST_CASE("a grid smaller than the work-group becomes one work-group of the grid's size", "[launch_plan]") {
    const LaunchPlan plan(kernel(), limits);
    const LaunchShape shape = plan.shape({.grid = {100, 8}, .workgroup = {32, 16}});
    CHECK(shape.grid == Dim3(100, 8));
    CHECK(shape.workgroup == Dim3(32, 8));
}

TEST_CASE("a grid is given in work-items or in work-groups, not both", "[launch_plan]") {
    const LaunchPlan plan(kernel(), limits);
    CHECK(plan.shape({.groups = 4, .workgroup = 256}).grid == Dim3(1024));
    CHECK(plan.shape({.groups = {4, 3, 2}, .workgroup = {8, 4, 2}}).grid == Dim3(32, 12, 4));
    CHECK(plan.fits({.groups = 4, .workgroup = 256}));
    CHECK_FALSE(plan.is_plain({.groups = 4, .workgroup = 256}));
    CHECK_FALSE(plan.is_plain({.grid = 1024, .groups = 4, .workgroup = 256}));
    CHECK_FALSE(plan.fits({.grid = 1024, .groups = 4, .workgroup = 256}));
    CHECK_THAT(refusal(plan, {.grid = 1024, .groups = 4, .workgroup = 256}),
               Contains("grid 1024x1x1 and groups 4x1x1: give work-items in .grid, or work-groups in .groups"));
    CHECK_THAT(refusal(plan, {.groups = 1 << 30, .workgroup = 64}),
               Contains("groups 1073741824x1x1 of 64x1x1: a packet's grid"));
    CHECK_THAT(refusal(plan, {.groups = {4, 0, 1}, .workgroup = 64}), Contains("grid 256x0x1 is empty"));
    CHECK_THAT(refusal(plan, {.groups = 4}), Contains("no work-group is given"));
    CHECK_THAT(refusal(plan, {.workgroup = 64}), Contains("no grid is given"));
    KernelMetadata fixed = kernel();
    fixed.required_workgroup_size = {64, 1, 1};
    CHECK(LaunchPlan(fixed, limits).shape({.groups = 4}).grid == Dim3(256));
}

TEST_CASE("LDS at the agent's limit is accepted, one byte more is refused with the numbers", "[launch_plan]") {
    KernelMetadata fixed = kernel();
    fixed.group_segment_fixed_bytes = 1024;
    const LaunchPlan plan(fixed, limits);
    CHECK(plan.shape({.grid = 64, .workgroup = 64}).group_segment_bytes == 1024);
    CHECK(plan.shape({.grid = 64, .workgroup = 64, .lds = 64512}).group_segment_bytes == 65536);
    CHECK_THAT(refusal(plan, {.grid = 64, .workgroup = 64, .lds = 64513}),
               Contains("1024 bytes static + 64513 bytes dynamic") && Contains("65536 bytes per work-group"));
    CHECK_THAT(refusal(plan, {.grid = 64, .workgroup = 64, .lds = std::uint64_t{1} << 32}),
               Contains("4 GiB or more dynamic"));
    CHECK_THAT(refusal(plan, {.grid = 64, .workgroup = 64, .lds = -1}), Contains("4 GiB or more dynamic"));

    fixed.group_segment_fixed_bytes = 65537;
    CHECK_THAT(refusal(LaunchPlan(fixed, limits), {.grid = 64, .workgroup = 64}),
               Contains("65537 bytes static + 0 bytes dynamic"));
}

TEST_CASE("LDS beyond the limit names the layout's largest array", "[launch_plan]") {
    using shared::lds_array, shared::lds_layout;
    const LaunchPlan plan(kernel(), limits);
    const auto refused = [&](const shared::LdsDemand& lds) {
        return refusal(plan, {.grid = 64, .workgroup = 64, .lds = lds});
    };
    CHECK_THAT(
        refused(lds_layout(lds_array<char>(100), lds_array<double>(8192), lds_array<int>(16))),
        Contains("0 bytes static + 65704 bytes dynamic (aligned to 8)") &&
            Contains("65536 bytes per work-group; the largest of the 3 arrays of .lds is array 1 with 65536 bytes"));
    CHECK_THAT(refused(lds_layout(lds_array<char>(10), lds_array<char>(70000))),
               Contains("is array 1 with 70000 bytes"));
    CHECK_THAT(refused(lds_layout(lds_array<float>(16384), lds_array<char>(1))),
               Contains("is array 0 with 65536 bytes"));
    CHECK_THAT(refused(lds_layout(lds_array<float>(10000), lds_array<float>(10000))),
               Contains("is array 0 with 40000"));
    CHECK_THAT(refused(lds_layout(lds_array<char>(7), lds_array<float>(1 << 30), lds_array<char>(9))),
               Contains("4 GiB or more dynamic") && Contains("array 1 of .lds ends beyond 4 GiB"));
    // For a single array the message has only its bytes.
    CHECK_THAT(refused(lds_layout(lds_array<float>(16385))), Contains("65540 bytes dynamic") && !Contains("largest"));
    CHECK_THAT(refused(65537), Contains("65537 bytes dynamic") && !Contains("largest"));
    CHECK_THAT(refused(-1), Contains("4 GiB or more dynamic") && !Contains("array"));
    CHECK(refused(lds_layout(lds_array<char>(65536), lds_array<char>(0))).empty());
    shared::LdsDemand from_number = 70000;  // with any numbers
    from_number.count = 1000;
    from_number.offsets_bytes[3] = 80000;
    CHECK_THAT(refused(from_number), Contains("is array 2 with 80000 bytes"));

    KernelMetadata fixed = kernel();
    fixed.group_segment_fixed_bytes = 1;
    CHECK_THAT(
        refusal(LaunchPlan(fixed, limits),
                {.grid = 64, .workgroup = 64, .lds = lds_layout(lds_array<char>(65535), lds_array<int>(0))}),
        Contains("1 byte static + 65536 bytes dynamic (aligned to 4)") && Contains("is array 0 with 65536 bytes"));
}

TEST_CASE("LDS pointers point after the static part, aligned for their type and the layout", "[launch_plan]") {
    KernelMetadata dynamic = kernel({argument(ValueKind::global_buffer, 0, 8), lds_pointer(8, 4), lds_pointer(12, 8)});
    dynamic.group_segment_fixed_bytes = 12;
    const LaunchPlan plan(dynamic, limits);
    CHECK(plan.has_implicit());
    const LaunchConfig config{.grid = 64,
                              .workgroup = 64,
                              .lds = shared::lds_layout(shared::lds_array<int>(3), shared::lds_array<double>(4))};
    const LaunchShape shape = plan.shape(config);
    CHECK(shape.lds_base_bytes == 16);
    CHECK(shape.group_segment_bytes == 16 + 16 + 32);

    std::vector<std::byte> kernarg(512, std::byte{0xee});
    plan.fill_implicit(kernarg.data(), shape, {});
    CHECK(peek<std::uint32_t>(kernarg, 8) == 16);
    CHECK(peek<std::uint32_t>(kernarg, 12) == 32);
    CHECK(peek<std::uint8_t>(kernarg, 16) == 0xee);
}

TEST_CASE("plain bytes are one array; a kernel with more LDS pointers needs a layout", "[launch_plan]") {
    const LaunchPlan one(kernel({lds_pointer(0, 32)}), limits);
    CHECK(one.shape({.grid = 1, .workgroup = 1, .lds = 100}).group_segment_bytes == 100);
    CHECK_THAT(refusal(one, {.grid = 1, .workgroup = 1}),
               Contains("1 dynamic LDS pointer(s)") && Contains(".lds describes 0"));
    CHECK(refusal(one, {.grid = 1, .workgroup = 1, .lds = 0}).empty());

    const LaunchPlan two(kernel({lds_pointer(0, 4), lds_pointer(4, 8)}), limits);
    CHECK_THAT(refusal(two, {.grid = 1, .workgroup = 1, .lds = 100}),
               Contains("2 dynamic LDS pointer(s)") && Contains("layout"));
    const auto odd = shared::lds_layout(shared::lds_array<int>(1), shared::lds_array<int>(1));
    CHECK_THAT(refusal(two, {.grid = 1, .workgroup = 1, .lds = odd}),
               Contains("LDS array 1 of .lds is at offset 4") && Contains("8-byte alignment"));
}

TEST_CASE("stack bytes add to a work-item's scratch only for a kernel with a dynamic stack", "[launch_plan]") {
    KernelMetadata recursive = kernel();
    recursive.private_segment_fixed_bytes = 32;
    CHECK(LaunchPlan(recursive, limits).shape({.grid = 1, .workgroup = 1, .stack_bytes = 100}).private_segment_bytes ==
          32);
    recursive.uses_dynamic_stack = true;
    const LaunchPlan plan(recursive, limits);
    CHECK(plan.shape({.grid = 1, .workgroup = 1, .stack_bytes = 100}).private_segment_bytes == 132);
    CHECK(plan.shape({.grid = 1, .workgroup = 1}).private_segment_bytes == 32 + dynamic_stack_default_bytes);
    CHECK_THAT(refusal(plan, {.grid = 1, .workgroup = 1, .stack_bytes = 0xffffffff}),
               Contains("a stack of 4294967295 bytes"));
}

TEST_CASE("arguments that no launch could provide are refused when the plan is made", "[launch_plan]") {
    CHECK_THROWS_AS(LaunchPlan(kernel({argument(ValueKind::unknown, 0, 8)}), limits), InvalidCodeObject);
    CHECK_THROWS_AS(LaunchPlan(kernel({argument(ValueKind::hidden_block_count_x, 0, 8)}), limits), InvalidCodeObject);
    CHECK_THROWS_AS(LaunchPlan(kernel({argument(ValueKind::dynamic_shared_pointer, 0, 8)}), limits), InvalidCodeObject);
}
