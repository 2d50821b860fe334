// Arrays exchanged with other libraries as DLPack tensors, in both directions, without a copy.
//
//     DlpackTensor tensor = to_dlpack(d_a, stream, &theirs);     // `theirs` waits for `stream`, on the device
//     DLManagedTensor* raw = tensor.release();                   // the consumer calls its deleter, once
//     auto d_b = std::get<DeviceNDArray>(from_dlpack(other));    // calls the deleter with the last view
//
// Ownership: an exported tensor keeps the array's memory until its deleter is called, from any thread; the consumer
// calls it when its work with the memory is complete. An imported tensor is owned by the array, its views and the
// streams that use them; its deleter is called once, on the thread that drops the last of them. If from_dlpack(pointer)
// throws, the caller still owns the tensor, except for DlpackVersionMismatch.
// Ordering: in DLPack the producer orders the work, given the consumer's stream. When exporting, pass the producer's
// and the consumer's stream. When importing, give the other library the stream that will use the array (Python's
// __dlpack__(stream=…)): from_dlpack itself waits for nothing and takes no stream; bind() the array afterwards if
// needed. Device numbers are indices into Driver::gpus(). Host memory is kDLROCMHost if it is pinned or registered,
// else kDLCPU.
// Read-only: only a versioned tensor has such a flag. Read-only arrays, and arrays whose elements share memory
// (broadcast ones), are exported as versioned tensors only. A read-only tensor becomes a read-only HostNDArray. A
// DeviceNDArray cannot refuse writes, so the importer must promise not to write, by DlpackAccess::read_only.
// This header does not need dlpack.h. If the library was built without it, or without its versioned struct, the
// functions throw NotOffered. Thread safety: free functions without state. Errors: InvalidArgument, naming the part of
// the tensor or array concerned, and NotOffered. Source: dlpack.h of DLPack 0.6 to 1.x; the array API standard's "Data
// interchange".
#pragma once

#include <memory>
#include <variant>

#include "devicearray/device_ndarray.hpp"
#include "devicearray/host_ndarray.hpp"
#include "hsadrv/deadline.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/stream.hpp"

struct DLManagedTensor;
struct DLManagedTensorVersioned;

namespace hsadrv {

/// True if the library was built with dlpack.h, and with its versioned struct (1.0 and later).
bool dlpack_offered() noexcept;
bool dlpack_versioned_offered() noexcept;

/// Calls the tensor's deleter, if it has one.
struct DlpackDeleter {
    void operator()(DLManagedTensor* tensor) const noexcept;
    void operator()(DLManagedTensorVersioned* tensor) const noexcept;
};
using DlpackTensor = std::unique_ptr<DLManagedTensor, DlpackDeleter>;
using DlpackTensorVersioned = std::unique_ptr<DLManagedTensorVersioned, DlpackDeleter>;

/// Either kind of array; both convert to this.
using DlpackArray = std::variant<DeviceNDArray, HostNDArray>;

enum class DlpackAccess : bool { read_write, read_only };

/// The tensor has another major version, of which only the deleter can be used. As DLPack requires, it has been called:
/// the tensor no longer exists.
class DlpackVersionMismatch : public InvalidArgument {
  public:
    explicit DlpackVersionMismatch(const std::string& message) : InvalidArgument(message) {}
};

/// The caller has ordered the consumer's work after all writes to the array. Throws InvalidArgument for types without a
/// DLPack code (records), strides that are not multiples of the item size, memory of a GPU outside the driver, and
/// read-only arrays.
DlpackTensor to_dlpack(const DlpackArray& array);
/// Work submitted to `consumer` after this call is ordered after `producer`'s current work; the wait is on the device.
/// A null consumer means a stream of another library: the call returns when `producer` has completed its work. Throws
/// Timeout and the streams' errors as well.
DlpackTensor to_dlpack(const DlpackArray& array, Stream& producer, Stream* consumer, Deadline deadline = {});

/// The same as versioned tensors. `access` read_only sets the read-only flag; read-only arrays always have it.
DlpackTensorVersioned to_dlpack_versioned(const DlpackArray& array, DlpackAccess access = DlpackAccess::read_write);
DlpackTensorVersioned to_dlpack_versioned(const DlpackArray& array, Stream& producer, Stream* consumer,
                                          DlpackAccess access = DlpackAccess::read_write, Deadline deadline = {});

/// A kDLROCM tensor becomes a DeviceNDArray, a kDLCPU or kDLROCMHost one a HostNDArray. Lanes become a last axis.
/// Throws InvalidArgument for other devices, memory that is too small or not of the stated device, null or misaligned
/// data, more than 64 axes, extents that are negative or overflow, and unsupported types. `access` read_only: the
/// caller promises only to read.
DlpackArray from_dlpack(DLManagedTensor* tensor, DlpackAccess access = DlpackAccess::read_write);
/// The same. Throws for a read-only tensor in device memory unless `access` is read_only; DlpackVersionMismatch.
DlpackArray from_dlpack(DLManagedTensorVersioned* tensor, DlpackAccess access = DlpackAccess::read_write);
/// If these throw, the tensor is deleted.
DlpackArray from_dlpack(DlpackTensor tensor, DlpackAccess access = DlpackAccess::read_write);
DlpackArray from_dlpack(DlpackTensorVersioned tensor, DlpackAccess access = DlpackAccess::read_write);

}  // namespace hsadrv
