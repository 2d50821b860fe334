// Agents, regions and pools: every query answers, and the answers agree with one another.
#include "hsadrv/agent.hpp"

#include <set>

#include "device.hpp"

using namespace hsadrv;
using namespace device_test;
using Catch::Matchers::StartsWith;

TEST_CASE("a GPU says who it is", "[agent]") {
    NEEDS_DEVICE();
    const Device device;
    const AgentRef gpu = device.gpu;
    CHECK(gpu.is_gpu());
    CHECK_FALSE(gpu.is_cpu());
    CHECK(gpu.dispatches_kernels());
    CHECK_THAT(gpu.name(), StartsWith("gfx"));
    CHECK(gpu.label() == "gpu0 " + gpu.name());
    CHECK(gpu.vendor_name() == "AMD");
    CHECK_FALSE(gpu.product_name().empty());
    CHECK_THAT(gpu.uuid(), StartsWith("GPU-"));
    CHECK(gpu.chip_id() != 0);
    CHECK(gpu.pci_address().text().size() == 12);
}

TEST_CASE("its instruction sets begin with its own", "[agent]") {
    NEEDS_DEVICE();
    const Device device;
    const auto isas = device.gpu.isas();
    REQUIRE_FALSE(isas.empty());
    CHECK_THAT(isas.front().name, StartsWith("amdgcn-amd-amdhsa--" + device.gpu.name()));
}

TEST_CASE("its limits are those of a GPU", "[agent]") {
    NEEDS_DEVICE();
    const Device device;
    const AgentRef gpu = device.gpu;
    CHECK((gpu.wavefront_size() == 64 || gpu.wavefront_size() == 32));
    CHECK(gpu.workgroup_max_workitems() == 1024);
    CHECK(gpu.workgroup_max_dim().x == 1024);
    CHECK(gpu.grid_max_dim().x > 1u << 20);
    CHECK(gpu.grid_max_workitems() > 1u << 20);
    CHECK(gpu.compute_units() > 0);
    CHECK(gpu.simds_per_cu() > 0);
    CHECK(gpu.max_waves_per_cu() > 0);
    CHECK(gpu.max_clock_mhz() > 0);
    CHECK(gpu.cacheline_bytes() >= 32);
    CHECK(gpu.queues_max() > 0);
    CHECK(gpu.queue_min_packets() <= gpu.queue_max_packets());
    CHECK(gpu.group_segment_max_bytes() == 65536);
    CHECK_NOTHROW(gpu.memory_bus_width_bits());
    CHECK_NOTHROW(gpu.memory_max_clock_mhz());
    CHECK_NOTHROW(gpu.fast_f16());
    CHECK(gpu.node() > 0);
}

TEST_CASE("its caches have levels and sizes", "[agent]") {
    NEEDS_DEVICE();
    const Device device;
    const auto caches = device.gpu.caches();
    REQUIRE_FALSE(caches.empty());
    for (const Cache& cache : caches) {
        CAPTURE(cache.name);
        CHECK(cache.level >= 1);
        CHECK(cache.size_bytes > 0);
    }
}

TEST_CASE("CPU agents have labels too, and foreign handles a neutral one", "[agent]") {
    NEEDS_DEVICE();
    const Device device;
    CHECK(device.driver.cpus().front().label() == "cpu0");
    CHECK(AgentRef(hsa_agent_t{0x1234}).label() == "agent 0x1234");
}

TEST_CASE("regions and pools of a GPU: device memory and LDS", "[agent][pool]") {
    NEEDS_DEVICE();
    const Device device;
    std::set<Segment> segments;
    for (const MemRegion& region : device.gpu.regions()) {
        segments.insert(region.segment());
        CHECK(region.size_bytes() > 0);
        if (region.segment() != Segment::global) continue;
        CHECK(region.alloc_granule_bytes() % 4096 == 0);
        CHECK(region.alloc_alignment_bytes() % 4096 == 0);
        CHECK_FALSE(region.global_flags().text().empty());
        // The host's region answers with what all of the host's memory allows.
        CHECK((region.host_accessible() || region.alloc_max_bytes() <= region.size_bytes()));
    }
    CHECK(segments.count(Segment::global) == 1);
    CHECK(segments.count(Segment::group) == 1);
}

TEST_CASE("device_pool is coarse-grained memory of the GPU that can be allocated from", "[pool]") {
    NEEDS_DEVICE();
    const Device device;
    const MemPool pool = device_pool(device.gpu);
    CHECK(pool.owner() == device.gpu);
    CHECK(pool.segment() == Segment::global);
    CHECK(pool.global_flags().coarse_grained);
    CHECK(pool.alloc_allowed());
    CHECK(pool.alloc_max_bytes() > 0);
    CHECK(pool.alloc_max_bytes() <= pool.size_bytes());
    CHECK(pool.alloc_granule_bytes() >= 4096);
    CHECK(pool.alloc_alignment_bytes() >= 4096);
    CHECK_FALSE(pool.accessible_by_all());
    CHECK(pool.access(device.gpu) == PoolAccess::allowed_by_default);
    CHECK(pool.label() == device.gpu.label() + " coarse-grained");
    CHECK_NOTHROW(device_fine_pool(device.gpu));
}

TEST_CASE("host pools of the three kinds", "[pool]") {
    NEEDS_DEVICE();
    const Device device;
    CHECK(host_pool(HostMemory::fine_grained).global_flags().fine_grained);
    CHECK(host_pool(HostMemory::coarse_grained).global_flags().coarse_grained);
    CHECK(host_pool(HostMemory::kernarg).global_flags().kernarg);
    for (const HostMemory kind :
         {HostMemory::fine_grained, HostMemory::coarse_grained, HostMemory::kernarg}) {
        CHECK(host_pool(kind).owner().is_cpu());
        CHECK(host_pool(kind).access(device.gpu) != PoolAccess::never);
    }
}

TEST_CASE("contexts nest, one current device a thread", "[context]") {
    NEEDS_DEVICE();
    const Device device;
    CHECK(Context::try_current() == nullptr);
    CHECK_THROWS_AS(Context::current(), Error);
    {
        Context outer(device.gpu);
        CHECK(&Context::current() == &outer);
        {
            Context inner(device.driver.gpus().back());
            CHECK(&Context::current() == &inner);
        }
        CHECK(&Context::current() == &outer);
        CHECK(outer.allocate(100).owner() == device.gpu);
        CHECK(outer.allocate_host(100).owner().is_cpu());
        CHECK(outer.stream().agent() == device.gpu);
        CHECK(AgentRef(outer) == device.gpu);
    }
    CHECK(Context::try_current() == nullptr);
}

TEST_CASE("a context needs a GPU", "[context]") {
    NEEDS_DEVICE();
    const Device device;
    CHECK_THROWS_AS(Context(device.driver.cpus().front()), InvalidArgument);
    CHECK_THROWS_AS(Context(AgentRef()), InvalidArgument);
    CHECK(Context::try_current() == nullptr);
}
