#include "devicearray/layout.hpp"

#include "hsadrv/error.hpp"

namespace hsadrv {

std::string Dims::to_string() const {
    std::string text = "(";
    for (int i = 0; i < rank_; ++i) text += (i == 0 ? "" : ", ") + std::to_string(values_[i]);
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

namespace {

const char* order_name(const Layout& layout) {
    if (layout.is_c_contiguous()) return layout.is_f_contiguous() ? "C and F order" : "C order";
    return layout.is_f_contiguous() ? "F order" : "not contiguous";
}

bool is_in_order(const Layout& layout, Order order) {
    return order == Order::C ? layout.is_c_contiguous() : layout.is_f_contiguous();
}

/// Replaces a -1 by what makes the sizes equal.
Dims resolve(const Dims& wanted, const Layout& from) {
    Dims shape = wanted;
    std::int64_t known = 1;
    int unknown = -1;
    bool valid = true;
    for (int i = 0; i < shape.rank() && valid; ++i) {
        if (shape[i] == -1 && unknown == -1) {
            unknown = i;
        } else {
            valid = shape[i] >= 0 && !__builtin_mul_overflow(known, shape[i], &known);
        }
    }
    if (valid && unknown != -1) {
        valid = known != 0 && from.size() % known == 0;
        if (valid) shape[unknown] = from.size() / known;
    } else {
        valid = valid && known == from.size();
    }
    if (!valid) {
        throw InvalidArgument("reshape " + from.shape().to_string() + " to " + wanted.to_string() + ": " +
                              std::to_string(from.size()) + " elements do not fit that shape");
    }
    return shape;
}

}  // namespace

Layout Layout::strided(const Dims& shape, const Dims& strides_bytes, std::int64_t itemsize) {
    if (shape.rank() != strides_bytes.rank()) {
        throw InvalidArgument("shape " + shape.to_string() + " and strides " + strides_bytes.to_string() +
                              " differ in rank");
    }
    Layout layout = contiguous(shape, itemsize);
    // The furthest element to either side must be addressable, too.
    std::int64_t reach = itemsize;
    for (int i = 0; i < shape.rank(); ++i) {
        std::int64_t step = 0;
        if (shape[i] > 1 &&
            (strides_bytes[i] == INT64_MIN ||
             __builtin_mul_overflow(shape[i] - 1, strides_bytes[i] < 0 ? -strides_bytes[i] : strides_bytes[i],
                                    &step) ||
             __builtin_add_overflow(reach, step, &reach))) {
            throw InvalidArgument("shape " + shape.to_string() + " with strides " +
                                  strides_bytes.to_string() + " reaches further than 63 bits");
        }
    }
    layout.strides_bytes_ = strides_bytes;
    return layout;
}

Layout Layout::reshape(const Dims& shape, Order order) const {
    const Dims resolved = resolve(shape, *this);
    if (!is_in_order(*this, order)) {
        throw InvalidArgument("reshape to " + resolved.to_string() + " in order " + static_cast<char>(order) +
                              " needs a copy, as the array has " + to_string() +
                              ": reshape in its own order, or copy it into a contiguous array first");
    }
    return contiguous(resolved, itemsize_, order);
}

Layout Layout::ravel(Order order) const { return reshape(Dims{size()}, order); }

Layout Layout::transpose() const {
    Dims axes = Dims::filled(rank(), 0);
    for (int i = 0; i < rank(); ++i) axes[i] = rank() - 1 - i;
    return transpose(axes);
}

Layout Layout::transpose(const Dims& axes) const {
    Layout result = *this;
    unsigned seen = 0;
    bool valid = axes.rank() == rank();
    for (int i = 0; i < rank() && valid; ++i) {
        const std::int64_t axis = axes[i] < 0 ? axes[i] + rank() : axes[i];
        valid = axis >= 0 && axis < rank() && (seen >> axis & 1u) == 0;
        if (!valid) break;
        seen |= 1u << axis;
        result.shape_[i] = shape_[static_cast<int>(axis)];
        result.strides_bytes_[i] = strides_bytes_[static_cast<int>(axis)];
    }
    if (!valid) {
        throw InvalidArgument("transpose " + shape_.to_string() + " by axes " + axes.to_string() +
                              ": the axes are not each of the array's axes once");
    }
    return result;
}

std::string Layout::to_string() const {
    return "shape " + shape_.to_string() + ", strides " + strides_bytes_.to_string() + ", " +
           order_name(*this);
}

}  // namespace hsadrv
