#include "hsadrv/c/driver.h"

#include <algorithm>

#include "hsadrv/c/call.hpp"
#include "hsadrv/c/objects.hpp"
#include "hsadrv/c/structures.hpp"
#include "hsadrv/mem_pool.hpp"

using namespace hsadrv;
using namespace hsadrv::c;

namespace {

/// The driver's handle of a GPU, made at the first call.
hsadrv_device device_handle(DriverObject& driver, std::size_t index) {
    const std::lock_guard held(driver.mutex);
    driver.devices.resize(driver.driver.gpus().size());
    void*& handle = driver.devices[index];
    if (handle == nullptr)
        handle = HandleTable::process().put(HandleKind::device,
                                            std::make_shared<DeviceObject>(driver.driver, driver.driver.gpus()[index]));
    return static_cast<hsadrv_device>(handle);
}

void copy_dim(uint32_t (&to)[3], const Dim3& from) {
    to[0] = from.x;
    to[1] = from.y;
    to[2] = from.z;
}

hsadrv_device_facts facts_of(AgentRef agent) {
    hsadrv_device_facts facts{};
    facts.native_agent = agent.native().handle;
    facts.memory_bytes = device_pool(agent).size_bytes();
    facts.memory_free_bytes = agent.memory_available_bytes().value_or(0);
    facts.compute_units = agent.compute_units();
    facts.wavefront_size = agent.wavefront_size();
    facts.workgroup_max = agent.workgroup_max_workitems();
    copy_dim(facts.workgroup_max_dim, agent.workgroup_max_dim());
    copy_dim(facts.grid_max_dim, agent.grid_max_dim());
    facts.lds_bytes = static_cast<uint32_t>(agent.group_segment_max_bytes());
    facts.max_clock_mhz = agent.max_clock_mhz();
    copy_text(facts.name, agent.name());
    copy_text(facts.product_name, agent.product_name());
    copy_text(facts.uuid, agent.uuid());
    copy_text(facts.pci_address, agent.pci_address().text());
    const auto isas = agent.isas();
    if (!isas.empty()) copy_text(facts.isa, isas.front().name);
    return facts;
}

}  // namespace

hsadrv_result hsadrv_driver_create(hsadrv_driver* driver) noexcept {
    return call("hsadrv_driver_create", [&](const char* name) {
        output(name, "driver", driver) = nullptr;
        *driver = handle_of<hsadrv_driver>(std::make_shared<DriverObject>());
    });
}

hsadrv_result hsadrv_driver_destroy(hsadrv_driver driver) noexcept {
    return call("hsadrv_driver_destroy", [&](const char* name) {
        const auto taken = take_object<DriverObject>(name, "driver", driver);
        const std::lock_guard held(taken->mutex);
        for (void* device : taken->devices) HandleTable::process().take(device, HandleKind::device);
    });
}

hsadrv_result hsadrv_driver_device_count(hsadrv_driver driver, size_t* count) noexcept {
    return call("hsadrv_driver_device_count", [&](const char* name) {
        output(name, "count", count) = 0;
        *count = object<DriverObject>(name, "driver", driver)->driver.gpus().size();
    });
}

hsadrv_result hsadrv_driver_device(hsadrv_driver driver, size_t index, hsadrv_device* device) noexcept {
    return call("hsadrv_driver_device", [&](const char* name) {
        output(name, "device", device) = nullptr;
        const auto found = object<DriverObject>(name, "driver", driver);
        const std::size_t count = found->driver.gpus().size();
        if (index >= count) {
            throw InvalidArgument(std::string(name) + ": there is no GPU " + std::to_string(index) + ", but " +
                                  std::to_string(count) + ", numbered from 0");
        }
        *device = device_handle(*found, index);
    });
}

hsadrv_result hsadrv_driver_find_device(hsadrv_driver driver, const char* text, hsadrv_device* device) noexcept {
    return call("hsadrv_driver_find_device", [&](const char* name) {
        output(name, "device", device) = nullptr;
        const auto found = object<DriverObject>(name, "driver", driver);
        const AgentRef agent = found->driver.gpu(required(name, "text", text));
        const auto& gpus = found->driver.gpus();
        *device =
            device_handle(*found, static_cast<std::size_t>(std::find(gpus.begin(), gpus.end(), agent) - gpus.begin()));
    });
}

hsadrv_result hsadrv_device_info(hsadrv_device device, hsadrv_device_facts* facts) noexcept {
    return call("hsadrv_device_info", [&](const char* name) {
        check_size(name, "facts", required(name, "facts", facts)->struct_size, sizeof *facts);
        write_structure(facts, facts_of(object<DeviceObject>(name, "device", device)->agent));
    });
}
