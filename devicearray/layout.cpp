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

void Layout::throw_bad_strides(const Dims& shape, const Dims& strides_bytes) {
    throw InvalidArgument(
        "shape " + shape.to_string() + " with strides " + strides_bytes.to_string() +
        (shape.rank() == strides_bytes.rank() ? " reaches further than 63 bits" : ": they differ in rank"));
}

namespace {

const char* order_name(const Layout& layout) {
    if (layout.is_c_contiguous()) return layout.is_f_contiguous() ? "C and F order" : "C order";
    return layout.is_f_contiguous() ? "F order" : "not contiguous";
}

}  // namespace

std::int64_t Layout::offset_of(const Dims& index) const {
    std::int64_t offset = 0;
    bool valid = index.rank() == rank();
    for (int i = 0; i < rank() && valid; ++i) {
        const std::int64_t at = index[i] < 0 ? index[i] + shape_[i] : index[i];
        valid = at >= 0 && at < shape_[i];
        if (valid && at > 0) offset += at * strides_bytes_[i];
    }
    if (!valid) {
        throw InvalidArgument("index " + index.to_string() + ": an array of shape " + shape_.to_string() +
                              " has no such element");
    }
    return offset;
}

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

Layout Layout::squeeze(const Dims& axes) const {
    Dims all = Dims::filled(rank(), 0);
    for (const std::int64_t given : axes) {
        const std::int64_t axis = given < 0 ? given + rank() : given;
        if (axis < 0 || axis >= rank() || shape_[static_cast<int>(axis)] != 1 ||
            all[static_cast<int>(axis)] != 0) {
            throw InvalidArgument("squeeze " + shape_.to_string() + " by axes " + axes.to_string() +
                                  ": axis " + std::to_string(given) +
                                  " is not one of them with one element, once");
        }
        all[static_cast<int>(axis)] = 1;
    }
    Layout result = *this;
    result.shape_ = result.strides_bytes_ = Dims::filled(rank() - axes.rank(), 0);
    for (int from = 0, to = 0; from < rank(); ++from) {
        if (all[from] != 0) continue;
        result.shape_[to] = shape_[from];
        result.strides_bytes_[to++] = strides_bytes_[from];
    }
    return result;
}

Layout Layout::expand_dims(int axis) const {
    const int at = axis < 0 ? axis + rank() + 1 : axis;
    if (at < 0 || at > rank() || rank() == Dims::max_rank) {
        throw InvalidArgument("expand_dims " + shape_.to_string() + " at axis " + std::to_string(axis) +
                              ": there is no such place, or there are " + std::to_string(Dims::max_rank) +
                              " axes already");
    }
    Layout result = *this;
    result.shape_ = result.strides_bytes_ = Dims::filled(rank() + 1, 1);
    result.strides_bytes_[at] = itemsize_;  // does not matter
    for (int i = 0; i < rank(); ++i) {
        result.shape_[i + (i >= at)] = shape_[i];
        result.strides_bytes_[i + (i >= at)] = strides_bytes_[i];
    }
    return result;
}

Layout Layout::broadcast_to(const Dims& shape) const {
    Dims strides = Dims::filled(shape.rank(), 0);
    const int added = shape.rank() - rank();
    bool valid = added >= 0;
    for (int i = 0; i < rank() && valid; ++i) {
        const bool same = shape[i + added] == shape_[i];
        valid = same || (shape_[i] == 1 && shape[i + added] >= 0);
        if (same) strides[i + added] = strides_bytes_[i];
    }
    if (!valid) {
        throw InvalidArgument("broadcast_to: shape " + shape_.to_string() + " cannot be repeated to " +
                              shape.to_string() +
                              "; counted from the last, each extent must be equal, or 1 in the array");
    }
    return strided(shape, strides, itemsize_);
}

Layout Layout::view(std::int64_t itemsize) const {
    if (itemsize == itemsize_) return *this;
    const auto refuse = [&](const char* why) {
        throw InvalidArgument("view " + to_string() + ", elements of " + std::to_string(itemsize_) +
                              " B, as elements of " + std::to_string(itemsize) + " B: " + why);
    };
    if (itemsize <= 0) refuse("elements must not be empty");
    if (rank() == 0) refuse("a scalar has no last axis to change");
    const int last = rank() - 1;
    if (shape_[last] != 1 && size() != 0 && strides_bytes_[last] != itemsize_)
        refuse("the last axis must be contiguous; copy it into a contiguous array first");
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(shape_[last], itemsize_, &bytes)) refuse("the last axis exceeds 63 bits");
    if (bytes % itemsize != 0) refuse("the bytes of the last axis do not make whole elements");
    Dims shape = shape_, strides = strides_bytes_;
    shape[last] = bytes / itemsize;
    strides[last] = itemsize;
    return strided(shape, strides, itemsize);
}

std::string Layout::to_string() const {
    return "shape " + shape_.to_string() + ", strides " + strides_bytes_.to_string() + ", " +
           order_name(*this);
}

}  // namespace hsadrv
