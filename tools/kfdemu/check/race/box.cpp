#include "tools/kfdemu/check/race/box.hpp"

#include <algorithm>

namespace kfdemu::check {

std::uint64_t Box::next(std::uint64_t va) const {
    if (va <= address) return address;
    std::uint64_t rest = va - address, begin = address;
    const std::uint64_t slice = slices > 1 ? std::min(rest / slice_bytes, slices - 1) : 0;
    begin += slice * slice_bytes, rest -= slice * slice_bytes;
    const std::uint64_t row = rows > 1 ? std::min(rest / pitch_bytes, rows - 1) : 0;
    rest -= row * pitch_bytes;
    if (rest < row_bytes) return va;
    if (row + 1 < rows) return begin + (row + 1) * pitch_bytes;
    return slice + 1 < slices ? begin + slice_bytes : std::max(va, end());
}

std::optional<std::uint64_t> common_byte(const Box& a, const Box& b) {
    if (a.end() <= b.address || b.end() <= a.address) return {};
    const bool swapped = b.rows * b.slices < a.rows * a.slices;
    const Box &few = swapped ? b : a, &many = swapped ? a : b;
    for (std::uint64_t n = 0; n < few.rows * few.slices; ++n) {
        const std::uint64_t begin = few.address + n / few.rows * few.slice_bytes + n % few.rows * few.pitch_bytes;
        const std::uint64_t first = many.next(begin);
        if (first < std::min(begin + few.row_bytes, many.end())) return first;
    }
    return {};
}

}  // namespace kfdemu::check
