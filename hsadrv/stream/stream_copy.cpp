// A stream's copies and fills: engines, routes and waits.
#include <hsa/hsa_ext_amd.h>

#include <algorithm>
#include <cstring>

#include "hsadrv/base/text.hpp"
#include "hsadrv/driver.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/memory/copy_engine.hpp"
#include "hsadrv/signal/callback_thread.hpp"
#include "hsadrv/stream/stream_copier.hpp"
#include "hsadrv/stream/stream_core.hpp"

namespace hsadrv::detail {

namespace {

// Large enough for a DMA engine to run at its full rate, small enough that every stream can have two.
constexpr std::size_t staging_bytes = 2u << 20;
// The first part of a fill, unless the pattern is larger.
constexpr std::size_t fill_seed_bytes = 256u << 10;

// Doubles the filled part: every part begins with a whole pattern, and the last may be cut short.
void fill_on_host(std::byte* to, std::size_t size_bytes, std::span<const std::byte> pattern) noexcept {
    std::size_t filled = std::min(size_bytes, pattern.size());
    std::memcpy(to, pattern.data(), filled);
    for (std::size_t part = 0; filled < size_bytes; filled += part) {
        part = std::min(filled, size_bytes - filled);
        std::memcpy(to + filled, to, part);
    }
}

}  // namespace

bool StreamCopier::on_host(const CopyRoute& route, std::size_t size_bytes, Deadline deadline, const char* call) {
    if (!route.to.host_memory() || !route.from.host_memory()) return false;
    if (!route.to_pageable() && !route.from_pageable() && size_bytes > small_copy_bytes) return false;
    return stream_.host_may_run(route.to_pageable(), deadline, call);
}

void StreamCopier::copy(void* destination, const void* source, std::size_t size_bytes, Deadline deadline) {
    static constexpr const char* call = "Stream::copy_async";
    if (size_bytes == 0) return stream_.throw_if_failed();
    CopyRoute route = CopyRoute::of(call, destination, size_bytes, source, size_bytes);
    const auto host_distance = route.host_distance();
    if (nearer_than(route.agent_distance(), size_bytes) || (host_distance && nearer_than(*host_distance, size_bytes)))
        refuse_copy(range_text(call, destination, source, size_bytes) + ": the ranges overlap");

    const AgentRef engine = route.settle(agent_);

    const Submission held(stream_, deadline, call);
    if (stream_.captured(
            [=](StreamCore& core, Deadline when) { core.copier().copy(destination, source, size_bytes, when); }))
        return;
    if (on_host(route, size_bytes, deadline, call)) {
        return stream_.copy_on_host(route.host_destination(), route.host_source(), size_bytes);
    }
    const CopySide to = route.to_side(), from = route.from_side();
    const bool reachable = route.make_reachable(engine);
    if (reachable && !route.from_pageable() && !route.to_pageable()) {
        copy_linear(to, from, size_bytes, deadline);
        return;
    }
    const Lease staging(*this);
    if (route.from_pageable()) return upload(staging, to, route.source, size_bytes, deadline);
    if (route.to_pageable()) return download(staging, route.destination, from, size_bytes, deadline);
    copy_through_host(staging, to, from, size_bytes, deadline);
}

// In every runtime one engine copies to a GPU and another one from it (GpuAgent's blit objects), so the two directions
// do not wait for each other; copies of one direction use further engines if copy_engine.hpp finds a free one.
Completion StreamCopier::copy_linear(CopySide to, CopySide from, std::size_t size_bytes, Deadline deadline,
                                     Staging* staging) {
    const auto start = [ends = copy_ends(to, from, agent_), size_bytes](CopyQueue::Dependencies dependencies,
                                                                        const std::shared_ptr<PooledSignal>& done) {
        return async_copy(ends.first, ends.second, size_bytes, dependencies, done->native());
    };
    return put(start, to, from, size_bytes, deadline, staging);
}

Completion StreamCopier::put(CopyQueue::Start start, CopySide to, CopySide from, std::size_t size_bytes,
                             Deadline deadline, Staging* staging, CopyQueue::Parts parts) {
    const Completion done =
        stream_.put_copy(std::move(start), to, from, size_bytes, deadline,
                         staging ? staging->memory : std::shared_ptr<const void>(), std::move(parts));
    if (staging) staging->last = done;
    return done;
}

StreamCopier::StagingPart StreamCopier::stage(StagingPair& pair, std::size_t wanted_bytes, Deadline deadline,
                                              std::size_t least_bytes) {
    Staging* staging = &pair.buffers[pair.turn];
    if (staging->memory && staging->memory->size_bytes() - staging->used_bytes < least_bytes) {
        pair.turn ^= 1;
        staging = &pair.buffers[pair.turn];
        if (on_callback_thread() && !stream_.is_over(staging->last))
            *staging = {};  // its last copy may wait for this host function, and keeps it
        else
            stream_.wait_away(staging->last, deadline, "Stream::copy_async (staging)");
        staging->used_bytes = 0;
    }
    if (!staging->memory)
        staging->memory =
            std::make_shared<Allocation>(Allocation::from_pool(host_pool(HostMemory::fine_grained), staging_bytes));
    const std::size_t room = staging->memory->size_bytes() - staging->used_bytes;
    const StagingPart part{staging, at(staging->memory->data(), staging->used_bytes), std::min(wanted_bytes, room)};
    // Parts start on cache lines, so that two copies never write to the same line.
    staging->used_bytes += std::min((part.size_bytes + 63) & ~std::size_t{63}, room);
    return part;
}

void StreamCopier::upload(StagingPair& staging, CopySide to, const void* from, std::size_t size_bytes,
                          Deadline deadline) {
    for (std::size_t offset = 0; offset < size_bytes;) {
        const StagingPart part = stage(staging, size_bytes - offset, deadline);
        stream_.work_away(part.size_bytes, [&] { std::memcpy(part.data, at(from, offset), part.size_bytes); });
        copy_linear({at(to.address, offset), to.device}, {part.data, {}}, part.size_bytes, deadline, part.staging);
        offset += part.size_bytes;
    }
}

// One part is in flight while the previous one is copied out. stage() never reuses the buffer of the last part, so data
// that has not been copied out is not overwritten.
void StreamCopier::download(StagingPair& staging, void* to, CopySide from, std::size_t size_bytes, Deadline deadline) {
    std::optional<StagingPart> before;
    Completion before_done;
    std::byte* out = static_cast<std::byte*>(to);
    const auto take = [&] {
        stream_.wait_away(before_done, deadline, "Stream::copy_async (pageable destination)");
        stream_.work_away(before->size_bytes, [&] { std::memcpy(out, before->data, before->size_bytes); });
        out += before->size_bytes;
    };
    for (std::size_t offset = 0; offset < size_bytes;) {
        const StagingPart part = stage(staging, size_bytes - offset, deadline);
        const Completion done = copy_linear({part.data, {}}, {at(from.address, offset), from.device}, part.size_bytes,
                                            deadline, part.staging);
        if (before) take();
        before = part;
        before_done = done;
        offset += part.size_bytes;
    }
    take();
}

void StreamCopier::copy_through_host(StagingPair& staging, CopySide to, CopySide from, std::size_t size_bytes,
                                     Deadline deadline) {
    for (std::size_t offset = 0; offset < size_bytes;) {
        const StagingPart part = stage(staging, size_bytes - offset, deadline);
        copy_linear({part.data, {}}, {at(from.address, offset), from.device}, part.size_bytes, deadline, part.staging);
        copy_linear({at(to.address, offset), to.device}, {part.data, {}}, part.size_bytes, deadline, part.staging);
        offset += part.size_bytes;
    }
}

// Not hsa_amd_memory_fill, which blocks regardless of the deadline and fills only whole words.
void StreamCopier::fill(void* destination, std::size_t size_bytes, std::span<const std::byte> pattern,
                        Deadline deadline) {
    static constexpr const char* call = "Stream::fill_async";
    refuse_in_forked_child(call);  // before the runtime is asked
    if (size_bytes == 0) return stream_.throw_if_failed();
    const auto text = [&] {
        return std::string(call) + "(" + hex(destination) + ", " + std::to_string(size_bytes) + " B, pattern of " +
               std::to_string(pattern.size()) + " B)";
    };
    if (destination == nullptr) refuse_copy(text() + ": null address");
    if (pattern.empty()) refuse_copy(text() + ": the pattern is empty");
    const PointerInfo to = pointer_info(destination);
    if (const auto fault = fault_of_range(to, destination, size_bytes, "destination"))
        refuse_copy(text() + ": " + *fault);

    std::vector<std::byte> seed;  // destroyed without the mutex
    const Submission held(stream_, deadline, call);
    if (stream_.records()) {
        stream_.captured([=, copy = std::vector(pattern.begin(), pattern.end())](StreamCore& core, Deadline when) {
            core.copier().fill(destination, size_bytes, copy, when);
        });
        return;
    }
    const bool pageable = to.kind == PointerInfo::Kind::pageable;
    if ((pageable || (to.host_memory() && size_bytes <= small_copy_bytes)) &&
        stream_.host_may_run(pageable, deadline, call))
        return stream_.work_away(size_bytes, [&] {
            fill_on_host(static_cast<std::byte*>(to.host_address(destination)), size_bytes, pattern);
        });
    const CopySide end = side_of(destination, to);
    make_reachable(to, engine_for(end, {}, agent_));

    // The first part is copied from the host; the rest is doubled on the device.
    const std::size_t patterns = std::max<std::size_t>(1, fill_seed_bytes / pattern.size());
    stream_.work_away(pattern.size(), [&] {
        seed.resize(std::min(size_bytes, patterns * pattern.size()));
        fill_on_host(seed.data(), seed.size(), pattern);
    });
    const std::uint64_t passes = stream_.passes();
    upload(Lease(*this), end, seed.data(), seed.size(), deadline);
    for (std::size_t filled = seed.size(); filled < size_bytes;) {
        const std::size_t part = std::min(filled, size_bytes - filled);
        copy_linear({at(end.address, filled), end.device}, end, part, deadline);
        filled += part;
    }
    // What a host function wrote meanwhile was perhaps doubled, too: all parts once more, from the host.
    if (stream_.passes() == passes) return;
    for (std::size_t filled = 0; filled < size_bytes; filled += seed.size())
        upload(Lease(*this), {at(end.address, filled), end.device}, seed.data(),
               std::min(seed.size(), size_bytes - filled), deadline);
}

}  // namespace hsadrv::detail
