#include "tools/kfdemu/check/leak/live_objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <string_view>
#include <tuple>

#include "tools/kfdemu/check/report/report.hpp"

namespace kfdemu::check {
namespace {

struct KindText {
    const char *rule, *one, *many, *end;
};

KindText text_of(ObjectKind kind) {
    switch (kind) {
        case ObjectKind::Memory:
            return {"memory", "allocation", "allocations", "freed"};
        case ObjectKind::Signal:
            return {"signal", "signal", "signals", "destroyed"};
        case ObjectKind::Queue:
            return {"queue", "queue", "queues", "destroyed"};
        case ObjectKind::Executable:
            return {"executable", "executable", "executables", "destroyed"};
        case ObjectKind::CodeObjectReader:
            return {"code-object-reader", "code object reader", "code object readers", "destroyed"};
        case ObjectKind::LockedRange:
            return {"locked-memory", "lock", "locks", "undone"};
        case ObjectKind::Attachment:
            return {"attachment", "attachment", "attachments", "undone"};
        case ObjectKind::GraphicsBuffer:
            return {"graphics-buffer", "mapping of a graphics buffer", "mappings of graphics buffers", "undone"};
        case ObjectKind::AddressRange:
            return {"address-range", "reservation of addresses", "reservations of addresses", "freed"};
        case ObjectKind::MemoryHandle:
            return {"memory-handle", "memory handle", "memory handles", "released"};
        case ObjectKind::Mapping:
            return {"mapping", "mapping of virtual memory", "mappings of virtual memory", "undone"};
    }
    return {"object", "object", "objects", "destroyed"};
}

/// "3 signals", "2 allocations of 300 bytes in all".
std::string count_text(const LiveObjects::Group& group) {
    const KindText kind = text_of(group.kind);
    std::string text = fmt::format("{} {}", group.count, group.count == 1 ? kind.one : kind.many);
    if (group.bytes != 0)
        text +=
            fmt::format(" of {} byte{}{}", group.bytes, group.bytes == 1 ? "" : "s", group.count == 1 ? "" : " in all");
    return text;
}

/// "libamdhip64.so.5 keeps 3 signals, from main.cpp:30 in main".
std::string kept_text(const LiveObjects::Group& group, const std::vector<HostFrame>& frames) {
    std::string text = fmt::format("{} keeps {}", frames.front().object, count_text(group));
    const auto caller = std::find_if_not(frames.begin(), frames.end(),
                                         [](const HostFrame& frame) { return is_runtime_library(frame.object); });
    return caller == frames.end() ? text : text + ", since " + to_text(*caller);
}

}  // namespace

void LiveObjects::made(const ObjectName& name, const LiveObject& object) {
    const std::lock_guard lock{mutex_};
    if (name.kind != ObjectKind::LockedRange) all_.erase(name);
    all_.emplace(name, object);
}

std::optional<LiveObject> LiveObjects::take(const ObjectName& name) {
    const std::lock_guard lock{mutex_};
    const auto [first, end] = all_.equal_range(name);
    if (first == end) return std::nullopt;
    const auto found = std::prev(end);
    const LiveObject object = found->second;
    all_.erase(found);
    return object;
}

void LiveObjects::clear() {
    const std::lock_guard lock{mutex_};
    all_.clear();
}

std::vector<LiveObjects::Group> LiveObjects::groups() const {
    std::map<std::pair<ObjectKind, StackId>, Group> groups;
    std::unique_lock lock{mutex_};
    for (const auto& [name, object] : all_) {
        Group& group = groups.try_emplace({name.kind, object.made}, Group{name.kind, object.made}).first->second;
        ++group.count, group.bytes += object.bytes;
    }
    lock.unlock();
    std::vector<Group> result;
    for (const auto& [key, group] : groups) result.push_back(group);
    std::sort(result.begin(), result.end(), [](const Group& a, const Group& b) {
        return std::tie(b.bytes, b.count, a.kind, a.made) < std::tie(a.bytes, a.count, b.kind, b.made);
    });
    return result;
}

bool is_runtime_library(std::string_view file) {
    constexpr std::string_view kNames[] = {"libamdhip64",    "libamdocl64",     "libOpenCL.so",
                                           "libpocl",        "libgomp-plugin-", "libomptarget",
                                           "librocprofiler", "libroctracer",    "libhsa-amd-aqlprofile"};
    return std::any_of(std::begin(kNames), std::end(kNames),
                       [&](std::string_view name) { return file.substr(0, name.size()) == name; });
}

void note_kept(const std::vector<Kept>& kept, Report& report) {
    constexpr unsigned kTold = 8;  // for each library; a program may make objects at hundreds of places
    struct Rest {
        unsigned places = 0;
        std::uint64_t count = 0, bytes = 0;
    };
    std::map<std::string, Rest> libraries;
    for (const auto& [group, frames] : kept) {
        Rest& rest = libraries[frames.front().object];
        if (++rest.places <= kTold)
            report.note(kept_text(group, frames));
        else
            rest.count += group.count, rest.bytes += group.bytes;
    }
    for (const auto& [library, rest] : libraries)
        if (rest.count != 0)
            report.note(fmt::format("{} keeps {} more objects, of {} bytes in all, made at {} other places", library,
                                    rest.count, rest.bytes, rest.places - kTold));
}

void report_leaks(const LiveObjects& objects, Report& report) {
    // The runtime may start and shut down several times: what is alive at each end is a finding of its own.
    static std::atomic<std::uint32_t> ends{0};  // relaxed: a counter alone
    const std::uint64_t end = ends.fetch_add(1, std::memory_order_relaxed);
    std::vector<Kept> kept;
    for (const LiveObjects::Group& group : objects.groups()) {
        std::vector<HostFrame> frames = host_frames(group.made);
        if (!frames.empty() && is_runtime_library(frames.front().object)) {
            kept.push_back({group, std::move(frames)});
            continue;
        }
        const KindText kind = text_of(group.kind);
        Finding finding;
        finding.check = Check::leak;
        finding.rule = kind.rule;
        finding.what = fmt::format("{} {} never {}", count_text(group), group.count == 1 ? "is" : "are", kind.end);
        finding.bytes = group.bytes;
        finding.identity = end << 32 | (std::uint64_t{group.made} + 1);
        finding.stacks.push_back({group.kind == ObjectKind::Memory ? "allocated" : "made", std::move(frames)});
        report.add_counted(std::move(finding), group.count);
    }
    note_kept(kept, report);
}

}  // namespace kfdemu::check
