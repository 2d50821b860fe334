#include "hsadrv/rect.hpp"

#include <optional>
#include <utility>

#include "hsadrv/base/text.hpp"
#include "hsadrv/error.hpp"

namespace hsadrv {

namespace {

std::optional<std::size_t> product(std::size_t a, std::size_t b) noexcept {
    std::size_t result = 0;
    if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
    return result;
}

template <class Void>
std::string side_text(const Pitched<Void>& side) {
    return detail::hex(side.address) + " (pitch " + std::to_string(side.pitch_bytes) + ", slice " +
           std::to_string(side.slice_bytes) + ")";
}

[[noreturn]] void refuse(const Rect& rect, const std::string& why) {
    throw InvalidArgument("hsadrv::Rect(" + rect.text() + "): " + why, HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

template <class Void>
std::size_t extent(const Rect& rect, const Pitched<Void>& side, const char* name) {
    const std::string which = std::string("the ") + name + "'s ";
    if (rect.height > 1 && side.pitch_bytes < rect.width_bytes) refuse(rect, which + "rows overlap");
    const auto rows = product(rect.height - 1, rect.height > 1 ? side.pitch_bytes : 0);
    std::size_t plane = 0, all = 0;
    if (!rows || __builtin_add_overflow(*rows, rect.width_bytes, &plane))
        refuse(rect, which + "rows exceed the address space");
    if (rect.depth > 1 && side.slice_bytes < plane) refuse(rect, which + "planes overlap");
    const auto planes = product(rect.depth - 1, rect.depth > 1 ? side.slice_bytes : 0);
    if (!planes || __builtin_add_overflow(*planes, plane, &all))
        refuse(rect, which + "planes exceed the address space");
    return all;
}

// Floor division: quotient and non-negative remainder.
std::pair<std::intptr_t, std::intptr_t> divided(std::intptr_t a, std::size_t by) noexcept {
    const auto b = static_cast<std::intptr_t>(by);
    std::intptr_t quotient = a / b;
    if (a % b < 0) --quotient;
    return {quotient, a - quotient * b};
}

bool nearer_than(std::intptr_t distance, std::size_t size) noexcept {
    const std::size_t apart =
        distance < 0 ? std::size_t{0} - static_cast<std::size_t>(distance) : static_cast<std::size_t>(distance);
    return apart < size;
}

// Two rectangles of one pitch: rows can only overlap where the distance is nearest to a whole number of pitches.
bool planes_meet(const Rect& rect, std::size_t pitch_bytes, std::intptr_t distance) noexcept {
    if (rect.height == 1) return nearer_than(distance, rect.width_bytes);
    const auto [rows, rest] = divided(distance, pitch_bytes);
    const auto pitch = static_cast<std::intptr_t>(pitch_bytes);
    return (nearer_than(rows, rect.height) && nearer_than(rest, rect.width_bytes)) ||
           (nearer_than(rows + 1, rect.height) && nearer_than(rest - pitch, rect.width_bytes));
}

}  // namespace

std::string Rect::text() const {
    return std::to_string(width_bytes) + " B x " + std::to_string(height) + " x " + std::to_string(depth) + ", to " +
           side_text(destination) + ", from " + side_text(source);
}

namespace detail {

std::size_t destination_extent(const Rect& rect) { return extent(rect, rect.destination, "destination"); }
std::size_t source_extent(const Rect& rect) { return extent(rect, rect.source, "source"); }

bool overlapping(const Rect& rect, std::intptr_t distance) {
    const std::size_t to = destination_extent(rect), from = source_extent(rect);
    if (distance >= 0 ? !nearer_than(distance, from) : !nearer_than(distance, to)) return false;
    const bool same_rows = rect.height == 1 || rect.destination.pitch_bytes == rect.source.pitch_bytes;
    const bool same_planes = rect.depth == 1 || rect.destination.slice_bytes == rect.source.slice_bytes;
    if (!same_rows || !same_planes) return true;
    const std::size_t pitch = rect.source.pitch_bytes;
    if (rect.depth == 1) return planes_meet(rect, pitch, distance);
    const auto slice = static_cast<std::intptr_t>(rect.source.slice_bytes);
    const auto [planes, rest] = divided(distance, rect.source.slice_bytes);
    return (nearer_than(planes, rect.depth) && planes_meet(rect, pitch, rest)) ||
           (nearer_than(planes + 1, rect.depth) && planes_meet(rect, pitch, rest - slice));
}

Rect flattened(Rect rect) noexcept {
    const auto planes_become_rows = [&](auto& side) { side.pitch_bytes = std::exchange(side.slice_bytes, 0); };
    if (rect.depth > 1 && rect.height == 1) {
        planes_become_rows(rect.destination);
        planes_become_rows(rect.source);
        rect.height = std::exchange(rect.depth, 1);
    }
    const auto touching_planes = [&](const auto& side) { return side.slice_bytes == rect.height * side.pitch_bytes; };
    if (rect.depth > 1 && touching_planes(rect.destination) && touching_planes(rect.source)) {
        rect.height *= std::exchange(rect.depth, 1);
        rect.destination.slice_bytes = rect.source.slice_bytes = 0;
    }
    const auto touching_rows = [&](const auto& side) { return side.pitch_bytes == rect.width_bytes; };
    if (rect.height > 1 && touching_rows(rect.destination) && touching_rows(rect.source)) {
        rect.width_bytes *= std::exchange(rect.height, 1);
        // Planes have become rows.
        if (rect.depth > 1) return flattened(rect);
    }
    return rect;
}

}  // namespace detail
}  // namespace hsadrv
