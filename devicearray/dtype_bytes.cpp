#include "devicearray/dtype_bytes.hpp"

#include <algorithm>
#include <cstring>

namespace hsadrv {
namespace {

using Ranges = std::vector<ByteRange>;

/// Sorted, with touching and overlapping ranges merged. Fields may overlap.
Ranges merged(Ranges ranges) {
    std::sort(ranges.begin(), ranges.end(), [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
    Ranges result;
    for (const ByteRange& range : ranges) {
        if (!result.empty() && range.begin <= result.back().end) {
            result.back().end = std::max(result.back().end, range.end);
        } else {
            result.push_back(range);
        }
    }
    return result;
}

void append(Ranges& to, const Ranges& ranges, std::int64_t offset) {
    for (const ByteRange& range : ranges) to.push_back({range.begin + offset, range.end + offset});
}

Ranges ranges_of(const DType& dtype) {
    const auto size = static_cast<std::int64_t>(dtype.itemsize());
    Ranges ranges;
    if (dtype.is_record()) {
        for (const Field& field : dtype.fields())
            append(ranges, ranges_of(field.type), static_cast<std::int64_t>(field.offset));
    } else if (dtype.is_subarray()) {
        const Ranges element = ranges_of(dtype.base());
        const auto step = static_cast<std::int64_t>(dtype.base().itemsize());
        if (element == Ranges{{0, step}}) return {{0, size}};
        for (std::int64_t at = 0; at < size; at += step) append(ranges, element, at);
    } else {
        return {{0, size}};
    }
    return merged(std::move(ranges));
}

}  // namespace

DTypeBytes::DTypeBytes(const DType& dtype)
    : ranges_(ranges_of(dtype)), all_(ranges_ == Ranges{{0, static_cast<std::int64_t>(dtype.itemsize())}}) {}

bool DTypeBytes::equal(const std::byte* a, const std::byte* b) const {
    return std::all_of(ranges_.begin(), ranges_.end(), [&](const ByteRange& range) {
        return std::memcmp(a + range.begin, b + range.begin, static_cast<std::size_t>(range.size_bytes())) == 0;
    });
}

}  // namespace hsadrv
