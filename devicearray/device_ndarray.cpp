#include "devicearray/device_ndarray.hpp"

#include "devicearray/transfer.hpp"
#include "hsadrv/error.hpp"

namespace hsadrv {
namespace {

void require_itemsize(DType dtype, const Layout& layout) {
    if (static_cast<std::int64_t>(dtype.itemsize()) == layout.itemsize()) return;
    throw InvalidArgument("DeviceNDArray: elements of " + dtype.name() + " have " +
                          std::to_string(dtype.itemsize()) + " B, the layout's " +
                          std::to_string(layout.itemsize()) + " B");
}

Order natural_order(const Layout& layout) {
    return layout.is_f_contiguous() && !layout.is_c_contiguous() ? Order::F : Order::C;
}

/// Submits a copy and leaves a share of each array's memory with the stream. Also where submitting fails
/// half-way, as a Timeout can come after the first part of a copy is under way.
template <class... Owners>
void copy_holding(Stream& stream, void* to, const void* from, std::size_t bytes, const Owners&... owners) {
    const auto keep = [&] { (stream.keep_alive(owners), ...); };
    if (bytes == 0) return;  // empty arrays own nothing
    try {
        stream.copy_async(to, from, bytes);
    } catch (...) {
        try {
            keep();
        } catch (...) {  // the stream has failed, so nothing of it is under way; the first error says why
        }
        throw;
    }
    keep();
}

}  // namespace

DeviceNDArray::DeviceNDArray(std::shared_ptr<const void> keep_alive, void* data, DType dtype,
                             const Layout& layout, AgentRef agent)
    : keep_alive_(std::move(keep_alive)), data_(data), dtype_(dtype), layout_(layout), agent_(agent) {
    require_itemsize(dtype, layout);
}

DeviceNDArray::DeviceNDArray(Allocation memory, DType dtype, const Layout& layout)
    : data_(memory.data()), dtype_(dtype), layout_(layout), agent_(memory.owner()) {
    require_itemsize(dtype, layout);
    if (!layout.is_contiguous() || memory.size_bytes() < static_cast<std::size_t>(layout.size_bytes())) {
        throw InvalidArgument("DeviceNDArray: an allocation of " + std::to_string(memory.size_bytes()) +
                              " B cannot hold " + dtype.name() + " with " + layout.to_string() +
                              ", contiguously");
    }
    keep_alive_ = std::make_shared<const Allocation>(std::move(memory));
}

void DeviceNDArray::require_dtype(const char* call, DType wanted) const {
    if (wanted == dtype_) return;
    throw InvalidArgument(std::string(call) + ": the elements are " + dtype_.name() + ", not " +
                          wanted.name());
}

void DeviceNDArray::copy_to_host(const MutableHostView& host, Stream& stream) const {
    const std::size_t bytes =
        transfer_bytes("DeviceNDArray::copy_to_host", host.dtype, host.layout, dtype_, layout_);
    copy_holding(stream, host.data, data_, bytes, keep_alive_);
}

void DeviceNDArray::copy_to_device(const HostView& host, Stream& stream) {
    const std::size_t bytes =
        transfer_bytes("DeviceNDArray::copy_to_device", dtype_, layout_, host.dtype, host.layout);
    copy_holding(stream, data_, host.data, bytes, keep_alive_);
}

void DeviceNDArray::copy_to_device(const DeviceNDArray& source, Stream& stream) {
    const std::size_t bytes =
        transfer_bytes("DeviceNDArray::copy_to_device", dtype_, layout_, source.dtype_, source.layout_);
    if (data_ == source.data_) return;  // a view of the same elements
    copy_holding(stream, data_, source.data_, bytes, keep_alive_, source.keep_alive_);
}

DeviceNDArray device_array(const Dims& shape, DType dtype, Order order, AgentRef agent) {
    const Layout layout = Layout::contiguous(shape, static_cast<std::int64_t>(dtype.itemsize()), order);
    const auto bytes = static_cast<std::size_t>(layout.size_bytes());
    // An empty array has no memory, but a device.
    if (bytes == 0) return DeviceNDArray(nullptr, nullptr, dtype, layout, agent);
    return DeviceNDArray(Allocation::from_pool(device_pool(agent), bytes), dtype, layout);
}

DeviceNDArray device_array(const Dims& shape, DType dtype, Order order, const Stream& stream) {
    return device_array(shape, dtype, order, stream.agent());
}

DeviceNDArray device_array_like(const DeviceNDArray& other, const Stream& stream) {
    return device_array(other.shape(), other.dtype(), natural_order(other.layout()), stream);
}

DeviceNDArray device_array_like(const HostView& other, const Stream& stream) {
    return device_array(other.layout.shape(), other.dtype, natural_order(other.layout), stream);
}

DeviceNDArray to_device(const HostView& host, Stream& stream, bool copy, DeviceNDArray* to) {
    DeviceNDArray array = to ? *to : device_array_like(host, stream);
    if (copy) array.copy_to_device(host, stream);
    return array;
}

}  // namespace hsadrv
