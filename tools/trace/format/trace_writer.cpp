#include "tools/trace/format/trace_writer.hpp"

#include <cstdio>
#include <ctime>
#include <utility>

#include "tools/trace/format/perfetto.hpp"

namespace trace {
namespace {

namespace p = perfetto;

constexpr std::uint64_t only_context = 1;  // of all of the process's work
constexpr std::string_view stage_names[] = {"kernel", "copy"};
constexpr std::uint64_t first_queue = 16;  // of the interned specifications: stages are those below, from 1

std::uint64_t stage_iid(Stage stage) { return 1 + static_cast<std::uint64_t>(stage); }

/// Differs between processes, whose traces may be joined.
Track numbered(std::uint32_t pid, std::uint32_t kind, std::uint64_t n) {
    return std::uint64_t{pid} << 32 ^ std::uint64_t{kind} << 60 ^ n;
}

std::uint64_t now(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

void put_clock(ProtoWriter& snapshot, std::uint64_t id, clockid_t clock) {
    snapshot.message(p::clock::clocks, [&](ProtoWriter& one) {
        one.number(p::clock::id, id);
        one.number(p::clock::timestamp, now(clock));
    });
}

void put_entry(ProtoWriter& interned, Field field, std::uint64_t iid, std::string_view name) {
    interned.message(field, [&](ProtoWriter& entry) {
        entry.number(p::interned::iid, iid);
        entry.text(p::interned::name, name);
    });
}

void put_specification(ProtoWriter& interned, std::uint64_t iid, std::string_view name, bool compute) {
    interned.message(p::interned::gpu_specifications, [&](ProtoWriter& entry) {
        entry.number(p::interned::iid, iid);
        entry.text(p::interned::name, name);
        entry.number(p::specification_of::category,
                     compute ? p::specification_of::compute : p::specification_of::other);
    });
}

void put_dimensions(ProtoWriter& launch, Field field, const std::array<std::uint32_t, 3>& size) {
    launch.message(field, [&](ProtoWriter& dimension) {
        dimension.number(p::dimension::x, size[0]);
        dimension.number(p::dimension::y, size[1]);
        dimension.number(p::dimension::z, size[2]);
    });
}

/// As text, for GpuRenderStageEvent, whose further values are texts.
std::string text_of(const Annotation::Value& value) {
    struct Text {
        std::string operator()(std::uint64_t n) const { return std::to_string(n); }
        std::string operator()(std::int64_t n) const { return std::to_string(n); }
        std::string operator()(bool on) const { return on ? "true" : "false"; }
        std::string operator()(double n) const { return std::to_string(n); }
        std::string operator()(std::string_view text) const { return std::string{text}; }
        std::string operator()(Pointer pointer) const {
            char text[19];
            std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(pointer.value));
            return text;
        }
    };
    return std::visit(Text{}, value);
}

struct PutValue {
    ProtoWriter& annotation;
    void operator()(std::uint64_t n) const { annotation.number(p::annotation::unsigned_number, n); }
    void operator()(std::int64_t n) const { annotation.signed_number(p::annotation::signed_number, n); }
    void operator()(bool on) const { annotation.number(p::annotation::boolean, on); }
    void operator()(double n) const { annotation.real(p::annotation::real, n); }
    void operator()(Pointer pointer) const { annotation.number(p::annotation::pointer, pointer.value); }
    void operator()(std::string_view text) const { annotation.text(p::annotation::text, text); }
};

/// Their interned numbers are their places, from 1.
constexpr std::string_view launch_arguments[] = {"lds_bytes", "scratch_bytes", "kernarg_bytes"};

/// What all work refers to.
void introduce_gpus(ProtoWriter& interned, std::uint32_t pid) {
    interned.message(p::interned::graphics_contexts, [&](ProtoWriter& context) {
        context.number(p::interned::iid, only_context);
        context.number(p::context_of::pid, pid);
    });
    for (const Stage stage : {Stage::kernel, Stage::copy})
        put_specification(interned, stage_iid(stage), stage_names[static_cast<unsigned>(stage)],
                          stage == Stage::kernel);
    for (std::uint64_t n = 0; n < std::size(launch_arguments); ++n)
        put_entry(interned, p::interned::compute_argument_names, n + 1, launch_arguments[n]);
}

}  // namespace

TraceWriter::TraceWriter(Process process)
    : process_{std::move(process)}, sequence_{process_.sequence != 0 ? process_.sequence : process_.pid + 1} {}

TraceWriter::Name TraceWriter::intern(Names& names, std::string_view name) {
    const auto found = names.find(name);
    if (found != names.end()) return {found->second, false};
    const std::uint64_t iid = names.size() + 1;
    names.emplace(name, iid);
    return {iid, true};
}

template <class Fill>
void TraceWriter::packet(std::string& packets, std::uint64_t at_ns, Fill&& fill) {
    ProtoWriter{packets}.message(p::file::packet, [&](ProtoWriter& packet) {
        packet.number(p::packet::timestamp, at_ns);
        packet.number(p::packet::sequence, sequence_);
        packet.number(p::packet::sequence_flags, p::packet::needs_state);
        fill(packet);
    });
}

Track TraceWriter::process_track() const { return numbered(process_.pid, 1, 0); }

std::string TraceWriter::begin() {
    for (Names* names : {&event_names_, &annotation_names_, &queues_, &kernels_}) names->clear();
    tracks_.clear();
    gpu_introduced_ = false;
    std::string packets;
    ProtoWriter{packets}.message(p::file::packet, [&](ProtoWriter& packet) {
        packet.number(p::packet::timestamp, now(CLOCK_BOOTTIME));
        packet.number(p::packet::sequence, sequence_);
        packet.number(p::packet::sequence_flags, p::packet::state_cleared);
        packet.number(p::packet::first_on_sequence, 1);
        packet.message(p::packet::clock_snapshot, [&](ProtoWriter& snapshot) {
            snapshot.number(p::clock::primary, p::clock::boottime);
            put_clock(snapshot, p::clock::boottime, CLOCK_BOOTTIME);
            put_clock(snapshot, p::clock::monotonic, CLOCK_MONOTONIC);
            put_clock(snapshot, p::clock::realtime, CLOCK_REALTIME);
        });
    });
    packet(packets, now(CLOCK_BOOTTIME), [&](ProtoWriter& packet) {
        packet.message(p::packet::track_descriptor, [&](ProtoWriter& track) {
            track.number(p::track::uuid, process_track());
            track.message(p::track::process, [&](ProtoWriter& process) {
                process.number(p::process_of::pid, process_.pid);
                for (const std::string& word : process_.command) process.text(p::process_of::command, word);
                if (!process_.command.empty()) process.text(p::process_of::name, process_.command.front());
            });
        });
    });
    return packets;
}

Track TraceWriter::thread(std::string& packets, std::uint32_t tid, std::string_view name) {
    const Track track = numbered(process_.pid, 2, tid);
    if (!tracks_.insert(track).second) return track;
    packet(packets, now(CLOCK_BOOTTIME), [&](ProtoWriter& packet) {
        packet.message(p::packet::track_descriptor, [&](ProtoWriter& descriptor) {
            descriptor.number(p::track::uuid, track);
            descriptor.number(p::track::parent_uuid, process_track());
            descriptor.message(p::track::thread, [&](ProtoWriter& thread) {
                thread.number(p::thread_of::pid, process_.pid);
                thread.number(p::thread_of::tid, tid);
                if (!name.empty()) thread.text(p::thread_of::name, name);
            });
        });
    });
    return track;
}

Track TraceWriter::counter(std::string& packets, std::string_view name) {
    const Track track = numbered(process_.pid, 3, intern(counters_, name).iid);
    if (!tracks_.insert(track).second) return track;
    packet(packets, now(CLOCK_BOOTTIME), [&](ProtoWriter& packet) {
        packet.message(p::packet::track_descriptor, [&](ProtoWriter& descriptor) {
            descriptor.number(p::track::uuid, track);
            descriptor.number(p::track::parent_uuid, process_track());
            descriptor.text(p::track::name, name);
            descriptor.message(p::track::counter,
                               [](ProtoWriter& counter) { counter.number(p::counter_of::unit, p::counter_of::bytes); });
        });
    });
    return track;
}

std::uint64_t TraceWriter::introduce(ProtoWriter& packet, std::string_view name,
                                     std::span<const Annotation> annotations) {
    const Name event = intern(event_names_, name);
    bool any_new = event.is_new;
    const std::size_t known = annotation_names_.size();
    annotation_iids_.clear();
    for (const Annotation& annotation : annotations) {
        const Name entry = intern(annotation_names_, annotation.name);
        any_new = any_new || entry.is_new;
        annotation_iids_.push_back(entry.iid);
    }
    if (!any_new) return event.iid;
    packet.message(p::packet::interned_data, [&](ProtoWriter& interned) {
        if (event.is_new) put_entry(interned, p::interned::event_names, event.iid, name);
        for (std::size_t n = 0; n < annotations.size(); ++n)
            if (annotation_iids_[n] > known)
                put_entry(interned, p::interned::annotation_names, annotation_iids_[n], annotations[n].name);
    });
    return event.iid;
}

void TraceWriter::annotate(ProtoWriter& event, std::span<const Annotation> annotations) const {
    for (std::size_t n = 0; n < annotations.size(); ++n)
        event.message(p::event::annotations, [&](ProtoWriter& put) {
            put.number(p::annotation::name_iid, annotation_iids_[n]);
            std::visit(PutValue{put}, annotations[n].value);
        });
}

void TraceWriter::slice(std::string& packets, Track track, const Slice& slice) {
    packet(packets, slice.begin_ns, [&](ProtoWriter& packet) {
        const std::uint64_t name = introduce(packet, slice.name, slice.annotations);
        packet.message(p::packet::track_event, [&](ProtoWriter& event) {
            event.number(p::event::type, p::event::begin);
            event.number(p::event::track_uuid, track);
            event.number(p::event::name_iid, name);
            annotate(event, slice.annotations);
            if (slice.submitted.empty() && slice.waited_for.empty()) return;
            event.message(p::event::gpu_correlation, [&](ProtoWriter& correlation) {
                for (const std::uint64_t id : slice.submitted) correlation.number(p::correlation::submitted, id);
                for (const std::uint64_t id : slice.waited_for) correlation.number(p::correlation::waited_for, id);
            });
        });
    });
    packet(packets, slice.end_ns, [&](ProtoWriter& packet) {
        packet.message(p::packet::track_event, [&](ProtoWriter& event) {
            event.number(p::event::type, p::event::end);
            event.number(p::event::track_uuid, track);
        });
    });
}

void TraceWriter::instant(std::string& packets, Track track, std::string_view name, std::uint64_t at_ns,
                          std::span<const Annotation> annotations) {
    packet(packets, at_ns, [&](ProtoWriter& packet) {
        const std::uint64_t iid = introduce(packet, name, annotations);
        packet.message(p::packet::track_event, [&](ProtoWriter& event) {
            event.number(p::event::type, p::event::instant);
            event.number(p::event::track_uuid, track);
            event.number(p::event::name_iid, iid);
            annotate(event, annotations);
        });
    });
}

void TraceWriter::count(std::string& packets, Track track, std::uint64_t at_ns, std::int64_t value) {
    packet(packets, at_ns, [&](ProtoWriter& packet) {
        packet.message(p::packet::track_event, [&](ProtoWriter& event) {
            event.number(p::event::type, p::event::counter);
            event.number(p::event::track_uuid, track);
            event.signed_number(p::event::counter_value, value);
        });
    });
}

TraceWriter::WorkNames TraceWriter::introduce_work(ProtoWriter& packet, const Work& work) {
    const Name event = intern(event_names_, work.name), queue = intern(queues_, work.queue);
    const Name kernel = work.launch ? intern(kernels_, work.name) : Name{0, false};
    const bool first = !std::exchange(gpu_introduced_, true);
    if (!event.is_new && !queue.is_new && !kernel.is_new && !first) return {event, queue, kernel};
    packet.message(p::packet::interned_data, [&](ProtoWriter& interned) {
        if (first) introduce_gpus(interned, process_.pid);
        if (event.is_new) put_entry(interned, p::interned::event_names, event.iid, work.name);
        if (queue.is_new) put_specification(interned, first_queue + queue.iid, work.queue, work.launch != nullptr);
        if (kernel.is_new)
            interned.message(p::interned::compute_kernels, [&](ProtoWriter& entry) {
                entry.number(p::interned::iid, kernel.iid);
                entry.text(p::interned::name, work.name);
                entry.text(p::kernel_of::arch, work.launch->target);
            });
    });
    return {event, queue, kernel};
}

void TraceWriter::put_launch(ProtoWriter& event, const KernelLaunch& launch) {
    event.message(p::stage::launch, [&](ProtoWriter& put) {
        put_dimensions(put, p::launch_of::grid, launch.groups);
        put_dimensions(put, p::launch_of::workgroup, launch.workgroup);
        const std::uint64_t values[] = {launch.lds_bytes, launch.scratch_bytes, launch.kernarg_bytes};
        for (unsigned n = 0; n < 3; ++n)
            put.message(p::launch_of::arguments, [&](ProtoWriter& argument) {
                argument.number(p::argument_of::name_iid, n + 1);
                argument.number(p::argument_of::unsigned_number, values[n]);
            });
    });
}

void TraceWriter::work(std::string& packets, const Work& work) {
    packet(packets, work.begin_ns, [&](ProtoWriter& packet) {
        const auto [name, queue, kernel] = introduce_work(packet, work);
        packet.message(p::packet::gpu_render_stage_event, [&](ProtoWriter& event) {
            event.number(p::stage::event_id, work.id);
            event.number(p::stage::duration, work.end_ns - work.begin_ns);
            event.number(p::stage::gpu, work.gpu);
            event.number(p::stage::context, only_context);
            event.number(p::stage::queue_iid, first_queue + queue.iid);
            event.number(p::stage::stage_iid, stage_iid(work.stage));
            event.number(p::stage::name_iid, name.iid);
            for (const Annotation& annotation : work.annotations)
                event.message(p::stage::extra_data, [&](ProtoWriter& extra) {
                    extra.text(p::extra_of::name, annotation.name);
                    extra.text(p::extra_of::value, text_of(annotation.value));
                });
            if (work.launch == nullptr) return;
            event.number(p::stage::kernel_iid, kernel.iid);
            put_launch(event, *work.launch);
        });
    });
}

}  // namespace trace
