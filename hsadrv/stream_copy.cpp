// The copies and fills of a stream: which engine, which route, which waits.
#include <hsa/hsa_ext_amd.h>

#include <algorithm>
#include <cstring>

#include "hsadrv/copy_engine.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/stream_core.hpp"
#include "hsadrv/text.hpp"

namespace hsadrv::detail {

namespace {

// Large enough that a DMA engine runs at its full rate, small enough that two of them are cheap for every
// stream.
constexpr std::size_t staging_bytes = 2u << 20;
// The first part of a fill, unless the pattern is larger.
constexpr std::size_t fill_seed_bytes = 256u << 10;

// Up to here the CPU copies host memory sooner than an engine has been told to.
constexpr std::size_t small_copy_bytes = 32u << 10;

std::string range_text(const char* call, const void* to, const void* from, std::size_t size_bytes) {
    return std::string(call) + "(to " + hex(to) + ", from " + hex(from) + ", " + std::to_string(size_bytes) + " B)";
}

std::uintptr_t number(const void* pointer) noexcept { return reinterpret_cast<std::uintptr_t>(pointer); }

[[noreturn]] void refuse(const std::string& message) {
    throw InvalidArgument(message, HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

bool nearer_than(std::intptr_t distance, std::size_t size_bytes) noexcept {
    const auto apart = static_cast<std::size_t>(distance);
    return apart < size_bytes || std::size_t{0} - apart < size_bytes;
}

template <class Text>
void require_range(Text&& call, const PointerInfo& info, const void* pointer, std::size_t size_bytes,
                   const char* side) {
    if (size_bytes > UINTPTR_MAX - number(pointer))
        refuse(call() + ": the range runs past the end of the address space");
    if (info.kind == PointerInfo::Kind::pageable || info.bytes_after(pointer) >= size_bytes) return;
    refuse(call() + ": the " + side + " has " + std::to_string(info.bytes_after(pointer)) +
           " B left in its allocation of " + std::to_string(info.size_bytes) + " B");
}

// Doubles what is there: every part begins with a whole pattern, and the last may be cut short.
void fill_on_host(std::byte* to, std::size_t size_bytes, std::span<const std::byte> pattern) noexcept {
    std::size_t filled = std::min(size_bytes, pattern.size());
    std::memcpy(to, pattern.data(), filled);
    for (std::size_t part = 0; filled < size_bytes; filled += part) {
        part = std::min(filled, size_bytes - filled);
        std::memcpy(to + filled, to, part);
    }
}

std::byte* at(void* base, std::size_t offset) noexcept { return static_cast<std::byte*>(base) + offset; }
const std::byte* at(const void* base, std::size_t offset) noexcept {
    return static_cast<const std::byte*>(base) + offset;
}

}  // namespace

StreamCore::End StreamCore::end_of(const void* pointer, const PointerInfo& info) const {
    return {info.agent_address(pointer), info.device_memory() ? info.owner : AgentRef()};
}

// False if `engine` can never reach that memory.
bool StreamCore::make_reachable(const PointerInfo& info, AgentRef engine) const {
    if (info.kind == PointerInfo::Kind::pageable || info.accessible_by(engine)) return true;
    if (const auto pool = info.pool(); info.device_memory() && pool && pool->access(engine) == PoolAccess::never)
        return false;
    allow_access(info.agent_base, std::span(&engine, 1));
    return true;
}

std::intptr_t StreamCore::Route::agent_distance() const noexcept {
    return static_cast<std::intptr_t>(number(to.agent_address(destination)) - number(from.agent_address(source)));
}

std::optional<std::intptr_t> StreamCore::Route::host_distance() const {
    if (!to.host_memory() || !from.host_memory()) return std::nullopt;
    return static_cast<std::intptr_t>(number(host_destination()) - number(host_source()));
}

StreamCore::Route StreamCore::route(const char* call, void* destination, std::size_t destination_bytes,
                                    const void* source, std::size_t source_bytes) {
    const auto text = [&] { return range_text(call, destination, source, std::max(destination_bytes, source_bytes)); };
    if (destination == nullptr || source == nullptr) refuse(text() + ": null address");
    Route route{destination, source, pointer_info(destination), pointer_info(source)};
    require_range(text, route.to, destination, destination_bytes, "destination");
    require_range(text, route.from, source, source_bytes, "source");
    return route;
}

// The runtime has the source's GPU copy, or the destination's; for host memory on both sides ours does.
AgentRef StreamCore::engine_for(End to, End from) const noexcept {
    return from.device ? from.device : to.device ? to.device : agent_;
}

// Memory that is registered for other agents alone is to this engine as if it were not.
AgentRef StreamCore::settle(Route& route) const {
    const AgentRef engine = engine_for(end_of(route.destination, route.to), end_of(route.source, route.from));
    const auto unmapped = [&](const PointerInfo& info) {
        return info.kind == PointerInfo::Kind::registered && !info.accessible_by(engine);
    };
    if (unmapped(route.to)) {
        route.destination = route.host_destination();
        route.to = {};
    }
    if (unmapped(route.from)) {
        route.source = route.host_source();
        route.from = {};
    }
    return engine;
}

bool StreamCore::on_host(const Route& route, std::size_t size_bytes, Deadline deadline, const char* call) {
    if (!route.to.host_memory() || !route.from.host_memory()) return false;
    if (!route.to_pageable() && !route.from_pageable() && size_bytes > small_copy_bytes) return false;
    return turn_of_host(route.to_pageable(), deadline, call);
}

bool StreamCore::turn_of_host(bool wait_for_it, Deadline deadline, const char* call) {
    if (wait_for_it) wait(tail(), deadline, call);
    return reached(tail());
}

void StreamCore::copy(void* destination, const void* source, std::size_t size_bytes, Deadline deadline) {
    static constexpr const char* call = "Stream::copy_async";
    if (size_bytes == 0) return throw_if_failed();
    Route route = StreamCore::route(call, destination, size_bytes, source, size_bytes);
    const auto host_distance = route.host_distance();
    if (nearer_than(route.agent_distance(), size_bytes) || (host_distance && nearer_than(*host_distance, size_bytes)))
        refuse(range_text(call, destination, source, size_bytes) + ": the ranges overlap");

    const AgentRef engine = settle(route);

    RetiredHolds retired;
    const auto held = lock(deadline, call);
    throw_if_failed();
    if (captured([=](StreamCore& core, Deadline when) { core.copy(destination, source, size_bytes, when); })) return;
    retire(retired);
    if (on_host(route, size_bytes, deadline, call)) {
        return copy_on_host(route.host_destination(), route.host_source(), size_bytes);
    }
    const End to = end_of(route.destination, route.to), from = end_of(route.source, route.from);
    const bool reachable = make_reachable(route.from, engine) && make_reachable(route.to, engine);
    if (route.from_pageable()) return upload(to, route.source, size_bytes, deadline);
    if (route.to_pageable()) return download(route.destination, from, size_bytes, deadline);
    if (!reachable) return copy_through_host(to, from, size_bytes, deadline);
    copy_linear(to, from, size_bytes, deadline);
}

hsa_status_t StreamCore::put_copy(const EngineCall& engine, End to, End from, std::uint64_t bytes, Deadline deadline,
                                  std::shared_ptr<const void> keep, Point& point) {
    static constexpr const char* call = "Stream::copy_async";
    check_copies();
    std::shared_ptr<PooledSignal> before = before_next(deadline, call);
    auto done = signals_.acquire(1);
    holds_.make_room(2);
    copies_.reserve(copies_.size() + 1);
    std::optional<ProfileRecord> record;
    if (profiling_) {
        profile_->collect(*timeline_);
        profile_->make_room();
        record = copy_record(to, from, bytes);
    }

    const hsa_signal_t dependency = before ? before->native() : hsa_signal_t{0};
    const hsa_status_t status = engine(before ? 1 : 0, before ? &dependency : nullptr, done->native());
    if (status != HSA_STATUS_SUCCESS) return status;

    copies_.push_back(done);
    set_copy_tail(done, Note::Kind::copy);
    if (record) profile_->push(std::move(*record), done, timeline_->submitted());
    point = {.copy = std::move(done)};
    if (before) holds_.push(point, std::move(before));
    if (keep) holds_.push(point, std::move(keep));
    return status;
}

// Copies to a GPU and from it have an engine each in every runtime (GpuAgent's blit objects), so that the two
// directions do not wait for one another; copies of one direction have others where copy_engine.hpp finds some.
Point StreamCore::copy_linear(End to, End from, std::size_t size_bytes, Deadline deadline,
                              std::shared_ptr<const void> keep) {
    // One side must be a GPU for the runtime to use a DMA engine; addresses are the same for all agents.
    const AgentRef host = Driver::current().cpus().front();
    const AgentRef to_agent = to.device ? to.device : from.device ? host : agent_;
    const AgentRef from_agent = from.device ? from.device : host;
    const auto engine = [&](std::uint32_t count, const hsa_signal_t* dependency, hsa_signal_t done) {
        return async_copy({to.address, to_agent}, {from.address, from_agent}, size_bytes, {dependency, count}, done);
    };
    Point point;
    check(put_copy(std::ref(engine), to, from, size_bytes, deadline, std::move(keep), point),
          [&] { return range_text("hsa_amd_memory_async_copy", to.address, from.address, size_bytes); });
    return point;
}

StreamCore::StagingPart StreamCore::stage(std::size_t wanted_bytes, Deadline deadline, std::size_t least_bytes) {
    Staging* staging = &staging_[staging_turn_];
    if (staging->memory && staging->memory->size_bytes() - staging->used_bytes < least_bytes) {
        staging_turn_ ^= 1;
        staging = &staging_[staging_turn_];
        wait(staging->last, deadline, "Stream::copy_async (staging)");
        staging->used_bytes = 0;
    }
    if (!staging->memory)
        staging->memory = std::make_shared<Allocation>(
            Allocation::from_pool(host_pool(HostMemory::fine_grained), staging_bytes));
    const std::size_t room = staging->memory->size_bytes() - staging->used_bytes;
    const StagingPart part{staging, at(staging->memory->data(), staging->used_bytes),
                           std::min(wanted_bytes, room)};
    // Parts start on cache lines, so that two copies never write one.
    staging->used_bytes += std::min((part.size_bytes + 63) & ~std::size_t{63}, room);
    return part;
}

void StreamCore::upload(End to, const void* from, std::size_t size_bytes, Deadline deadline) {
    for (std::size_t offset = 0; offset < size_bytes;) {
        const StagingPart part = stage(size_bytes - offset, deadline);
        std::memcpy(part.data, at(from, offset), part.size_bytes);
        part.staging->last = copy_linear({at(to.address, offset), to.device}, {part.data, {}},
                                         part.size_bytes, deadline, part.staging->memory);
        offset += part.size_bytes;
    }
}

// One part is under way while the one before it is copied out. stage() never reuses the buffer of the last
// part, so that what has not been copied out is not overwritten.
void StreamCore::download(void* to, End from, std::size_t size_bytes, Deadline deadline) {
    std::optional<StagingPart> before;
    Point before_done;
    std::byte* out = static_cast<std::byte*>(to);
    const auto take = [&] {
        wait(before_done, deadline, "Stream::copy_async (pageable destination)");
        std::memcpy(out, before->data, before->size_bytes);
        out += before->size_bytes;
    };
    for (std::size_t offset = 0; offset < size_bytes;) {
        const StagingPart part = stage(size_bytes - offset, deadline);
        const Point done = copy_linear({part.data, {}}, {at(from.address, offset), from.device},
                                       part.size_bytes, deadline, part.staging->memory);
        part.staging->last = done;
        if (before) take();
        before = part;
        before_done = done;
        offset += part.size_bytes;
    }
    take();
}

void StreamCore::copy_through_host(End to, End from, std::size_t size_bytes, Deadline deadline) {
    for (std::size_t offset = 0; offset < size_bytes;) {
        const StagingPart part = stage(size_bytes - offset, deadline);
        copy_linear({part.data, {}}, {at(from.address, offset), from.device}, part.size_bytes, deadline,
                    part.staging->memory);
        part.staging->last = copy_linear({at(to.address, offset), to.device}, {part.data, {}},
                                         part.size_bytes, deadline, part.staging->memory);
        offset += part.size_bytes;
    }
}

// Not hsa_amd_memory_fill, which returns when it is done, whatever the deadline, and fills whole words alone.
void StreamCore::fill(void* destination, std::size_t size_bytes, std::span<const std::byte> pattern,
                      Deadline deadline) {
    static constexpr const char* call = "Stream::fill_async";
    if (size_bytes == 0) return throw_if_failed();
    const auto text = [&] {
        return std::string(call) + "(" + hex(destination) + ", " + std::to_string(size_bytes) + " B, pattern of " +
               std::to_string(pattern.size()) + " B)";
    };
    if (destination == nullptr) refuse(text() + ": null address");
    if (pattern.empty()) refuse(text() + ": a pattern of nothing");
    const PointerInfo to = pointer_info(destination);
    require_range(text, to, destination, size_bytes, "destination");

    RetiredHolds retired;
    const auto held = lock(deadline, call);
    throw_if_failed();
    if (captured([=, copy = std::vector(pattern.begin(), pattern.end())](StreamCore& core, Deadline when) {
            core.fill(destination, size_bytes, copy, when);
        }))
        return;
    retire(retired);
    const bool pageable = to.kind == PointerInfo::Kind::pageable;
    if ((pageable || (to.host_memory() && size_bytes <= small_copy_bytes)) && turn_of_host(pageable, deadline, call))
        return fill_on_host(static_cast<std::byte*>(to.host_address(destination)), size_bytes, pattern);
    const End end = end_of(destination, to);
    make_reachable(to, engine_for(end, {}));

    // The first part comes from the host; the rest doubles it on the device.
    const std::size_t patterns = std::max<std::size_t>(1, fill_seed_bytes / pattern.size());
    std::vector<std::byte> seed(std::min(size_bytes, patterns * pattern.size()));
    fill_on_host(seed.data(), seed.size(), pattern);
    upload(end, seed.data(), seed.size(), deadline);
    for (std::size_t filled = seed.size(); filled < size_bytes;) {
        const std::size_t part = std::min(filled, size_bytes - filled);
        copy_linear({at(end.address, filled), end.device}, end, part, deadline);
        filled += part;
    }
}

}  // namespace hsadrv::detail
