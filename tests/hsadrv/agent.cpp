// Agents, regions and pools: every query answers, and the answers agree with one another.
#include "hsadrv/agent.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "hsadrv/optional_api.hpp"
#include "shared/compute_unit.hpp"
#include "tests/hsadrv/device.hpp"
#include "tools/kfdemu/kfdemu.h"

using namespace hsadrv;
using namespace device_test;
using Catch::Matchers::StartsWith;
using test_support::Contains;

TEST_CASE("a GPU reports its identity", "[agent]") {
    NEEDS_DEVICE();
    const Device device;
    const AgentRef gpu = device.gpu;
    CHECK(gpu);
    CHECK_FALSE(AgentRef());
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

TEST_CASE("the first of a GPU's instruction sets is its own", "[agent]") {
    NEEDS_DEVICE();
    const Device device;
    const auto isas = device.gpu.isas();
    REQUIRE_FALSE(isas.empty());
    CHECK_THAT(isas.front().name, StartsWith("amdgcn-amd-amdhsa--" + device.gpu.name()));
}

TEST_CASE("every instruction set has its properties", "[agent]") {
    NEEDS_DEVICE();
    const Device device;
    for (const Isa& isa : device.gpu.isas()) {
        CAPTURE(isa.name);
        CHECK_FALSE(isa.wavefront_sizes.empty());
        CHECK(isa.workgroup_max_workitems == device.gpu.workgroup_max_workitems());
        CHECK(isa.workgroup_max_dim == device.gpu.workgroup_max_dim());
        CHECK(isa.grid_max_workitems >= device.gpu.grid_max_workitems());
        CHECK(isa.grid_max_dim.x >= device.gpu.grid_max_dim().x);
        CHECK(isa.fbarriers_max == device.gpu.fbarriers_max());
        CHECK(isa.fast_f16 == device.gpu.fast_f16());
        CHECK(isa.large_model);
        CHECK((isa.base_profile || isa.full_profile));
        CHECK((isa.rounding.as_set || isa.rounding.zero || isa.rounding.near));
        CHECK(isa.base_profile_rounding.near);
    }
}

TEST_CASE("a CPU has no instruction set, without an error", "[agent]") {
    NEEDS_DEVICE();
    const Device device;
    CHECK(device.driver.cpus().front().isas().empty());
}

TEST_CASE("an agent answers every other query", "[agent]") {
    NEEDS_DEVICE();
    const Device device;
    const AgentRef gpu = device.gpu, cpu = device.driver.cpus().front();
    CHECK(gpu.multi_producer_queues());
    CHECK_FALSE(gpu.dispatches_agent_packets());
    CHECK_FALSE(cpu.dispatches_kernels());
    CHECK(gpu.large_model());
    CHECK_FALSE(gpu.full_profile());
    CHECK(cpu.full_profile());
    CHECK(gpu.version_major() == 1);
    CHECK(gpu.version_minor() <= 9);
    CHECK(gpu.numa_node() == gpu.node());
    CHECK(gpu.default_float_rounding() == HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR);
    CHECK(gpu.shader_engines() > 0);
    CHECK(gpu.shader_arrays_per_engine() > 0);
    CHECK(gpu.cooperative_compute_units() <= gpu.compute_units());
    CHECK(gpu.address_watch_points() <= 64);
    CHECK_NOTHROW(gpu.cooperative_queues());
    CHECK_NOTHROW(gpu.asic_revision());
    CHECK_NOTHROW(gpu.direct_host_access());
    const HdpFlush flush = gpu.hdp_flush();
    CHECK((flush.memory == nullptr) == (flush.registers == nullptr));
    CHECK_THROWS_AS(cpu.cooperative_queues(), InvalidArgument);
    CHECK_THROWS_WITH(cpu.cooperative_queues(), Contains("cpu0") && Contains("COOPERATIVE_QUEUES"));
}

TEST_CASE("queries newer than the runtime are empty, without an error", "[agent]") {
    NEEDS_DEVICE();
    const Device device;
    const AgentRef gpu = device.gpu;
    // By the release that brought them: an answer to a later one means an answer to the earlier ones.
    const bool release_5_3 = gpu.memory_available_bytes().has_value();
    const bool release_6_1 = gpu.scratch_limit_max_bytes().has_value();
    CHECK((!release_6_1 || release_5_3));
    CHECK(gpu.scratch_limit_bytes().has_value() == release_6_1);
    if (release_5_3) CHECK(*gpu.memory_available_bytes() <= device_pool(gpu).size_bytes());
    if (const auto cpu = gpu.nearest_cpu()) CHECK(cpu->is_cpu());
    if (const auto engines = gpu.dma_engines()) CHECK(*engines <= 16);
    if (const auto hz = gpu.timestamp_frequency_hz()) CHECK(*hz > 1000000);
    if (const auto dies = gpu.compute_dies()) CHECK(*dies >= 1);
    const std::optional<bool> apu = gpu.is_apu();
    const bool always_no = runtime_build_version().starts_with("1.13.");  // ROCR 6.1
    if (kfdemu_find_control() && apu) CHECK(*apu == (gpu.name() == "gfx1151" && !always_no));
    CHECK_NOTHROW(gpu.asic_family());
    CHECK_NOTHROW(gpu.firmware_version());
    CHECK_NOTHROW(gpu.dma_firmware_version());
    CHECK_NOTHROW(gpu.xgmi_dma_engines());
    CHECK_NOTHROW(gpu.behind_iommu());
    CHECK_NOTHROW(gpu.driver_uid());
}

TEST_CASE("agents are linked: no hop to its own memory, at least one to the host's", "[agent][link]") {
    NEEDS_DEVICE();
    const Device device;
    const AgentRef gpu = device.gpu, cpu = device.driver.cpus().front();
    CHECK(gpu.links_to(gpu).empty());
    for (const auto& [from, to] : {std::pair{gpu, cpu}, std::pair{cpu, gpu}}) {
        CAPTURE(from.label(), to.label());
        const auto links = from.links_to(to);
        if (from == cpu && links.empty()) continue;  // it does not reach the GPU's memory: a small BAR
        REQUIRE_FALSE(links.empty());
        for (const Link& link : links) {
            CHECK(link.numa_distance > 0);
            CHECK(link.min_latency_ns <= link.max_latency_ns);
            CHECK(link.min_bandwidth_mb_s <= link.max_bandwidth_mb_s);
            CHECK_THAT(link_type_name(link.type), !Catch::Matchers::Equals(""));
        }
        CHECK((links.front().type == LinkType::pcie || links.front().type == LinkType::xgmi ||
               gpu.is_apu().value_or(false)));
    }
    if (device.driver.gpus().size() > 1) CHECK_FALSE(gpu.links_to(device.driver.gpus().back()).empty());
    const std::pair<LinkType, std::string> names[] = {
        {LinkType::hypertransport, "HyperTransport"}, {LinkType::qpi, "QPI"},   {LinkType::pcie, "PCIe"},
        {LinkType::infiniband, "InfiniBand"},         {LinkType::xgmi, "xGMI"}, {LinkType::other, "other"}};
    for (const auto& [type, name] : names) CHECK(link_type_name(type) == name);
}

TEST_CASE("a GPU is chosen by ordinal, UUID, PCI address and name", "[agent][driver]") {
    NEEDS_DEVICE();
    const Driver driver;
    const auto& gpus = driver.gpus();
    for (std::size_t i = 0; i < gpus.size(); ++i) {
        CHECK(driver.gpu(std::to_string(i)) == gpus[i]);
        CHECK(driver.gpu(gpus[i].pci_address().text()) == gpus[i]);
        if (gpus[i].uuid() != "GPU-XX") CHECK(driver.gpu(gpus[i].uuid()) == gpus[i]);
    }
    const auto same_name =
        std::count_if(gpus.begin(), gpus.end(), [&](AgentRef gpu) { return gpu.name() == gpus[0].name(); });
    if (same_name == 1)
        CHECK(driver.gpu(gpus[0].name()) == gpus[0]);
    else
        CHECK_THROWS_AS(driver.gpu(gpus[0].name()), InvalidArgument);
    CHECK_THROWS_AS(driver.gpu("gfx1"), NoDevice);
    CHECK_THROWS_WITH(driver.gpu("gfx1"), Contains(gpus[0].name()) && Contains(gpus[0].uuid()));
}

TEST_CASE("ROCR_VISIBLE_DEVICES is respected, and named where a GPU is missing", "[agent][driver]") {
    NEEDS_DEVICE();
    const ChildResult child = run_test_in_child("child: the first GPU alone", "ROCR_VISIBLE_DEVICES", "0");
    INFO(child.output);
    CHECK(child.status == 0);
}

TEST_CASE("child: the first GPU alone", "[.child]") {
    const Driver driver;
    CHECK(driver.gpus().size() == 1);
    CHECK_NOTHROW(driver.gpu("0"));
    CHECK_THROWS_WITH(driver.gpu("1"), Contains("ROCR_VISIBLE_DEVICES=0"));
}

TEST_CASE("the limits of a GPU are plausible", "[agent]") {
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
    CHECK(gpu.group_segment_max_bytes() == shared::compute_unit(gpu.name().c_str()).lds_bytes);
    CHECK_NOTHROW(gpu.memory_bus_width_bits());
    CHECK_NOTHROW(gpu.memory_max_clock_mhz());
    CHECK_NOTHROW(gpu.fast_f16());
    CHECK(gpu.node() > 0);
}

TEST_CASE("a GPU's caches have levels and sizes", "[agent]") {
    NEEDS_DEVICE();
    const Device device;
    const auto caches = device.gpu.caches();
    REQUIRE_FALSE(caches.empty());
    for (const Cache& cache : caches) {
        CAPTURE(cache.name);
        CHECK(cache.name == device.gpu.name() + " L" + std::to_string(cache.level));
        CHECK(cache.level >= 1);
        CHECK(cache.size_bytes >= 4096);
    }
    const auto data = device.gpu.data_cache_bytes();
    for (std::size_t level = 1; level <= data.size(); ++level) {
        CAPTURE(level);
        const auto same = std::any_of(caches.begin(), caches.end(), [&](const Cache& cache) {
            return cache.level == level && cache.size_bytes == data[level - 1];
        });
        CHECK((same || data[level - 1] == 0));
    }
    CHECK(data[0] > 0);
}

TEST_CASE("CPU agents have labels too, and foreign handles a generic one", "[agent]") {
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
    for (const HostMemory kind : {HostMemory::fine_grained, HostMemory::coarse_grained, HostMemory::kernarg}) {
        CHECK(host_pool(kind).owner().is_cpu());
        CHECK(host_pool(kind).access(device.gpu) != PoolAccess::never);
    }
}
