#include "hsadrv/c/objects.hpp"

#include <algorithm>

#include "hsadrv/base/text.hpp"
#include "hsadrv/c/call.hpp"
#include "hsadrv/c_interop.hpp"

namespace hsadrv::c {

void refuse_handle(const char* call, const char* name, const void* handle, HandleKind wanted) {
    const std::string text = std::string(call) + ": '" + name + "' ";
    if (handle == nullptr) throw InvalidHandle(text + "is null; it must be " + kind_text(wanted));
    const HandleKind kind = HandleTable::process().kind_of(handle);
    const std::string given = detail::hex(handle);
    if (kind == wanted) throw InvalidHandle(text + "is " + given + ": " + kind_text(kind) + " that was destroyed");
    if (kind == HandleKind::none)
        throw InvalidHandle(text + "is " + given + ", which is no handle; it must be " + kind_text(wanted));
    throw InvalidHandle(text + "is " + given + ": " + kind_text(kind) + ", not " + kind_text(wanted));
}

std::shared_ptr<Stream> stream_of(const char* call, hsadrv_stream stream) {
    auto found = object<StreamObject>(call, "stream", stream);
    Stream* const inside = &found->stream;
    return {std::move(found), inside};
}

AgentRef device_of(const char* call, hsadrv_device device) {
    return object<DeviceObject>(call, "device", device)->agent;
}

MemoryOf memory_of(const char* call, const char* name, hsadrv_memory memory) {
    auto found = object<MemoryObject>(call, name, memory);
    return {found->data, found->size_bytes, std::move(found)};
}

hsadrv_memory new_memory(void* data, std::size_t size_bytes, AgentRef gpu, std::shared_ptr<const void> owner) {
    const std::uint64_t agent = gpu ? gpu.native().handle : 0;
    return handle_of<hsadrv_memory>(std::make_shared<MemoryObject>(data, size_bytes, agent, std::move(owner)));
}

std::vector<AgentRef> gpus_of(const char* call, const hsadrv_device* devices, std::size_t count) {
    constexpr std::size_t most = 1024;  // no machine has as many
    if (count == 0 || count > most)
        throw InvalidArgument(std::string(call) + ": a list of " + std::to_string(count) +
                              " devices; it needs one at least");
    required(call, "devices", devices);
    std::vector<AgentRef> gpus;
    for (std::size_t i = 0; i < count; ++i) {
        const std::string name = "devices[" + std::to_string(i) + "]";
        const AgentRef gpu = object<DeviceObject>(call, name.c_str(), devices[i])->agent;
        if (std::find(gpus.begin(), gpus.end(), gpu) != gpus.end())
            throw InvalidArgument(std::string(call) + ": '" + name + "', " + gpu.label() + ", is given twice");
        gpus.push_back(gpu);
    }
    return gpus;
}

std::byte* range_of(const char* call, const MemoryObject& memory, std::size_t offset_bytes, std::size_t size_bytes) {
    if (size_bytes == 0 || offset_bytes > memory.size_bytes || size_bytes > memory.size_bytes - offset_bytes)
        throw InvalidArgument(std::string(call) + ": " + std::to_string(size_bytes) + " B at " +
                              std::to_string(offset_bytes) + " of memory of " + std::to_string(memory.size_bytes) +
                              " B; the range must be within it, and not empty");
    return static_cast<std::byte*>(memory.data) + offset_bytes;
}

}  // namespace hsadrv::c
