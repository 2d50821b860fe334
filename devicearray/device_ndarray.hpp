// An n-dimensional array in a GPU's memory, with NumPy's meaning of dtype, shape, strides and order.
//
//     auto d_a = to_device(a, stream);                         // a: std::vector<float>; d_a: float32, shape (n,)
//     auto d_b = device_array<float>({480, 640}, stream);      // uninitialised, C order
//     kernel.launch(stream, {.grid = n, .workgroup = 256}, d_a, d_b);
//     std::vector<float> b = d_b.copy_to_host<float>(stream);
//
// Ownership: copies, reshapes and transposes of an array are views of the same memory, as assignments in
// Python are. The memory is freed when the last of them is gone and the work that was submitted with them is
// complete: every transfer and launch leaves a share of the memory with its stream. Nobody has to wait before
// an array goes out of scope. Ordering: transfers and launches happen in the order of their stream. Between
// streams the caller orders. Thread safety: distinct objects from any thread, whether they share memory or
// not; one object as any value. Errors: InvalidArgument before anything is enqueued, naming both sides; the
// stream's own errors as Stream documents them.
#pragma once

#include <memory>
#include <ranges>
#include <vector>

#include "devicearray/array_views.hpp"
#include "devicearray/dtype.hpp"
#include "devicearray/host_view.hpp"
#include "devicearray/layout.hpp"
#include "hsadrv/agent.hpp"
#include "hsadrv/kernel_args.hpp"
#include "hsadrv/memory.hpp"
#include "hsadrv/stream.hpp"

namespace hsadrv {

class DeviceNDArray : public ArrayViews<DeviceNDArray> {
  public:
    /// A view of memory that `keep_alive` owns, of any kind that the agent can use. `data` is the first
    /// element's address.
    DeviceNDArray(std::shared_ptr<const void> keep_alive, void* data, DType dtype, const Layout& layout,
                  AgentRef agent);
    /// Takes a whole allocation over; the layout must be contiguous and fit. Throws InvalidArgument.
    DeviceNDArray(Allocation memory, DType dtype, const Layout& layout);

    const DType& dtype() const { return dtype_; }
    const Layout& layout() const { return layout_; }
    /// The device whose memory it is.
    AgentRef agent() const { return agent_; }
    /// Address of the first element, for the device; null where the array is empty.
    void* data() const { return data_; }
    /// The same, typed. Throws InvalidArgument if the elements are not T.
    template <ArrayElement T>
    T* as() const {
        require_dtype("DeviceNDArray::as", dtype_of<T>());
        return static_cast<T*>(data_);
    }
    /// What keeps the memory alive; give it to Stream::keep_alive after submitting work by address.
    const std::shared_ptr<const void>& keep_alive() const { return keep_alive_; }

    /// Another view of the memory; see array_views.hpp for reshape, slice, field, …
    DeviceNDArray at(void* data, const DType& dtype, const Layout& layout) const {
        return {keep_alive_, data, dtype, layout, agent_};
    }

    /// All elements in the array's own order (rows for C, columns for F). Waits for all that the stream
    /// holds.
    template <ArrayElement T>
    requires(!std::same_as<T, bool>)  // std::vector<bool> has no bools; copy into an array of yours
        std::vector<T> copy_to_host(Stream& stream)
    const {
        require_dtype("DeviceNDArray::copy_to_host", dtype_of<T>());
        std::vector<T> host(static_cast<std::size_t>(size()));
        copy_to_host(host_view(host, shape(), is_c_contiguous() ? Order::C : Order::F), stream);
        stream.synchronize();
        return host;
    }

    /// Into memory of yours, of equal shape and order. Pageable memory is filled on return. Pinned and
    /// registered memory is filled when the stream gets there: synchronize first, and keep it valid until
    /// then.
    void copy_to_host(const MutableHostView& host, Stream& stream) const;
    /// Into a range of size() elements, in the array's own order. Returns the range.
    template <HostRange R>
    requires(!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>) R &&
        copy_to_host(R&& range, Stream& stream)
    const {
        const auto flat = host_view(range);
        copy_to_host(MutableHostView{flat.data, flat.dtype, as_flat_in_own_order(flat.layout)}, stream);
        return std::forward<R>(range);
    }

    /// From host memory of equal shape and order. Pageable memory may be reused on return; pinned and
    /// registered memory when the stream is done with it.
    void copy_to_device(const HostView& host, Stream& stream);
    /// From a range of size() elements, in the array's own order.
    template <HostRange R>
    void copy_to_device(R&& range, Stream& stream) {
        const HostView flat = host_view(range);
        copy_to_device(HostView{flat.data, flat.dtype, as_flat_in_own_order(flat.layout)}, stream);
    }
    /// From an array of equal shape and order on this or another device. Asynchronous.
    void copy_to_device(const DeviceNDArray& source, Stream& stream);

    /// As an argument of Kernel::launch: the address of the first element. Shape and strides are arguments of
    /// their own.
    friend DevicePointer kernel_argument(const DeviceNDArray& array) {
        return {array.data_, array.keep_alive_};
    }

  private:
    void require_dtype(const char* call, DType wanted) const;
    /// This array's layout where a flat one has as many elements, otherwise the flat one, which the transfer
    /// then refuses.
    const Layout& as_flat_in_own_order(const Layout& flat) const {
        return flat.size() == size() ? layout_ : flat;
    }

    std::shared_ptr<const void> keep_alive_;
    void* data_;
    DType dtype_;
    Layout layout_;
    AgentRef agent_;
};

/// Uninitialised memory on `agent` (a Context converts to one).
DeviceNDArray device_array(const Dims& shape, DType dtype, Order order, AgentRef agent);
/// Uninitialised memory on the stream's device.
DeviceNDArray device_array(const Dims& shape, DType dtype, Order order, const Stream& stream);
template <ArrayElement T>
DeviceNDArray device_array(const Dims& shape, const Stream& stream, Order order = Order::C) {
    return device_array(shape, dtype_of<T>(), order, stream);
}

/// Uninitialised, with the other's dtype and shape; in F order if the other is F- but not C-contiguous, else
/// in C order.
DeviceNDArray device_array_like(const DeviceNDArray& other, const Stream& stream);
DeviceNDArray device_array_like(const HostView& other, const Stream& stream);

/// A new array on the stream's device with the contents of `host`, C- or F-contiguous, in the same order.
/// `copy` false: only its memory. `to`: fills that array instead of a new one and returns a view of it. The
/// host memory is used as DeviceNDArray::copy_to_device says.
DeviceNDArray to_device(const HostView& host, Stream& stream, bool copy = true, DeviceNDArray* to = nullptr);
template <HostRange R>
DeviceNDArray to_device(R&& range, Stream& stream, bool copy = true, DeviceNDArray* to = nullptr) {
    return to_device(HostView(host_view(range)), stream, copy, to);
}

}  // namespace hsadrv
