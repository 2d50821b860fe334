#include "hsadrv/dmabuf.hpp"

#include <hsa/hsa_ext_amd.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "hsadrv/base/agents.hpp"
#include "hsadrv/base/call_log.hpp"
#include "hsadrv/base/departure.hpp"
#include "hsadrv/base/refuse.hpp"
#include "hsadrv/base/runtime.hpp"
#include "hsadrv/base/text.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/memory.hpp"
#include "hsadrv/memory/registrations.hpp"
#include "hsadrv/optional_api.hpp"

namespace hsadrv {
namespace {

using detail::call_log::Area;
using detail::call_log::logged;

}  // namespace

DmaBuf DmaBuf::of(const void* data, std::size_t size_bytes) {
    static constexpr const char* name = "hsadrv::DmaBuf::of";
    const auto text = [&] { return detail::hex(data) + ", " + std::to_string(size_bytes) + " B"; };
    return logged(Area::memory, name, text, [&] {
        const Driver driver = Driver::current(name);
        const std::string call = std::string(name) + "(" + text() + ")";
        auto* const export_dmabuf = optional_api().portable_export_dmabuf.required();
        const PointerInfo info = pointer_info(data);
        if (info.kind != PointerInfo::Kind::pool) detail::refuse(call, "no memory of a pool is at that address");
        if (size_bytes == 0 || size_bytes > info.bytes_after(data))
            detail::refuse(call, "the allocation has " + std::to_string(info.bytes_after(data)) + " B from there");
        int descriptor = -1;
        std::uint64_t offset_bytes = 0;
        const auto querying = driver.runtime().registrations().querying();  // the call queries the pointer
        check(export_dmabuf(data, size_bytes, &descriptor, &offset_bytes),
              [&] { return "hsa_amd_portable_export_dmabuf(" + text() + ")"; });
        return DmaBuf(descriptor, offset_bytes, size_bytes);
    });
}

// What hsa_amd_portable_close_dmabuf does, too.
DmaBuf::~DmaBuf() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

void DmaBufMemory::Traits::destroy(Native p) noexcept {
    const auto unmap = [](std::uint64_t address) { hsa_amd_interop_unmap_buffer(reinterpret_cast<void*>(address)); };
    const auto address = reinterpret_cast<std::uintptr_t>(p);
    logged(
        Area::memory, "DmaBufMemory::~DmaBufMemory", [&] { return detail::hex(p); },
        [&] {
            if (!detail::departures::defer(unmap, address)) unmap(address);
        });
}

DmaBufMemory DmaBufMemory::import(int descriptor, std::span<const AgentRef> gpus) {
    static constexpr const char* name = "hsadrv::DmaBufMemory::import";
    const auto text = [&] { return "descriptor " + std::to_string(descriptor); };
    return logged(Area::memory, name, text, [&] {
        const Driver driver = Driver::current(name);
        const std::string call = std::string(name) + "(" + text() + ")";
        detail::require_gpus(call, gpus, driver.runtime());
        auto agents = detail::native_agents(gpus);
        std::size_t size_bytes = 0;
        void* data = nullptr;
        const hsa_status_t status = hsa_amd_interop_map_buffer(static_cast<std::uint32_t>(agents.size()), agents.data(),
                                                               descriptor, 0, &size_bytes, &data, nullptr, nullptr);
        // ROCR's status for all that the kernel refuses.
        if (status == HSA_STATUS_ERROR || status == HSA_STATUS_ERROR_INVALID_ARGUMENT)
            detail::refuse("hsa_amd_interop_map_buffer(" + text() + ")",
                           status_name(status) + "; it must be a dma-buf of memory of an amdgpu device");
        check(status, [&] { return "hsa_amd_interop_map_buffer(" + text() + ")"; });
        detail::departures::note_created(reinterpret_cast<std::uintptr_t>(data));
        return DmaBufMemory(UniqueHandle<Traits>(data, driver), size_bytes);
    });
}

}  // namespace hsadrv
