#include "hsadrv/managed_memory.hpp"

#include "hsadrv/c/call.hpp"
#include "hsadrv/c/managed_memory.h"
#include "hsadrv/c/objects.hpp"
#include "hsadrv/c/structures.hpp"

using namespace hsadrv;
using namespace hsadrv::c;

namespace {

Advice advice_of(const char* call, uint32_t advice) {
    static constexpr Advice known[] = {Advice::read_mostly,        Advice::not_read_mostly,
                                       Advice::preferred_location, Advice::no_preferred_location,
                                       Advice::accessible_by,      Advice::accessible_in_place_by,
                                       Advice::not_accessible_by};
    static_assert(std::size(known) == HSADRV_ADVICE_NOT_ACCESSIBLE_BY + 1);
    if (advice < std::size(known)) return known[advice];
    throw InvalidArgument(std::string(call) + ": there is no advice " + std::to_string(advice) +
                          "; use a hsadrv_advice");
}

/// The device's agent; for null the first CPU.
AgentRef agent_or_host(const char* call, hsadrv_device device) {
    if (device) return object<DeviceObject>(call, "device", device)->agent;
    return Driver::current(call).cpus().front();
}

bool names_device(Advice advice) {
    return advice == Advice::accessible_by || advice == Advice::accessible_in_place_by ||
           advice == Advice::not_accessible_by;
}

uint32_t access_of(ManagedFacts::Access access) {
    switch (access) {
        case ManagedFacts::Access::migrating:
            return HSADRV_ACCESS_MIGRATING;
        case ManagedFacts::Access::in_place:
            return HSADRV_ACCESS_IN_PLACE;
        default:
            return HSADRV_ACCESS_NONE;
    }
}

hsadrv_managed_facts facts_of(const ManagedFacts& known) {
    hsadrv_managed_facts facts{};
    facts.preferred_agent = known.preferred_location.native().handle;
    facts.prefetched_agent = known.prefetched.native().handle;
    facts.read_mostly = known.read_mostly;
    facts.access = access_of(known.access);
    return facts;
}

}  // namespace

hsadrv_result hsadrv_memory_create_managed(const hsadrv_device* devices, size_t device_count, size_t size_bytes,
                                           hsadrv_memory* memory) noexcept {
    return call("hsadrv_memory_create_managed", [&](const char* name) {
        output(name, "memory", memory) = nullptr;
        const auto gpus = gpus_of(name, devices, device_count);
        // Other GPUs may be given access later, which pointer queries do not tell: launches check none.
        *memory = memory_handle(ManagedMemory::create(size_bytes, gpus), size_bytes, 0);
    });
}

hsadrv_result hsadrv_managed_advise(void* address, size_t size_bytes, uint32_t advice, hsadrv_device device) noexcept {
    return call("hsadrv_managed_advise", [&](const char* name) {
        const Advice known = advice_of(name, advice);
        AgentRef agent;
        if (names_device(known)) agent = object<DeviceObject>(name, "device", device)->agent;
        if (known == Advice::preferred_location) agent = agent_or_host(name, device);
        advise(required(name, "address", address), size_bytes, known, agent);
    });
}

hsadrv_result hsadrv_managed_info(void* address, size_t size_bytes, hsadrv_device device,
                                  hsadrv_managed_facts* facts) noexcept {
    return call("hsadrv_managed_info", [&](const char* name) {
        check_size(name, "facts", required(name, "facts", facts)->struct_size, sizeof *facts);
        const auto gpu = object<DeviceObject>(name, "device", device);
        write_structure(facts, facts_of(managed_facts(required(name, "address", address), size_bytes, gpu->agent)));
    });
}

hsadrv_result hsadrv_stream_prefetch(hsadrv_stream stream, void* address, size_t size_bytes, hsadrv_device device,
                                     uint64_t timeout_ns) noexcept {
    return call("hsadrv_stream_prefetch", [&](const char* name) {
        const auto held = object<StreamObject>(name, "stream", stream);
        const AgentRef to = agent_or_host(name, device);
        prefetch(held->stream, required(name, "address", address), size_bytes, to, deadline_of(timeout_ns));
    });
}
