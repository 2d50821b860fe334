// The copies and fills of a stream: which engine, which route, which waits.
#include <hsa/hsa_ext_amd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "hsadrv/error.hpp"
#include "hsadrv/stream_core.hpp"

namespace hsadrv::detail {

namespace {

// Large enough that a DMA engine runs at its full rate, small enough that two of them are cheap for every
// stream.
constexpr std::size_t staging_bytes = 2u << 20;
// The first part of a fill comes from the host; the rest doubles it on the device.
constexpr std::size_t fill_seed_bytes = 256u << 10;

std::string range_text(const char* call, const void* to, const void* from, std::size_t size_bytes) {
    char text[128];
    std::snprintf(text, sizeof text, "%s(to %p, from %p, %zu B)", call, to, from, size_bytes);
    return text;
}

std::uintptr_t number(const void* pointer) noexcept { return reinterpret_cast<std::uintptr_t>(pointer); }

bool overlap(const void* a, const void* b, std::size_t size_bytes) noexcept {
    return number(a) < number(b) + size_bytes && number(b) < number(a) + size_bytes;
}

void require_room(const PointerInfo& info, const void* pointer, std::size_t size_bytes,
                  const std::string& call, const char* side) {
    if (info.kind == PointerInfo::Kind::pageable || info.bytes_after(pointer) >= size_bytes) return;
    throw InvalidArgument(call + ": the " + side + " has " + std::to_string(info.bytes_after(pointer)) +
                              " B left in its allocation of " + std::to_string(info.size_bytes) + " B",
                          HSA_STATUS_ERROR_INVALID_ARGUMENT);
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
bool StreamCore::make_reachable(const PointerInfo& info, const void* pointer, AgentRef engine) const {
    if (std::find(info.accessible.begin(), info.accessible.end(), engine) != info.accessible.end())
        return true;
    if (info.kind == PointerInfo::Kind::registered)
        throw InvalidArgument("Stream::copy_async: the registered memory at " +
                              std::to_string(number(pointer)) + " is not mapped for " + engine.label() +
                              "; name that agent in register_memory");
    if (info.device_memory() && device_pool(info.owner).access(engine) == PoolAccess::never) return false;
    allow_access(info.agent_base, std::span(&engine, 1));
    return true;
}

void StreamCore::copy(void* destination, const void* source, std::size_t size_bytes, Deadline deadline) {
    static constexpr const char* call = "Stream::copy_async";
    if (size_bytes == 0) return throw_if_failed();
    const std::string text = range_text(call, destination, source, size_bytes);
    if (destination == nullptr || source == nullptr)
        throw InvalidArgument(text + ": null address", HSA_STATUS_ERROR_INVALID_ARGUMENT);
    if (size_bytes > UINTPTR_MAX - std::max(number(destination), number(source)))
        throw InvalidArgument(text + ": the range runs past the end of the address space",
                              HSA_STATUS_ERROR_INVALID_ARGUMENT);
    const PointerInfo to = pointer_info(destination), from = pointer_info(source);
    require_room(to, destination, size_bytes, text, "destination");
    require_room(from, source, size_bytes, text, "source");
    if (overlap(to.agent_address(destination), from.agent_address(source), size_bytes))
        throw InvalidArgument(text + ": the ranges overlap", HSA_STATUS_ERROR_INVALID_ARGUMENT);

    RetiredHolds retired;
    const auto held = lock(deadline, call);
    throw_if_failed();
    if (captured([=](StreamCore& core, Deadline when) { core.copy(destination, source, size_bytes, when); })) return;
    retire(retired);
    const bool to_pageable = to.kind == PointerInfo::Kind::pageable;
    const bool from_pageable = from.kind == PointerInfo::Kind::pageable;
    if (to_pageable && from_pageable) {
        wait(tail(), deadline, call);
        std::memcpy(destination, source, size_bytes);
        return;
    }
    const End to_end = end_of(destination, to), from_end = end_of(source, from);
    // The runtime has the source's GPU copy, or the destination's; for host memory on both sides ours does.
    const AgentRef engine = from_end.device ? from_end.device : to_end.device ? to_end.device : agent_;
    if (from_pageable) {
        make_reachable(to, destination, engine);
        return upload(to_end, source, size_bytes, deadline);
    }
    if (to_pageable) {
        make_reachable(from, source, engine);
        return download(destination, from_end, size_bytes, deadline);
    }
    if (make_reachable(from, source, engine) && make_reachable(to, destination, engine))
        copy_linear(to_end, from_end, size_bytes, deadline);
    else
        copy_through_host(to_end, from_end, size_bytes, deadline);
}

Point StreamCore::copy_linear(End to, End from, std::size_t size_bytes, Deadline deadline,
                              std::shared_ptr<const void> keep) {
    static constexpr const char* call = "Stream::copy_async";
    check_copies();
    std::shared_ptr<PooledSignal> before = before_next(deadline, call);
    auto done = signals_.acquire(1);
    holds_.make_room(2);
    copies_.reserve(copies_.size() + 1);

    // One side must be a GPU for the runtime to use a DMA engine; addresses are the same for all agents.
    const AgentRef host = Driver::current().cpus().front();
    const AgentRef to_agent = to.device ? to.device : from.device ? host : agent_;
    const AgentRef from_agent = from.device ? from.device : host;
    const hsa_signal_t dependency = before ? before->native() : hsa_signal_t{0};
    check(
        hsa_amd_memory_async_copy(to.address, to_agent.native(), from.address, from_agent.native(),
                                  size_bytes, before ? 1 : 0, before ? &dependency : nullptr, done->native()),
        [&] { return range_text("hsa_amd_memory_async_copy", to.address, from.address, size_bytes); });

    copies_.push_back(done);
    set_copy_tail(done, Note::Kind::copy);
    Point point{.copy = std::move(done)};
    if (before) holds_.push(point, std::move(before));
    if (keep) holds_.push(point, std::move(keep));
    return point;
}

StreamCore::StagingPart StreamCore::stage(std::size_t wanted_bytes, Deadline deadline) {
    Staging* staging = &staging_[staging_turn_];
    if (staging->memory && staging->used_bytes == staging->memory->size_bytes()) {
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

void StreamCore::fill(void* destination, std::size_t size_bytes, std::span<const std::byte> pattern,
                      Deadline deadline) {
    static constexpr const char* call = "Stream::fill_async";
    if (size_bytes == 0) return throw_if_failed();
    const std::string text = std::string(call) + "(" + std::to_string(size_bytes) + " B, pattern of " +
                             std::to_string(pattern.size()) + " B)";
    if (destination == nullptr)
        throw InvalidArgument(text + ": null address", HSA_STATUS_ERROR_INVALID_ARGUMENT);
    if (pattern.empty() || pattern.size() > fill_seed_bytes || size_bytes % pattern.size() != 0)
        throw InvalidArgument(text + ": the size must be a multiple of the pattern, which has 1 to " +
                                  std::to_string(fill_seed_bytes) + " B",
                              HSA_STATUS_ERROR_INVALID_ARGUMENT);
    const PointerInfo to = pointer_info(destination);
    if (to.kind == PointerInfo::Kind::pageable)
        throw InvalidArgument(
            text + ": the destination is pageable host memory; register it, or fill it on the host",
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
    require_room(to, destination, size_bytes, text, "destination");

    RetiredHolds retired;
    const auto held = lock(deadline, call);
    throw_if_failed();
    if (captured([=, copy = std::vector(pattern.begin(), pattern.end())](StreamCore& core, Deadline when) {
            core.fill(destination, size_bytes, copy, when);
        }))
        return;
    retire(retired);
    const End end = end_of(destination, to);
    make_reachable(to, destination, end.device ? end.device : agent_);

    const std::size_t seed_bytes = std::min(size_bytes, fill_seed_bytes / pattern.size() * pattern.size());
    std::vector<std::byte> seed(seed_bytes);
    for (std::size_t i = 0; i < seed_bytes; i += pattern.size())
        std::memcpy(seed.data() + i, pattern.data(), pattern.size());
    upload(end, seed.data(), seed_bytes, deadline);
    for (std::size_t filled = seed_bytes; filled < size_bytes;) {
        const std::size_t part = std::min(filled, size_bytes - filled);
        copy_linear({at(end.address, filled), end.device}, end, part, deadline);
        filled += part;
    }
}

}  // namespace hsadrv::detail
