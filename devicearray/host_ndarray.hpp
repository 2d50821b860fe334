// An n-dimensional array in host memory, with NumPy's meaning of dtype, shape, strides and order.
//
//     HostNDArray a = host_array({480, 640}, dtypes::float32);        // uninitialised, C order
//     a.fill(1.0f);  a.set({3, -1}, 2.0f);  a.get<float>({3, -1});
//     HostNDArray b = a.transpose().slice({Slice{0, 10}}).copy();     // a view of a view, copied
//     auto d_a = to_device(a, stream);                                // it converts to HostView
//
// Owns or views its memory, of any kind: pageable, pinned, a vector's, a file's, another library's. Copies, slices and
// reshapes of an array share its memory, as assignments in Python do; the last one frees it. Keeps alive: the owner of
// the memory. Borrows: the memory of a HostView that it was made from, until it and all its views are destroyed. An
// array may be read-only: then neither it nor its views can be a destination. Thread safety: as of a value; elements as
// those of any array in C++. Ordering: CPU operations are immediate; synchronise the stream before reading what a GPU
// wrote. Throws InvalidArgument, naming both sides, with the array unchanged; OutOfMemory.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "devicearray/array_form.hpp"
#include "devicearray/array_views.hpp"
#include "devicearray/dtype.hpp"
#include "devicearray/host_view.hpp"
#include "devicearray/layout.hpp"

namespace hsadrv {

class NDView;
class NpyArray;

class HostNDArray : public ArrayViews<HostNDArray> {
  public:
    /// A view of memory that `keep_alive` owns; with null, the memory must outlive the array. `data` is the first
    /// element's address.
    HostNDArray(std::shared_ptr<const void> keep_alive, void* data, const DType& dtype, const Layout& layout);
    /// The same, read-only.
    HostNDArray(std::shared_ptr<const void> keep_alive, const void* data, const DType& dtype, const Layout& layout);

    HostNDArray(const HostNDArray&) = default;
    /// Leaves an empty array of shape (0,) without memory.
    HostNDArray(HostNDArray&& other) noexcept
        : keep_alive_(std::move(other.keep_alive_)),
          data_(std::exchange(other.data_, nullptr)),
          dtype_(other.dtype_),
          layout_(detail::taken_from(other.layout_)),
          writable_(other.writable_) {}
    /// Not assignable to a temporary: `a.slice(…) = b` would change nothing; use a.slice(…).copy_from(b).
    HostNDArray& operator=(const HostNDArray&) & = default;
    HostNDArray& operator=(HostNDArray&& other) & noexcept {
        HostNDArray taken(std::move(other));
        keep_alive_.swap(taken.keep_alive_);
        data_ = taken.data_;
        dtype_ = taken.dtype_;
        layout_ = taken.layout_;
        writable_ = taken.writable_;
        return *this;
    }

    const DType& dtype() const { return dtype_; }
    const Layout& layout() const { return layout_; }
    /// Address of the first element; null if the array is empty and has no memory.
    const void* data() const { return data_; }
    bool writable() const { return writable_; }
    /// The same, for writing. Throws if the array is read-only.
    void* writable_data() const {
        require_writable("HostNDArray::writable_data");
        return data_;
    }
    /// The owner of the memory; null if it has none.
    const std::shared_ptr<const void>& keep_alive() const { return keep_alive_; }

    /// Another view of the memory; see array_views.hpp for reshape, slice, field, …
    HostNDArray at(const void* data, const DType& dtype, const Layout& layout) const;
    /// A read-only view.
    HostNDArray read_only() const;

    /// Address of the first element, as a T. Throws for another type, for an address not aligned for T, and if the
    /// array is read-only; use `as<const T>` for reading.
    template <class T>
        requires ArrayElement<T>
    T* as() const {
        require_elements("HostNDArray::as", dtype_of<T>(), alignof(T));
        if constexpr (!std::is_const_v<T>) require_writable("HostNDArray::as");
        return static_cast<T*>(data_);
    }
    /// All elements in C order; throws if they are not contiguous in C order. Use `elements<const T>` for reading.
    template <class T>
        requires ArrayElement<T>
    std::span<T> elements() const {
        require_c_contiguous("HostNDArray::elements");
        return {as<T>(), static_cast<std::size_t>(size())};
    }

    /// One element, in any layout; negative indices count from the end. set() throws if elements share memory.
    template <ArrayElement T>
    T get(const Dims& index) const {
        require_dtype("HostNDArray::get", dtype_of<T>());
        return read<T>(layout_.offset_of(index));
    }
    template <ArrayElement T>
    void set(const Dims& index, const T& value) {
        detail::require_type_of_value("HostNDArray::set", dtype_, dtype_of<T>());
        require_writable("HostNDArray::set");
        detail::require_destination("HostNDArray::set", dtype_, layout_);
        std::memcpy(static_cast<char*>(data_) + layout_.offset_of(index), &value, sizeof(T));
    }
    /// The only element. Throws unless the array has exactly one.
    template <ArrayElement T>
    T item() const {
        require_dtype("HostNDArray::item", dtype_of<T>());
        require_one("HostNDArray::item");
        return read<T>(0);
    }

    /// Sets every element to `value`. Throws if elements share memory.
    template <ArrayElement T>
    void fill(const T& value) {
        detail::require_type_of_value("HostNDArray::fill", dtype_, dtype_of<T>());
        fill_with(&value);
    }
    /// Sets every element to the source's at the same index (NumPy's copyto), as if `source` had been copied first.
    /// Throws for another type or shape, and if elements of this array share memory.
    void copy_from(const HostView& source);
    /// A new, contiguous array in pageable memory with the same elements.
    HostNDArray copy(Order order = Order::C) const;
    /// Equal types, shapes and elements, bit for bit: a NaN equals itself, -0 does not equal 0. A record's padding is
    /// ignored.
    bool equal(const HostView& other) const;
    bool equal(const HostNDArray& other) const { return equal(HostView(other)); }

    operator HostView() const { return {data_, dtype_, layout_}; }
    /// Throws if the array is read-only.
    operator MutableHostView() const {
        require_writable("HostNDArray as a destination");
        return {data_, dtype_, layout_};
    }

  private:
    HostNDArray(std::shared_ptr<const void> keep_alive, void* data, const DType& dtype, const Layout& layout,
                bool writable);
    void require_dtype(const char* call, const DType& wanted) const;
    void require_elements(const char* call, const DType& wanted, std::size_t alignment) const;
    void require_writable(const char* call) const;
    void require_c_contiguous(const char* call) const;
    void require_one(const char* call) const;
    void fill_with(const void* value);

    template <class T>
    T read(std::int64_t offset_bytes) const {
        const char* const from = static_cast<const char*>(data_) + offset_bytes;
        if constexpr (std::is_same_v<T, bool>) {
            return *from != 0;  // memory from elsewhere may hold other bytes than 0 and 1
        } else {
            std::remove_const_t<T> value;
            std::memcpy(&value, from, sizeof value);
            return value;
        }
    }

    std::shared_ptr<const void> keep_alive_;
    void* data_;
    DType dtype_;
    Layout layout_;
    bool writable_;
};

/// Uninitialised pageable memory, aligned to 64 bytes or more, and for the elements (numpy.empty).
HostNDArray host_array(const Dims& shape, const DType& dtype = dtypes::float64, const Arrangement& arrangement = {});
template <ArrayElement T>
HostNDArray host_array(const Dims& shape, const Arrangement& arrangement = {}) {
    return host_array(shape, dtype_of<T>(), arrangement);
}
/// Uninitialised, with the other's type and shape; see form_like for the order (numpy.empty_like).
HostNDArray host_array_like(const HostView& other);

/// Wraps existing memory as an array (numpy.asarray), without a copy. Borrows the memory of a view or range; read-only
/// if that is.
HostNDArray as_host_array(const HostView& view);
HostNDArray as_host_array(const MutableHostView& view);
HostNDArray as_host_array(const NDView& view);
inline HostNDArray as_host_array(const HostNDArray& array) { return array; }
template <HostRange R>
    requires(std::is_lvalue_reference_v<R> || std::ranges::borrowed_range<R>)
HostNDArray as_host_array(R&& range) {
    return as_host_array(host_view(range));
}
/// Takes ownership of a loaded file's array.
HostNDArray as_host_array(NpyArray&& array);
/// Takes ownership of a vector, without copying its elements.
template <ArrayElement T>
    requires(!std::same_as<T, bool>)  // std::vector<bool> holds bits
HostNDArray as_host_array(std::vector<T>&& values, const Dims& shape, Order order = Order::C) {
    auto owner = std::make_shared<std::vector<T>>();
    const MutableHostView view = host_view(values, shape, order);  // throws before the vector is moved
    *owner = std::move(values);
    return HostNDArray(owner, view.data, view.dtype, view.layout);
}
template <ArrayElement T>
    requires(!std::same_as<T, bool>)
HostNDArray as_host_array(std::vector<T>&& values) {
    const Dims shape{values.size()};
    return as_host_array(std::move(values), shape);
}

/// Types that as_host_array accepts.
template <class A>
concept HostArrayLike = requires(A&& array) {
    { as_host_array(std::forward<A>(array)) } -> std::same_as<HostNDArray>;
};

}  // namespace hsadrv
