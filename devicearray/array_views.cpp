#include "devicearray/array_views.hpp"

#include "devicearray/strided_copy.hpp"
#include "hsadrv/error.hpp"

namespace hsadrv {

Layout detail::layout_of_part(const Layout& layout, const DType& part) {
    const auto itemsize = static_cast<std::int64_t>(part.base().itemsize());
    const Dims inner = part.subarray_shape();
    if (layout.rank() + inner.rank() > Dims::max_rank) {
        throw InvalidArgument("an array of shape " + layout.shape().to_string() + " has too many axes for " +
                              part.name() + " in each element: at most " + std::to_string(Dims::max_rank) +
                              " together");
    }
    const Dims steps = Layout::contiguous(inner, itemsize).strides_bytes();
    Dims shape = Dims::filled(layout.rank() + inner.rank(), 0), strides = shape;
    for (int i = 0; i < layout.rank(); ++i) {
        shape[i] = layout.shape()[i];
        strides[i] = layout.strides_bytes()[i];
    }
    for (int i = 0; i < inner.rank(); ++i) {
        shape[layout.rank() + i] = inner[i];
        strides[layout.rank() + i] = steps[i];
    }
    return Layout::strided(shape, strides, itemsize);
}

void detail::require_type_of_value(const char* call, const DType& elements, const DType& value) {
    if (value == elements) return;
    throw InvalidArgument(std::string(call) + ": the elements are " + elements.name() + ", not " + value.name() +
                          "; use a value of that type: 0.0f is float32, 0.0 float64, 0 int32, "
                          "std::uint8_t{0} uint8");
}

void detail::require_destination(const char* call, const DType& dtype, const Layout& layout) {
    if (layout.is_contiguous() || elements_are_apart(layout)) return;
    throw InvalidArgument(std::string(call) + ": assignment destination is read-only: elements of " + dtype.name() +
                          " with " + layout.to_string() +
                          " share memory, as in broadcast arrays, or may share it by their strides; write to the "
                          "original array or to a copy");
}

}  // namespace hsadrv
