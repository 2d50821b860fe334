#include "devicearray/layout.hpp"

#include "hsadrv/error.hpp"

namespace hsadrv {

std::string Dims::to_string() const {
    std::string text = "(";
    for (int i = 0; i < rank_; ++i) text += (i == 0 ? "" : ", ") + std::to_string((*this)[i]);
    return text + (rank_ == 1 ? ",)" : ")");
}

void Dims::throw_too_many(std::size_t count) {
    throw InvalidArgument("an array has at most " + std::to_string(max_rank) + " dimensions, not " +
                          std::to_string(count));
}

void Dims::throw_too_large(std::uint64_t value) {
    throw InvalidArgument("extent " + std::to_string(value) + " does not fit into 63 bits");
}

void Layout::throw_bad_extents(const Dims& shape, std::int64_t itemsize) {
    throw InvalidArgument(
        "shape " + shape.to_string() + " of elements of " + std::to_string(itemsize) +
        " B: extents must not be negative, elements not empty, and all bytes together must fit into 63 bits");
}

void Layout::throw_bad_strides(const Dims& shape, const Dims& strides_bytes) {
    throw InvalidArgument("shape " + shape.to_string() + " with strides " + strides_bytes.to_string() +
                          (shape.rank() == strides_bytes.rank() ? " exceeds 63 bits" : ": they differ in rank"));
}

namespace {

const char* order_name(const Layout& layout) {
    if (layout.is_c_contiguous()) return layout.is_f_contiguous() ? "C and F order" : "C order";
    return layout.is_f_contiguous() ? "F order" : "not contiguous";
}

}  // namespace

void detail::throw_no_element(const Layout& layout, const Dims& index) {
    throw InvalidArgument("index " + index.to_string() + ": an array of shape " + layout.shape().to_string() +
                          " has no such element");
}

void detail::throw_bad_axes(const char* call, const Layout& layout, const Dims& axes, const char* why) {
    throw InvalidArgument(std::string(call) + " " + layout.shape().to_string() + " by axes " + axes.to_string() + ": " +
                          why);
}

void detail::throw_no_squeeze(const Layout& layout, const Dims& axes, std::int64_t axis) {
    throw InvalidArgument("squeeze " + layout.shape().to_string() + " by axes " + axes.to_string() + ": axis " +
                          std::to_string(axis) + " must be in range, have one element, and be given once");
}

void detail::throw_no_broadcast(const Layout& layout, const Dims& shape) {
    throw InvalidArgument("broadcast_to: shape " + layout.shape().to_string() + " cannot be broadcast to " +
                          shape.to_string() + "; counted from the last, each extent must be equal, or 1 in the array");
}

void detail::throw_no_view(const Layout& layout, std::int64_t itemsize, const char* why) {
    throw InvalidArgument("view " + layout.to_string() + ", elements of " + std::to_string(layout.itemsize()) +
                          " B, as elements of " + std::to_string(itemsize) + " B: " + why);
}

void detail::throw_no_reshape(const Layout& layout, const Dims& shape) {
    throw InvalidArgument("reshape " + layout.shape().to_string() + " to " + shape.to_string() + ": " +
                          std::to_string(layout.size()) + " elements do not fit that shape");
}

void detail::throw_reshape_copies(const Layout& layout, const Dims& shape, Order order) {
    const std::string letter(1, static_cast<char>(order));
    throw InvalidArgument("reshape to " + shape.to_string() + " in order " + letter +
                          " needs a copy, as the array has " + layout.to_string() +
                          ": copy it into a new array that is contiguous in that order (device_array of this shape "
                          "with order " +
                          letter + ", then copy_to_device), and reshape that");
}

std::string Layout::to_string() const {
    return "shape " + shape_.to_string() + ", strides " + strides_bytes_.to_string() + ", " + order_name(*this);
}

}  // namespace hsadrv
