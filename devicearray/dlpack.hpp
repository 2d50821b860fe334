// Arrays exchanged with other libraries as DLPack tensors, in both directions, without a copy.
//
//     DlpackTensor tensor = to_dlpack(d_a, stream, &theirs);     // `theirs` waits for `stream`, on the device
//     DLManagedTensor* raw = tensor.release();                   // the consumer calls its deleter, once
//     auto d_b = std::get<DeviceNDArray>(from_dlpack(other));    // calls the deleter when the last view is gone
//
// Ownership: an exported tensor holds a share of the array's memory until its deleter is called, from any thread; the
// consumer calls it when its work with the memory is complete. An imported one belongs to the array and all its views
// and to what streams do with them; its deleter is called once, on whichever thread drops the last of them. Where
// from_dlpack(pointer) throws, the caller keeps the tensor; but see DlpackVersionMismatch.
// Ordering: DLPack leaves it to the producer, who is told the consumer's stream. So export with the producer's and the
// consumer's stream; and when importing, give the other library the stream that will use the array (Python's
// __dlpack__(stream=…)): from_dlpack itself has nothing to wait for, and takes none; bind() the array as you like.
// Device numbers are those of Driver::gpus(). Host memory is kDLROCMHost where it is pinned or registered, else kDLCPU.
// Read-only: only the versioned tensor can say so. Arrays that are, and arrays whose elements share memory (broadcast
// ones), are exported as versioned tensors alone. A read-only tensor becomes a read-only HostNDArray. A DeviceNDArray
// cannot refuse to be written to, so the importer has to promise that nobody will, by DlpackAccess::read_only.
// Nothing of dlpack.h is needed here; without it, or without the versioned struct in it, when the library was built,
// the functions throw NotOffered. Thread safety: functions. Errors: InvalidArgument, naming what of the tensor or array
// it is about, and NotOffered. Source: dlpack.h of DLPack 0.6 to 1.x; the array API standard's "Data interchange".
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

/// Was the library built with dlpack.h, and with one that has the versioned struct (1.0 and later)?
bool dlpack_offered() noexcept;
bool dlpack_versioned_offered() noexcept;

/// Calls the tensor's deleter, if it has one.
struct DlpackDeleter {
    void operator()(DLManagedTensor* tensor) const noexcept;
    void operator()(DLManagedTensorVersioned* tensor) const noexcept;
};
using DlpackTensor = std::unique_ptr<DLManagedTensor, DlpackDeleter>;
using DlpackTensorVersioned = std::unique_ptr<DLManagedTensorVersioned, DlpackDeleter>;

/// Either kind of array; both convert to it.
using DlpackArray = std::variant<DeviceNDArray, HostNDArray>;

enum class DlpackAccess : bool { read_write, read_only };

/// A tensor of another major version, of which only the deleter is where it was. As DLPack demands, it has been called:
/// the tensor is gone.
class DlpackVersionMismatch : public InvalidArgument {
  public:
    explicit DlpackVersionMismatch(const std::string& message) : InvalidArgument(message) {}
};

/// The caller has seen to it that the consumer's work comes after all that writes the array. Throws InvalidArgument for
/// types that DLPack has no code for (records), for strides that are no multiples of the item size, for memory of no
/// GPU of the driver, and for what is to be read only.
DlpackTensor to_dlpack(const DlpackArray& array);
/// What is submitted to `consumer` from now on comes after what `producer` holds now: it waits on the device, and
/// nobody else does. Null is a stream that nobody here knows (another library's): the call returns when `producer` is
/// done. Throws Timeout and what the streams throw, too.
DlpackTensor to_dlpack(const DlpackArray& array, Stream& producer, Stream* consumer, Deadline deadline = {});

/// The same as versioned tensors; `access` read_only: flagged so, as those arrays are that can only be read.
DlpackTensorVersioned to_dlpack_versioned(const DlpackArray& array, DlpackAccess access = DlpackAccess::read_write);
DlpackTensorVersioned to_dlpack_versioned(const DlpackArray& array, Stream& producer, Stream* consumer,
                                          DlpackAccess access = DlpackAccess::read_write, Deadline deadline = {});

/// A DeviceNDArray of a kDLROCM tensor, a HostNDArray of a kDLCPU or kDLROCMHost one. Lanes become a last axis. Throws
/// InvalidArgument for other devices, for memory that is not where the tensor says or too small, for null or misaligned
/// data, for more than eight axes, for negative extents and those that overflow, and for types that no array here has.
/// `access` read_only: the caller only reads.
DlpackArray from_dlpack(DLManagedTensor* tensor, DlpackAccess access = DlpackAccess::read_write);
/// The same; throws for a read-only tensor in device memory unless `access` is read_only; DlpackVersionMismatch.
DlpackArray from_dlpack(DLManagedTensorVersioned* tensor, DlpackAccess access = DlpackAccess::read_write);
/// Where these throw, the tensor is deleted.
DlpackArray from_dlpack(DlpackTensor tensor, DlpackAccess access = DlpackAccess::read_write);
DlpackArray from_dlpack(DlpackTensorVersioned tensor, DlpackAccess access = DlpackAccess::read_write);

}  // namespace hsadrv
