// For fuzzing the C interface: calls that share, map, and manage memory and signals.
#pragma once

#include <unistd.h>

#include "tests/fuzz/c_handles.hpp"

namespace c_fuzz {

class MemorySteps : protected Handles {
  protected:
    using Handles::Handles;

    void make_signal() {
        hsadrv_signal made_signal = nullptr;
        const auto result = hsadrv_signal_create(driver(), in_.below(4), in_.below(3), &made_signal);
        made(result, made_signal);
    }
    /// No wait that another call would have to end.
    void use_signal() {
        std::int64_t value = 0;
        saw(hsadrv_signal_load(signal(), &value));
        saw(hsadrv_signal_store(signal(), in_.below(4)));
        saw(hsadrv_signal_add(signal(), -1));
        saw(hsadrv_signal_wait(signal(), in_.below(5), in_.below(4), 0, in_.below(2) ? &value : nullptr));
        const std::uint32_t condition = in_.below(4) ? std::uint32_t{HSADRV_LESS} : 4 + in_.below(4);
        saw(hsadrv_stream_wait_signal(stream(), signal(), condition, INT64_MAX, timeout()));
        saw(hsadrv_stream_decrement(stream(), signal(), timeout()));
    }
    hsadrv_memory device_memory() {
        hsadrv_memory made_memory = nullptr;
        made_by([&] { return hsadrv_memory_create(device(), HSADRV_MEMORY_DEVICE, 4096, &made_memory); }, made_memory);
        return made_memory;
    }
    void share() {
        hsadrv_ipc_memory exported{};
        hsadrv_memory attached = nullptr;
        const hsadrv_memory from = in_.below(3) ? device_memory() : memory();
        saw(hsadrv_memory_export_ipc(from, in_.below(2) ? 0 : size(), in_.below(3) ? 4096 : size(), &exported));
        if (in_.below(3) == 0) exported.words[in_.below(8)] ^= in_.take<std::uint64_t>();
        const Devices to = devices();
        const auto result = hsadrv_memory_attach_ipc(list_of(to), to.count, &exported, &attached);
        made(result, attached);
        hsadrv_ipc_signal told{};
        hsadrv_signal again = nullptr;
        saw(hsadrv_signal_export_ipc(signal(), &told));
        if (in_.below(3) == 0) told.words[in_.below(5)] ^= in_.take<std::uint64_t>();
        const auto attach = hsadrv_signal_attach_ipc(driver(), &told, &again);
        made(attach, again);
    }
    void exchange() {
        int descriptor = -1;
        std::uint64_t offset = 0;
        hsadrv_memory imported = nullptr;
        const hsadrv_memory from = in_.below(3) ? device_memory() : memory();
        const std::size_t first = in_.below(2) ? 0 : size();
        saw(hsadrv_memory_export_dmabuf(from, first, in_.below(3) ? 4096 : size(), &descriptor, &offset));
        const Devices to = devices();
        const int given = in_.below(4) ? descriptor : -1 - static_cast<int>(in_.below(9));
        const auto result = hsadrv_memory_import_dmabuf(list_of(to), to.count, given, &imported);
        made(result, imported);
        if (descriptor >= 0) close(descriptor);
    }
    void make_managed() {
        hsadrv_memory managed = nullptr;
        const Devices to = devices();
        const auto result = hsadrv_memory_create_managed(list_of(to), to.count, size(), &managed);
        made(result, managed);
        if (managed) managed_.push_back(managed);
    }
    /// Pages of anything: this program's, managed, of a GPU, none.
    void advise() {
        void* pages = world().from.data();
        if (in_.below(2)) saw(hsadrv_memory_address(memory(), &pages));
        if (in_.below(8) == 0) pages = reinterpret_cast<void*>(in_.take<std::uintptr_t>());
        const std::size_t bytes = size();
        // No advice takes the GPU's access away: kernels of other steps would fault.
        const std::uint32_t advice = in_.below(HSADRV_ADVICE_NOT_ACCESSIBLE_BY);
        saw(hsadrv_managed_advise(pages, bytes, in_.below(8) ? advice : 7 + in_.below(4), device()));
        WithRoom<hsadrv_managed_facts> room;
        room.known.struct_size = in_.below(4) ? sizeof room.known : size();
        saw(hsadrv_managed_info(pages, bytes, device(), &room.known));
    }
    void prefetch() {
        const hsadrv_stream on = stream();
        saw(hsadrv_stream_prefetch(on, world().from.data(), in_.below(2) ? 4096 : size(),
                                   in_.below(2) ? device() : nullptr, timeout()));
    }
    void map() {
        std::size_t granule = 4096;
        hsadrv_physical_memory part = nullptr;
        hsadrv_virtual_range range = nullptr;
        hsadrv_memory mapped = nullptr;
        void* address = nullptr;
        int descriptor = -1;
        saw(hsadrv_physical_memory_granule(device(), in_.below(5), &granule));
        made_by(
            [&] {
                return hsadrv_physical_memory_create(device(), in_.below(5), in_.below(2) ? granule : size(), &part);
            },
            part);
        made_by([&] { return hsadrv_virtual_range_create(driver(), in_.below(2) ? granule : size(), &range); }, range);
        part = some<hsadrv_physical_memory>(hsadrv::c::HandleKind::physical_memory);
        range = some<hsadrv_virtual_range>(hsadrv::c::HandleKind::virtual_range);
        saw(hsadrv_virtual_range_address(range, &address));
        saw(hsadrv_physical_memory_share(part, &descriptor));
        const Devices to = devices();
        made_by(
            [&] {
                return hsadrv_virtual_range_map(range, in_.below(2) ? 0 : size(), part, list_of(to), to.count, &mapped);
            },
            mapped);
        part = nullptr;
        made_by(
            [&] { return hsadrv_physical_memory_import(driver(), descriptor, in_.below(2) ? granule : size(), &part); },
            part);
        if (descriptor >= 0) close(descriptor);
    }
    void make_from_resource() {
        hsadrv_memory_resource resource = nullptr;
        hsadrv_memory from = nullptr;
        WithRoom<hsadrv_memory_callbacks> room;
        room.known = {sizeof room.known, allocate, deallocate, in_.below(2) ? release : nullptr, nullptr};
        if (in_.below(8) == 0) room.known.struct_size = size();
        if (in_.below(8) == 0) room.known.allocate = nullptr;
        if (in_.below(8) == 0) room.known.deallocate = nullptr;
        made_by(
            [&] {
                return in_.below(2) ? hsadrv_memory_resource_create(driver(), &room.known, &resource)
                                    : hsadrv_memory_resource_create_cache(device(), in_.below(5), size(), &resource);
            },
            resource);
        resource = some<hsadrv_memory_resource>(hsadrv::c::HandleKind::memory_resource);
        const std::size_t alignment = in_.below(4) ? 0 : in_.take<std::uint16_t>();
        made_by([&] { return hsadrv_memory_create_from(resource, stream(), size(), alignment, &from); }, from);
    }
};

}  // namespace c_fuzz
