#include "tools/trace/format/trace_reader.hpp"

#include <cstdlib>
#include <unordered_map>

#include "tools/trace/format/perfetto.hpp"
#include "tools/trace/format/proto_reader.hpp"

namespace trace {
namespace {

namespace p = perfetto;

using Names = std::unordered_map<std::uint64_t, std::string>;

/// What the packets of one process have introduced.
struct Sequence {
    std::uint32_t pid = 0;
    Names event_names, annotation_names, specifications, argument_names;
};

struct TrackFacts {
    std::string name;
    std::uint32_t pid = 0, tid = 0;
};

template <class Each>
void each_field(std::string_view bytes, Each&& each) {
    ProtoReader reader{bytes};
    while (const auto field = reader.next()) each(*field);
}

void take_entry(std::string_view bytes, Names& names) {
    std::uint64_t iid = 0;
    std::string name;
    each_field(bytes, [&](const ProtoField& field) {
        if (field.field == p::interned::iid) iid = field.number;
        if (field.field == p::interned::name) name = field.bytes;
    });
    names[iid] = name;
}

std::array<std::uint32_t, 3> dimensions_of(std::string_view bytes) {
    std::array<std::uint32_t, 3> size{};
    each_field(bytes, [&](const ProtoField& field) {
        if (field.field >= 1 && field.field <= 3) size[field.field - 1] = static_cast<std::uint32_t>(field.number);
    });
    return size;
}

class Reader {
  public:
    Events read(std::string_view bytes) {
        ProtoReader file{bytes};
        while (const auto field = file.next())
            if (field->field == p::file::packet) packet(field->bytes);
        if (file.broken()) events_.problem = "the file ends in the middle of a packet";
        return std::move(events_);
    }

  private:
    void packet(std::string_view bytes) {
        std::uint64_t at_ns = 0, sequence = 0;
        each_field(bytes, [&](const ProtoField& field) {
            if (field.field == p::packet::timestamp) at_ns = field.number;
            if (field.field == p::packet::sequence) sequence = field.number;
        });
        Sequence& from = sequences_[sequence];
        each_field(bytes, [&](const ProtoField& field) {
            switch (field.field) {
                case p::packet::interned_data:
                    return introduce(field.bytes, from);
                case p::packet::track_descriptor:
                    return track(field.bytes, from);
                case p::packet::track_event:
                    return track_event(field.bytes, at_ns, from);
                case p::packet::gpu_render_stage_event:
                    return work(field.bytes, at_ns, from);
                default:
                    return;
            }
        });
    }

    void introduce(std::string_view bytes, Sequence& from) {
        each_field(bytes, [&](const ProtoField& field) {
            if (field.field == p::interned::event_names) take_entry(field.bytes, from.event_names);
            if (field.field == p::interned::annotation_names) take_entry(field.bytes, from.annotation_names);
            if (field.field == p::interned::gpu_specifications) take_entry(field.bytes, from.specifications);
            if (field.field == p::interned::compute_argument_names) take_entry(field.bytes, from.argument_names);
        });
    }

    void track(std::string_view bytes, Sequence& from) {
        std::uint64_t uuid = 0;
        TrackFacts facts;
        facts.pid = from.pid;
        each_field(bytes, [&](const ProtoField& field) {
            if (field.field == p::track::uuid) uuid = field.number;
            if (field.field == p::track::name) facts.name = field.bytes;
            if (field.field == p::track::process) process(field.bytes, from);
            if (field.field == p::track::thread)
                each_field(field.bytes, [&](const ProtoField& of) {
                    if (of.field == p::thread_of::tid) facts.tid = static_cast<std::uint32_t>(of.number);
                });
        });
        tracks_[uuid] = facts;
    }

    void process(std::string_view bytes, Sequence& from) {
        std::string command;
        each_field(bytes, [&](const ProtoField& field) {
            if (field.field == p::process_of::pid) from.pid = static_cast<std::uint32_t>(field.number);
            if (field.field == p::process_of::command)
                command += (command.empty() ? "" : " ") + std::string{field.bytes};
        });
        events_.processes[from.pid] = command;
    }

    void track_event(std::string_view bytes, std::uint64_t at_ns, Sequence& from) {
        std::uint64_t type = 0, uuid = 0, name = 0;
        std::int64_t value = 0;
        std::map<std::string, std::string> values;
        CallEvent call;
        each_field(bytes, [&](const ProtoField& field) {
            if (field.field == p::event::type) type = field.number;
            if (field.field == p::event::track_uuid) uuid = field.number;
            if (field.field == p::event::name_iid) name = field.number;
            if (field.field == p::event::counter_value) value = static_cast<std::int64_t>(field.number);
            if (field.field == p::event::annotations) annotation(field.bytes, from, values);
            if (field.field == p::event::gpu_correlation)
                each_field(field.bytes, [&](const ProtoField& of) {
                    (of.field == p::correlation::submitted ? call.submitted : call.waited_for).push_back(of.number);
                });
        });
        const TrackFacts& on = tracks_[uuid];
        switch (type) {
            case p::event::begin:
                call.name = from.event_names[name];
                call.pid = on.pid;
                call.tid = on.tid;
                call.begin_ns = call.end_ns = at_ns;
                open_[uuid].push_back(events_.calls.size());
                events_.calls.push_back(std::move(call));
                return;
            case p::event::end:
                if (auto& open = open_[uuid]; !open.empty()) {
                    events_.calls[open.back()].end_ns = at_ns;
                    open.pop_back();
                }
                return;
            case p::event::instant:
                events_.instants.push_back({from.event_names[name], at_ns, std::move(values)});
                return;
            case p::event::counter:
                events_.counters.push_back({on.name, at_ns, value});
                return;
            default:
                return;
        }
    }

    static void annotation(std::string_view bytes, Sequence& from, std::map<std::string, std::string>& values) {
        std::string name, value;
        each_field(bytes, [&](const ProtoField& field) {
            if (field.field == p::annotation::name_iid)
                name = from.annotation_names[field.number];
            else if (field.field == p::annotation::text)
                value = field.bytes;
            else
                value = std::to_string(field.number);
        });
        values[name] = value;
    }

    void work(std::string_view bytes, std::uint64_t at_ns, Sequence& from) {
        WorkEvent event;
        event.pid = from.pid;
        event.begin_ns = event.end_ns = at_ns;
        each_field(bytes, [&](const ProtoField& field) {
            switch (field.field) {
                case p::stage::event_id:
                    event.id = field.number;
                    return;
                case p::stage::duration:
                    event.end_ns = at_ns + field.number;
                    return;
                case p::stage::gpu:
                    event.gpu = static_cast<std::uint32_t>(field.number);
                    return;
                case p::stage::queue_iid:
                    event.queue = from.specifications[field.number];
                    return;
                case p::stage::stage_iid:
                    event.stage = from.specifications[field.number];
                    return;
                case p::stage::name_iid:
                    event.name = from.event_names[field.number];
                    return;
                case p::stage::extra_data:
                    return extra(field.bytes, event);
                case p::stage::launch:
                    return launch(field.bytes, from, event);
                default:
                    return;
            }
        });
        events_.work.push_back(std::move(event));
    }

    static void extra(std::string_view bytes, WorkEvent& event) {
        std::string name, value;
        each_field(bytes,
                   [&](const ProtoField& field) { (field.field == p::extra_of::name ? name : value) = field.bytes; });
        if (name == "times")
            event.times = value;
        else
            event.numbers[name] = std::strtoull(value.c_str(), nullptr, 10);
    }

    static void launch(std::string_view bytes, Sequence& from, WorkEvent& event) {
        each_field(bytes, [&](const ProtoField& field) {
            if (field.field == p::launch_of::grid) event.groups = dimensions_of(field.bytes);
            if (field.field == p::launch_of::workgroup) event.workgroup = dimensions_of(field.bytes);
            if (field.field != p::launch_of::arguments) return;
            std::string name;
            std::uint64_t number = 0;
            each_field(field.bytes, [&](const ProtoField& of) {
                if (of.field == p::argument_of::name_iid) name = from.argument_names[of.number];
                if (of.field == p::argument_of::unsigned_number) number = of.number;
            });
            event.numbers[name] = number;
        });
    }

    Events events_;
    std::unordered_map<std::uint64_t, Sequence> sequences_;
    std::unordered_map<std::uint64_t, TrackFacts> tracks_;
    std::unordered_map<std::uint64_t, std::vector<std::size_t>> open_;  // calls that have not ended, by track
};

}  // namespace

Events read_trace(std::string_view bytes) { return Reader{}.read(bytes); }

}  // namespace trace
