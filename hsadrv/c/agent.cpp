#include "hsadrv/c/agent.h"

#include <algorithm>

#include "hsadrv/c/call.hpp"
#include "hsadrv/c/objects.hpp"
#include "hsadrv/c/structures.hpp"
#include "hsadrv/mem_pool.hpp"

using namespace hsadrv;
using namespace hsadrv::c;

namespace {

template <class T>
const T& at(const char* call, const char* what, const std::vector<T>& all, std::size_t index) {
    if (index < all.size()) return all[index];
    throw InvalidArgument(std::string(call) + ": there is no " + what + " " + std::to_string(index) + "; there are " +
                          std::to_string(all.size()));
}

uint32_t flags_of(GlobalFlags flags) {
    uint32_t bits = 0;
    if (flags.kernarg) bits |= HSADRV_POOL_KERNARG;
    if (flags.fine_grained) bits |= HSADRV_POOL_FINE_GRAINED;
    if (flags.coarse_grained) bits |= HSADRV_POOL_COARSE_GRAINED;
    return bits;
}

bool is_of_host(const MemPool& pool) { return pool.location() == PoolLocation::host; }
bool is_of_host(const MemRegion& region) { return region.host_accessible(); }

template <class Pool>
hsadrv_pool_facts facts_of(const Pool& pool) {
    hsadrv_pool_facts facts{};
    const Segment segment = pool.segment();
    facts.segment = static_cast<uint32_t>(segment);
    facts.size_bytes = pool.size_bytes();
    facts.alloc_allowed = pool.alloc_allowed();
    facts.host_accessible = is_of_host(pool);
    if (segment != Segment::global) return facts;
    facts.flags = flags_of(pool.global_flags());
    facts.alloc_max_bytes = pool.alloc_max_bytes();
    if (facts.alloc_allowed) facts.alloc_granule_bytes = pool.alloc_granule_bytes();
    return facts;
}

hsadrv_agent_facts facts_of(const Driver& driver, AgentRef agent) {
    const auto gpus = driver.gpus();
    const auto found = std::find(gpus.begin(), gpus.end(), agent);
    hsadrv_agent_facts facts{};
    facts.native_agent = agent.native().handle;
    facts.kind = agent.is_cpu() ? HSADRV_AGENT_CPU : agent.is_gpu() ? HSADRV_AGENT_GPU : HSADRV_AGENT_OTHER;
    facts.device = found == gpus.end() ? UINT32_MAX : static_cast<uint32_t>(found - gpus.begin());
    facts.pools = static_cast<uint32_t>(agent.pools().size());
    facts.regions = static_cast<uint32_t>(agent.regions().size());
    copy_text(facts.name, agent.name());
    copy_text(facts.product_name, agent.product_name());
    return facts;
}

[[noreturn]] void refuse_view(const char* call, uint32_t view) {
    throw InvalidArgument(std::string(call) + ": there is no view " + std::to_string(view) +
                          "; use HSADRV_VIEW_POOLS or HSADRV_VIEW_REGIONS");
}

/// The host's region of a GPU is memory of a CPU.
MemPool pool_like(const char* call, const Driver& driver, AgentRef agent, const MemRegion& region) {
    for (const AgentRef owner : driver.agents()) {
        if (region.host_accessible() ? !owner.is_cpu() : owner != agent) continue;
        for (const MemPool& pool : owner.pools())
            if (pool.segment() == Segment::global && pool.alloc_allowed() &&
                pool.global_flags() == region.global_flags())
                return pool;
    }
    throw NotOffered(std::string(call) + ": no pool has the memory of this " +
                     std::string(segment_name(region.segment())) + " region");
}

MemPool pool_of(const char* call, const Driver& driver, std::size_t agent, uint32_t view, std::size_t index) {
    const AgentRef owner = at(call, "agent", driver.agents(), agent);
    if (view == HSADRV_VIEW_REGIONS) {
        const MemRegion region = at(call, "region", owner.regions(), index);
        if (region.segment() != Segment::global)
            throw NotOffered(std::string(call) + ": nothing is allocated in a " + segment_name(region.segment()) +
                             " region");
        return pool_like(call, driver, owner, region);
    }
    if (view != HSADRV_VIEW_POOLS) refuse_view(call, view);
    const MemPool pool = at(call, "pool", owner.pools(), index);
    if (!pool.alloc_allowed()) throw NotOffered(std::string(call) + ": " + pool.label() + " allows no allocation");
    return pool;
}

}  // namespace

hsadrv_result hsadrv_driver_agent_count(hsadrv_driver driver, size_t* count) noexcept {
    return call("hsadrv_driver_agent_count", [&](const char* name) {
        output(name, "count", count) = 0;
        *count = object<DriverObject>(name, "driver", driver)->driver.agents().size();
    });
}

hsadrv_result hsadrv_driver_agent_info(hsadrv_driver driver, size_t agent, hsadrv_agent_facts* facts) noexcept {
    return call("hsadrv_driver_agent_info", [&](const char* name) {
        check_size(name, "facts", required(name, "facts", facts)->struct_size, sizeof *facts);
        const Driver& of = object<DriverObject>(name, "driver", driver)->driver;
        write_structure(facts, facts_of(of, at(name, "agent", of.agents(), agent)));
    });
}

hsadrv_result hsadrv_driver_pool_info(hsadrv_driver driver, size_t agent, uint32_t view, size_t index,
                                      hsadrv_pool_facts* facts) noexcept {
    return call("hsadrv_driver_pool_info", [&](const char* name) {
        check_size(name, "facts", required(name, "facts", facts)->struct_size, sizeof *facts);
        const Driver& of = object<DriverObject>(name, "driver", driver)->driver;
        const AgentRef owner = at(name, "agent", of.agents(), agent);
        if (view > HSADRV_VIEW_REGIONS) refuse_view(name, view);
        write_structure(facts, view == HSADRV_VIEW_POOLS ? facts_of(at(name, "pool", owner.pools(), index))
                                                         : facts_of(at(name, "region", owner.regions(), index)));
    });
}

hsadrv_result hsadrv_memory_create_in(hsadrv_driver driver, size_t agent, uint32_t view, size_t index,
                                      size_t size_bytes, hsadrv_memory* memory) noexcept {
    return call("hsadrv_memory_create_in", [&](const char* name) {
        output(name, "memory", memory) = nullptr;
        const auto held = object<DriverObject>(name, "driver", driver);
        const MemPool pool = pool_of(name, held->driver, agent, view, index);
        Allocation allocation = Allocation::from_pool(pool, size_bytes);
        const uint64_t owner = allocation && pool.owner().is_gpu() ? pool.owner().native().handle : 0;
        *memory = memory_handle(std::move(allocation), size_bytes, owner);
    });
}
