// Copies of rectangles and boxes: planes for the engines, rows for the host.
#include <hsa/hsa_ext_amd.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "hsadrv/error.hpp"
#include "hsadrv/stream/stream_copier.hpp"
#include "hsadrv/stream/stream_core.hpp"

namespace hsadrv::detail {

namespace {

constexpr const char* rect_call = "Stream::copy_rect_async";
// The alignment of base, pitch and slice that an engine's rectangle needs (SDMA's COPY_LINEAR_RECT packet).
constexpr std::size_t word_bytes = 4;
// A packet of a rectangle has up to 16384 rows, and twice the size of one that copies 4 MiB.
constexpr std::size_t ring_bytes_of_row = (std::size_t{8} << 20) / 16384;
// Rows at least as wide are staged one by one; narrower ones are packed, and a packed one fits into half a buffer.
constexpr std::size_t wide_row_bytes = 256u << 10;

std::uintptr_t address_of(const void* pointer) noexcept { return reinterpret_cast<std::uintptr_t>(pointer); }
std::size_t whole_words(std::size_t bytes) noexcept { return (bytes + word_bytes - 1) / word_bytes * word_bytes; }

template <class Function>
void for_each_row(const Rect& rect, void* to, const void* from, Function&& function) {
    for (std::size_t z = 0; z < rect.depth; ++z)
        for (std::size_t y = 0; y < rect.height; ++y)
            function(at(to, z * rect.destination.slice_bytes + y * rect.destination.pitch_bytes),
                     static_cast<const std::byte*>(from) + z * rect.source.slice_bytes + y * rect.source.pitch_bytes);
}

bool overlapping_anywhere(const Rect& rect, std::intptr_t at_agents, std::optional<std::intptr_t> at_host) {
    return overlapping(rect, at_agents) || (at_host && overlapping(rect, *at_host));
}

}  // namespace

void StreamCopier::copy_rect(const Rect& wanted, Deadline deadline) {
    if (wanted.empty()) return stream_.throw_if_failed();
    const std::size_t to_bytes = destination_extent(wanted), from_bytes = source_extent(wanted);
    const Rect rect = flattened(wanted);
    if (rect.height == 1) return copy(rect.destination.address, rect.source.address, rect.width_bytes, deadline);
    CopyRoute route = CopyRoute::of(rect_call, rect.destination.address, to_bytes, rect.source.address, from_bytes);
    if (overlapping_anywhere(wanted, route.agent_distance(), route.host_distance()))
        throw InvalidArgument(std::string(rect_call) + "(" + wanted.text() + "): source and destination overlap",
                              HSA_STATUS_ERROR_INVALID_ARGUMENT);
    const AgentRef engine = route.settle(agent_);

    const Submission held(stream_, deadline, rect_call);
    if (stream_.captured([=](StreamCore& core, Deadline when) { core.copier().copy_rect(wanted, when); })) return;
    if (on_host(route, rect.width_bytes * rect.height * rect.depth, deadline, rect_call))
        return stream_.work_away(rect.width_bytes * rect.height * rect.depth, [&] {
            for_each_row(rect, route.host_destination(), route.host_source(),
                         [&](void* to, const void* from) { std::memcpy(to, from, rect.width_bytes); });
        });

    const CopySide to = route.to_side(), from = route.from_side();
    const bool reachable = route.make_reachable(engine);
    const Lease staging(*this);
    for (std::size_t z = 0; z < rect.depth; ++z) {
        const PlaneEnd to_plane{{at(to.address, z * rect.destination.slice_bytes), to.device},
                                rect.destination.pitch_bytes};
        const PlaneEnd from_plane{{at(from.address, z * rect.source.slice_bytes), from.device},
                                  rect.source.pitch_bytes};
        const Plane plane{to_plane, from_plane, rect.width_bytes, rect.height};
        if (route.from_pageable())
            upload_plane(staging, plane, deadline);
        else if (route.to_pageable())
            download_plane(staging, plane, deadline);
        else if (reachable)
            copy_plane(plane, deadline);
        else
            plane_through_host(staging, plane, deadline);
    }
}

StreamCopier::PlaneEnd StreamCopier::PlaneEnd::rows_from(std::size_t row) const noexcept {
    return {{at(end.address, row * pitch_bytes), end.device}, pitch_bytes};
}

// Engines need pitches in whole words. For any pitch, every second, fourth or eighth row has such a pitch, so a plane
// is split into that many copies. The first row of each copy begins at an offset from a whole word; offset plus width
// must still be narrower than the pitch.
Completion StreamCopier::copy_plane(const Plane& plane, Deadline deadline, Staging* staging) {
    const auto suits = [&](const PlaneEnd& side, std::size_t step) {
        if (side.pitch_bytes * step % word_bytes != 0) return false;
        for (std::size_t row = 0; row < std::min(step, plane.height); ++row)
            if (address_of(side.rows_from(row).end.address) % word_bytes + plane.width_bytes > side.pitch_bytes * step)
                return false;
        return true;
    };
    std::size_t step = 1;
    while (step < 8 && !(suits(plane.to, step) && suits(plane.from, step))) step *= 2;
    Completion completion;
    for (std::size_t row = 0; row < std::min(step, plane.height); ++row) {
        Plane part{plane.to.rows_from(row), plane.from.rows_from(row), plane.width_bytes,
                   (plane.height - row + step - 1) / step};
        part.to.pitch_bytes *= step;
        part.from.pitch_bytes *= step;
        completion = put_rows(part, deadline, staging);
    }
    return completion;
}

namespace {

struct RowCopies {
    CopyEnd to, from;
    std::size_t to_pitch_bytes, from_pitch_bytes, width_bytes, height;
};

void copy_row(const RowCopies& rows, std::size_t y, CopyQueue::Dependencies dependencies, hsa_signal_t done) {
    check(async_copy({at(rows.to.address, y * rows.to_pitch_bytes), rows.to.agent},
                     {at(rows.from.address, y * rows.from_pitch_bytes), rows.from.agent}, rows.width_bytes,
                     dependencies, done),
          [&] {
              return "hsa_amd_memory_async_copy(row " + std::to_string(y) + " of " + std::to_string(rows.height) +
                     ", " + std::to_string(rows.width_bytes) + " B)";
          });
}

}  // namespace

// Like hsa_amd_memory_async_copy_rect, with offsets where an address is not word-aligned. Copies row by row if the
// runtime has no engine for it, or if the sizes exceed the fields of a packet.
Completion StreamCopier::put_rows(const Plane& plane, Deadline deadline, Staging* staging) {
    struct Side {
        hsa_pitched_ptr_t base;
        hsa_dim3_t offset;
    };
    const auto side = [](const PlaneEnd& from) {
        const std::size_t offset = address_of(from.end.address) % word_bytes;
        return Side{{static_cast<std::byte*>(from.end.address) - offset, from.pitch_bytes, 0},
                    {static_cast<std::uint32_t>(offset), 0, 0}};
    };
    const Side to = side(plane.to), from = side(plane.from);
    const hsa_dim3_t range{static_cast<std::uint32_t>(plane.width_bytes), static_cast<std::uint32_t>(plane.height), 1};
    const AgentRef device = engine_for(plane.to.end, plane.from.end, agent_);
    // The direction names the engine; the address selects the memory.
    const hsa_amd_copy_direction_t direction = !plane.from.end.device ? hsaHostToDevice
                                               : plane.to.end.device  ? hsaDeviceToDevice
                                                                      : hsaDeviceToHost;
    constexpr std::size_t most = UINT32_MAX;
    const bool fits = plane.width_bytes <= most - word_bytes && plane.height <= most;
    const auto [target, source] = copy_ends(plane.to.end, plane.from.end, agent_);
    const auto whole = [=](CopyQueue::Dependencies dependencies, const std::shared_ptr<PooledSignal>& done) {
        if (!fits) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
        return hsa_amd_memory_async_copy_rect(&to.base, &to.offset, &from.base, &from.offset, &range, device.native(),
                                              direction, static_cast<std::uint32_t>(dependencies.size()),
                                              const_cast<hsa_signal_t*>(dependencies.data()), done->native());
    };
    const RowCopies rows{target, source, plane.to.pitch_bytes, plane.from.pitch_bytes, plane.width_bytes, plane.height};
    const auto row = [=](std::size_t y, CopyQueue::Dependencies dependencies,
                         const std::shared_ptr<PooledSignal>& done) {
        copy_row(rows, y, dependencies, done->native());
    };
    return put(whole, plane.to.end, plane.from.end, plane.width_bytes * plane.height, deadline, staging,
               {plane.height, row, plane.height * ring_bytes_of_row});
}

void StreamCopier::upload_plane(StagingPair& staging, const Plane& plane, Deadline deadline) {
    const auto [to, from, width_bytes, height] = plane;
    if (width_bytes >= wide_row_bytes) {
        for (std::size_t y = 0; y < height; ++y)
            upload(staging, to.rows_from(y).end, from.rows_from(y).end.address, width_bytes, deadline);
        return;
    }
    const std::size_t packed_bytes = whole_words(width_bytes);
    for (std::size_t y = 0; y < height;) {
        const StagingPart part = stage(staging, packed_bytes * (height - y), deadline, packed_bytes);
        const std::size_t rows = std::min(part.size_bytes / packed_bytes, height - y);
        stream_.work_away(rows * packed_bytes, [&] {
            for (std::size_t i = 0; i < rows; ++i)
                std::memcpy(part.data + i * packed_bytes, plane.from.rows_from(y + i).end.address, plane.width_bytes);
        });
        copy_plane({to.rows_from(y), {{part.data, {}}, packed_bytes}, width_bytes, rows}, deadline, part.staging);
        y += rows;
    }
}

// As in download(): one part is in flight while the previous one is copied out.
void StreamCopier::download_plane(StagingPair& staging, const Plane& plane, Deadline deadline) {
    const auto [to, from, width_bytes, height] = plane;
    if (width_bytes >= wide_row_bytes) {
        for (std::size_t y = 0; y < height; ++y)
            download(staging, to.rows_from(y).end.address, from.rows_from(y).end, width_bytes, deadline);
        return;
    }
    const std::size_t packed_bytes = whole_words(width_bytes);
    struct Part {
        const std::byte* data;
        std::size_t first, rows;
        Completion done;
    };
    std::optional<Part> before;
    const auto take = [&] {
        stream_.wait_away(before->done, deadline, rect_call);
        stream_.work_away(before->rows * packed_bytes, [&] {
            for (std::size_t i = 0; i < before->rows; ++i)
                std::memcpy(plane.to.rows_from(before->first + i).end.address, before->data + i * packed_bytes,
                            plane.width_bytes);
        });
    };
    for (std::size_t y = 0; y < height;) {
        const StagingPart part = stage(staging, packed_bytes * (height - y), deadline, packed_bytes);
        const std::size_t rows = std::min(part.size_bytes / packed_bytes, height - y);
        const Completion done =
            copy_plane({{{part.data, {}}, packed_bytes}, from.rows_from(y), width_bytes, rows}, deadline, part.staging);
        if (before) take();
        before = Part{part.data, y, rows, done};
        y += rows;
    }
    take();
}

void StreamCopier::plane_through_host(StagingPair& staging, const Plane& plane, Deadline deadline) {
    if (plane.width_bytes >= wide_row_bytes) {
        for (std::size_t y = 0; y < plane.height; ++y)
            copy_through_host(staging, plane.to.rows_from(y).end, plane.from.rows_from(y).end, plane.width_bytes,
                              deadline);
        return;
    }
    const std::size_t packed_bytes = whole_words(plane.width_bytes);
    for (std::size_t y = 0; y < plane.height;) {
        const StagingPart part = stage(staging, packed_bytes * (plane.height - y), deadline, packed_bytes);
        const std::size_t rows = std::min(part.size_bytes / packed_bytes, plane.height - y);
        const PlaneEnd packed{{part.data, {}}, packed_bytes};
        copy_plane({packed, plane.from.rows_from(y), plane.width_bytes, rows}, deadline, part.staging);
        copy_plane({plane.to.rows_from(y), packed, plane.width_bytes, rows}, deadline, part.staging);
        y += rows;
    }
}

}  // namespace hsadrv::detail
