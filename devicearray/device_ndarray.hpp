// An n-dimensional array in a GPU's memory, with NumPy's meaning of dtype, shape, strides and order.
//
//     auto d_a = to_device(a, stream);                         // a: std::vector<float>; d_a: float32, shape (n,)
//     auto d_b = device_array<float>({480, 640}, stream);      // uninitialised, C order
//     kernel.launch(stream, {.grid = n, .workgroup = 256}, d_a, d_b);
//     std::vector<float> b = d_b.copy_to_host<float>(stream);
//
// Ownership: copies and views of an array (reshape, slice, field, …; see array_views.hpp) are the same memory, as
// assignments in Python are. The memory is freed when the last of them is gone and the work that was submitted
// with them is complete: every transfer and launch leaves a share of the memory with its stream. Nobody has to
// wait before an array goes out of scope. It goes back to a pool that all arrays of the GPU share; see
// release_cached() below.
//
// Ordering: an operation that is given a stream, or whose array is bound to one, happens in that stream's order
// and is asynchronous; see OnStream for those without, and copy_to_host and copy_to_device for what pageable memory
// means. Work on other streams the caller orders. While a stream is captured, transfers between device and pinned
// memory are recorded, and the graph keeps the arrays; what needs pageable memory, the CPU or a wait is refused. Any
// layout is transferred to any other: strided, reversed, transposed, repeated; transfer_plan.hpp says how.
//
// Thread safety: distinct objects from any thread, whether they share memory or not; one object as any value.
// Deadlines: transfers take one. Making an array takes none: it waits for ten seconds at most, when memory is
// short and some is still in use by work in flight. Errors: InvalidArgument before anything is enqueued, naming both
// sides, the arrays as they were; OutOfMemory; the stream's own errors, and Timeout, as Stream documents them.
#pragma once

#include <concepts>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "devicearray/array_form.hpp"
#include "devicearray/array_views.hpp"
#include "devicearray/dtype.hpp"
#include "devicearray/host_ndarray.hpp"
#include "devicearray/host_view.hpp"
#include "devicearray/layout.hpp"
#include "devicearray/on_stream.hpp"
#include "hsadrv/agent.hpp"
#include "hsadrv/kernel_args.hpp"
#include "hsadrv/memory.hpp"
#include "hsadrv/stream.hpp"

namespace hsadrv {

namespace detail {
struct TransferEnd;
/// Throws InvalidArgument: that array is no plain pointer.
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
    /// Takes a whole allocation over; the layout must be contiguous and fit. Throws InvalidArgument.
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
          bound_(std::move(other.bound_)) {}
    /// Not to a temporary: `a.slice(…) = b` would change nothing; a.slice(…).copy_to_device(b) does.
    DeviceNDArray& operator=(const DeviceNDArray&) & = default;
    DeviceNDArray& operator=(DeviceNDArray&& other) & noexcept {
        DeviceNDArray taken(std::move(other));
        keep_alive_.swap(taken.keep_alive_);
        data_ = taken.data_;
        dtype_ = taken.dtype_;
        layout_ = taken.layout_;
        contiguous_ = taken.contiguous_;
        agent_ = taken.agent_;
        bound_.swap(taken.bound_);
        return *this;
    }

    const DType& dtype() const { return dtype_; }
    const Layout& layout() const { return layout_; }
    /// The device whose memory it is.
    AgentRef agent() const { return agent_; }
    /// Address of the first element, for the device; null where the array is empty.
    void* data() const { return data_; }
    /// The same, typed. Throws InvalidArgument if the elements are not T, and for an address that no T has.
    template <ArrayElement T>
    T* as() const {
        require_dtype("DeviceNDArray::as", dtype_of<T>());
        require_aligned("DeviceNDArray::as", alignof(T));
        return static_cast<T*>(data_);
    }
    /// What keeps the memory alive; give it to Stream::keep_alive after submitting work by address.
    const std::shared_ptr<const void>& keep_alive() const { return keep_alive_; }

    /// Another view of the memory, bound to the same stream.
    DeviceNDArray at(void* data, const DType& dtype, const Layout& layout) const {
        DeviceNDArray view(keep_alive_, data, dtype, layout, agent_);
        view.bound_ = bound_;
        return view;
    }

    /// A view whose operations happen on `stream` where they are given none. Does not keep the stream: when that is
    /// gone they throw InvalidArgument. As with any object, no thread may move or end it while another uses it, through
    /// the array either. Throws InvalidArgument for a stream of another device.
    DeviceNDArray bind(const Stream& stream) const;

    /// All elements, in the array's own order (columns for F, rows otherwise). Returns when they are there.
    template <ArrayElement T>
        requires(!std::same_as<T, bool>)  // std::vector<bool> has no bools; copy into an array of yours
    std::vector<T> copy_to_host(OnStream stream = {}, Deadline deadline = {}) const {
        require_dtype("DeviceNDArray::copy_to_host", dtype_of<T>());
        std::vector<T> host(static_cast<std::size_t>(size()));
        fill_host(host_view(host, shape(), layout_.resolved(Order::A)), stream, deadline);
        return host;
    }

    /// All elements in a new array, which has the same order (numba's copy_to_host without `ary`). On a stream the
    /// array is in pinned memory, and filled when the stream gets there; without one it is pageable, and filled.
    HostNDArray copy_to_host(OnStream stream = {}, Deadline deadline = {}) const;
    /// Into an array of equal shape and dtype, whose memory stays as long as it takes. Returns a view of it.
    HostNDArray copy_to_host(const HostNDArray& ary, OnStream stream = {}, Deadline deadline = {}) const;
    template <HasHostSide A>
    HostNDArray copy_to_host(const A& ary, OnStream stream = {}, Deadline deadline = {}) const {
        return copy_to_host(ary.host(), stream, deadline);
    }

    /// Into memory of yours, of equal shape and dtype, whatever its layout. Pageable memory is filled on return.
    /// Pinned and registered memory is filled when the stream gets there: synchronize first, and keep it valid until
    /// then.
    void copy_to_host(const MutableHostView& host, OnStream stream = {}, Deadline deadline = {}) const;
    /// Into a range of size() elements, in the array's own order; into arrays of arrays of the array's shape, by index.
    /// Returns the range; a temporary one as a value.
    template <HostRange R>
        requires(!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>)
    R copy_to_host(R&& range, OnStream stream = {}, Deadline deadline = {}) const {
        copy_to_host(own_order(host_view(range)), stream, deadline);
        return std::forward<R>(range);
    }

    /// From an array of equal shape and dtype, whose memory stays as long as it takes. What is in pinned memory is read
    /// when the stream gets there: leave its elements alone until then.
    void copy_to_device(const HostNDArray& ary, OnStream stream = {}, Deadline deadline = {});
    template <HasHostSide A>
    void copy_to_device(const A& ary, OnStream stream = {}, Deadline deadline = {}) {
        copy_to_device(ary.host(), stream, deadline);
    }
    /// From host memory of equal shape and dtype. Pageable memory may be reused on return; pinned and
    /// registered memory when the stream is done with it.
    void copy_to_device(const HostView& host, OnStream stream = {}, Deadline deadline = {});
    /// From a range of size() elements, in the array's own order; from arrays of arrays of the array's shape, by index.
    template <HostRange R>
    void copy_to_device(R&& range, OnStream stream = {}, Deadline deadline = {}) {
        copy_to_device(HostView(own_order(host_view(range))), stream, deadline);
    }
    /// From an array of equal shape and dtype on this or another device. The two may overlap: the result is as if
    /// the source had been copied first.
    void copy_to_device(const DeviceNDArray& source, OnStream stream = {}, Deadline deadline = {});

    /// One element, by its index; negative ones count from the end. Returns when it is there.
    template <ArrayElement T>
    T get(const Dims& index, OnStream stream = {}, Deadline deadline = {}) const {
        require_dtype("DeviceNDArray::get", dtype_of<T>());
        std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T> value;  // a byte of kernels may be neither 0 nor 1
        item(index).fill_host({&value, dtype_of<T>(), scalar<T>()}, stream, deadline);
        return static_cast<T>(value);
    }
    template <ArrayElement T>
    void set(const Dims& index, const T& value, OnStream stream = {}, Deadline deadline = {}) {
        detail::require_type_of_value("DeviceNDArray::set", dtype_, dtype_of<T>());
        detail::require_destination("DeviceNDArray::set", dtype_, layout_);
        item(index).copy_to_device(HostView{&value, dtype_of<T>(), scalar<T>()}, stream, deadline);
    }
    /// Every element.
    template <ArrayElement T>
    void fill(const T& value, OnStream stream = {}, Deadline deadline = {}) {
        detail::require_type_of_value("DeviceNDArray::fill", dtype_, dtype_of<T>());
        fill_with({&value, dtype_of<T>(), scalar<T>()}, stream, deadline);
    }

    /// As an argument of Kernel::launch: the address of the first element. Throws InvalidArgument for an array that is
    /// not contiguous, in C's order or in Fortran's: nd_span() is for those. The launch throws it for a kernel of
    /// another device that does not reach the memory.
    friend DevicePointer kernel_argument(const DeviceNDArray& array) {
        if (!array.contiguous_) [[unlikely]]
            detail::refuse_as_pointer(array.dtype_, array.layout_);
        return {array.data_, array.keep_alive_, array.agent_.native().handle};
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
    /// copy_to_host, and then it is there whatever the memory.
    void fill_host(const MutableHostView& host, OnStream stream, Deadline deadline) const;
    void fill_with(const HostView& value, OnStream stream, Deadline deadline);
    void take(const detail::TransferEnd& from, OnStream stream, Deadline deadline);
    void give(const detail::TransferEnd& to, OnStream stream, Deadline deadline) const;
    /// A range without a shape of its own as this array's, where it has as many elements. Any other stays as it is, and
    /// the transfer refuses a shape that differs.
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
    bool contiguous_;  ///< what a launch asks of the layout
    AgentRef agent_;
    std::shared_ptr<detail::StreamHandle> bound_;
};

/// Uninitialised memory on the stream's device, in an order or with strides in bytes, as form_of() has it: a dtype that
/// is a subarray adds its axes. Any stream may use it at once: work that was submitted before with arrays, transfers'
/// scratch memory included, writes to it no more. What kernels write by addresses of their own, the caller orders.
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
/// On `agent` (a Context converts to one), without a stream: memory of its own, not out of the pool.
DeviceNDArray device_array(const Dims& shape, const DType& dtype, const Arrangement& arrangement, AgentRef agent);

/// Uninitialised, with the other's dtype and shape; see form_like for the order. Without a stream, one like a
/// DeviceNDArray is on that one's device, one like anything else on the current Context's.
DeviceNDArray device_array_like(const DeviceNDArray& other, OnStream stream = {});
DeviceNDArray device_array_like(const HostView& other, OnStream stream = {});
inline DeviceNDArray device_array_like(const HostNDArray& other, OnStream stream = {}) {
    return device_array_like(HostView(other), stream);
}
template <HostRange R>
DeviceNDArray device_array_like(R&& other, OnStream stream = {}) {
    return device_array_like(HostView(host_view(other)), stream);
}

/// A new array on the stream's device with the contents of `obj`, C- or F-contiguous as device_array_like says.
/// `copy` false: only its memory. `to`: fills that array instead of a new one and returns a view of it. The
/// host memory is used as DeviceNDArray::copy_to_device says.
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

/// What the arrays of a GPU hold of its memory, in use or ready to be used again. Nothing is held when neither an
/// array of it nor a stream that arrays were used on is left.
struct ArrayMemory {
    std::size_t held_bytes = 0, used_bytes = 0;            ///< of the GPU's memory, scratch of transfers included
    std::size_t held_host_bytes = 0, used_host_bytes = 0;  ///< of pinned host memory, for its transfers
};
ArrayMemory array_memory(AgentRef gpu);
/// Gives back what no array uses, of both. Returns the bytes. The same happens when an array of any kind finds no
/// memory; before an Allocation of yours call it yourself.
std::size_t release_cached(AgentRef gpu);

}  // namespace hsadrv
