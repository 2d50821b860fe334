// A foreign array in host memory, as described by NumPy's array interface or Python's buffer protocol.
//
//     NDView a({.data = address, .shape = {480, 640}, .typestr = "<f4", .strides = Dims{2560, 4}});
//     auto d_a = to_device(a, stream);                    // converts to HostView
//     d_a.copy_to_host(MutableHostView(a), stream);       // throws if the interface says read-only
//     NDView b(py_buffer);                                // a Py_buffer; Python.h is not needed
//
// Checks the fields: type, shape, strides, a non-null address if there are elements, and that all elements are inside
// the address space. Only the buffer protocol gives the memory's size. Borrows: the memory; keep the exporting object
// until the transfer is complete. Values; thread safety as such. Throws InvalidArgument, naming field and value.
// Sources: NumPy, "The array interface protocol", version 3; PEP 3118.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>

#include "devicearray/dtype.hpp"
#include "devicearray/host_view.hpp"
#include "devicearray/layout.hpp"

namespace hsadrv {

/// The fields of `__array_interface__`, under their names.
struct ArrayInterface {
    void* data = nullptr;    ///< data[0]: the first element's address minus `offset`
    bool read_only = false;  ///< data[1]
    Dims shape = {};
    std::string_view typestr = {};     ///< "<f4"
    std::string_view descr = {};       ///< for a record, with typestr "|V…" or empty: "[('x', '<f4'), …]"
    std::optional<Dims> strides = {};  ///< bytes; std::nullopt: C order
    std::int64_t offset = 0;           ///< bytes
    int version = 3;
};

namespace detail {

/// The fields of a Py_buffer.
struct BufferFields {
    void* data;
    std::int64_t size_bytes, itemsize;
    bool read_only;
    const char* format;
    std::optional<Dims> shape, strides;  ///< std::nullopt if the buffer has null
    bool indirect;
};

Dims buffer_dims(int ndim, const void* first, std::int64_t (*at)(const void* first, int i));

template <class Integer>
std::optional<Dims> buffer_dims(int ndim, const Integer* first) {
    if (!first && ndim != 0) return std::nullopt;
    return buffer_dims(ndim, first, [](const void* all, int i) {
        return static_cast<std::int64_t>(static_cast<const Integer*>(all)[i]);
    });
}

template <class Buffer>
bool is_indirect(const Buffer& buffer) {
    for (int i = 0; buffer.suboffsets && i < buffer.ndim; ++i) {
        if (buffer.suboffsets[i] >= 0) return true;
    }
    return false;
}

}  // namespace detail

/// Python's Py_buffer, or any type with its members.
template <class B>
concept PyBuffer = requires(const B& buffer) {
    { buffer.buf } -> std::convertible_to<void*>;
    { buffer.format } -> std::convertible_to<const char*>;
    { buffer.len } -> std::convertible_to<std::int64_t>;
    { buffer.itemsize } -> std::convertible_to<std::int64_t>;
    { buffer.readonly } -> std::convertible_to<bool>;
    { buffer.ndim } -> std::convertible_to<int>;
    buffer.shape[0];
    buffer.strides[0];
    buffer.suboffsets[0];
};

class NDView {
  public:
    explicit NDView(const ArrayInterface& interface);
    /// Also throws for buffers with suboffsets, and if size and shape disagree.
    template <PyBuffer B>
    explicit NDView(const B& buffer)
        : NDView(detail::BufferFields{buffer.buf, buffer.len, buffer.itemsize, buffer.readonly != 0, buffer.format,
                                      detail::buffer_dims(buffer.ndim, buffer.shape),
                                      detail::buffer_dims(buffer.ndim, buffer.strides), detail::is_indirect(buffer)}) {}

    /// Address of the first element.
    const void* data() const { return data_; }
    const DType& dtype() const { return dtype_; }
    const Layout& layout() const { return layout_; }
    bool writable() const { return writable_; }

    operator HostView() const { return {data_, dtype_, layout_}; }
    /// Throws if the memory is read-only.
    operator MutableHostView() const;

  private:
    explicit NDView(const detail::BufferFields& buffer);

    void* data_;
    DType dtype_;
    Layout layout_;
    bool writable_;
};

}  // namespace hsadrv
