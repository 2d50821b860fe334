// An array in host memory that kernels use in place, under a host and a device address.
//
//     MappedNDArray a = mapped_array({1 << 20}, dtypes::float32);   // existing arrays: registered_arrays.hpp
//     a.fill(1.0f);                                                 // the host's side: as HostNDArray
//     kernel.launch(stream, shape, a, n);                           // the GPU's: its address as an argument
//     stream.synchronize();  a.get<float>({7});
//
// Ownership: as HostNDArray; views, the DeviceNDArray of device() and launches keep the memory, and its lock if there
// is one. Ordering: a kernel sees what the host wrote before the launch; the host sees what the kernel wrote after
// synchronising the stream. Accesses in between are not ordered. Thread safety: as of a value. Throws: as HostNDArray.
#pragma once

#include <concepts>
#include <memory>
#include <span>
#include <utility>

#include "devicearray/array_views.hpp"
#include "devicearray/device_ndarray.hpp"
#include "devicearray/element_type.hpp"
#include "devicearray/host_ndarray.hpp"
#include "hsadrv/agent.hpp"
#include "hsadrv/kernel_args.hpp"

namespace hsadrv {

class MappedNDArray : public ArrayViews<MappedNDArray> {
  public:
    /// `device_data`: the address of the first element of `host` for `agent`, kept valid by host.keep_alive().
    MappedNDArray(const HostNDArray& host, void* device_data, AgentRef agent);

    MappedNDArray(const MappedNDArray&) = default;
    /// Leaves an empty array of shape (0,) without memory.
    MappedNDArray(MappedNDArray&& other) noexcept
        : host_(std::move(other.host_)),
          device_data_(std::exchange(other.device_data_, nullptr)),
          agent_(other.agent_) {}
    /// Not assignable to a temporary: `a.slice(…) = b` would change nothing; use a.slice(…).copy_from(b).
    MappedNDArray& operator=(const MappedNDArray&) & = default;
    MappedNDArray& operator=(MappedNDArray&& other) & noexcept {
        MappedNDArray taken(std::move(other));
        host_ = std::move(taken.host_);
        device_data_ = taken.device_data_;
        agent_ = taken.agent_;
        return *this;
    }

    const DType& dtype() const { return host_.dtype(); }
    const Layout& layout() const { return host_.layout(); }
    /// The host's address of the first element.
    const void* data() const { return host_.data(); }
    void* writable_data() const { return host_.writable_data(); }
    bool writable() const { return host_.writable(); }
    const std::shared_ptr<const void>& keep_alive() const { return host_.keep_alive(); }
    /// The GPU that device() refers to.
    AgentRef agent() const { return agent_; }

    MappedNDArray at(const void* data, const DType& dtype, const Layout& layout) const;

    /// The host's side as an array: a view.
    const HostNDArray& host() const { return host_; }
    /// The GPU's side: a view. If the array is read-only, kernels must only read it.
    DeviceNDArray device() const { return DeviceNDArray(keep_alive(), device_data_, dtype(), layout(), agent_); }
    /// The same for another GPU. Throws InvalidArgument if the memory is not mapped for it: see `portable`.
    DeviceNDArray device(AgentRef other) const;

    // Operations on the host's side, as in HostNDArray.
    template <ArrayElement T>
    T* as() const {
        return host_.as<T>();
    }
    template <ArrayElement T>
    std::span<T> elements() const {
        return host_.elements<T>();
    }
    template <ArrayElement T>
    T get(const Dims& index) const {
        return host_.get<T>(index);
    }
    template <ArrayElement T>
    void set(const Dims& index, const T& value) {
        host_.set(index, value);
    }
    template <ArrayElement T>
    T item() const {
        return host_.item<T>();
    }
    template <ArrayElement T>
    void fill(const T& value) {
        host_.fill(value);
    }
    void copy_from(const HostView& source) { host_.copy_from(source); }
    HostNDArray copy(Order order = Order::C) const { return host_.copy(order); }
    bool equal(const HostView& other) const { return host_.equal(other); }
    bool equal(const MappedNDArray& other) const { return host_.equal(other.host_); }

    // Transfers, as on device().
    HostNDArray copy_to_host(OnStream stream = {}, Deadline deadline = {}) const {
        return device().copy_to_host(stream, deadline);
    }
    template <class To>
        requires(!std::convertible_to<To, OnStream>)
    decltype(auto) copy_to_host(To&& to, OnStream stream = {}, Deadline deadline = {}) const {
        return device().copy_to_host(std::forward<To>(to), stream, deadline);
    }
    template <class From>
    void copy_to_device(From&& from, OnStream stream = {}, Deadline deadline = {}) {
        device().copy_to_device(std::forward<From>(from), stream, deadline);
    }

    operator HostView() const { return host_; }
    operator MutableHostView() const { return host_; }

    /// As an argument of Kernel::launch: the GPU's address of the first element. Throws as DeviceNDArray does.
    friend DevicePointer kernel_argument(const MappedNDArray& array) {
        if (!array.layout().is_contiguous()) [[unlikely]]
            detail::refuse_as_pointer(array.dtype(), array.layout());
        return {array.device_data_, array.keep_alive(), array.agent_.native().handle, element_type_of(array.dtype())};
    }

  private:
    HostNDArray host_;
    void* device_data_;
    AgentRef agent_;
};

inline HostNDArray as_host_array(const MappedNDArray& array) { return array.host(); }
inline DeviceNDArray to_device(const MappedNDArray& obj, OnStream stream = {}, bool copy = true,
                               DeviceNDArray* to = nullptr, Deadline deadline = {}) {
    return to_device(obj.host(), stream, copy, to, deadline);
}

}  // namespace hsadrv
