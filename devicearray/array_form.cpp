#include "devicearray/array_form.hpp"

#include "devicearray/array_views.hpp"

namespace hsadrv {

ArrayForm form_of(const Dims& shape, const DType& dtype, const Arrangement& arrangement) {
    const auto itemsize = static_cast<std::int64_t>(dtype.itemsize());
    if (const auto& strides_bytes = arrangement.strides_bytes()) {
        const Layout whole = Layout::strided(shape, *strides_bytes, itemsize);
        return {dtype.base(), detail::layout_of_part(whole, dtype)};
    }
    const Layout whole = Layout::contiguous(shape, itemsize, arrangement.order());
    if (!dtype.is_subarray()) return {dtype, whole};
    return {dtype.base(), Layout::contiguous(detail::layout_of_part(whole, dtype).shape(),
                                             static_cast<std::int64_t>(dtype.base().itemsize()), arrangement.order())};
}

ArrayForm form_like(const DType& dtype, const Layout& other) {
    return {dtype, Layout::contiguous(other.shape(), other.itemsize(), other.resolved(Order::A))};
}

}  // namespace hsadrv
