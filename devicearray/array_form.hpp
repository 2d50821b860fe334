// The dtype and layout of a new array, from numba's arguments shape, dtype, strides and order.
//
//     ArrayForm form = form_of({480, 640}, dtypes::float32, Order::F);
//     form_of({480, 640}, dtypes::float32, {4096, 4});      // strides in bytes
//     form.layout.extent().size_bytes();                    // the memory required
//
// Values; pure. Throws InvalidArgument, naming shape and strides, for negative extents, sizes beyond 63 bits, and too
// many axes.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>

#include "devicearray/dtype.hpp"
#include "devicearray/layout.hpp"

namespace hsadrv {

/// numba's `strides=None, order='C'`: contiguous in an order, or strides, which may leave gaps, repeat elements and be
/// negative.
class Arrangement {
  public:
    constexpr Arrangement(Order order = Order::C) : order_(order) {}
    constexpr Arrangement(const Dims& strides_bytes) : strides_bytes_(strides_bytes) {}
    template <std::integral... Integers>
        requires(sizeof...(Integers) > 0)
    constexpr Arrangement(Integers... strides_bytes) : strides_bytes_(Dims(strides_bytes...)) {}

    constexpr Order order() const { return order_; }
    /// std::nullopt: contiguous.
    constexpr const std::optional<Dims>& strides_bytes() const { return strides_bytes_; }

  private:
    Order order_ = Order::C;
    std::optional<Dims> strides_bytes_ = {};
};

struct ArrayForm {
    DType dtype;
    Layout layout;

    /// Bytes of memory required, including gaps.
    std::size_t memory_bytes() const { return static_cast<std::size_t>(layout.extent().size_bytes()); }
    /// The first element's address in such memory; null for null.
    void* first_element(void* memory) const {
        return memory ? static_cast<std::byte*>(memory) - layout.extent().begin : nullptr;
    }
};

/// A subarray `dtype` appends its axes, as in numpy.empty; strides are then those of `shape`.
ArrayForm form_of(const Dims& shape, const DType& dtype, const Arrangement& arrangement = {});

/// As numpy.empty_like: F order if the other array is F- but not C-contiguous, else C order.
ArrayForm form_like(const DType& dtype, const Layout& other);

}  // namespace hsadrv
