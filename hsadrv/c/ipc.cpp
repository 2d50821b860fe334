#include "hsadrv/ipc.hpp"

#include <bit>

#include "hsadrv/c/call.hpp"
#include "hsadrv/c/ipc.h"
#include "hsadrv/c/objects.hpp"

using namespace hsadrv;
using namespace hsadrv::c;

hsadrv_result hsadrv_memory_export_ipc(hsadrv_memory memory, size_t offset_bytes, size_t size_bytes,
                                       hsadrv_ipc_memory* exported) noexcept {
    return call("hsadrv_memory_export_ipc", [&](const char* name) {
        output(name, "exported", exported) = {};
        const auto held = object<MemoryObject>(name, "memory", memory);
        const void* const first = range_of(name, *held, offset_bytes, size_bytes);
        *exported = std::bit_cast<hsadrv_ipc_memory>(ipc_handle(first, size_bytes));
    });
}

hsadrv_result hsadrv_memory_attach_ipc(const hsadrv_device* devices, size_t device_count,
                                       const hsadrv_ipc_memory* exported, hsadrv_memory* memory) noexcept {
    return call("hsadrv_memory_attach_ipc", [&](const char* name) {
        output(name, "memory", memory) = nullptr;
        const auto gpus = gpus_of(name, devices, device_count);
        const auto handle = std::bit_cast<IpcMemoryHandle>(*required(name, "exported", exported));
        IpcMemory attached = IpcMemory::attach(handle, gpus);
        const std::size_t size_bytes = attached.size_bytes();
        *memory = memory_handle(std::move(attached), size_bytes, checked_agent(gpus));
    });
}

hsadrv_result hsadrv_signal_export_ipc(hsadrv_signal signal, hsadrv_ipc_signal* exported) noexcept {
    return call("hsadrv_signal_export_ipc", [&](const char* name) {
        output(name, "exported", exported) = {};
        const auto held = object<SignalObject>(name, "signal", signal);
        *exported = std::bit_cast<hsadrv_ipc_signal>(ipc_handle(held->signal));
    });
}

hsadrv_result hsadrv_signal_attach_ipc(hsadrv_driver driver, const hsadrv_ipc_signal* exported,
                                       hsadrv_signal* signal) noexcept {
    return call("hsadrv_signal_attach_ipc", [&](const char* name) {
        output(name, "signal", signal) = nullptr;
        const auto held = object<DriverObject>(name, "driver", driver);
        const auto handle = std::bit_cast<IpcSignalHandle>(*required(name, "exported", exported));
        *signal = handle_of<hsadrv_signal>(std::make_shared<SignalObject>(attach_ipc_signal(handle)));
    });
}
