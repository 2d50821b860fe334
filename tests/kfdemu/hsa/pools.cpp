// Memory pools: properties, allocation and refusal; access; exhaustion.
#include <algorithm>

#include "tests/kfdemu/hsa/kernel.hpp"
#include "tests/support/catch.hpp"

using namespace hsa_test;

namespace {

template <class T>
T pool_info(hsa_amd_memory_pool_t pool, hsa_amd_memory_pool_info_t what) {
    T value{};
    HSA_CHECK(hsa_amd_memory_pool_get_info(pool, what, &value));
    return value;
}

hsa_status_t allocate(hsa_amd_memory_pool_t pool, std::size_t size, void** memory) {
    *memory = nullptr;
    return hsa_amd_memory_pool_allocate(pool, size, 0, memory);
}

/// Everything the pool gives in pieces of that size.
std::vector<Memory> exhaust(hsa_amd_memory_pool_t pool, std::size_t piece, hsa_status_t& last) {
    std::vector<Memory> pieces;
    while (true) {
        try {
            pieces.emplace_back(pool, piece, std::vector<hsa_agent_t>{});
        } catch (const std::exception&) {
            void* none = nullptr;
            last = allocate(pool, piece, &none);
            return pieces;
        }
    }
}

}  // namespace

TEST_CASE("a GPU has coarse-grained memory, and the host has all three kinds", "[device][pools]") {
    NEEDS_GPUS(1);
    Machine machine;
    CHECK(machine.gpu().coarse.handle != 0);
    CHECK(machine.cpu().fine.handle != 0);
    CHECK(machine.cpu().kernarg.handle != 0);
    for (auto pool : {machine.gpu().coarse, machine.cpu().fine, machine.cpu().kernarg}) {
        CHECK(pool_info<bool>(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED));
        const auto granule = pool_info<std::size_t>(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE);
        CHECK((granule != 0 && (granule & (granule - 1)) == 0));
        CHECK(pool_info<std::size_t>(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE) >= granule);
    }
}

TEST_CASE("every kind of memory is the same to kernels and host", "[device][pools]") {
    NEEDS_GPUS(1);
    Machine machine;
    Queue queue{machine.gpu()};
    const Executable code{machine.gpu(), "work"};
    constexpr std::uint32_t n = 3000;
    const std::pair<const char*, hsa_amd_memory_pool_t> pools[] = {{"coarse host", machine.cpu().coarse},
                                                                   {"fine host", machine.cpu().fine},
                                                                   {"kernarg host", machine.cpu().kernarg},
                                                                   {"coarse GPU", machine.gpu().coarse},
                                                                   {"fine GPU", machine.gpu().fine}};
    for (const auto& [name, pool] : pools) {
        if (pool.handle == 0) continue;
        CAPTURE(name);
        const Memory memory{pool, n * 4, machine.agents()};
        run(machine, queue, code.kernel("fill"), line(n), memory.data(), 50u, n);
        std::vector<std::uint32_t> words(n);
        HSA_CHECK(hsa_memory_copy(words.data(), memory.data(), n * 4));
        for (std::uint32_t i = 0; i < n; ++i) REQUIRE(words[i] == 50 + i);
    }
}

TEST_CASE("sizes that no pool has are refused", "[device][pools]") {
    NEEDS_GPUS(1);
    Machine machine;
    for (auto pool : {machine.gpu().coarse, machine.cpu().fine, machine.cpu().kernarg}) {
        const auto size = pool_info<std::size_t>(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE);
        const auto granule = pool_info<std::size_t>(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE);
        void* memory = nullptr;
        HSA_STATUS(allocate(pool, 0, &memory), HSA_STATUS_ERROR_INVALID_ARGUMENT);
        for (std::size_t wanted :
             {size + granule, SIZE_MAX, SIZE_MAX - granule, SIZE_MAX / 2 + 1, std::size_t{1} << 60}) {
            CAPTURE(wanted);
            const hsa_status_t status = allocate(pool, wanted, &memory);
            CHECK((status == HSA_STATUS_ERROR_OUT_OF_RESOURCES || status == HSA_STATUS_ERROR_INVALID_ALLOCATION));
            CHECK(memory == nullptr);
        }
        HSA_CHECK(allocate(pool, 1, &memory));
        HSA_CHECK(hsa_amd_memory_pool_free(memory));
    }
    void* memory = nullptr;
    HSA_STATUS(allocate(hsa_amd_memory_pool_t{0}, 4096, &memory),
               static_cast<hsa_status_t>(HSA_STATUS_ERROR_INVALID_MEMORY_POOL));
}

TEST_CASE("foreign and freed addresses cannot be freed", "[device][pools]") {
    NEEDS_GPUS(1);
    Machine machine;
    void* memory = nullptr;
    HSA_CHECK(allocate(machine.gpu().coarse, 1 << 22, &memory));
    HSA_STATUS(hsa_amd_memory_pool_free(static_cast<std::byte*>(memory) + 4096), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    HSA_STATUS(hsa_amd_memory_pool_free(memory), HSA_STATUS_SUCCESS);
    HSA_STATUS(hsa_amd_memory_pool_free(memory), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    int own = 0;
    HSA_STATUS(hsa_amd_memory_pool_free(&own), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    HSA_STATUS(hsa_amd_memory_pool_free(nullptr), HSA_STATUS_SUCCESS);
}

TEST_CASE("a GPU's memory can be used up, and all of it is there again", "[device][pools]") {
    NEEDS_GPUS(1);
    Machine machine;
    Queue queue{machine.gpu()};
    const Executable code{machine.gpu(), "work"};
    const Memory total{machine.cpu().fine, 4096, machine.agents()};
    const auto pool = machine.gpu().coarse;
    const std::size_t size = pool_info<std::size_t>(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE),
                      piece = size / 16 / 4096 * 4096;
    std::size_t first_count = 0;
    for (int round = 0; round < 3; ++round) {
        hsa_status_t last = HSA_STATUS_SUCCESS;
        const std::vector<Memory> pieces = exhaust(pool, piece, last);
        HSA_STATUS(last, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
        if (round == 0) first_count = pieces.size();
        CHECK(pieces.size() == first_count);
        CHECK(pieces.size() >= 12);
        // The rest of the machine lives on.
        *total.as<std::uint32_t>() = 0;
        run(machine, queue, code.kernel("count"), line(100), total.data());
        CHECK(*total.as<std::uint32_t>() == 100);
    }
    const Memory most{pool, piece * (first_count - 1), {}};
    CHECK(most.size_bytes() != 0);
}

TEST_CASE("available memory shrinks by allocations, and recovers", "[device][pools]") {
    NEEDS_GPUS(1);
    Machine machine;
    // HSA_AMD_AGENT_INFO_MEMORY_AVAIL came with ROCR 5.4.
    constexpr int what = 0xA015;
    const auto available = [&](std::uint64_t& bytes) {
        return hsa_agent_get_info(machine.gpu().agent, static_cast<hsa_agent_info_t>(what), &bytes);
    };
    std::uint64_t before = 0, during = 0, after = 0;
    if (available(before) != HSA_STATUS_SUCCESS) SKIP_BECAUSE("this runtime has no such query");
    {
        const Memory memory{machine.gpu().coarse, 16 << 20, {}};
        HSA_CHECK(available(during));
    }
    HSA_CHECK(available(after));
    CHECK(before - during >= (16u << 20));
    CHECK(before - during < (20u << 20));
    CHECK(after == before);
}

TEST_CASE("thousands of small allocations do not overlap", "[device][pools]") {
    NEEDS_GPUS(1);
    Machine machine;
    std::vector<Memory> pieces;
    for (std::size_t i = 0; i < 2000; ++i)
        pieces.emplace_back(machine.gpu().coarse, 1 + i * 97 % 20000, std::vector<hsa_agent_t>{});
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
    for (const Memory& piece : pieces) ranges.emplace_back(piece.address(), piece.address() + piece.size_bytes());
    std::sort(ranges.begin(), ranges.end());
    for (std::size_t i = 1; i < ranges.size(); ++i) REQUIRE(ranges[i - 1].second <= ranges[i].first);
}

TEST_CASE("a pointer's owner is reported", "[device][pools]") {
    NEEDS_GPUS(1);
    Machine machine;
    const Memory gpu{machine.gpu().coarse, 1 << 22, {}}, host{machine.cpu().fine, 1 << 22, machine.agents()};
    const auto info_of = [](const void* pointer) {
        hsa_amd_pointer_info_t info{};
        info.size = sizeof info;
        HSA_CHECK(hsa_amd_pointer_info(pointer, &info, nullptr, nullptr, nullptr));
        return info;
    };
    const auto inside = info_of(gpu.as<std::byte>() + 12345);
    CHECK(inside.type == HSA_EXT_POINTER_TYPE_HSA);
    CHECK(inside.agentBaseAddress == gpu.data());
    CHECK(inside.sizeInBytes == gpu.size_bytes());
    CHECK(inside.agentOwner.handle == machine.gpu().agent.handle);
    CHECK(info_of(host.data()).agentOwner.handle == machine.cpu().agent.handle);
    int own = 0;
    CHECK(info_of(&own).type == HSA_EXT_POINTER_TYPE_UNKNOWN);
}

TEST_CASE("memory that is not allocated cannot be shared", "[device][pools]") {
    NEEDS_GPUS(1);
    Machine machine;
    int own = 0;
    const hsa_agent_t agent = machine.gpu().agent;
    CHECK(hsa_amd_agents_allow_access(1, &agent, nullptr, &own) != HSA_STATUS_SUCCESS);
    HSA_STATUS(hsa_amd_agents_allow_access(0, &agent, nullptr, &own), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    HSA_STATUS(hsa_amd_agents_allow_access(1, &agent, nullptr, nullptr), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}
