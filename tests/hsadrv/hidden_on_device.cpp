// Every hidden argument, read by a kernel at the offset in its metadata.
#include <map>

#include "hsadrv/base/runtime.hpp"
#include "hsadrv/services/kernel_services.hpp"
#include "tests/hsadrv/launch_device.hpp"

using namespace hsadrv;
using namespace test_support;

namespace {

constexpr std::uint32_t lds_bytes = 64;

/// The value of each kind (LLVM AMDGPUUsage, Code Object V5 Metadata; ROCclr does the same).
/// std::nullopt for kinds that are not hidden arguments.
std::map<ValueKind, std::uint64_t> wanted(const Dim3& grid, const Dim3& group, std::uint16_t dims,
                                          const QueueFacts& facts, const ServiceAddresses& services) {
    using enum ValueKind;
    return {
        {hidden_none, 0},
        {hidden_block_count_x, grid.x / group.x},
        {hidden_block_count_y, grid.y / group.y},
        {hidden_block_count_z, grid.z / group.z},
        {hidden_group_size_x, group.x},
        {hidden_group_size_y, group.y},
        {hidden_group_size_z, group.z},
        {hidden_remainder_x, grid.x % group.x},
        {hidden_remainder_y, grid.y % group.y},
        {hidden_remainder_z, grid.z % group.z},
        {hidden_global_offset_x, 0},
        {hidden_global_offset_y, 0},
        {hidden_global_offset_z, 0},
        {hidden_grid_dims, dims},
        {hidden_printf_buffer, 0},
        {hidden_hostcall_buffer, services.hostcall_buffer},
        {hidden_multigrid_sync_arg, 0},
        {hidden_heap_v1, services.heap},
        {hidden_default_queue, 0},
        {hidden_completion_action, 0},
        {hidden_dynamic_lds_size, lds_bytes},
        {hidden_private_base, facts.private_base_hi},
        {hidden_shared_base, facts.shared_base_hi},
        {hidden_queue_ptr, facts.address},
    };
}

std::uint64_t value_at(const std::byte* block, const ArgumentMetadata& argument, std::uint32_t block_offset) {
    std::uint64_t value = 0;
    std::memcpy(&value, block + (argument.offset_bytes - block_offset), argument.size_bytes);
    return value;
}

}  // namespace

TEST_CASE("each hidden argument of V4 and V5 arrives with the value of its kind", "[hidden_arguments][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const std::string variant = GENERATE("v4.O0", "v4.O2", "v5.O0", "v5.O2");
    struct Row {
        Dim3 grid, group;
        std::uint16_t dims;
    };
    const Row row = GENERATE(values<Row>({{Dim3(600), Dim3(256), 1},
                                          {Dim3(64), Dim3(64), 1},
                                          {Dim3(33, 7), Dim3(16, 4), 2},
                                          {Dim3(10, 4, 3), Dim3(4, 2, 2), 3}}));
    CAPTURE(variant, row.grid.x, row.group.x, row.dims);
    const Kernel kernel =
        Executable::load(device.gpu, test_file("hidden." + device.gpu.agent().name() + "." + variant + ".hsaco"))
            .kernel("dump");
    std::uint32_t first = 0xffffffff, end = 0;
    std::size_t hidden = 0;
    for (const ArgumentMetadata& argument : kernel.metadata().arguments) {
        if (!is_hidden(argument.kind)) continue;
        first = std::min(first, argument.offset_bytes);
        end = argument.offset_bytes + argument.size_bytes;
        ++hidden;
    }
    CHECK(hidden == (variant[1] == '4' ? 7u : 20u));
    Shared<std::uint32_t> out(device.gpu, 64, 0xeeeeeeee);
    const LaunchConfig config{.grid = row.grid, .workgroup = row.group, .lds = lds_bytes};
    const unsigned words = (end - first + 3) / 4;
    kernel.launch(device.stream, config, out.data(), words);
    device.stream.synchronize(std::chrono::seconds(60));

    const auto* block = reinterpret_cast<const std::byte*>(out.data());
    const ServiceAddresses services =
        device.driver.runtime().services().of(device.gpu.agent(), {.hostcall = true, .heap = true});
    CHECK(services.hostcall_buffer != 0);
    CHECK(services.heap != 0);
    const auto values = wanted(row.grid, row.group, row.dims, detail::queue_facts(device.stream), services);
    for (const ArgumentMetadata& argument : kernel.metadata().arguments) {
        if (!is_hidden(argument.kind)) continue;
        CAPTURE(argument.kind_text, argument.offset_bytes);
        CHECK(value_at(block, argument, first) == values.at(argument.kind));
    }
}

TEST_CASE("the apertures in hidden arguments are those of the device", "[hidden_arguments][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const std::string variant = GENERATE("v4.O2", "v5.O0", "v5.O2");
    CAPTURE(variant);
    const Kernel kernel =
        Executable::load(device.gpu, test_file("hidden." + device.gpu.agent().name() + "." + variant + ".hsaco"))
            .kernel("apertures");
    Shared<std::uint32_t> out(device.gpu, 3);
    kernel.launch(device.stream, {.grid = 1, .workgroup = 1}, out.data());
    device.stream.synchronize(std::chrono::seconds(60));
    const QueueFacts queue = detail::queue_facts(device.stream);
    CHECK(out[0] == queue.shared_base_hi);
    CHECK(out[1] == queue.private_base_hi);
    CHECK(out[2] == 5);
}
