#include "devicearray/host_ndarray.hpp"

#include <algorithm>
#include <cstdlib>

#include "devicearray/copy_strided.hpp"
#include "devicearray/dtype_bytes.hpp"
#include "devicearray/nd_view.hpp"
#include "devicearray/npy.hpp"
#include "devicearray/strided_loop.hpp"
#include "devicearray/transfer_plan.hpp"
#include "hsadrv/error.hpp"

namespace hsadrv {
namespace {

constexpr std::size_t cache_line = 64;

std::shared_ptr<void> pageable_memory(std::size_t bytes, std::size_t alignment) {
    const std::size_t whole = (bytes + alignment - 1) / alignment * alignment;
    if (void* const memory = whole < bytes ? nullptr : std::aligned_alloc(alignment, whole))
        return std::shared_ptr<void>(memory, std::free);
    throw OutOfMemory("host_array: the system cannot allocate " + std::to_string(bytes) + " B",
                      HSA_STATUS_ERROR_OUT_OF_RESOURCES);
}

HostNDArray allocated(const ArrayForm& form) {
    if (form.memory_bytes() == 0) return HostNDArray(nullptr, static_cast<void*>(nullptr), form.dtype, form.layout);
    auto memory = pageable_memory(form.memory_bytes(), std::max(cache_line, form.dtype.alignment()));
    void* const first = form.first_element(memory.get());
    return HostNDArray(std::move(memory), first, form.dtype, form.layout);
}

/// Compares the bytes at one place of both arrays, which hold one or more elements.
bool same_bytes(const std::byte* a, const std::byte* b, std::int64_t bytes, const DTypeBytes& used,
                std::int64_t itemsize) {
    if (used.all()) return std::memcmp(a, b, static_cast<std::size_t>(bytes)) == 0;
    for (std::int64_t at = 0; at < bytes; at += itemsize) {
        if (!used.equal(a + at, b + at)) return false;
    }
    return true;
}

bool same_elements(const HostView& a, const HostView& b) {
    const StridedCopy places = StridedCopy::between(a.layout, b.layout);
    if (places.item_bytes == 0) return true;
    const DTypeBytes used(a.dtype);
    bool same = true;
    detail::for_each_place(places, places.shape.rank(), [&](std::int64_t in_a, std::int64_t in_b) {
        same = same &&
               same_bytes(static_cast<const std::byte*>(a.data) + in_a, static_cast<const std::byte*>(b.data) + in_b,
                          places.item_bytes, used, a.layout.itemsize());
    });
    return same;
}

void run(const TransferPlan& plan, void* to, const void* from) {
    std::vector<std::byte> staging(static_cast<std::size_t>(plan.staging_bytes));
    for (const TransferStep& step : plan.steps) {
        copy_strided(step.copy, step.to == Place::destination ? to : staging.data(),
                     step.from == Place::source ? from : staging.data());
    }
}

}  // namespace

HostNDArray::HostNDArray(std::shared_ptr<const void> keep_alive, void* data, const DType& dtype, const Layout& layout,
                         bool writable)
    : keep_alive_(std::move(keep_alive)), data_(data), dtype_(dtype), layout_(layout), writable_(writable) {
    if (static_cast<std::int64_t>(dtype.itemsize()) != layout.itemsize()) {
        throw InvalidArgument("HostNDArray: elements of " + dtype.name() + " have " + std::to_string(dtype.itemsize()) +
                              " B, the layout's " + std::to_string(layout.itemsize()) + " B");
    }
    if (!data && layout.size() > 0) {
        throw InvalidArgument("HostNDArray: " + dtype.name() + " with " + layout.to_string() +
                              " has elements, but the address is null");
    }
}

HostNDArray::HostNDArray(std::shared_ptr<const void> keep_alive, void* data, const DType& dtype, const Layout& layout)
    : HostNDArray(std::move(keep_alive), data, dtype, layout, true) {}

HostNDArray::HostNDArray(std::shared_ptr<const void> keep_alive, const void* data, const DType& dtype,
                         const Layout& layout)
    : HostNDArray(std::move(keep_alive), const_cast<void*>(data), dtype, layout, false) {}

HostNDArray HostNDArray::at(const void* data, const DType& dtype, const Layout& layout) const {
    return {keep_alive_, const_cast<void*>(data), dtype, layout, writable_};
}

HostNDArray HostNDArray::read_only() const { return {keep_alive_, data_, dtype_, layout_, false}; }

void HostNDArray::require_dtype(const char* call, const DType& wanted) const {
    if (wanted == dtype_) return;
    throw InvalidArgument(std::string(call) + ": the elements are " + dtype_.name() + ", not " + wanted.name());
}

void HostNDArray::require_elements(const char* call, const DType& wanted, std::size_t alignment) const {
    require_dtype(call, wanted);
    if (reinterpret_cast<std::uintptr_t>(data_) % alignment == 0) return;
    throw InvalidArgument(std::string(call) + ": the first element's address is not a multiple of " +
                          std::to_string(alignment) + " B, as " + wanted.name() +
                          " requires; copy() the array, or use get() and set()");
}

void HostNDArray::require_writable(const char* call) const {
    if (writable_) return;
    throw InvalidArgument(std::string(call) + ": the array (" + dtype_.name() + " with " + layout_.to_string() +
                          ") is read-only; use a copy() of it");
}

void HostNDArray::require_c_contiguous(const char* call) const {
    if (is_c_contiguous()) return;
    throw InvalidArgument(std::string(call) + ": the elements with " + layout_.to_string() +
                          " are not contiguous in C order; a copy() is");
}

void HostNDArray::require_one(const char* call) const {
    if (size() == 1) return;
    throw InvalidArgument(std::string(call) + ": an array of shape " + shape().to_string() + " has " +
                          std::to_string(size()) + " elements, not one; use get() with an index");
}

void HostNDArray::fill_with(const void* value) {
    require_writable("HostNDArray::fill");
    detail::require_destination("HostNDArray::fill", dtype_, layout_);
    const Layout one = Layout::contiguous({}, layout_.itemsize());
    copy_strided(StridedCopy::between(layout_, one.broadcast_to(shape())), data_, value);
}

void HostNDArray::copy_from(const HostView& source) {
    require_writable("HostNDArray::copy_from");
    run(plan_transfer("HostNDArray::copy_from", {data_, dtype_, layout_, Where::host},
                      {source.data, source.dtype, source.layout, Where::host}),
        data_, source.data);
}

HostNDArray HostNDArray::copy(Order order) const {
    HostNDArray result = allocated({dtype_, Layout::contiguous(shape(), itemsize(), layout_.resolved(order))});
    copy_strided(StridedCopy::between(result.layout_, layout_), result.data_, data_);
    return result;
}

bool HostNDArray::equal(const HostView& other) const {
    return dtype_ == other.dtype && shape() == other.layout.shape() && itemsize() == other.layout.itemsize() &&
           same_elements(*this, other);
}

HostNDArray host_array(const Dims& shape, const DType& dtype, const Arrangement& arrangement) {
    return allocated(form_of(shape, dtype, arrangement));
}

HostNDArray host_array_like(const HostView& other) { return allocated(form_like(other.dtype, other.layout)); }

HostNDArray as_host_array(const HostView& view) { return {nullptr, view.data, view.dtype, view.layout}; }

HostNDArray as_host_array(const MutableHostView& view) { return {nullptr, view.data, view.dtype, view.layout}; }

HostNDArray as_host_array(const NDView& view) {
    return view.writable() ? as_host_array(MutableHostView(view)) : as_host_array(HostView(view));
}

HostNDArray as_host_array(NpyArray&& array) {
    const auto owner = std::make_shared<NpyArray>(std::move(array));
    const MutableHostView view = owner->view();
    return {owner, view.data, view.dtype, view.layout};
}

}  // namespace hsadrv
