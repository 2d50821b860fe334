// Copies of rectangles and boxes: planes for the engines, rows for the host.
#include <hsa/hsa_ext_amd.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "hsadrv/error.hpp"
#include "hsadrv/stream_core.hpp"

namespace hsadrv::detail {

namespace {

constexpr const char* rect_call = "Stream::copy_rect_async";
// What an engine's rectangle wants of its base, its pitch and its slice (SDMA's COPY_LINEAR_RECT packet).
constexpr std::size_t word_bytes = 4;
// Rows at least as wide are staged one by one; narrower ones are packed, and a packed one fits into half a
// buffer.
constexpr std::size_t wide_row_bytes = 256u << 10;

std::uintptr_t number(const void* pointer) noexcept { return reinterpret_cast<std::uintptr_t>(pointer); }
void* at(void* base, std::size_t offset) noexcept { return static_cast<std::byte*>(base) + offset; }
std::size_t whole_words(std::size_t bytes) noexcept {
    return (bytes + word_bytes - 1) / word_bytes * word_bytes;
}

template <class Function>
void for_each_row(const Rect& rect, void* to, const void* from, Function&& function) {
    for (std::size_t z = 0; z < rect.depth; ++z)
        for (std::size_t y = 0; y < rect.height; ++y)
            function(at(to, z * rect.destination.slice_bytes + y * rect.destination.pitch_bytes),
                     static_cast<const std::byte*>(from) + z * rect.source.slice_bytes +
                         y * rect.source.pitch_bytes);
}

bool overlapping_anywhere(const Rect& rect, std::intptr_t at_agents, std::optional<std::intptr_t> at_host) {
    return overlapping(rect, at_agents) || (at_host && overlapping(rect, *at_host));
}

}  // namespace

void StreamCore::copy_rect(const Rect& wanted, Deadline deadline) {
    if (wanted.empty()) return throw_if_failed();
    const std::size_t to_bytes = destination_extent(wanted), from_bytes = source_extent(wanted);
    const Rect rect = flattened(wanted);
    if (rect.height == 1)
        return copy(rect.destination.address, rect.source.address, rect.width_bytes, deadline);
    Route route = StreamCore::route(rect_call, rect.destination.address, to_bytes, rect.source.address, from_bytes);
    if (overlapping_anywhere(wanted, route.agent_distance(), route.host_distance()))
        throw InvalidArgument(std::string(rect_call) + "(" + wanted.text() + "): source and destination overlap",
                              HSA_STATUS_ERROR_INVALID_ARGUMENT);
    const AgentRef engine = settle(route);

    RetiredHolds retired;
    const auto held = lock(deadline, rect_call);
    throw_if_failed();
    if (captured([=](StreamCore& core, Deadline when) { core.copy_rect(wanted, when); })) return;
    retire(retired);
    if (on_host(route, rect.width_bytes * rect.height * rect.depth, deadline, rect_call))
        return for_each_row(rect, route.host_destination(), route.host_source(),
                            [&](void* to, const void* from) { std::memcpy(to, from, rect.width_bytes); });

    const End to = end_of(route.destination, route.to), from = end_of(route.source, route.from);
    const bool reachable = make_reachable(route.from, engine) && make_reachable(route.to, engine);
    for (std::size_t z = 0; z < rect.depth; ++z) {
        const PlaneEnd to_plane{{at(to.address, z * rect.destination.slice_bytes), to.device},
                                rect.destination.pitch_bytes};
        const PlaneEnd from_plane{{at(from.address, z * rect.source.slice_bytes), from.device},
                                  rect.source.pitch_bytes};
        if (route.from_pageable())
            upload_plane(to_plane, from_plane, rect.width_bytes, rect.height, deadline);
        else if (route.to_pageable())
            download_plane(to_plane, from_plane, rect.width_bytes, rect.height, deadline);
        else if (reachable)
            copy_plane({to_plane, from_plane, rect.width_bytes, rect.height}, deadline);
        else
            plane_through_host({to_plane, from_plane, rect.width_bytes, rect.height}, deadline);
    }
}

StreamCore::PlaneEnd StreamCore::PlaneEnd::rows_from(std::size_t row) const noexcept {
    return {{at(end.address, row * pitch_bytes), end.device}, pitch_bytes};
}

// Engines want pitches in whole words. Every second, fourth or eighth row has such a pitch, whatever the
// pitch of all, so a plane is as many copies as it takes. The first row of each begins at an offset from a
// whole word, and with that it still has to be narrower than the pitch.
Point StreamCore::copy_plane(const Plane& plane, Deadline deadline, const std::shared_ptr<const void>& keep) {
    const auto suits = [&](const PlaneEnd& side, std::size_t step) {
        if (side.pitch_bytes * step % word_bytes != 0) return false;
        for (std::size_t row = 0; row < std::min(step, plane.height); ++row)
            if (number(side.rows_from(row).end.address) % word_bytes + plane.width_bytes >
                side.pitch_bytes * step)
                return false;
        return true;
    };
    std::size_t step = 1;
    while (step < 8 && !(suits(plane.to, step) && suits(plane.from, step))) step *= 2;
    Point point;
    for (std::size_t row = 0; row < std::min(step, plane.height); ++row) {
        Plane part{plane.to.rows_from(row), plane.from.rows_from(row), plane.width_bytes,
                   (plane.height - row + step - 1) / step};
        part.to.pitch_bytes *= step;
        part.from.pitch_bytes *= step;
        if (try_rows(part, deadline, keep, point)) continue;
        // The runtime has no engine for it, or the numbers are larger than a packet's: row by row.
        for (std::size_t y = 0; y < part.height; ++y)
            point = copy_linear(part.to.rows_from(y).end, part.from.rows_from(y).end, part.width_bytes,
                                deadline, keep);
    }
    return point;
}

// Like hsa_amd_memory_async_copy_rect, whose offsets are where an address is no whole word.
bool StreamCore::try_rows(const Plane& plane, Deadline deadline, const std::shared_ptr<const void>& keep,
                          Point& point) {
    constexpr std::size_t most = UINT32_MAX;
    if (plane.width_bytes > most - word_bytes || plane.height > most) return false;
    struct Side {
        hsa_pitched_ptr_t base;
        hsa_dim3_t offset;
    };
    const auto side = [](const PlaneEnd& from) {
        const std::size_t offset = number(from.end.address) % word_bytes;
        return Side{{static_cast<std::byte*>(from.end.address) - offset, from.pitch_bytes, 0},
                    {static_cast<std::uint32_t>(offset), 0, 0}};
    };
    const Side to = side(plane.to), from = side(plane.from);
    const hsa_dim3_t range{static_cast<std::uint32_t>(plane.width_bytes),
                           static_cast<std::uint32_t>(plane.height), 1};
    const AgentRef device = engine_for(plane.to.end, plane.from.end);
    // The direction names the engine; memory is what its address says.
    const hsa_amd_copy_direction_t direction = !plane.from.end.device ? hsaHostToDevice
                                               : plane.to.end.device  ? hsaDeviceToDevice
                                                                      : hsaDeviceToHost;
    const auto engine = [&](std::uint32_t count, const hsa_signal_t* dependency, hsa_signal_t done) {
        return hsa_amd_memory_async_copy_rect(&to.base, &to.offset, &from.base, &from.offset, &range,
                                              device.native(), direction, count,
                                              const_cast<hsa_signal_t*>(dependency), done);
    };
    return put_copy(std::ref(engine), plane.to.end, plane.from.end, plane.width_bytes * plane.height, deadline, keep,
                    point) == HSA_STATUS_SUCCESS;
}

void StreamCore::upload_plane(PlaneEnd to, PlaneEnd from, std::size_t width_bytes, std::size_t height,
                              Deadline deadline) {
    if (width_bytes >= wide_row_bytes) {
        for (std::size_t y = 0; y < height; ++y)
            upload(to.rows_from(y).end, from.rows_from(y).end.address, width_bytes, deadline);
        return;
    }
    const std::size_t packed_bytes = whole_words(width_bytes);
    for (std::size_t y = 0; y < height;) {
        const StagingPart part = stage(packed_bytes * (height - y), deadline, packed_bytes);
        const std::size_t rows = std::min(part.size_bytes / packed_bytes, height - y);
        for (std::size_t i = 0; i < rows; ++i)
            std::memcpy(part.data + i * packed_bytes, from.rows_from(y + i).end.address, width_bytes);
        part.staging->last = copy_plane({to.rows_from(y), {{part.data, {}}, packed_bytes}, width_bytes, rows},
                                        deadline, part.staging->memory);
        y += rows;
    }
}

// As download(): one part is under way while the one before it is copied out.
void StreamCore::download_plane(PlaneEnd to, PlaneEnd from, std::size_t width_bytes, std::size_t height,
                                Deadline deadline) {
    if (width_bytes >= wide_row_bytes) {
        for (std::size_t y = 0; y < height; ++y)
            download(to.rows_from(y).end.address, from.rows_from(y).end, width_bytes, deadline);
        return;
    }
    const std::size_t packed_bytes = whole_words(width_bytes);
    struct Part {
        const std::byte* data;
        std::size_t first, rows;
        Point done;
    };
    std::optional<Part> before;
    const auto take = [&] {
        wait(before->done, deadline, rect_call);
        for (std::size_t i = 0; i < before->rows; ++i)
            std::memcpy(to.rows_from(before->first + i).end.address, before->data + i * packed_bytes,
                        width_bytes);
    };
    for (std::size_t y = 0; y < height;) {
        const StagingPart part = stage(packed_bytes * (height - y), deadline, packed_bytes);
        const std::size_t rows = std::min(part.size_bytes / packed_bytes, height - y);
        const Point done = copy_plane({{{part.data, {}}, packed_bytes}, from.rows_from(y), width_bytes, rows},
                                      deadline, part.staging->memory);
        part.staging->last = done;
        if (before) take();
        before = Part{part.data, y, rows, done};
        y += rows;
    }
    take();
}

void StreamCore::plane_through_host(const Plane& plane, Deadline deadline) {
    if (plane.width_bytes >= wide_row_bytes) {
        for (std::size_t y = 0; y < plane.height; ++y)
            copy_through_host(plane.to.rows_from(y).end, plane.from.rows_from(y).end, plane.width_bytes,
                              deadline);
        return;
    }
    const std::size_t packed_bytes = whole_words(plane.width_bytes);
    for (std::size_t y = 0; y < plane.height;) {
        const StagingPart part = stage(packed_bytes * (plane.height - y), deadline, packed_bytes);
        const std::size_t rows = std::min(part.size_bytes / packed_bytes, plane.height - y);
        const PlaneEnd packed{{part.data, {}}, packed_bytes};
        copy_plane({packed, plane.from.rows_from(y), plane.width_bytes, rows}, deadline,
                   part.staging->memory);
        part.staging->last = copy_plane({plane.to.rows_from(y), packed, plane.width_bytes, rows}, deadline,
                                        part.staging->memory);
        y += rows;
    }
}

}  // namespace hsadrv::detail
