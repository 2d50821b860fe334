// Operations common to all arrays that touch no element: shape queries and views.
//
//     class HostNDArray : public ArrayViews<HostNDArray> { … };
//     a.shape();  a.reshape({20, 50});  a.slice({Slice{1, 3}, ellipsis});  a.field("mass");  a.split(100);
//
// A view is an array of the same type over the same memory, and keeps that memory alive. Nothing is copied or waited
// for. `Self` has data(), dtype(), layout() and at(data, dtype, layout), which makes such a view. Thread safety: as of
// a value. Throws InvalidArgument, naming the shapes, with the array unchanged; if only a copy could give the result,
// the message says how to make one.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "devicearray/dtype.hpp"
#include "devicearray/layout.hpp"
#include "devicearray/slice.hpp"

namespace hsadrv {

namespace detail {
/// The elements of `part` within each element of `layout`: a subarray's axes are appended.
Layout layout_of_part(const Layout& layout, const DType& part);
/// Throws if a value's type is not the elements'; the message says how to write one.
void require_type_of_value(const char* call, const DType& elements, const DType& value);
/// Throws if elements share memory: like NumPy's broadcast arrays, such an array is read-only.
void require_destination(const char* call, const DType& dtype, const Layout& layout);
/// Moves the layout out, and leaves an empty one.
inline Layout taken_from(Layout& layout) noexcept {
    return std::exchange(layout, Layout::contiguous({0}, layout.itemsize()));
}
}  // namespace detail

template <class Self>
class ArrayViews {
  public:
    const Dims& shape() const { return self().layout().shape(); }
    /// Bytes from an element to the next along each axis.
    const Dims& strides_bytes() const { return self().layout().strides_bytes(); }
    int rank() const { return self().layout().rank(); }
    std::int64_t size() const { return self().layout().size(); }              ///< elements
    std::int64_t size_bytes() const { return self().layout().size_bytes(); }  ///< of the elements, excluding gaps
    std::int64_t itemsize() const { return self().layout().itemsize(); }
    bool is_c_contiguous() const { return self().layout().is_c_contiguous(); }
    bool is_f_contiguous() const { return self().layout().is_f_contiguous(); }

    /// See Layout's functions of the same names for what is refused.
    Self reshape(const Dims& newshape, Order order = Order::C) const {
        return with(self().layout().reshape(newshape, order));
    }
    Self ravel(Order order = Order::C) const { return with(self().layout().ravel(order)); }
    Self transpose() const { return with(self().layout().transpose()); }
    Self transpose(const Dims& axes) const { return with(self().layout().transpose(axes)); }
    Self squeeze() const { return with(self().layout().squeeze()); }
    Self squeeze(const Dims& axes) const { return with(self().layout().squeeze(axes)); }
    Self expand_dims(int axis) const { return with(self().layout().expand_dims(axis)); }
    /// For reading only: set(), fill() and transfers into it are refused if elements share memory.
    Self broadcast_to(const Dims& shape) const { return with(self().layout().broadcast_to(shape)); }

    /// Python's a[…]: integers, Slice, ellipsis and newaxis.
    Self slice(std::initializer_list<Index> indices) const { return with(hsadrv::slice(self().layout(), indices)); }
    Self slice(std::span<const Index> indices) const { return with(hsadrv::slice(self().layout(), indices)); }
    /// Sections of `section` elements along an axis; the last one has the rest.
    std::vector<Self> split(std::int64_t section, int axis = 0) const {
        std::vector<Self> pieces;
        for (const SubLayout& piece : hsadrv::split(self().layout(), section, axis)) pieces.push_back(with(piece));
        return pieces;
    }

    /// The same bytes as elements of another type; the last axis, which must be contiguous, grows or shrinks to match.
    Self view(const DType& dtype) const {
        const Layout whole = self().layout().view(static_cast<std::int64_t>(dtype.itemsize()));
        return self().at(self().data(), dtype.base(), detail::layout_of_part(whole, dtype));
    }
    /// One field of every record; a subarray field appends its axes. Throws if the type is not a record.
    Self field(std::string_view name) const {
        const Field& field = self().dtype().field(name);
        return self().at(moved(static_cast<std::int64_t>(field.offset)), field.type.base(),
                         detail::layout_of_part(self().layout(), field.type));
    }

  private:
    const Self& self() const { return static_cast<const Self&>(*this); }
    Self with(const Layout& layout) const { return self().at(self().data(), self().dtype(), layout); }
    Self with(const SubLayout& part) const { return self().at(moved(part.offset_bytes), self().dtype(), part.layout); }
    auto moved(std::int64_t offset_bytes) const {
        const auto data = self().data();
        // An empty array has no address to offset.
        return data ? static_cast<decltype(data)>(static_cast<char*>(const_cast<void*>(data)) + offset_bytes) : data;
    }
};

}  // namespace hsadrv
