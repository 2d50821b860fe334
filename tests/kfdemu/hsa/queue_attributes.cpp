// Attributes of queues: sizes, types, priorities, masks of compute units.
#include "tests/kfdemu/hsa/kernel.hpp"
#include "tests/support/catch.hpp"

using namespace hsa_test;

namespace {

template <class T>
T agent_info(const Gpu& gpu, int what) {
    T value{};
    HSA_CHECK(hsa_agent_get_info(gpu.agent, static_cast<hsa_agent_info_t>(what), &value));
    return value;
}

std::vector<std::uint32_t> mask_of(const Queue& queue, std::uint32_t bits) {
    std::vector<std::uint32_t> mask(bits / 32, 0xdeadbeef);
    HSA_CHECK(hsa_amd_queue_cu_get_mask(queue.get(), bits, mask.data()));
    return mask;
}

/// All compute units the GPU has, in whole words.
std::vector<std::uint32_t> all_units(const Gpu& gpu) {
    const auto units = agent_info<std::uint32_t>(gpu, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT);
    std::vector<std::uint32_t> mask((units + 31) / 32, ~0u);
    if (units % 32) mask.back() = (1u << units % 32) - 1;
    return mask;
}

}  // namespace

TEST_CASE("queues have the sizes that the agent allows, and no other", "[device][attributes]") {
    NEEDS_GPUS(1);
    Machine machine;
    const Gpu& gpu = machine.gpu();
    const auto least = agent_info<std::uint32_t>(gpu, HSA_AGENT_INFO_QUEUE_MIN_SIZE),
               most = agent_info<std::uint32_t>(gpu, HSA_AGENT_INFO_QUEUE_MAX_SIZE);
    for (std::uint32_t size = least; size <= most && size != 0; size *= 4) {
        CAPTURE(size);
        Queue queue{gpu, size};
        CHECK(queue.get()->size == size);
        CHECK(queue.read_index() == 0);
        CHECK(queue.drains());
    }
    hsa_queue_t* none = nullptr;
    const auto create = [&](std::uint32_t size) {
        return hsa_queue_create(gpu.agent, size, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, UINT32_MAX, UINT32_MAX, &none);
    };
    HSA_STATUS(create(0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    HSA_STATUS(create(least + 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST_CASE("every priority is taken, an unknown one is refused", "[device][attributes]") {
    NEEDS_GPUS(1);
    Machine machine;
    Queue queue{machine.gpu()};
    for (auto priority : {HSA_AMD_QUEUE_PRIORITY_LOW, HSA_AMD_QUEUE_PRIORITY_HIGH, HSA_AMD_QUEUE_PRIORITY_NORMAL}) {
        HSA_STATUS(hsa_amd_queue_set_priority(queue.get(), priority), HSA_STATUS_SUCCESS);
        CHECK(queue.drains());
    }
    HSA_STATUS(hsa_amd_queue_set_priority(queue.get(), static_cast<hsa_amd_queue_priority_t>(3)),
               HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK(queue.drains());
}

TEST_CASE("a queue that stopped in error refuses a priority", "[device][attributes]") {
    NEEDS_GPUS(1);
    Machine machine;
    Queue queue{machine.gpu()};
    auto bad = barrier_and({});
    bad.header = header(100);
    queue.submit(bad);
    REQUIRE(queue.wait_for_error() == HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
    HSA_STATUS(hsa_amd_queue_set_priority(queue.get(), HSA_AMD_QUEUE_PRIORITY_HIGH), HSA_STATUS_ERROR_INVALID_QUEUE);
}

TEST_CASE("a mask of compute units is kept, clipped to the existing ones, and reset", "[device][attributes]") {
    NEEDS_GPUS(1);
    Machine machine;
    const Executable code{machine.gpu(), "work"};
    Queue queue{machine.gpu()};
    const Memory total{machine.cpu().fine, 4096, machine.agents()};
    const std::vector<std::uint32_t> all = all_units(machine.gpu());
    const auto bits = static_cast<std::uint32_t>(all.size() * 32);
    const auto set = [&](const std::vector<std::uint32_t>& mask) {
        return hsa_amd_queue_cu_set_mask(queue.get(), static_cast<std::uint32_t>(mask.size() * 32), mask.data());
    };
    const auto works = [&] {
        *total.as<std::uint32_t>() = 0;
        run(machine, queue, code.kernel("count"), line(10000), total.data());
        return *total.as<std::uint32_t>() == 10000;
    };
    CHECK(mask_of(queue, bits) == all);

    std::vector<std::uint32_t> few(all.size(), 0);
    few[0] = 0x33;  // pairs, which RDNA has
    HSA_STATUS(set(few), HSA_STATUS_SUCCESS);
    CHECK(mask_of(queue, bits) == few);
    CHECK(works());

    std::vector<std::uint32_t> beyond(all.size() + 2, ~0u);
    HSA_STATUS(set(beyond), HSA_STATUS_SUCCESS);
    CHECK(mask_of(queue, bits) == all);
    std::vector<std::uint32_t> padded = all;
    padded.resize(all.size() + 2, 0);
    CHECK(mask_of(queue, bits + 64) == padded);

    HSA_STATUS(set({3}), HSA_STATUS_SUCCESS);
    CHECK(mask_of(queue, 32) == std::vector<std::uint32_t>{3});
    HSA_STATUS(hsa_amd_queue_cu_set_mask(queue.get(), 0, nullptr), HSA_STATUS_SUCCESS);
    CHECK(mask_of(queue, bits) == all);
    CHECK(works());
}

TEST_CASE("work-groups that wait for those before them end, although few are resident", "[device][attributes]") {
    NEEDS_GPUS(1);
    Machine machine;
    const Executable code{machine.gpu(), "order"};
    constexpr std::uint32_t groups = 3000, first = 1000, items = 1024, rounds = 30'000;
    const Memory done{machine.cpu().fine, groups * sizeof(std::uint32_t), machine.agents()};
    std::fill_n(done.as<std::uint32_t>(), groups, 0u);
    Queue queue{machine.gpu()};
    const std::uint32_t one_pair = 3;
    HSA_STATUS(hsa_amd_queue_cu_set_mask(queue.get(), 32, &one_pair), HSA_STATUS_SUCCESS);
    run(machine, queue, code.kernel("chain"), line(groups * items, items), done.data(), first, rounds);
    CHECK(done.as<std::uint32_t>()[groups - 1] != 0);
}

TEST_CASE("a mask of no whole words is refused", "[device][attributes]") {
    NEEDS_GPUS(1);
    Machine machine;
    Queue queue{machine.gpu()};
    std::uint32_t word = 1;
    HSA_STATUS(hsa_amd_queue_cu_set_mask(queue.get(), 31, &word), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    HSA_STATUS(hsa_amd_queue_cu_set_mask(queue.get(), 32, nullptr), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    HSA_STATUS(hsa_amd_queue_cu_get_mask(queue.get(), 0, &word), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    HSA_STATUS(hsa_amd_queue_cu_get_mask(queue.get(), 33, &word), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK(queue.drains());
}
