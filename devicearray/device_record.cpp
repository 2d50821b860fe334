#include "devicearray/device_record.hpp"

#include "hsadrv/error.hpp"

namespace hsadrv {

DeviceRecord::DeviceRecord(DeviceNDArray array) : array_(std::move(array)) {
    if (array_.rank() == 0 && array_.dtype().is_record()) return;
    throw InvalidArgument("DeviceRecord: expected one record, not " + array_.dtype().name() + " with " +
                          array_.layout().to_string() + (array_.dtype().is_record() ? "; give its index" : ""));
}

DeviceRecord::DeviceRecord(const DeviceNDArray& array, const Dims& index)
    : DeviceRecord(array.at(static_cast<std::byte*>(array.data()) + array.layout().offset_of(index), array.dtype(),
                            Layout::contiguous({}, array.itemsize()))) {}

DeviceRecord device_record(const DType& dtype, OnStream stream) {
    return DeviceRecord(device_array({}, dtype, Order::C, stream));
}

}  // namespace hsadrv
