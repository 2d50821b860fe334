#include "devicearray/array_device.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "hsadrv/mem_pool.hpp"

namespace hsadrv::detail {
namespace {

struct Known {
    std::mutex mutex;
    std::vector<std::pair<AgentRef, std::weak_ptr<ArrayDevice>>> gpus;
};

// Never destroyed: arrays in static storage may be created and destroyed at any time.
Known& known() {
    static auto* known = new Known;
    return *known;
}

std::shared_ptr<ArrayDevice> find_in(const Known& known, AgentRef gpu) {
    for (const auto& [agent, device] : known.gpus) {
        if (agent != gpu) continue;
        if (auto found = device.lock()) return found;
    }
    return nullptr;
}

std::vector<std::shared_ptr<ArrayDevice>> all_devices() {
    Known& all = known();
    const std::lock_guard held(all.mutex);
    std::vector<std::shared_ptr<ArrayDevice>> devices;
    for (const auto& entry : all.gpus) {
        if (auto device = entry.second.lock()) devices.push_back(std::move(device));
    }
    return devices;
}

}  // namespace

std::shared_ptr<ArrayDevice> ArrayDevice::find(AgentRef gpu) {
    Known& all = known();
    const std::lock_guard held(all.mutex);
    return find_in(all, gpu);
}

std::shared_ptr<ArrayDevice> ArrayDevice::of(Stream& stream) {
    Known& all = known();
    std::unique_lock held(all.mutex);
    std::shared_ptr<ArrayDevice> device = find_in(all, stream.agent());
    if (!device) {
        device = std::make_shared<ArrayDevice>(stream.agent());
        std::erase_if(all.gpus, [](const auto& entry) { return entry.second.expired(); });
        all.gpus.emplace_back(stream.agent(), device);
    }
    held.unlock();
    stream.attach(device);
    return device;
}

ArrayDevice::ArrayDevice(AgentRef gpu)
    : gpu_(gpu),
      memory_(device_pool(gpu)),
      host_memory_(host_pool(HostMemory::fine_grained)),
      scratch_(device_pool(gpu)) {}

Block ArrayDevice::array_block(std::size_t bytes, const Stream& stream) {
    return given_back([&] { return memory_.allocate(bytes, stream); });
}

Block ArrayDevice::host_block(std::size_t bytes, const Stream& stream) {
    return given_back([&] { return host_memory_.allocate(bytes, stream); });
}

Block ArrayDevice::scratch_block(std::size_t bytes, const Stream& stream) {
    return given_back([&] { return scratch_.allocate(bytes, stream); });
}

ArrayMemory ArrayDevice::statistics() const {
    const Allocator::Statistics memory = memory_.statistics(), scratch = scratch_.statistics(),
                                host = host_memory_.statistics();
    return {memory.held_bytes + scratch.held_bytes, memory.used_bytes + scratch.used_bytes, host.held_bytes,
            host.used_bytes};
}

std::size_t ArrayDevice::release_cached() {
    return memory_.release_cached() + host_memory_.release_cached() + scratch_.release_cached();
}

std::size_t ArrayDevice::release_all() {
    std::size_t bytes = 0;
    for (const auto& device : all_devices()) bytes += device->release_cached();
    return bytes;
}

bool ArrayDevice::scratch_in_flight() {
    const auto devices = all_devices();
    return std::any_of(devices.begin(), devices.end(),
                       [](const auto& device) { return device->scratch_.statistics().cached_bytes > 0; });
}

const CopyKernels& ArrayDevice::kernels() {
    const std::lock_guard held(mutex_);
    if (!kernels_) kernels_.emplace(gpu_);
    return *kernels_;
}

}  // namespace hsadrv::detail
