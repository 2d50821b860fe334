// Profiled work of a stream: packets and copies have separate signals, to which the device writes their times.
#include <hsa/hsa_ext_amd.h>

#include <cstring>

#include "hsadrv/error.hpp"
#include "hsadrv/queue/known_kernels.hpp"
#include "hsadrv/stream/stream_core.hpp"

namespace hsadrv::detail {

// The queue's times also serve events. Copy times are enabled for the whole process, perhaps by other code, so they are
// never disabled.
void StreamCore::begin_profile() {
    writer_.time_packets();
    check(hsa_amd_profiling_async_copy_enable(true), "hsa_amd_profiling_async_copy_enable(true)");
    profile_.turn(true);
    mutex_.disable_fast_path();
}

void StreamCore::profile(bool on, Deadline deadline) {
    const auto held = lock(deadline, "Stream::profile");
    throw_if_failed();
    if (on) return begin_profile();
    profile_.turn(false);
}

Profile StreamCore::take_profile() {
    Profile profile;
    {
        const auto held = lock_data("Stream::take_profile");
        profile = profile_.take(*timeline_);
    }
    branches_.take_profile(profile);
    return profile;
}

// All packets share the epoch, but times belong to one packet. So the kernel has its own signal, or one of a tool that
// traces packets, and a packet after it is counted.
std::uint64_t StreamCore::put_beside_count(std::uint64_t slot, const Packet& kernel, hsa_signal_t done) noexcept {
    auto dispatch = kernel.as<hsa_kernel_dispatch_packet_t>();
    dispatch.completion_signal = done;
    const Packet timed = Packet::from(dispatch), count = barrier_and({}, timeline_->signal().native(), ordering_only);
    return writer_.put_batch(slot, std::span(&timed, 1), count, {.kind = PacketRecord::Kind::batch});
}

StreamCore::Profiled StreamCore::profile_kernel(const Packet& kernel) {
    const auto dispatch = kernel.as<hsa_kernel_dispatch_packet_t>();
    profile_.collect(*timeline_);
    return {{.kind = ProfileRecord::Kind::kernel,
             .name = kernel_name(dispatch.kernel_object),
             .grid = {dispatch.grid_size_x, dispatch.grid_size_y, dispatch.grid_size_z},
             .workgroup = {dispatch.workgroup_size_x, dispatch.workgroup_size_y, dispatch.workgroup_size_z}},
            signals_.acquire(1)};
}

std::uint64_t StreamCore::put_profiled(std::uint64_t slot, const Packet& kernel, Profiled&& profiled) {
    const std::uint64_t epoch = put_beside_count(slot, kernel, profiled.signal->native());
    profile_.push(std::move(profiled.record), std::move(profiled.signal), epoch);
    return epoch;
}

ProfileRecord copy_record(CopySide to, CopySide from, std::uint64_t bytes) {
    const CopyDirection direction = from.device && to.device ? CopyDirection::device_to_device
                                    : from.device            ? CopyDirection::device_to_host
                                    : to.device              ? CopyDirection::host_to_device
                                                             : CopyDirection::host_to_host;
    return {.kind = ProfileRecord::Kind::copy, .direction = direction, .name = text_of(direction), .bytes = bytes};
}

void StreamCore::copy_on_host(void* to, const void* from, std::size_t size_bytes) {
    if (!profile_.on()) return work_away(size_bytes, [&] { std::memcpy(to, from, size_bytes); });
    const Driver driver = Driver::current();
    ProfileRecord record = copy_record({to, {}}, {const_cast<void*>(from), {}}, size_bytes);
    record.begin_ticks = driver.timestamp();
    work_away(size_bytes, [&] { std::memcpy(to, from, size_bytes); });
    record.end_ticks = driver.timestamp();
    profile_.collect(*timeline_);  // everything before it is complete
    profile_.add(std::move(record));
}

}  // namespace hsadrv::detail
