// What an array to be will look like: numba's arguments shape, dtype, strides and order, checked and put together.
//
//     ArrayForm form = form_of({480, 640}, dtypes::float32, Order::F);
//     form_of({480, 640}, dtypes::float32, {4096, 4});      // strides in bytes
//     form.layout.extent().size_bytes();                    // the memory that it needs
//
// Values; pure. Throws InvalidArgument, naming shape and strides: negative extents, sizes that 63 bits do not hold, too
// many axes.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>

#include "devicearray/dtype.hpp"
#include "devicearray/layout.hpp"

namespace hsadrv {

/// `strides=None, order='C'`: back to back in an order, or strides, which may leave gaps, repeat elements and be
/// negative.
class Arrangement {
  public:
    constexpr Arrangement(Order order = Order::C) : order_(order) {}
    constexpr Arrangement(const Dims& strides_bytes) : strides_bytes_(strides_bytes) {}
    template <std::integral... Integers>
        requires(sizeof...(Integers) > 0)
    constexpr Arrangement(Integers... strides_bytes) : strides_bytes_(Dims(strides_bytes...)) {}

    constexpr Order order() const { return order_; }
    /// Nothing: back to back.
    constexpr const std::optional<Dims>& strides_bytes() const { return strides_bytes_; }

  private:
    Order order_ = Order::C;
    std::optional<Dims> strides_bytes_ = {};
};

struct ArrayForm {
    DType dtype;
    Layout layout;

    /// Bytes of memory that it needs, gaps included.
    std::size_t memory_bytes() const { return static_cast<std::size_t>(layout.extent().size_bytes()); }
    /// Where in such memory the first element lies; null stays null.
    void* first_element(void* memory) const {
        return memory ? static_cast<std::byte*>(memory) - layout.extent().begin : nullptr;
    }
};

/// A subarray as `dtype` adds its axes behind the others, as numpy.empty does; strides are then those of the others.
ArrayForm form_of(const Dims& shape, const DType& dtype, const Arrangement& arrangement = {});

/// Of an array like another one (numpy.empty_like): in F order if that one is F- but not C-contiguous, else in C order.
ArrayForm form_like(const DType& dtype, const Layout& other);

}  // namespace hsadrv
