#include "hsadrv/virtual_memory.hpp"

#include <string>
#include <utility>
#include <vector>

#include "hsadrv/base/call_log.hpp"
#include "hsadrv/base/departure.hpp"
#include "hsadrv/base/refuse.hpp"
#include "hsadrv/base/runtime.hpp"
#include "hsadrv/base/text.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/memory/mapped_ranges.hpp"

namespace hsadrv {
namespace {

using detail::call_log::Area;
using detail::call_log::logged;

constexpr std::size_t vmem_page_bytes = 4096;

std::string size_text(std::size_t size_bytes) { return std::to_string(size_bytes) + " B"; }

void require_multiple(const std::string& call, std::size_t size_bytes, std::size_t of_bytes) {
    if (size_bytes == 0 || size_bytes % of_bytes != 0)
        detail::refuse(call, "the size must be a multiple of " + size_text(of_bytes) + ", and not zero");
}

}  // namespace

void PhysicalMemory::Traits::destroy(Native memory) noexcept { optional_api().vmem_handle_release(memory); }

PhysicalMemory PhysicalMemory::create(const MemPool& pool, std::size_t size_bytes) {
    static constexpr const char* name = "hsadrv::PhysicalMemory::create";
    const auto text = [&] { return size_text(size_bytes) + ", " + pool.label(); };
    return logged(Area::memory, name, text, [&] {
        const Driver driver = Driver::current(name);
        auto* const create = optional_api().vmem_handle_create.required();
        require_multiple(std::string(name) + "(" + text() + ")", size_bytes, pool.alloc_recommended_granule_bytes());
        VmemHandle native{};
        check(create(pool.native(), size_bytes, VmemType::none, 0, &native),
              [&] { return "hsa_amd_vmem_handle_create(" + text() + ")"; });
        Memory memory(native, driver);
        return PhysicalMemory(std::make_shared<const Memory>(std::move(memory)), size_bytes);
    });
}

PhysicalMemory PhysicalMemory::import(int descriptor, std::size_t size_bytes) {
    static constexpr const char* name = "hsadrv::PhysicalMemory::import";
    const auto text = [&] { return "descriptor " + std::to_string(descriptor) + ", " + size_text(size_bytes); };
    return logged(Area::memory, name, text, [&] {
        const Driver driver = Driver::current(name);
        auto* const import = optional_api().vmem_import_shareable_handle.required();
        require_multiple(std::string(name) + "(" + text() + ")", size_bytes, vmem_page_bytes);
        VmemHandle native{};
        check(import(descriptor, &native), [&] { return "hsa_amd_vmem_import_shareable_handle(" + text() + ")"; });
        Memory memory(native, driver);
        return PhysicalMemory(std::make_shared<const Memory>(std::move(memory)), size_bytes);
    });
}

int PhysicalMemory::share() const {
    static constexpr const char* name = "hsadrv::PhysicalMemory::share";
    return logged(
        Area::memory, name, [&] { return size_text(size_bytes()); },
        [&] {
            refuse_in_forked_child(name);
            if (size_bytes() == 0) detail::refuse(name, "the memory was moved from");
            int descriptor = -1;
            check(optional_api().vmem_export_shareable_handle.required()(&descriptor, native(), 0),
                  [&] { return "hsa_amd_vmem_export_shareable_handle(" + size_text(size_bytes()) + ")"; });
            return descriptor;
        });
}

struct VirtualMapping::Mapped {
    void* data;
    std::size_t size_bytes;
    VirtualRange range;
    PhysicalMemory memory;
};

void* VirtualMapping::data() const noexcept { return mapped_ ? mapped_.get()->data : nullptr; }
std::size_t VirtualMapping::size_bytes() const noexcept { return mapped_ ? mapped_.get()->size_bytes : 0; }

void VirtualMapping::Traits::destroy(Native p) noexcept {
    const auto unmap = [](std::uint64_t address) {
        const std::unique_ptr<Mapped> mapped(reinterpret_cast<Mapped*>(address));
        detail::mapped_ranges::leave(mapped->data);
        optional_api().vmem_unmap(mapped->data, mapped->size_bytes);
    };
    const auto address = reinterpret_cast<std::uintptr_t>(p);
    if (!detail::departures::defer(unmap, address)) unmap(address);
}

void VirtualRange::Traits::destroy(Native range) noexcept {
    optional_api().vmem_address_free(range.data, range.size_bytes);
}

VirtualRange VirtualRange::reserve(std::size_t size_bytes) {
    static constexpr const char* name = "hsadrv::VirtualRange::reserve";
    return logged(
        Area::memory, name, [&] { return size_text(size_bytes); },
        [&] {
            const Driver driver = Driver::current(name);
            auto* const reserve = optional_api().vmem_address_reserve.required();
            require_multiple(std::string(name) + "(" + size_text(size_bytes) + ")", size_bytes, vmem_page_bytes);
            Traits::Native native{nullptr, size_bytes};
            check(reserve(&native.data, size_bytes, 0, 0),
                  [&] { return "hsa_amd_vmem_address_reserve(" + size_text(size_bytes) + ")"; });
            Range range(native, driver);
            return VirtualRange(std::make_shared<const Range>(std::move(range)));
        });
}

VirtualMapping VirtualRange::map(std::size_t offset_bytes, const PhysicalMemory& memory,
                                 std::span<const AgentRef> gpus) const {
    static constexpr const char* name = "hsadrv::VirtualRange::map";
    const auto text = [&] {
        return size_text(memory.size_bytes()) + " at " + size_text(offset_bytes) + " of " + size_text(size_bytes());
    };
    return logged(Area::memory, name, text, [&] {
        const Driver driver = Driver::current(name);
        const std::string call = std::string(name) + "(" + text() + ")";
        if (gpus.empty()) detail::refuse(call, "no GPU was given");
        driver.runtime().require_known(call, gpus);
        if (memory.size_bytes() == 0) detail::refuse(call, "the memory was moved from");
        if (offset_bytes % vmem_page_bytes != 0 || offset_bytes > size_bytes() ||
            memory.size_bytes() > size_bytes() - offset_bytes)
            detail::refuse(call, "it does not fit, or the offset is not a multiple of " + size_text(vmem_page_bytes));
        const OptionalApi& api = optional_api();
        void* const at = static_cast<std::byte*>(data()) + offset_bytes;
        auto mapped =
            std::make_unique<VirtualMapping::Mapped>(VirtualMapping::Mapped{at, memory.size_bytes(), *this, memory});
        check(api.vmem_map(at, memory.size_bytes(), std::size_t{0}, memory.native(), std::uint64_t{0}),
              [&] { return "hsa_amd_vmem_map(" + text() + ")"; });
        detail::departures::note_created(reinterpret_cast<std::uintptr_t>(mapped.get()));
        VirtualMapping mapping(UniqueHandle<VirtualMapping::Traits>(mapped.release(), driver));
        std::vector<VmemAccess> access;
        for (const AgentRef gpu : gpus) access.push_back({HSA_ACCESS_PERMISSION_RW, gpu.native()});
        check(api.vmem_set_access(at, memory.size_bytes(), access.data(), access.size()),
              [&] { return "hsa_amd_vmem_set_access(" + text() + ")"; });
        detail::mapped_ranges::enter(at, memory.size_bytes(), gpus);
        return mapping;
    });
}

}  // namespace hsadrv
