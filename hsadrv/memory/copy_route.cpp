#include "hsadrv/memory/copy_route.hpp"

#include <algorithm>

#include "hsadrv/base/text.hpp"
#include "hsadrv/driver.hpp"
#include "hsadrv/error.hpp"

namespace hsadrv::detail {

namespace {

std::uintptr_t number(const void* pointer) noexcept { return reinterpret_cast<std::uintptr_t>(pointer); }

}  // namespace

void refuse_copy(const std::string& message) { throw InvalidArgument(message, HSA_STATUS_ERROR_INVALID_ARGUMENT); }

std::string range_text(const char* call, const void* to, const void* from, std::size_t size_bytes) {
    return std::string(call) + "(to " + hex(to) + ", from " + hex(from) + ", " + std::to_string(size_bytes) + " B)";
}

bool nearer_than(std::intptr_t distance, std::size_t size_bytes) noexcept {
    const auto apart = static_cast<std::size_t>(distance);
    return apart < size_bytes || std::size_t{0} - apart < size_bytes;
}

std::optional<std::string> fault_of_range(const PointerInfo& info, const void* pointer, std::size_t size_bytes,
                                          const char* side) {
    if (size_bytes > UINTPTR_MAX - number(pointer)) return "the range runs past the end of the address space";
    if (info.kind == PointerInfo::Kind::pageable || info.bytes_after(pointer) >= size_bytes) return std::nullopt;
    return std::string("the ") + side + " has " + std::to_string(info.bytes_after(pointer)) +
           " B left in its allocation of " + std::to_string(info.size_bytes) + " B";
}

CopyRoute CopyRoute::of(const char* call, void* destination, std::size_t destination_bytes, const void* source,
                        std::size_t source_bytes) {
    refuse_in_forked_child(call);  // before the runtime is asked
    const auto refuse = [&](const std::string& fault) {
        refuse_copy(range_text(call, destination, source, std::max(destination_bytes, source_bytes)) + ": " + fault);
    };
    if (destination == nullptr || source == nullptr) refuse("null address");
    CopyRoute route{destination, source, pointer_info(destination), pointer_info(source)};
    if (const auto fault = fault_of_range(route.to, destination, destination_bytes, "destination")) refuse(*fault);
    if (const auto fault = fault_of_range(route.from, source, source_bytes, "source")) refuse(*fault);
    return route;
}

CopySide side_of(const void* pointer, const PointerInfo& info) {
    return {info.agent_address(pointer), info.device_memory() ? info.owner : AgentRef()};
}

CopySide CopyRoute::to_side() const { return side_of(destination, to); }
CopySide CopyRoute::from_side() const { return side_of(source, from); }

std::intptr_t CopyRoute::agent_distance() const noexcept {
    return static_cast<std::intptr_t>(number(to.agent_address(destination)) - number(from.agent_address(source)));
}

std::optional<std::intptr_t> CopyRoute::host_distance() const {
    if (!to.host_memory() || !from.host_memory()) return std::nullopt;
    return static_cast<std::intptr_t>(number(host_destination()) - number(host_source()));
}

bool make_reachable(const PointerInfo& info, AgentRef engine) {
    if (info.kind == PointerInfo::Kind::pageable || info.accessible_by(engine)) return true;
    if (const auto pool = info.pool(); info.device_memory() && pool && pool->access(engine) == PoolAccess::never)
        return false;
    allow_access(info.agent_base, std::span(&engine, 1));
    return true;
}

bool CopyRoute::make_reachable(AgentRef engine) const {
    return detail::make_reachable(from, engine) && detail::make_reachable(to, engine);
}

AgentRef engine_for(CopySide to, CopySide from, AgentRef gpu) noexcept {
    return from.device ? from.device : to.device ? to.device : gpu;
}

// Memory that is registered only for other agents is treated as pageable by this engine.
AgentRef CopyRoute::settle(AgentRef gpu) {
    const AgentRef engine = engine_for(to_side(), from_side(), gpu);
    const auto unmapped = [&](const PointerInfo& info) {
        return info.kind == PointerInfo::Kind::registered && !info.accessible_by(engine);
    };
    if (unmapped(to)) {
        destination = host_destination();
        to = {};
    }
    if (unmapped(from)) {
        source = host_source();
        from = {};
    }
    return engine;
}

std::pair<CopyEnd, CopyEnd> copy_ends(CopySide to, CopySide from, AgentRef gpu) {
    const AgentRef host = Driver::current().cpus().front();
    return {{to.address, to.device     ? to.device
                         : from.device ? host
                                       : gpu},
            {from.address, from.device ? from.device : host}};
}

}  // namespace hsadrv::detail
