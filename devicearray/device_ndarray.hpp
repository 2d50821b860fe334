// An n-dimensional array in a GPU's memory, with NumPy's meaning of dtype, shape, strides and order.
//
//     auto d_a = to_device(a, stream);                         // a: std::vector<float>; d_a: float32, shape (n,)
//     auto d_b = device_array<float>({480, 640}, stream);      // uninitialised, C order
//     kernel.launch(stream, {.grid = n, .workgroup = 256}, d_a, d_b);
//     std::vector<float> b = d_b.copy_to_host<float>(stream);
//
// Ownership: copies and views of an array (reshape, slice, field, …; see array_views.hpp) share its memory, as
// assignments in Python do. The memory is freed when the last of them is destroyed and all work submitted with them is
// complete: every transfer and launch leaves a reference with its stream, so an array may go out of scope without a
// wait. Freed memory returns to a pool that all arrays of the GPU share; see release_cached() below.
//
// Ordering: an operation on a stream (given, or bound to the array) runs in that stream's order and is asynchronous.
// OnStream describes operations without a stream; copy_to_host and copy_to_device describe pageable memory. The caller
// orders work on different streams. While a stream is captured, transfers between device and pinned memory are
// recorded, and the graph keeps the arrays alive; transfers that need pageable memory, the CPU or a wait are refused.
// Any layout is transferred to any other: strided, reversed, transposed, repeated; see transfer_plan.hpp.
//
// Thread safety: distinct objects from any thread, even if they share memory; one object as any value. Deadlines:
// transfers take one. Creating an array takes none: if memory is short while work in flight still uses some, it waits
// for at most ten seconds. Errors: InvalidArgument before anything is enqueued, naming both sides, with the arrays
// unchanged; OutOfMemory; the stream's own errors and Timeout, as documented at Stream.
#pragma once

#include <concepts>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "devicearray/array_form.hpp"
#include "devicearray/array_views.hpp"
#include "devicearray/dtype.hpp"
#include "devicearray/element_type.hpp"
#include "devicearray/host_ndarray.hpp"
#include "devicearray/host_view.hpp"
#include "devicearray/layout.hpp"
#include "devicearray/on_stream.hpp"
#include "hsadrv/agent.hpp"
#include "hsadrv/kernel_args.hpp"
#include "hsadrv/memory.hpp"
#include "hsadrv/stream.hpp"

namespace hsadrv {

class MemoryResource;

namespace detail {
struct TransferEnd;
/// Throws InvalidArgument: the array cannot be passed as a plain pointer.
[[noreturn]] void refuse_as_pointer(const DType& dtype, const Layout& layout);
}  // namespace detail

/// An array with a side in host memory, as MappedNDArray is.
template <class A>
concept HasHostSide = requires(const A& array) {
    { array.host() } -> std::same_as<const HostNDArray&>;
};

class DeviceNDArray : public ArrayViews<DeviceNDArray> {
  public:
    /// A view of memory that `keep_alive` owns, of any kind that the agent can use. `data` is the first
    /// element's address.
    DeviceNDArray(std::shared_ptr<const void> keep_alive, void* data, const DType& dtype, const Layout& layout,
                  AgentRef agent);
    /// Takes ownership of a whole allocation; the layout must be contiguous and fit. Throws InvalidArgument.
    DeviceNDArray(Allocation memory, const DType& dtype, const Layout& layout);

    DeviceNDArray(const DeviceNDArray&) = default;
    /// Leaves an empty array of shape (0,) without memory.
    DeviceNDArray(DeviceNDArray&& other) noexcept
        : keep_alive_(std::move(other.keep_alive_)),
          data_(std::exchange(other.data_, nullptr)),
          dtype_(other.dtype_),
          layout_(detail::taken_from(other.layout_)),
          contiguous_(std::exchange(other.contiguous_, true)),
          agent_(other.agent_),
          bound_(std::move(other.bound_)),
          writeback_(std::move(other.writeback_)) {}
    /// Not assignable to a temporary: `a.slice(…) = b` would change nothing; use a.slice(…).copy_to_device(b).
    DeviceNDArray& operator=(const DeviceNDArray&) & = default;
    DeviceNDArray& operator=(DeviceNDArray&& other) & noexcept {
        DeviceNDArray taken(std::move(other));
        keep_alive_.swap(taken.keep_alive_);
        data_ = taken.data_;
        dtype_ = taken.dtype_;
        layout_ = taken.layout_;
        contiguous_ = taken.contiguous_;
        agent_ = taken.agent_;
        std::swap(bound_, taken.bound_);
        writeback_.swap(taken.writeback_);
        return *this;
    }

    const DType& dtype() const { return dtype_; }
    const Layout& layout() const { return layout_; }
    /// The device that owns the memory.
    AgentRef agent() const { return agent_; }
    /// Address of the first element, for the device; null if the array is empty.
    void* data() const { return data_; }
    /// The same, typed. Throws InvalidArgument if the elements are not T or the address is not aligned for T.
    template <ArrayElement T>
    T* as() const {
        require_dtype("DeviceNDArray::as", dtype_of<T>());
        require_aligned("DeviceNDArray::as", alignof(T));
        return static_cast<T*>(data_);
    }
    /// The owner of the memory; give it to Stream::keep_alive after submitting work by address.
    const std::shared_ptr<const void>& keep_alive() const { return keep_alive_; }

    /// Another view of the memory, bound to the same stream.
    DeviceNDArray at(void* data, const DType& dtype, const Layout& layout) const {
        DeviceNDArray view(keep_alive_, data, dtype, layout, agent_);
        view.bound_ = bound_;
        return view;
    }

    /// A view whose operations run on `stream` unless they are given another. Does not keep the stream alive: once it
    /// is destroyed they throw InvalidArgument. No thread may move or destroy the stream while another uses it,
    /// including through the array. Throws InvalidArgument for a stream of another device.
    DeviceNDArray bind(const Stream& stream) const;

    /// A view with a host array of equal shape and dtype to write back to, which it keeps alive (numba's `writeback`).
    /// Views of the result have none. Throws InvalidArgument for another shape or dtype, and for a read-only array.
    DeviceNDArray with_writeback(const HostNDArray& ary) const;
    /// Null if it has none.
    const HostNDArray* writeback() const { return writeback_.get(); }
    /// copy_to_host(*writeback(), stream, deadline). Throws InvalidArgument if there is none.
    void to_host(OnStream stream = {}, Deadline deadline = {}) const;

    /// All elements, in the array's own order (column by column for F, else row by row). Returns when they have
    /// arrived. std::vector zeroes its elements first; the forms below that write into the caller's memory do not.
    template <ArrayElement T>
        requires(!std::same_as<T, bool>)  // std::vector<bool> holds bits; copy into an array of bool
    std::vector<T> copy_to_host(OnStream stream = {}, Deadline deadline = {}) const {
        require_dtype("DeviceNDArray::copy_to_host", dtype_of<T>());
        std::vector<T> host(static_cast<std::size_t>(size()));
        fill_host(host_view(host, shape(), layout_.resolved(Order::A)), stream, deadline);
        return host;
    }

    /// All elements in a new array of the same order (numba's copy_to_host without `ary`). With a stream the new array
    /// is in pinned memory, and is filled when the stream reaches the copy. Without one it is pageable, and filled on
    /// return.
    HostNDArray copy_to_host(OnStream stream = {}, Deadline deadline = {}) const;
    /// Into an array of equal shape and dtype, whose memory is kept alive until the copy is complete. Returns a view of
    /// it.
    HostNDArray copy_to_host(const HostNDArray& ary, OnStream stream = {}, Deadline deadline = {}) const;
    template <HasHostSide A>
    HostNDArray copy_to_host(const A& ary, OnStream stream = {}, Deadline deadline = {}) const {
        return copy_to_host(ary.host(), stream, deadline);
    }

    /// Into the caller's memory, of equal shape and dtype and any layout. Pageable memory is filled on return. Pinned
    /// and registered memory is filled when the stream reaches the copy: keep it valid, and synchronize before reading
    /// it.
    void copy_to_host(const MutableHostView& host, OnStream stream = {}, Deadline deadline = {}) const;
    /// Into a range of size() elements, in the array's own order; nested arrays of the array's shape are filled by
    /// index. Returns the range; a temporary is returned by value.
    template <HostRange R>
        requires(!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>)
    R copy_to_host(R&& range, OnStream stream = {}, Deadline deadline = {}) const {
        copy_to_host(own_order(host_view(range)), stream, deadline);
        return std::forward<R>(range);
    }

    /// From an array of equal shape and dtype, whose memory is kept alive until the copy is complete. Pinned memory is
    /// read when the stream reaches the copy: do not change its elements before.
    void copy_to_device(const HostNDArray& ary, OnStream stream = {}, Deadline deadline = {});
    template <HasHostSide A>
    void copy_to_device(const A& ary, OnStream stream = {}, Deadline deadline = {}) {
        copy_to_device(ary.host(), stream, deadline);
    }
    /// From host memory of equal shape and dtype. Pageable memory may be reused on return, pinned and registered memory
    /// when the stream has completed the copy.
    void copy_to_device(const HostView& host, OnStream stream = {}, Deadline deadline = {});
    /// From a range of size() elements, in the array's own order; nested arrays of the array's shape are read by index.
    template <HostRange R>
    void copy_to_device(R&& range, OnStream stream = {}, Deadline deadline = {}) {
        copy_to_device(HostView(own_order(host_view(range))), stream, deadline);
    }
    /// From an array of equal shape and dtype on this or another device. The two may overlap: the result is as if
    /// the source had been copied first.
    void copy_to_device(const DeviceNDArray& source, OnStream stream = {}, Deadline deadline = {});

    /// One element, by its index; negative indices count from the end. Returns when it has arrived.
    template <ArrayElement T>
    T get(const Dims& index, OnStream stream = {}, Deadline deadline = {}) const {
        require_dtype("DeviceNDArray::get", dtype_of<T>());
        std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T> value;  // kernels may have stored neither 0 nor 1
        item(index).fill_host({&value, dtype_of<T>(), scalar<T>()}, stream, deadline);
        return static_cast<T>(value);
    }
    template <ArrayElement T>
    void set(const Dims& index, const T& value, OnStream stream = {}, Deadline deadline = {}) {
        detail::require_type_of_value("DeviceNDArray::set", dtype_, dtype_of<T>());
        detail::require_destination("DeviceNDArray::set", dtype_, layout_);
        item(index).copy_to_device(HostView{&value, dtype_of<T>(), scalar<T>()}, stream, deadline);
    }
    /// Sets every element.
    template <ArrayElement T>
    void fill(const T& value, OnStream stream = {}, Deadline deadline = {}) {
        detail::require_type_of_value("DeviceNDArray::fill", dtype_, dtype_of<T>());
        fill_with({&value, dtype_of<T>(), scalar<T>()}, stream, deadline);
    }

    /// As an argument of Kernel::launch: the address of the first element. Throws InvalidArgument for an array that is
    /// neither C- nor F-contiguous: pass an nd_span() instead. The launch throws it if the kernel's device cannot
    /// access the memory.
    friend DevicePointer kernel_argument(const DeviceNDArray& array) {
        if (!array.contiguous_) [[unlikely]]
            detail::refuse_as_pointer(array.dtype_, array.layout_);
        return {array.data_, array.keep_alive_, array.agent_.native().handle, element_type_of(array.dtype_)};
    }

  private:
    template <class T>
    static constexpr Layout scalar() {
        return Layout::contiguous({}, sizeof(T));
    }
    void require_dtype(const char* call, const DType& wanted) const;
    void require_aligned(const char* call, std::size_t alignment) const;
    DeviceNDArray item(const Dims& index) const;
    DeviceNDArray like(OnStream stream) const;
    friend DeviceNDArray device_array_like(const DeviceNDArray& other, OnStream stream);
    /// copy_to_host, but complete on return for every kind of memory.
    void fill_host(const MutableHostView& host, OnStream stream, Deadline deadline) const;
    void fill_with(const HostView& value, OnStream stream, Deadline deadline);
    void take(const detail::TransferEnd& from, OnStream stream, Deadline deadline);
    void give(const detail::TransferEnd& to, OnStream stream, Deadline deadline) const;
    /// Gives a flat range of size() elements this array's shape. Any other range is returned unchanged; the transfer
    /// refuses a shape that differs.
    template <class View>
    View own_order(View range) const {
        if (range.layout.rank() == 1 && range.layout.size() == size())
            range.layout = Layout::contiguous(shape(), range.layout.itemsize(), layout_.resolved(Order::A));
        return range;
    }

    std::shared_ptr<const void> keep_alive_;
    void* data_;
    DType dtype_;
    Layout layout_;
    bool contiguous_;  ///< cached for launches
    AgentRef agent_;
    WeakStream bound_;
    std::shared_ptr<const HostNDArray> writeback_;
};

/// Uninitialised memory on the stream's device, in an order or with strides in bytes; see form_of(). A subarray dtype
/// adds its axes. Any stream may use the array at once: earlier work submitted with arrays, including transfers'
/// scratch memory, no longer writes to it. Kernels that write through raw addresses are ordered by the caller.
DeviceNDArray device_array(const Dims& shape, const DType& dtype = dtypes::float64, const Arrangement& arrangement = {},
                           OnStream stream = {});
/// The same in C order.
template <std::convertible_to<OnStream> S>
DeviceNDArray device_array(const Dims& shape, const DType& dtype, S&& stream) {
    return device_array(shape, dtype, Order::C, OnStream(stream));
}
template <ArrayElement T>
DeviceNDArray device_array(const Dims& shape, OnStream stream = {}, const Arrangement& arrangement = {}) {
    return device_array(shape, dtype_of<T>(), arrangement, stream);
}
/// On `device`, an AgentRef or a Context, without a stream: a separate allocation, outside the pool.
DeviceNDArray device_array(const Dims& shape, const DType& dtype, const Arrangement& arrangement, AgentRef device);
template <std::convertible_to<AgentRef> Device>
DeviceNDArray device_array(const Dims& shape, const DType& dtype, const Arrangement& arrangement,
                           const Device& device) {
    return device_array(shape, dtype, arrangement, AgentRef(device));
}
/// In memory of the caller's allocator, which the array keeps alive; see memory_resource.hpp. Throws what it throws;
/// OutOfMemory and Error for a null or misaligned (256 bytes) address of it.
DeviceNDArray device_array(const Dims& shape, const DType& dtype, const Arrangement& arrangement, OnStream stream,
                           std::shared_ptr<MemoryResource> memory);

/// Uninitialised, with the other's dtype and shape; see form_like for the order. Without a stream, the array is on the
/// other's device if that is a DeviceNDArray, else on the current Context's.
DeviceNDArray device_array_like(const DeviceNDArray& other, OnStream stream = {});
DeviceNDArray device_array_like(const HostView& other, OnStream stream = {});
inline DeviceNDArray device_array_like(const HostNDArray& other, OnStream stream = {}) {
    return device_array_like(HostView(other), stream);
}
template <HostRange R>
DeviceNDArray device_array_like(R&& other, OnStream stream = {}) {
    return device_array_like(HostView(host_view(other)), stream);
}

/// A new array on the stream's device with the contents of `obj`, C- or F-contiguous as device_array_like chooses.
/// `copy` false: only allocates. `to`: fills that array instead and returns a view of it. The host memory is used as in
/// DeviceNDArray::copy_to_device.
DeviceNDArray to_device(const HostView& obj, OnStream stream = {}, bool copy = true, DeviceNDArray* to = nullptr,
                        Deadline deadline = {});
DeviceNDArray to_device(const HostNDArray& obj, OnStream stream = {}, bool copy = true, DeviceNDArray* to = nullptr,
                        Deadline deadline = {});
template <HostRange R>
DeviceNDArray to_device(R&& obj, OnStream stream = {}, bool copy = true, DeviceNDArray* to = nullptr,
                        Deadline deadline = {}) {
    if (!to) return to_device(HostView(host_view(obj)), stream, copy, nullptr, deadline);
    if (copy) to->copy_to_device(obj, stream, deadline);
    return *to;
}
/// A number: an array of rank 0. For records see device_record.hpp.
template <ArrayElement T>
    requires(!DTypeOf<std::remove_cv_t<T>>::value.is_record())
DeviceNDArray to_device(const T& number, OnStream stream = {}, bool copy = true, DeviceNDArray* to = nullptr,
                        Deadline deadline = {}) {
    constexpr DType dtype = dtype_of<T>();
    return to_device(HostView{&number, dtype, Layout::contiguous({}, sizeof(T))}, stream, copy, to, deadline);
}

/// Memory that a GPU's arrays hold, in use or cached. All of it is freed when no array of the GPU and no stream that
/// arrays used remains.
struct ArrayMemory {
    std::size_t held_bytes = 0, used_bytes = 0;            ///< device memory, including transfers' scratch
    std::size_t held_host_bytes = 0, used_host_bytes = 0;  ///< pinned host memory for its transfers
};
ArrayMemory array_memory(AgentRef gpu);
/// Frees the unused part of both. Returns the bytes. An array that finds no memory does this itself; call it before
/// allocating with Allocation.
std::size_t release_cached(AgentRef gpu);

}  // namespace hsadrv
