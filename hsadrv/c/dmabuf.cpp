#include "hsadrv/dmabuf.hpp"

#include "hsadrv/c/call.hpp"
#include "hsadrv/c/dmabuf.h"
#include "hsadrv/c/objects.hpp"

using namespace hsadrv;
using namespace hsadrv::c;

hsadrv_result hsadrv_memory_export_dmabuf(hsadrv_memory memory, size_t offset_bytes, size_t size_bytes, int* descriptor,
                                          uint64_t* dmabuf_offset_bytes) noexcept {
    return call("hsadrv_memory_export_dmabuf", [&](const char* name) {
        output(name, "descriptor", descriptor) = -1;
        output(name, "dmabuf_offset_bytes", dmabuf_offset_bytes) = 0;
        const auto held = object<MemoryObject>(name, "memory", memory);
        DmaBuf exported = DmaBuf::of(range_of(name, *held, offset_bytes, size_bytes), size_bytes);
        *dmabuf_offset_bytes = exported.offset_bytes();
        *descriptor = exported.release();
    });
}

hsadrv_result hsadrv_memory_import_dmabuf(const hsadrv_device* devices, size_t device_count, int descriptor,
                                          hsadrv_memory* memory) noexcept {
    return call("hsadrv_memory_import_dmabuf", [&](const char* name) {
        output(name, "memory", memory) = nullptr;
        const auto gpus = gpus_of(name, devices, device_count);
        DmaBufMemory imported = DmaBufMemory::import(descriptor, gpus);
        const std::size_t size_bytes = imported.size_bytes();
        *memory = memory_handle(std::move(imported), size_bytes, checked_agent(gpus));
    });
}
