#include "devicearray/mapped_ndarray.hpp"

#include "hsadrv/error.hpp"
#include "hsadrv/memory.hpp"

namespace hsadrv {

MappedNDArray::MappedNDArray(const HostNDArray& host, void* device_data, AgentRef agent)
    : host_(host), device_data_(device_data), agent_(agent) {
    if (!device_data && host.size() > 0) {
        throw InvalidArgument("MappedNDArray: " + host.dtype().name() + " with " + host.layout().to_string() +
                              " has elements, but its address for " + agent.label() + " is null");
    }
}

MappedNDArray MappedNDArray::at(const void* data, const DType& dtype, const Layout& layout) const {
    auto* const device = static_cast<char*>(device_data_);
    if (!data || !device) return {host_.at(data, dtype, layout), device, agent_};
    const auto moved = static_cast<const char*>(data) - static_cast<const char*>(host_.data());
    return {host_.at(data, dtype, layout), device + moved, agent_};
}

DeviceNDArray MappedNDArray::device(AgentRef other) const {
    if (other == agent_ || size() == 0) return DeviceNDArray(keep_alive(), device_data_, dtype(), layout(), other);
    const PointerInfo info = pointer_info(data());
    if (!info.accessible_by(other)) {
        throw InvalidArgument("MappedNDArray::device(" + other.label() + "): the memory is mapped for " +
                              agent_.label() + "; to map it for all GPUs, create it with {.portable = true}");
    }
    return DeviceNDArray(keep_alive(), info.agent_address(data()), dtype(), layout(), other);
}

}  // namespace hsadrv
