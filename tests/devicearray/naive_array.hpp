// An array as a naive list: the offset of each element, in C order. Views are made of it index by index, by
// Python's and NumPy's definitions, and compared with what Layout computes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "devicearray/layout.hpp"

namespace naive {

using hsadrv::Dims;
using hsadrv::Layout;
using hsadrv::Order;
using Shape = std::vector<std::int64_t>;

inline Dims dims(const Shape& shape) { return Dims(std::span<const std::int64_t>(shape)); }
inline Shape list(const Dims& shape) { return {shape.begin(), shape.end()}; }

inline std::int64_t count(const Shape& shape) {
    std::int64_t product = 1;
    for (const std::int64_t extent : shape) product *= extent;
    return product;
}

/// The n-th index of a shape.
inline Shape index_at(std::int64_t n, const Shape& shape, Order order = Order::C) {
    Shape index(shape.size());
    for (std::size_t i = 0; i < shape.size(); ++i) {
        const std::size_t axis = order == Order::F ? i : shape.size() - 1 - i;
        index[axis] = n % shape[axis];
        n /= shape[axis];
    }
    return index;
}

struct Array {
    Shape shape{};
    std::vector<std::int64_t> offsets{};  ///< of the elements in C order

    std::int64_t at(const Shape& index) const {
        std::int64_t n = 0;
        for (std::size_t i = 0; i < shape.size(); ++i) n = n * shape[i] + index[i];
        return offsets[static_cast<std::size_t>(n)];
    }

    /// Of a new shape: the element at each index is given by `from`.
    template <class From>
    static Array made(const Shape& shape, From from) {
        Array array{shape, {}};
        for (std::int64_t n = 0; n < count(shape); ++n) array.offsets.push_back(from(index_at(n, shape)));
        return array;
    }

    friend bool operator==(const Array&, const Array&) = default;
};

/// A layout's offsets, element by element.
inline Array array(const Layout& layout, std::int64_t offset = 0) {
    return Array::made(list(layout.shape()), [&](const Shape& index) {
        std::int64_t at = offset;
        for (std::size_t i = 0; i < index.size(); ++i) at += index[i] * layout.strides_bytes()[static_cast<int>(i)];
        return at;
    });
}

/// True if strides exist that give these elements.
inline bool has_strides(const Array& array) {
    if (array.offsets.empty()) return true;
    Shape strides(array.shape.size());
    for (std::size_t i = 0; i < strides.size(); ++i) {
        Shape second(array.shape.size());
        second[i] = 1;
        if (array.shape[i] > 1) strides[i] = array.at(second) - array.offsets[0];
    }
    const Array strided = Array::made(array.shape, [&](const Shape& index) {
        std::int64_t at = array.offsets[0];
        for (std::size_t i = 0; i < index.size(); ++i) at += index[i] * strides[i];
        return at;
    });
    return strided == array;
}

/// Numbers and layouts from a fixed seed.
class Random {
  public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}

    std::int64_t between(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
    }
    bool one_in(int n) { return between(1, n) == 1; }

    Shape shape(std::int64_t most_elements) {
        Shape shape(static_cast<std::size_t>(between(0, one_in(40) ? Dims::max_rank : 8)));
        std::int64_t left = most_elements;
        for (std::int64_t& extent : shape) {
            extent = one_in(40) ? 0 : between(1, std::min<std::int64_t>(left, one_in(3) ? 1 : 7));
            if (extent > 0) left /= extent;
        }
        std::shuffle(shape.begin(), shape.end(), engine_);
        return shape;
    }

    std::vector<std::int64_t> permutation(std::size_t n) {
        std::vector<std::int64_t> all(n);
        for (std::size_t i = 0; i < n; ++i) all[i] = static_cast<std::int64_t>(i);
        std::shuffle(all.begin(), all.end(), engine_);
        return all;
    }

    std::int64_t itemsize() {
        constexpr std::int64_t sizes[] = {1, 2, 4, 8, 16, 3, 12};
        return sizes[between(0, 6)];
    }

    /// Contiguous in a random order of the axes; with random gaps, repetitions and reversed axes.
    Layout layout(const Shape& shape, std::int64_t itemsize, bool repeats = true) {
        Shape strides(shape.size());
        std::int64_t stride = itemsize;
        int gaps = 0;
        const bool neat = one_in(3), f_order = one_in(2), odd = one_in(4);
        std::vector<std::int64_t> axes = permutation(shape.size());
        if (one_in(2)) std::sort(axes.begin(), axes.end(), [&](auto a, auto b) { return f_order ? a < b : a > b; });
        for (const std::int64_t axis : axes) {
            const auto i = static_cast<std::size_t>(axis);
            strides[i] = stride;
            if (!neat && one_in(4)) strides[i] = -stride;
            if (!neat && repeats && one_in(8)) strides[i] = 0;
            if (shape[i] > 0) stride *= shape[i];
            if (neat || ++gaps > 8) continue;  // the memory would grow with each of 64 axes
            if (one_in(4)) stride *= between(1, 3);
            if (odd && one_in(4)) stride += between(1, 9);
        }
        return Layout::strided(dims(shape), dims(strides), itemsize);
    }
    Layout layout(std::int64_t most_elements = 400) { return layout(shape(most_elements), itemsize()); }

    std::mt19937_64& engine() { return engine_; }

  private:
    std::mt19937_64 engine_;
};

}  // namespace naive
