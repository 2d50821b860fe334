#include "devicearray/registered_arrays.hpp"

#include <exception>
#include <memory>

#include "hsadrv/error.hpp"

namespace hsadrv {
namespace {

/// The memory range that an array's elements span.
std::span<std::byte> extent_of(const HostNDArray& array) {
    const ByteRange extent = array.layout().extent();
    auto* const first = static_cast<std::byte*>(const_cast<void*>(array.data()));  // only locked, not written
    return {first ? first + extent.begin : nullptr, static_cast<std::size_t>(extent.size_bytes())};
}

/// The first element's address for agents.
void* first_at_agents(const HostNDArray& array, const Registration& registration) noexcept {
    if (!registration) return nullptr;
    return static_cast<std::byte*>(registration.device_address()) - array.layout().extent().begin;
}

Registration locked(const HostNDArray& array, std::span<const AgentRef> gpus, HostMemory kind) {
    const std::span<std::byte> bytes = extent_of(array);
    return bytes.empty() ? Registration() : Registration(bytes.data(), bytes.size(), gpus, kind);
}

/// A mapped array's original memory, and its lock, which is released first.
struct MappedMemory {
    HostNDArray array;
    Registration registration;
};

}  // namespace

RegisteredArrays::RegisteredArrays(std::vector<HostNDArray> arrays) {
    locked_.reserve(arrays.size());
    for (HostNDArray& array : arrays) {
        Registration registration = locked(array, {}, HostMemory::coarse_grained);
        locked_.push_back({std::move(array), std::move(registration)});
    }
}

void* RegisteredArrays::device_address(std::size_t i) const noexcept {
    return first_at_agents(locked_[i].array, locked_[i].registration);
}

void RegisteredArrays::until_deregistered() {
    std::size_t done = 0;
    try {
        for (; done < locked_.size(); ++done) {
            const Registration& registration = locked_[done].registration;
            if (registration) register_memory(registration.host(), registration.size_bytes());
        }
    } catch (...) {
        while (done-- > 0) {
            const Registration& registration = locked_[done].registration;
            if (registration) deregister_memory(registration.host(), registration.size_bytes());
        }
        throw;
    }
    locked_.clear();
}

void detail::deregister_arrays(std::initializer_list<HostNDArray> arrays) {
    std::exception_ptr first;
    for (const HostNDArray& array : arrays) {
        const std::span<std::byte> bytes = extent_of(array);
        if (bytes.empty()) continue;
        try {
            deregister_memory(static_cast<void*>(bytes.data()), bytes.size());
        } catch (const Error&) {
            if (!first) first = std::current_exception();
        }
    }
    if (first) std::rethrow_exception(first);
}

MappedNDArray detail::mapped_view(AgentRef gpu, const HostNDArray& array) {
    Registration registration = locked(array, std::span(&gpu, 1), HostMemory::fine_grained);
    void* const device = first_at_agents(array, registration);
    const auto memory = std::make_shared<const MappedMemory>(MappedMemory{array, std::move(registration)});
    if (array.writable())
        return {HostNDArray(memory, const_cast<void*>(array.data()), array.dtype(), array.layout()), device, gpu};
    return {HostNDArray(memory, array.data(), array.dtype(), array.layout()), device, gpu};
}

}  // namespace hsadrv
