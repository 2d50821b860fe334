#include "hsadrv/ipc.hpp"

#include <hsa/hsa_ext_amd.h>

#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "hsadrv/base/agents.hpp"
#include "hsadrv/base/attempt.hpp"
#include "hsadrv/base/call_log.hpp"
#include "hsadrv/base/departure.hpp"
#include "hsadrv/base/refuse.hpp"
#include "hsadrv/base/runtime.hpp"
#include "hsadrv/base/text.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/memory.hpp"
#include "hsadrv/memory/registrations.hpp"

namespace hsadrv {
namespace {

using detail::call_log::Area;
using detail::call_log::logged;

static_assert(std::is_trivially_copyable_v<IpcMemoryHandle> && std::is_trivially_copyable_v<IpcSignalHandle>);
static_assert(sizeof(IpcMemoryHandle::allocation) == sizeof(hsa_amd_ipc_memory_t));
static_assert(sizeof(IpcSignalHandle::signal) == sizeof(hsa_amd_ipc_signal_t));

std::string range_of(const char* call, const void* data, std::size_t size_bytes) {
    return std::string(call) + "(" + detail::hex(data) + ", " + std::to_string(size_bytes) + " B)";
}

hsa_amd_ipc_memory_t native_of(const std::array<std::uint32_t, 8>& words) {
    hsa_amd_ipc_memory_t native;
    std::memcpy(native.handle, words.data(), sizeof native.handle);
    return native;
}

std::array<std::uint32_t, 8> words_of(const hsa_amd_ipc_memory_t& native) {
    std::array<std::uint32_t, 8> words;
    std::memcpy(words.data(), native.handle, sizeof native.handle);
    return words;
}

/// FNV-1a.
std::uint64_t checksum(std::span<const std::uint32_t> words, std::initializer_list<std::uint64_t> numbers) {
    std::uint64_t sum = 0xcbf29ce484222325;
    const auto add = [&](std::uint64_t word) { sum = (sum ^ word) * 0x100000001b3; };
    for (const std::uint32_t word : words) add(word);
    for (const std::uint64_t number : numbers) add(number);
    return sum;
}

std::uint64_t checksum_of(const IpcMemoryHandle& handle) {
    return checksum(handle.allocation, {handle.allocation_bytes, handle.offset_bytes, handle.size_bytes});
}

std::uint64_t checksum_of(const IpcSignalHandle& handle) { return checksum(handle.signal, {}); }

struct Attached {
    hsa_status_t status = HSA_STATUS_ERROR;
    void* base = nullptr;
};

/// ROCR waits for the exporter, and perhaps for ever. Nothing: not by the deadline.
std::optional<Attached> attach_by(Deadline deadline, Driver driver, const IpcMemoryHandle& handle,
                                  std::vector<hsa_agent_t> agents) {
    const auto attach = [driver = std::move(driver), native = native_of(handle.allocation),
                         size_bytes = handle.allocation_bytes, agents = std::move(agents)] {
        Attached attached;
        attached.status = hsa_amd_ipc_memory_attach(&native, size_bytes, static_cast<std::uint32_t>(agents.size()),
                                                    agents.data(), &attached.base);
        return attached;
    };
    return detail::attempt<Attached>(attach, deadline, {}, [](Attached attached) {
        if (attached.status == HSA_STATUS_SUCCESS) hsa_amd_ipc_memory_detach(attached.base);
    });
}

template <class Handle>
Handle sealed(Handle handle) {
    handle.checksum = checksum_of(handle);
    return handle;
}

template <class Handle>
void require_sealed(const std::string& call, const Handle& handle) {
    if (handle.checksum != checksum_of(handle))
        detail::refuse(call, "damaged handle: its checksum is wrong; send all bytes of what ipc_handle() returned");
}

void require_shareable(const std::string& call, const PointerInfo& info, const void* data, std::size_t size_bytes) {
    if (info.kind == PointerInfo::Kind::other)
        detail::refuse(call, "the memory was attached or imported; export it where it was allocated");
    if (info.kind != PointerInfo::Kind::pool || !info.device_memory())
        detail::refuse(call,
                       "not device memory; to share host memory, map a file or shm_open's object in both processes and "
                       "register it");
    if (size_bytes == 0 || size_bytes > info.bytes_after(data))
        detail::refuse(call, "the allocation has " + std::to_string(info.bytes_after(data)) + " B from there");
}

}  // namespace

IpcMemoryHandle ipc_handle(const void* data, std::size_t size_bytes) {
    static constexpr const char* name = "hsadrv::ipc_handle";
    const auto text = [&] { return detail::hex(data) + ", " + std::to_string(size_bytes) + " B"; };
    return logged(Area::memory, name, text, [&] {
        const Driver driver = Driver::current(name);
        const PointerInfo info = pointer_info(data);
        require_shareable(range_of(name, data, size_bytes), info, data, size_bytes);
        hsa_amd_ipc_memory_t native{};
        const auto querying = driver.runtime().registrations().querying();  // the call queries the pointer
        check(hsa_amd_ipc_memory_create(info.agent_base, info.size_bytes, &native),
              [&] { return range_of("hsa_amd_ipc_memory_create", info.agent_base, info.size_bytes); });
        return sealed(
            IpcMemoryHandle{words_of(native), info.size_bytes, info.size_bytes - info.bytes_after(data), size_bytes});
    });
}

void IpcMemory::Traits::destroy(Native p) noexcept {
    const auto detach = [](std::uint64_t address) { hsa_amd_ipc_memory_detach(reinterpret_cast<void*>(address)); };
    const auto address = reinterpret_cast<std::uintptr_t>(p);
    logged(
        Area::memory, "IpcMemory::~IpcMemory", [&] { return detail::hex(p); },
        [&] {
            if (!detail::departures::defer(detach, address)) detach(address);
        });
}

IpcMemory IpcMemory::attach(const IpcMemoryHandle& handle, std::span<const AgentRef> gpus, Deadline deadline) {
    static constexpr const char* name = "hsadrv::IpcMemory::attach";
    const auto text = [&] {
        return std::to_string(handle.size_bytes) + " B at " + std::to_string(handle.offset_bytes) + " of " +
               std::to_string(handle.allocation_bytes) + " B";
    };
    return logged(Area::memory, name, text, [&] {
        const Driver driver = Driver::current(name);
        const std::string call = std::string(name) + "(" + text() + ")";
        detail::require_gpus(call, gpus, driver.runtime());
        require_sealed(call, handle);
        static constexpr const char* remedy =
            "the exporting process must still have the memory, and its GPU must be visible to this process";
        const auto attached = attach_by(deadline, driver, handle, detail::native_agents(gpus));
        if (!attached) throw Timeout("hsa_amd_ipc_memory_attach(" + text() + ", " + deadline.text() + "): " + remedy);
        if (attached->status != HSA_STATUS_SUCCESS)
            throw_status(attached->status, "hsa_amd_ipc_memory_attach(" + text() + ")", remedy);
        IpcMemory memory;
        memory.mapping_.reset(attached->base, driver);
        detail::departures::note_created(reinterpret_cast<std::uintptr_t>(attached->base));
        memory.data_ = static_cast<std::byte*>(attached->base) + handle.offset_bytes;
        memory.size_bytes_ = handle.size_bytes;
        return memory;
    });
}

Signal ipc_signal(std::int64_t initial) {
    static constexpr const char* name = "hsadrv::ipc_signal";
    return logged(
        Area::signal, name, [&] { return std::to_string(initial); },
        [&] {
            static_cast<void>(Driver::current(name));
            hsa_signal_t native{};
            check(hsa_amd_signal_create(initial, 0, nullptr, HSA_AMD_SIGNAL_IPC, &native),
                  [&] { return "hsa_amd_signal_create(initial " + std::to_string(initial) + ", HSA_AMD_SIGNAL_IPC)"; });
            return Signal::from_native(native);
        });
}

IpcSignalHandle ipc_handle(SignalRef signal) {
    static constexpr const char* name = "hsadrv::ipc_handle";
    const auto text = [&] { return "signal " + detail::hex(signal.native().handle); };
    return logged(Area::signal, name, text, [&] {
        static_cast<void>(Driver::current(name));
        hsa_amd_ipc_signal_t native{};
        const hsa_status_t status =
            signal ? hsa_amd_ipc_signal_create(signal.native(), &native) : HSA_STATUS_ERROR_INVALID_ARGUMENT;
        if (status != HSA_STATUS_SUCCESS)
            throw_status(status, "hsa_amd_ipc_signal_create(" + text() + ")",
                         "only signals of hsadrv::ipc_signal can be shared");
        return sealed(IpcSignalHandle{words_of(native)});
    });
}

Signal attach_ipc_signal(const IpcSignalHandle& handle) {
    static constexpr const char* name = "hsadrv::attach_ipc_signal";
    return logged(
        Area::signal, name, [] { return std::string(); },
        [&] {
            static_cast<void>(Driver::current(name));
            require_sealed(name, handle);
            const hsa_amd_ipc_signal_t native = native_of(handle.signal);
            hsa_signal_t attached{};
            const hsa_status_t status = hsa_amd_ipc_signal_attach(&native, &attached);
            if (status != HSA_STATUS_SUCCESS)
                throw_status(status, "hsa_amd_ipc_signal_attach", "the exporting process must still have the signal");
            return Signal::from_native(attached);
        });
}

}  // namespace hsadrv
