#include "devicearray/nd_view.hpp"

#include <string>

#include "devicearray/array_views.hpp"
#include "devicearray/dtype_buffer.hpp"
#include "devicearray/dtype_numpy.hpp"
#include "hsadrv/error.hpp"

namespace hsadrv {
namespace {

[[noreturn]] void refuse_view(const std::string& what) { throw InvalidArgument("NDView: " + what); }

/// A typestr of plain bytes is refined by descr, unless that only repeats it: "[('', '|V8')]".
DType dtype_of_interface(const ArrayInterface& interface) {
    if (interface.typestr.empty() && interface.descr.empty()) refuse_view("neither typestr nor descr is given");
    if (interface.typestr.empty()) return dtype_from_numpy(interface.descr);
    const DType type = dtype_from_numpy(interface.typestr);
    if (type.kind() != Kind::raw || interface.descr.empty()) return type;
    const DType precise = dtype_from_numpy(interface.descr);
    if (precise.itemsize() != type.itemsize()) {
        refuse_view("typestr '" + std::string(interface.typestr) + "' has " + std::to_string(type.itemsize()) +
                    " B, descr " + std::string(interface.descr) + " has " + std::to_string(precise.itemsize()) + " B");
    }
    return precise.fields().empty() ? type : precise;
}

Layout layout_of(const Dims& shape, const std::optional<Dims>& strides, const DType& dtype) {
    const auto itemsize = static_cast<std::int64_t>(dtype.itemsize());
    const Layout whole = strides ? Layout::strided(shape, *strides, itemsize) : Layout::contiguous(shape, itemsize);
    return detail::layout_of_part(whole, dtype);
}

void* moved(void* data, std::int64_t offset) {
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(data) + static_cast<std::uintptr_t>(offset));
}

/// Checks that all elements are inside the address space.
void require_addresses(const void* data, const DType& dtype, const Layout& layout) {
    if (layout.size() == 0) return;
    const std::string whole = dtype.name() + " with " + layout.to_string();
    if (!data) refuse_view("the address is null, but " + whole + " has elements");
    const auto first = reinterpret_cast<std::uintptr_t>(data);
    const ByteRange extent = layout.extent();
    if (first < static_cast<std::uintptr_t>(-extent.begin) ||
        UINTPTR_MAX - first < static_cast<std::uintptr_t>(extent.end))
        refuse_view(whole + " at address " + std::to_string(first) + " exceeds the address space");
}

/// Without a format the elements are bytes. Without a shape either, they are single bytes and itemsize is ignored.
DType dtype_of_buffer(const detail::BufferFields& buffer) {
    if (!buffer.format && !buffer.shape) return dtypes::uint8;
    if (buffer.itemsize <= 0) refuse_view("a buffer's itemsize is " + std::to_string(buffer.itemsize));
    const auto itemsize = static_cast<std::size_t>(buffer.itemsize);
    if (buffer.format) return dtype_from_buffer(buffer.format, itemsize);
    return itemsize == 1 ? dtypes::uint8 : DType::raw(itemsize);
}

Dims shape_of_buffer(const detail::BufferFields& buffer, const DType& dtype) {
    return buffer.shape ? *buffer.shape : Dims{buffer.size_bytes / static_cast<std::int64_t>(dtype.itemsize())};
}

}  // namespace

Dims detail::buffer_dims(int ndim, const void* first, std::int64_t (*at)(const void* first, int i)) {
    if (ndim < 0 || ndim > Dims::max_rank) {
        refuse_view("a buffer has " + std::to_string(ndim) + " dimensions; at most " + std::to_string(Dims::max_rank) +
                    " are supported");
    }
    Dims dims = Dims::filled(ndim, 0);
    for (int i = 0; i < ndim; ++i) dims[i] = at(first, i);
    return dims;
}

NDView::NDView(const ArrayInterface& interface)
    : data_(interface.data ? moved(interface.data, interface.offset) : nullptr),
      dtype_(dtype_of_interface(interface)),
      layout_(layout_of(interface.shape, interface.strides, dtype_)),
      writable_(!interface.read_only) {
    if (interface.version < 3)
        refuse_view("version " + std::to_string(interface.version) +
                    " of the array interface; 3 is the first that has these fields");
    dtype_ = dtype_.base();
    require_addresses(data_, dtype_, layout_);
}

NDView::NDView(const detail::BufferFields& buffer)
    : data_(buffer.data),
      dtype_(dtype_of_buffer(buffer)),
      layout_(layout_of(shape_of_buffer(buffer, dtype_), buffer.strides, dtype_)),
      writable_(!buffer.read_only) {
    if (buffer.indirect) refuse_view("a buffer with suboffsets: its rows are reached through pointers; copy it first");
    if (layout_.size_bytes() != buffer.size_bytes) {
        refuse_view("a buffer of " + std::to_string(buffer.size_bytes) + " B for " + dtype_.name() + " with " +
                    layout_.to_string() + ", which has " + std::to_string(layout_.size_bytes()) + " B");
    }
    dtype_ = dtype_.base();
    require_addresses(data_, dtype_, layout_);
}

NDView::operator MutableHostView() const {
    if (!writable_) {
        refuse_view("the array (" + dtype_.name() + " with " + layout_.to_string() +
                    ") is read-only, as its interface says; it cannot be a destination");
    }
    return {data_, dtype_, layout_};
}

}  // namespace hsadrv
