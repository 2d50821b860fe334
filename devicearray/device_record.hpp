// One record in a GPU's memory: a structured scalar, with its fields as arrays.
//
//     struct Particle { float position[3]; double mass; };  HSADRV_RECORD(Particle, position, mass);
//     DeviceRecord d_p = to_device(Particle{{1, 2, 3}, 0.5}, stream);
//     d_p.field("position");                                       // a DeviceNDArray of shape (3,)
//     d_p.get<double>("mass", stream);  d_p.copy_to_host<Particle>(stream);
//     DeviceRecord last(d_particles, {-1});                        // of an array of records: a view
//
// Ownership, ordering, thread safety and errors: as of DeviceNDArray.
#pragma once

#include <string_view>
#include <type_traits>

#include "devicearray/device_ndarray.hpp"
#include "devicearray/dtype.hpp"
#include "devicearray/host_view.hpp"
#include "devicearray/on_stream.hpp"

namespace hsadrv {

/// A struct that is a record: HSADRV_RECORD of record.hpp makes it one.
template <class T>
concept ArrayRecord = ArrayElement<T> && DTypeOf<std::remove_cv_t<T>>::value.is_record();

class DeviceRecord {
  public:
    /// The record in an array of rank 0. Throws InvalidArgument for another rank or type.
    explicit DeviceRecord(DeviceNDArray array);
    /// The record at `index` in an array of records; negative indices count from the end.
    DeviceRecord(const DeviceNDArray& array, const Dims& index);

    DeviceRecord(const DeviceRecord&) = default;
    DeviceRecord(DeviceRecord&&) = default;
    /// Not assignable to a temporary: `r.record(…) = b` would change nothing; use r.record(…).copy_to_device(b).
    DeviceRecord& operator=(const DeviceRecord&) & = default;
    DeviceRecord& operator=(DeviceRecord&&) & = default;

    const DType& dtype() const { return array_.dtype(); }
    AgentRef agent() const { return array_.agent(); }
    void* data() const { return array_.data(); }
    const std::shared_ptr<const void>& keep_alive() const { return array_.keep_alive(); }
    /// As an array of rank 0: a view.
    const DeviceNDArray& array() const { return array_; }
    DeviceRecord bind(const Stream& stream) const { return DeviceRecord(array_.bind(stream)); }

    /// A view of a field: of rank 0, or of the subarray's shape.
    DeviceNDArray field(std::string_view name) const { return array_.field(name); }
    /// A view of a field that is itself a record.
    DeviceRecord record(std::string_view name) const { return DeviceRecord(array_.field(name)); }
    /// The value of a scalar field. Returns when it has arrived.
    template <ArrayElement T>
    T get(std::string_view name, OnStream stream = {}, Deadline deadline = {}) const {
        return field(name).get<T>({}, stream, deadline);
    }
    template <ArrayElement T>
    void set(std::string_view name, const T& value, OnStream stream = {}, Deadline deadline = {}) {
        field(name).set({}, value, stream, deadline);
    }

    /// The whole record. Returns when it has arrived.
    template <ArrayRecord T>
    T copy_to_host(OnStream stream = {}, Deadline deadline = {}) const {
        return array_.get<T>({}, stream, deadline);
    }
    HostNDArray copy_to_host(OnStream stream = {}, Deadline deadline = {}) const {
        return array_.copy_to_host(stream, deadline);
    }
    /// Into an array of rank 0, whose memory is kept alive until the copy is complete. Returns a view of it.
    HostNDArray copy_to_host(const HostNDArray& ary, OnStream stream = {}, Deadline deadline = {}) const {
        return array_.copy_to_host(ary, stream, deadline);
    }
    template <HasHostSide A>
    HostNDArray copy_to_host(const A& ary, OnStream stream = {}, Deadline deadline = {}) const {
        return array_.copy_to_host(ary, stream, deadline);
    }
    void copy_to_host(const MutableHostView& host, OnStream stream = {}, Deadline deadline = {}) const {
        array_.copy_to_host(host, stream, deadline);
    }
    template <ArrayRecord T>
    void copy_to_device(const T& record, OnStream stream = {}, Deadline deadline = {}) {
        array_.set({}, record, stream, deadline);
    }
    /// From an array of rank 0, whose memory is kept alive until the copy is complete.
    void copy_to_device(const HostNDArray& ary, OnStream stream = {}, Deadline deadline = {}) {
        array_.copy_to_device(ary, stream, deadline);
    }
    template <HasHostSide A>
    void copy_to_device(const A& ary, OnStream stream = {}, Deadline deadline = {}) {
        array_.copy_to_device(ary, stream, deadline);
    }
    void copy_to_device(const HostView& host, OnStream stream = {}, Deadline deadline = {}) {
        array_.copy_to_device(host, stream, deadline);
    }
    void copy_to_device(const DeviceRecord& source, OnStream stream = {}, Deadline deadline = {}) {
        array_.copy_to_device(source.array_, stream, deadline);
    }

    /// As an argument of Kernel::launch: its address.
    friend DevicePointer kernel_argument(const DeviceRecord& record) { return kernel_argument(record.array_); }

  private:
    DeviceNDArray array_;
};

/// Uninitialised memory for one record. Throws InvalidArgument for another type.
DeviceRecord device_record(const DType& dtype, OnStream stream = {});

/// A new record with that content; or `to`, filled.
template <ArrayRecord T>
DeviceRecord to_device(const T& record, OnStream stream = {}, bool copy = true, DeviceRecord* to = nullptr,
                       Deadline deadline = {}) {
    DeviceRecord made = to ? *to : device_record(dtype_of<T>(), stream);
    if (copy) made.copy_to_device(record, stream, deadline);
    return made;
}

}  // namespace hsadrv
