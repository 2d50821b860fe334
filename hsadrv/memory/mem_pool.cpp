#include "hsadrv/mem_pool.hpp"

#include "hsadrv/driver.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/memory/global_flags.hpp"

namespace hsadrv {

namespace {
template <class T>
T query(const MemPool& pool, hsa_amd_memory_pool_info_t attribute, const char* name) {
    T value{};
    check(hsa_amd_memory_pool_get_info(pool.native(), attribute, &value),
          [&] { return "hsa_amd_memory_pool_get_info(" + pool.owner().label() + ", " + name + ")"; });
    return value;
}
/// Empty if the runtime does not know the attribute: newer than ROCR 5.2.
template <class T>
std::optional<T> query_newer(const MemPool& pool, int attribute) {
    T value{};
    if (hsa_amd_memory_pool_get_info(pool.native(), static_cast<hsa_amd_memory_pool_info_t>(attribute), &value) !=
        HSA_STATUS_SUCCESS)
        return std::nullopt;
    return value;
}

// The values that later headers define.
constexpr int pool_info_location = 17;               // HSA_AMD_MEMORY_POOL_INFO_LOCATION
constexpr int pool_info_recommended_granule = 18;    // HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_REC_GRANULE
constexpr int agent_info_memory_available = 0xA015;  // HSA_AMD_AGENT_INFO_MEMORY_AVAIL

#define HSADRV_POOL_QUERY(type, attribute) query<type>(*this, attribute, #attribute)

template <class Predicate>
std::optional<MemPool> find_pool(AgentRef agent, Predicate wanted) {
    for (const MemPool& pool : agent.pools())
        if (pool.segment() == Segment::global && pool.alloc_allowed() && wanted(pool.global_flags())) return pool;
    return std::nullopt;
}
}  // namespace

Segment MemPool::segment() const {
    return detail::segment_of(HSADRV_POOL_QUERY(hsa_amd_segment_t, HSA_AMD_MEMORY_POOL_INFO_SEGMENT));
}
GlobalFlags MemPool::global_flags() const {
    if (segment() != Segment::global) return {};
    return detail::global_flags(HSADRV_POOL_QUERY(std::uint32_t, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS));
}
std::size_t MemPool::size_bytes() const { return HSADRV_POOL_QUERY(std::size_t, HSA_AMD_MEMORY_POOL_INFO_SIZE); }
std::size_t MemPool::alloc_max_bytes() const {
    return HSADRV_POOL_QUERY(std::size_t, HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE);
}
bool MemPool::alloc_allowed() const { return HSADRV_POOL_QUERY(bool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED); }
std::size_t MemPool::alloc_granule_bytes() const {
    return HSADRV_POOL_QUERY(std::size_t, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE);
}
std::size_t MemPool::alloc_alignment_bytes() const {
    return HSADRV_POOL_QUERY(std::size_t, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT);
}
bool MemPool::accessible_by_all() const { return HSADRV_POOL_QUERY(bool, HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL); }

std::size_t MemPool::alloc_recommended_granule_bytes() const {
    const auto told = query_newer<std::size_t>(*this, pool_info_recommended_granule);
    return told && *told != 0 ? *told : alloc_granule_bytes();
}

PoolLocation MemPool::location() const {
    const auto told = query_newer<std::uint32_t>(*this, pool_info_location);
    const bool device = told ? *told != 0 : owner_.is_gpu();
    return device ? PoolLocation::device : PoolLocation::host;
}

std::optional<std::size_t> MemPool::available_bytes() const {
    std::uint64_t bytes = 0;
    if (location() != PoolLocation::device ||
        hsa_agent_get_info(owner_.native(), static_cast<hsa_agent_info_t>(agent_info_memory_available), &bytes) !=
            HSA_STATUS_SUCCESS)
        return std::nullopt;
    return bytes;
}

PoolAccess MemPool::access(AgentRef agent) const {
    hsa_amd_memory_pool_access_t access{};
    check(hsa_amd_agent_memory_pool_get_info(agent.native(), native_, HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, &access),
          [&] { return "hsa_amd_agent_memory_pool_get_info(" + agent.label() + ", " + label() + ", ACCESS)"; });
    switch (access) {
        case HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED:
            return PoolAccess::never;
        case HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT:
            return PoolAccess::disallowed_by_default;
        case HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT:
            return PoolAccess::allowed_by_default;
    }
    throw Error("MemPool::access(" + agent.label() + ", " + label() + "): the HSA runtime returned " +
                std::to_string(access) + ", which hsa_ext_amd.h does not define");
}

std::string MemPool::label() const {
    const Segment kind = segment();
    return owner_.label() + " " + (kind == Segment::global ? global_flags().text() : segment_name(kind));
}

MemPool device_pool(AgentRef gpu) {
    if (const auto pool = find_pool(gpu, [](GlobalFlags flags) { return flags.coarse_grained; })) return *pool;
    throw Error("hsadrv::device_pool(" + gpu.label() + "): the agent has no coarse-grained pool to allocate from");
}

std::optional<MemPool> device_fine_pool(AgentRef gpu) {
    return find_pool(gpu, [](GlobalFlags flags) { return flags.fine_grained && !flags.kernarg; });
}

MemPool host_pool(HostMemory kind) {
    const auto wanted = [kind](GlobalFlags flags) {
        switch (kind) {
            case HostMemory::fine_grained:
                return flags.fine_grained && !flags.kernarg;
            case HostMemory::coarse_grained:
                return flags.coarse_grained;
            case HostMemory::kernarg:
                return flags.kernarg;
        }
        return false;
    };
    const Driver driver = Driver::current("hsadrv::host_pool");
    for (const AgentRef cpu : driver.cpus())
        if (const auto pool = find_pool(cpu, wanted)) return *pool;
    throw Error(std::string("hsadrv::host_pool(") +
                (kind == HostMemory::kernarg        ? "kernarg"
                 : kind == HostMemory::fine_grained ? "fine-grained"
                                                    : "coarse-grained") +
                "): no CPU agent has such a pool");
}

}  // namespace hsadrv
