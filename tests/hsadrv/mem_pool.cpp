// Sources of memory: attributes of regions and pools, and access of agents to each other's memory.
#include "hsadrv/mem_pool.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/hsadrv/device.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

namespace {

std::size_t times(const std::vector<AgentRef>& agents, AgentRef agent) {
    return static_cast<std::size_t>(std::count(agents.begin(), agents.end(), agent));
}

/// Copies the memory's first bytes with the GPU's own engine; returns the first byte.
std::uint8_t read_by(AgentRef gpu, const Allocation& memory) {
    Stream stream(gpu);
    const Allocation copy = Allocation::from_pool(device_pool(gpu), 64);
    std::uint8_t byte = 0;
    stream.copy_async(copy.data(), memory.data(), 64, patience);
    stream.copy_async(&byte, copy.data(), 1, patience);
    return byte;
}

}  // namespace

TEST_CASE("every attribute of every region of every agent is answered", "[memory][region]") {
    NEEDS_DEVICE();
    const Device device;
    for (const AgentRef agent : device.driver.agents())
        for (const MemRegion& region : agent.regions()) {
            CAPTURE(agent.label(), segment_name(region.segment()), region.global_flags().text());
            CHECK(region.size_bytes() > 0);
            CHECK_NOTHROW(region.alloc_max_bytes());
            CHECK(region.alloc_allowed() == (region.segment() == Segment::global));
            CHECK(region.alloc_granule_bytes() % 4096 == 0);
            CHECK(region.alloc_alignment_bytes() % 4096 == 0);
            CHECK((region.host_accessible() || agent.is_gpu()));
            CHECK(region.alloc_max_private_bytes_per_workgroup().has_value() ==
                  (region.segment() == Segment::private_segment));
            CHECK_NOTHROW(region.base_address());
            CHECK_NOTHROW(region.bus_width_bits());
            CHECK_NOTHROW(region.max_clock_mhz());
            // A GPU also lists the regions of the host that it reaches.
            if (agent.is_gpu() && region.segment() == Segment::global && !region.host_accessible()) {
                CHECK(region.bus_width_bits() == agent.memory_bus_width_bits());
                CHECK(region.max_clock_mhz() == agent.memory_max_clock_mhz());
            }
        }
}

TEST_CASE("every attribute of every pool of every agent is answered", "[memory][pool]") {
    NEEDS_DEVICE();
    const Device device;
    for (const AgentRef agent : device.driver.agents())
        for (const MemPool& pool : agent.pools()) {
            CAPTURE(pool.label());
            CHECK(pool.size_bytes() > 0);
            CHECK(pool.location() == (agent.is_gpu() ? PoolLocation::device : PoolLocation::host));
            CHECK(pool.alloc_allowed() == (pool.segment() == Segment::global));
            if (!pool.alloc_allowed()) continue;
            CHECK(pool.alloc_max_bytes() > 0);
            CHECK(pool.alloc_granule_bytes() >= 4096);
            CHECK(pool.alloc_alignment_bytes() >= 4096);
            CHECK(pool.alloc_recommended_granule_bytes() % pool.alloc_granule_bytes() == 0);
            CHECK(pool.alloc_recommended_granule_bytes() > 0);
            CHECK(pool.accessible_by_all() == agent.is_cpu());
            const GlobalFlags flags = pool.global_flags();
            CHECK(flags.coarse_grained != (flags.fine_grained || flags.extended_scope));
            for (const AgentRef other : device.driver.agents()) CHECK_NOTHROW(pool.access(other));
            CHECK(pool.access(agent) == PoolAccess::allowed_by_default);
        }
}

TEST_CASE("available memory shrinks by what is allocated, if the runtime reports it", "[memory][pool]") {
    NEEDS_DEVICE();
    const Device device;
    CHECK_FALSE(host_pool().available_bytes());
    const MemPool pool = device_pool(device.gpu);
    const auto before = pool.available_bytes();
    if (!before) SKIP_BECAUSE("this runtime does not report available memory");
    CHECK(*before <= pool.size_bytes());
    {
        const Allocation a = Allocation::from_pool(pool, 64u << 20);
        CHECK(*pool.available_bytes() <= *before - (64u << 20));
    }
    CHECK(*pool.available_bytes() >= *before - (4u << 20));
}

TEST_CASE("flags have a name", "[memory][pool]") {
    CHECK(GlobalFlags{}.text().empty());
    CHECK(GlobalFlags{.fine_grained = true}.text() == "fine-grained");
    CHECK(GlobalFlags{.kernarg = true, .fine_grained = true}.text() == "fine-grained kernarg");
    CHECK(GlobalFlags{.coarse_grained = true}.text() == "coarse-grained");
    CHECK(GlobalFlags{.extended_scope = true}.text() == "extended-scope fine-grained");
    CHECK(GlobalFlags{.kernarg = true}.text() == "kernarg");
}

TEST_CASE("memory is of the requested kind, as the runtime reports for its address", "[memory][pool]") {
    NEEDS_DEVICE();
    const Device device;
    struct Row {
        const char* what;
        MemPool pool;
        bool coarse;
    };
    std::vector<Row> rows{{"device", device_pool(device.gpu), true},
                          {"fine", host_pool(HostMemory::fine_grained), false},
                          {"coarse", host_pool(HostMemory::coarse_grained), true},
                          {"kernarg", host_pool(HostMemory::kernarg), false}};
    if (const auto fine = device_fine_pool(device.gpu)) rows.push_back({"device fine", *fine, false});
    for (const Row& row : rows) {
        CAPTURE(row.what);
        const Allocation a = Allocation::from_pool(row.pool, 3 << 20);
        const PointerInfo info = pointer_info(a.data());
        CHECK(info.owner == row.pool.owner());
        CHECK(info.flags.coarse_grained == row.coarse);
        CHECK(info.flags.fine_grained == !row.coarse);
        if (std::string(row.what) == "kernarg") CHECK(info.flags.kernarg);
        if (std::string(row.what) == "fine") CHECK_FALSE(info.flags.kernarg);
    }
}

TEST_CASE("another GPU gets access to memory, and earlier agents keep theirs", "[memory][access]") {
    NEEDS_DEVICE();
    const Device device;
    if (device.driver.gpus().size() < 2) SKIP_BECAUSE("there is one GPU");
    const AgentRef other = device.driver.gpus()[1];
    const MemPool pool = device_pool(device.gpu);
    if (pool.access(other) == PoolAccess::never) SKIP_BECAUSE("these GPUs cannot reach each other's memory");
    CHECK(pool.access(other) == PoolAccess::disallowed_by_default);
    const Allocation a = Allocation::from_pool(pool, 4 << 20);
    CHECK(times(pointer_info(a.data()).accessible, other) == 0);

    allow_access(a.data(), std::span(&other, 1));
    CHECK(times(pointer_info(a.data()).accessible, other) == 1);
    CHECK(times(pointer_info(a.data()).accessible, device.gpu) == 1);
    allow_access(static_cast<std::byte*>(a.data()) + 100, std::span(&other, 1));  // inside the allocation, and repeated
    CHECK(times(pointer_info(a.data()).accessible, other) == 1);

    Stream stream(device.gpu);
    stream.fill_async(static_cast<std::uint8_t*>(a.data()), std::uint8_t{0x77}, 64);
    stream.synchronize(patience);
    CHECK(read_by(other, a) == 0x77);
    CHECK(read_by(device.gpu, a) == 0x77);

    const AgentRef own = device.gpu;
    set_access(a.data(), std::span(&own, 1));
    CHECK(times(pointer_info(a.data()).accessible, other) == 0);
    CHECK(times(pointer_info(a.data()).accessible, own) == 1);
    CHECK(read_by(own, a) == 0x77);
}

TEST_CASE("host memory is denied to one GPU and stays accessible to the other", "[memory][access]") {
    NEEDS_DEVICE();
    const Device device;
    const Allocation a = Allocation::from_pool(host_pool(), 4 << 20);
    *static_cast<std::uint8_t*>(a.data()) = 0x31;
    for (const AgentRef gpu : device.driver.gpus()) CHECK(read_by(gpu, a) == 0x31);
    const AgentRef own = device.gpu;
    set_access(a.data(), std::span(&own, 1));
    const auto left = pointer_info(a.data()).accessible;
    CHECK(times(left, own) == 1);
    for (const AgentRef gpu : device.driver.gpus())
        if (gpu != own) CHECK(times(left, gpu) == 0);
    CHECK(read_by(own, a) == 0x31);
}

TEST_CASE("access to memory that is not an allocation, and for an invalid agent, is refused", "[memory][access]") {
    NEEDS_DEVICE();
    const Device device;
    const AgentRef own = device.gpu, nobody = AgentRef(hsa_agent_t{0x1234});
    std::vector<int> host(5000);
    const Registration pinned(host.data(), 5000, {own});
    const Allocation a = Allocation::from_pool(device_pool(own), 4096);
    int word = 0;
    CHECK_THROWS_WITH(allow_access(&word, std::span(&own, 1)),
                      Contains("no memory of a pool") && Contains(own.label()));
    CHECK_THROWS_WITH(allow_access(host.data(), std::span(&own, 1)), Contains("register_memory"));
    CHECK_THROWS_AS(set_access(&word, std::span(&own, 1)), InvalidArgument);
    CHECK_THROWS_AS(allow_access(nullptr, std::span(&own, 1)), InvalidArgument);
    CHECK_THROWS_WITH(allow_access(a.data(), std::span(&nobody, 1)), Contains("no agent of this runtime"));
    CHECK_THROWS_AS(set_access(a.data(), std::span(&nobody, 1)), InvalidArgument);
    CHECK_THROWS_AS(register_memory(&word, 4, std::span(&nobody, 1)), InvalidArgument);
    CHECK_NOTHROW(allow_access(&word, {}));
    CHECK_NOTHROW(set_access(a.data(), {}));
    CHECK(times(pointer_info(a.data()).accessible, own) == 1);
}

TEST_CASE("access for a GPU that can never reach the memory is refused by name", "[memory][access]") {
    NEEDS_DEVICE();
    const Device device;
    for (const AgentRef owner : device.driver.gpus())
        for (const AgentRef other : device.driver.agents())
            for (const MemPool& pool : owner.pools()) {
                if (pool.segment() != Segment::global || !pool.alloc_allowed() ||
                    pool.access(other) != PoolAccess::never)
                    continue;
                const Allocation a = Allocation::from_pool(pool, 4096);
                // The runtime does not tell fine-grained memory from that of extended scope, which every agent reaches.
                if (pointer_info(a.data()).pool()->native().handle != pool.native().handle) continue;
                CHECK_THROWS_AS(allow_access(a.data(), std::span(&other, 1)), InvalidArgument);
                CHECK_THROWS_WITH(allow_access(a.data(), std::span(&other, 1)),
                                  Contains(other.label() + " can never use memory of " + pool.label()));
                return;
            }
    SKIP_BECAUSE("every agent can reach every pool");
}
