#include "hsadrv/stream/stream_profile.hpp"

#include <hsa/hsa_ext_amd.h>

#include <utility>

#include "hsadrv/base/host_clock.hpp"

namespace hsadrv {

const char* text_of(CopyDirection direction) noexcept {
    switch (direction) {
        case CopyDirection::host_to_host:
            return "host to host";
        case CopyDirection::host_to_device:
            return "host to device";
        case CopyDirection::device_to_host:
            return "device to host";
        case CopyDirection::device_to_device:
            return "device to device";
    }
    return "?";
}

}  // namespace hsadrv

namespace hsadrv::detail {

void StreamProfile::add(ProfileRecord record) {
    while (!over_.empty() && over_.size() >= most_) {
        over_.pop_front();
        ++dropped_;
    }
    if (most_ == 0)
        ++dropped_;
    else
        over_.push_back(std::move(record));
}

// In stream order, which is the order of completion.
void StreamProfile::collect(const Timeline& timeline) {
    while (!pending_.empty()) {
        Pending& first = pending_.front();
        const std::int64_t value = first.signal->ref().load();
        if (value > 0 && !(timeline.failed() && timeline.lost({first.epochs, first.signal}))) return;
        first.record.failed = value != 0 || timeline.lost(first.epochs);
        if (first.record.failed)
            lost_.push_back(first.signal);
        else
            read_times(first);
        add(std::move(first.record));
        pending_.pop_front();
    }
}

void StreamProfile::read_times(Pending& over) const noexcept {
    if (over.record.kind == ProfileRecord::Kind::kernel) {
        hsa_amd_profiling_dispatch_time_t time{};
        if (hsa_amd_profiling_get_dispatch_time(agent_.native(), over.signal->native(), &time) != HSA_STATUS_SUCCESS)
            return;
        over.record.begin_ticks = time.start;
        over.record.end_ticks = time.end;
        return;
    }
    hsa_amd_profiling_async_copy_time_t time{};
    if (hsa_amd_profiling_get_async_copy_time(over.signal->native(), &time) != HSA_STATUS_SUCCESS) return;
    over.record.begin_ticks = time.start;
    over.record.end_ticks = time.end;
}

Profile StreamProfile::take(const Timeline& timeline) {
    collect(timeline);
    const ClockPair now = read_clocks();
    Profile profile{.stream = timeline.label()};
    profile.records.reserve(over_.size());
    profile.dropped = std::exchange(dropped_, 0);
    while (!over_.empty()) {
        ProfileRecord record = over_.pop_front();
        if (record.end_ticks != 0) {
            record.begin = now.host_time(record.begin_ticks);
            record.end = now.host_time(record.end_ticks);
        }
        profile.records.push_back(std::move(record));
    }
    return profile;
}

}  // namespace hsadrv::detail
