#include "hsadrv/virtual_memory.hpp"

#include "hsadrv/c/call.hpp"
#include "hsadrv/c/objects.hpp"
#include "hsadrv/c/virtual_memory.h"

using namespace hsadrv;
using namespace hsadrv::c;

hsadrv_result hsadrv_physical_memory_granule(hsadrv_device device, uint32_t kind, size_t* granule_bytes) noexcept {
    return call("hsadrv_physical_memory_granule", [&](const char* name) {
        output(name, "granule_bytes", granule_bytes) = 0;
        const auto gpu = object<DeviceObject>(name, "device", device);
        *granule_bytes = pool_of(name, gpu->agent, kind).alloc_recommended_granule_bytes();
    });
}

hsadrv_result hsadrv_physical_memory_create(hsadrv_device device, uint32_t kind, size_t size_bytes,
                                            hsadrv_physical_memory* physical) noexcept {
    return call("hsadrv_physical_memory_create", [&](const char* name) {
        output(name, "physical", physical) = nullptr;
        const auto gpu = object<DeviceObject>(name, "device", device);
        PhysicalMemory made = PhysicalMemory::create(pool_of(name, gpu->agent, kind), size_bytes);
        *physical = handle_of<hsadrv_physical_memory>(std::make_shared<PhysicalMemoryObject>(std::move(made)));
    });
}

hsadrv_result hsadrv_physical_memory_share(hsadrv_physical_memory physical, int* descriptor) noexcept {
    return call("hsadrv_physical_memory_share", [&](const char* name) {
        output(name, "descriptor", descriptor) = -1;
        *descriptor = object<PhysicalMemoryObject>(name, "physical", physical)->memory.share();
    });
}

hsadrv_result hsadrv_physical_memory_import(hsadrv_driver driver, int descriptor, size_t size_bytes,
                                            hsadrv_physical_memory* physical) noexcept {
    return call("hsadrv_physical_memory_import", [&](const char* name) {
        output(name, "physical", physical) = nullptr;
        const auto held = object<DriverObject>(name, "driver", driver);
        PhysicalMemory made = PhysicalMemory::import(descriptor, size_bytes);
        *physical = handle_of<hsadrv_physical_memory>(std::make_shared<PhysicalMemoryObject>(std::move(made)));
    });
}

hsadrv_result hsadrv_physical_memory_destroy(hsadrv_physical_memory physical) noexcept {
    return call("hsadrv_physical_memory_destroy",
                [&](const char* name) { take_object<PhysicalMemoryObject>(name, "physical", physical).reset(); });
}

hsadrv_result hsadrv_virtual_range_create(hsadrv_driver driver, size_t size_bytes,
                                          hsadrv_virtual_range* range) noexcept {
    return call("hsadrv_virtual_range_create", [&](const char* name) {
        output(name, "range", range) = nullptr;
        const auto held = object<DriverObject>(name, "driver", driver);
        auto made = std::make_shared<VirtualRangeObject>(VirtualRange::reserve(size_bytes));
        *range = handle_of<hsadrv_virtual_range>(std::move(made));
    });
}

hsadrv_result hsadrv_virtual_range_address(hsadrv_virtual_range range, void** address) noexcept {
    return call("hsadrv_virtual_range_address", [&](const char* name) {
        output(name, "address", address) = nullptr;
        *address = object<VirtualRangeObject>(name, "range", range)->range.data();
    });
}

hsadrv_result hsadrv_virtual_range_map(hsadrv_virtual_range range, size_t offset_bytes, hsadrv_physical_memory physical,
                                       const hsadrv_device* devices, size_t device_count,
                                       hsadrv_memory* memory) noexcept {
    return call("hsadrv_virtual_range_map", [&](const char* name) {
        output(name, "memory", memory) = nullptr;
        const auto addresses = object<VirtualRangeObject>(name, "range", range);
        const auto part = object<PhysicalMemoryObject>(name, "physical", physical);
        const auto gpus = gpus_of(name, devices, device_count);
        VirtualMapping mapping = addresses->range.map(offset_bytes, part->memory, gpus);
        *memory = memory_handle(std::move(mapping), part->memory.size_bytes(), checked_agent(gpus));
    });
}

hsadrv_result hsadrv_virtual_range_destroy(hsadrv_virtual_range range) noexcept {
    return call("hsadrv_virtual_range_destroy",
                [&](const char* name) { take_object<VirtualRangeObject>(name, "range", range).reset(); });
}
