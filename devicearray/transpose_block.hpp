// Transposes a square of items in vector registers; each side has as many items as fit into 16 bytes.
//
//     detail::TransposeBlock<4>::move(to, to_stride, from, from_stride);   // to[i][j] = from[j][i], four by four
//
// Rows are read and written as 16 bytes, at any address; strides are in bytes. Each round interleaves every row with
// the one half the rows further on; after log2(rows) rounds, rows have become columns. Thread safety: no state. Source:
// GCC's manual, "Using Vector Instructions through Built-in Functions".
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace hsadrv::detail {

template <std::size_t Bytes>
class TransposeBlock {
  public:
    static constexpr int edge = 16 / Bytes;  ///< items along each side

    static void move(std::byte* to, std::int64_t to_stride, const std::byte* from, std::int64_t from_stride) {
        Vector rows[edge], next[edge];
        for (int i = 0; i < edge; ++i) std::memcpy(&rows[i], from + i * from_stride, sizeof(Vector));
        for (int width = 1; width < edge; width *= 2) {
            for (int i = 0; i < edge / 2; ++i) {
                next[2 * i] = interleaved<0>(rows[i], rows[i + edge / 2], Items());
                next[2 * i + 1] = interleaved<edge / 2>(rows[i], rows[i + edge / 2], Items());
            }
            for (int i = 0; i < edge; ++i) rows[i] = next[i];
        }
        for (int i = 0; i < edge; ++i) std::memcpy(to + i * to_stride, &rows[i], sizeof(Vector));
    }

  private:
    using Integer = std::conditional_t<
        Bytes == 1, std::uint8_t,
        std::conditional_t<Bytes == 2, std::uint16_t, std::conditional_t<Bytes == 4, std::uint32_t, std::uint64_t>>>;
    using Items = std::make_integer_sequence<int, edge>;
    typedef Integer Vector __attribute__((vector_size(16)));

    /// a[First], b[First], a[First + 1], …: interleaves half of the items of each.
    template <int First, int... I>
    static Vector interleaved(Vector a, Vector b, std::integer_sequence<int, I...>) {
        return __builtin_shufflevector(a, b, (First + I / 2 + (I % 2) * edge)...);
    }
};

}  // namespace hsadrv::detail
