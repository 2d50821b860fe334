#include "devicearray/copy_strided.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

#include "devicearray/strided_loop.hpp"
#include "devicearray/transpose_block.hpp"

namespace hsadrv {
namespace {

/// An item whose size is known at compile time: it fits into a register.
template <std::size_t Bytes>
struct FixedItem {
    /// Items along each side of a tile: one cache line, so that a tile is whole lines on both sides.
    static constexpr std::int64_t tile = std::max<std::int64_t>(64 / Bytes, 8);

    void move(std::byte* to, const std::byte* from) const { std::memcpy(to, from, Bytes); }
};

struct AnyItem {
    static constexpr std::int64_t tile = 8;
    std::size_t size;

    void move(std::byte* to, const std::byte* from) const { std::memcpy(to, from, size); }
};

struct Loop {
    std::int64_t extent, to, from;
};

Loop loop_of(const StridedCopy& copy, int axis) {
    return {copy.shape[axis], copy.to_strides[axis], copy.from_strides[axis]};
}

// The two sides' items never overlap, as __restrict requires.
template <class Item>
void copy_row(Item item, std::byte* __restrict to, const std::byte* __restrict from, const Loop& row) {
    for (std::int64_t i = 0; i < row.extent; ++i) item.move(to + i * row.to, from + i * row.from);
}

/// The same for strides known at compile time, which the compiler turns into wide moves.
template <std::size_t Bytes>
bool copy_dense_row(std::byte* __restrict to, const std::byte* __restrict from, const Loop& row) {
    constexpr auto step = static_cast<std::int64_t>(Bytes);
    if (row.to != step) return false;
    if (row.from == -step) {
        for (std::int64_t i = 0; i < row.extent; ++i) std::memcpy(to + i * step, from - i * step, Bytes);
        return true;
    }
    if (row.from != 0) return false;
    std::array<std::byte, Bytes> item;
    std::memcpy(item.data(), from, Bytes);
    for (std::int64_t i = 0; i < row.extent; ++i) std::memcpy(to + i * step, item.data(), Bytes);
    return true;
}

template <std::size_t Bytes>
void copy_whole_row(FixedItem<Bytes> item, std::byte* to, const std::byte* from, const Loop& row) {
    if (!copy_dense_row<Bytes>(to, from, row)) copy_row(item, to, from, row);
}
void copy_whole_row(AnyItem item, std::byte* to, const std::byte* from, const Loop& row) {
    copy_row(item, to, from, row);
}

/// Copies the destination's rows in pieces, so that the source lines that a piece touches are still cached for the same
/// piece of the next row.
template <class Item>
void copy_tile(Item item, std::byte* to, const std::byte* from, const Loop& rows, const Loop& row) {
    for (std::int64_t i = 0; i < rows.extent; ++i) copy_row(item, to + i * rows.to, from + i * rows.from, row);
}

/// The same if the source's rows are the destination's columns, without gaps: in squares, then the remainder.
template <std::size_t Bytes>
void copy_transposed(std::byte* to, const std::byte* from, const Loop& rows, const Loop& row) {
    using Block = detail::TransposeBlock<Bytes>;
    const std::int64_t whole_rows = rows.extent / Block::edge * Block::edge;
    const std::int64_t whole = row.extent / Block::edge * Block::edge;
    for (std::int64_t i = 0; i < whole_rows; i += Block::edge) {
        for (std::int64_t j = 0; j < whole; j += Block::edge)
            Block::move(to + i * rows.to + j * row.to, rows.to, from + i * rows.from + j * row.from, row.from);
    }
    const FixedItem<Bytes> item;
    if (whole < row.extent) {
        copy_tile(item, to + whole * row.to, from + whole * row.from, {whole_rows, rows.to, rows.from},
                  {row.extent - whole, row.to, row.from});
    }
    if (whole_rows < rows.extent) {
        copy_tile(item, to + whole_rows * rows.to, from + whole_rows * rows.from,
                  {rows.extent - whole_rows, rows.to, rows.from}, row);
    }
}

template <class Item>
void copy_any_tile(Item item, std::byte* to, const std::byte* from, const Loop& rows, const Loop& row) {
    copy_tile(item, to, from, rows, row);
}
template <std::size_t Bytes>
    requires(Bytes < 16)
void copy_any_tile(FixedItem<Bytes> item, std::byte* to, const std::byte* from, const Loop& rows, const Loop& row) {
    constexpr auto step = static_cast<std::int64_t>(Bytes);
    if (row.to == step && rows.from == step) return copy_transposed<Bytes>(to, from, rows, row);
    copy_tile(item, to, from, rows, row);
}

template <class Item>
void copy_tiles(Item item, std::byte* to, const std::byte* from, const Loop& rows, const Loop& row) {
    for (std::int64_t i = 0; i < rows.extent; i += Item::tile) {
        const Loop some_rows{std::min(Item::tile, rows.extent - i), rows.to, rows.from};
        for (std::int64_t j = 0; j < row.extent; j += Item::tile) {
            const Loop piece{std::min(Item::tile, row.extent - j), row.to, row.from};
            copy_any_tile(item, to + i * rows.to + j * row.to, from + i * rows.from + j * row.from, some_rows, piece);
        }
    }
}

std::int64_t distance(std::int64_t stride) { return stride < 0 ? -stride : stride; }

/// The loop with the smallest stride in the source.
int nearest_in_source(const StridedCopy& copy) {
    int nearest = copy.shape.rank() - 1;
    for (int i = nearest - 1; i >= 0; --i) {
        if (distance(copy.from_strides[i]) < distance(copy.from_strides[nearest])) nearest = i;
    }
    return nearest;
}

/// Moves axis `i` to the last position but one.
StridedCopy with_second_last(StridedCopy copy, int i) {
    for (; i < copy.shape.rank() - 2; ++i) {
        std::swap(copy.shape[i], copy.shape[i + 1]);
        std::swap(copy.to_strides[i], copy.to_strides[i + 1]);
        std::swap(copy.from_strides[i], copy.from_strides[i + 1]);
    }
    return copy;
}

template <class Item>
void copy_items(Item item, const StridedCopy& copy, std::byte* to, const std::byte* from) {
    const int last = copy.shape.rank() - 1;
    const Loop row = loop_of(copy, last);
    const int nearest = nearest_in_source(copy);
    if (nearest == last) {
        detail::for_each_place(copy, last, [&](std::int64_t to_at, std::int64_t from_at) {
            copy_whole_row(item, to + to_at, from + from_at, row);
        });
        return;
    }
    const StridedCopy tiled = with_second_last(copy, nearest);
    const Loop rows = loop_of(tiled, last - 1);
    detail::for_each_place(tiled, last - 1, [&](std::int64_t to_at, std::int64_t from_at) {
        copy_tiles(item, to + to_at, from + from_at, rows, row);
    });
}

}  // namespace

void copy_strided(const StridedCopy& copy, void* to_first, const void* from_first) noexcept {
    if (copy.item_bytes == 0) return;
    auto* const to = static_cast<std::byte*>(to_first);
    const auto* const from = static_cast<const std::byte*>(from_first);
    const auto bytes = static_cast<std::size_t>(copy.item_bytes);
    if (copy.shape.rank() == 0) {
        std::memcpy(to + copy.to_offset, from + copy.from_offset, bytes);
        return;
    }
    switch (bytes) {
        case 1:
            return copy_items(FixedItem<1>(), copy, to, from);
        case 2:
            return copy_items(FixedItem<2>(), copy, to, from);
        case 4:
            return copy_items(FixedItem<4>(), copy, to, from);
        case 8:
            return copy_items(FixedItem<8>(), copy, to, from);
        case 16:
            return copy_items(FixedItem<16>(), copy, to, from);
        default:
            return copy_items(AnyItem{bytes}, copy, to, from);
    }
}

}  // namespace hsadrv
