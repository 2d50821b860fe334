#include "hsadrv/stream/autopsy.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

#include "hsadrv/base/runtime.hpp"
#include "hsadrv/base/text.hpp"
#include "hsadrv/queue/known_kernels.hpp"
#include "hsadrv/signal/signal_wait.hpp"

namespace hsadrv::detail {

namespace {

std::string progress_of(const Timeline& timeline) {
    return std::to_string(timeline.completed()) + " of " + std::to_string(timeline.submitted()) + " packets complete";
}

}  // namespace

std::string Autopsy::of(const Timeline& timeline) {
    text_ = progress_of(timeline);
    if (const StreamCore* stream = find(&timeline))
        follow(stream);
    else
        say(timeline.label() + " was destroyed");
    return text_;
}

const StreamCore* Autopsy::find(const Timeline* timeline) const {
    for (const StreamCore* stream : streams_)
        if (stream->timeline().get() == timeline) return stream;
    return nullptr;
}

const StreamCore* Autopsy::find(const std::string& label) const {
    for (const StreamCore* stream : streams_)
        if (stream->label() == label) return stream;
    return nullptr;
}

const StreamCore* Autopsy::find_debtor(hsa_signal_t signal) const {
    for (const StreamCore* stream : streams_) {
        const std::lock_guard held(stream->mutex());
        if (stream->writer().log().owes(signal)) return stream;
    }
    return nullptr;
}

void Autopsy::follow(const StreamCore* stream) {
    std::vector<const StreamCore*> path;
    while (stream) {
        const auto before = std::find(path.begin(), path.end(), stream);
        if (before != path.end()) {
            std::string circle;
            for (auto at = before; at != path.end(); ++at) circle += (*at)->label() + " -> ";
            return say("a cycle of waits, which none of its streams can end: " + circle + stream->label());
        }
        path.push_back(stream);
        const Finding finding = examine(*stream);
        say(finding.text);
        stream = finding.next;
        if (finding.signal.handle == 0) continue;
        stream = find_debtor(finding.signal);
        say(stream ? stream->label() + " would decrement it"
                   : "no stream has a decrement of it in flight: the host or another agent owes it");
    }
}

Autopsy::Finding Autopsy::examine(const StreamCore& stream) const {
    const std::lock_guard held(stream.mutex());
    if (stream.failed()) return {stream.label() + " has failed"};

    const Timeline& timeline = *stream.timeline();
    const SharedQueue& queue = *stream.shared_queue();
    const PacketRecord* const first = stream.writer().log().first_pending(queue.ref().read_index());
    const auto slot = timeline.first_pending_slot();
    if (!slot && !first) {
        if (!stream.trailing()) return {stream.label() + " has nothing in flight"};
        return {stream.label() + (stream.trailing() == PacketRecord::Kind::host
                                      ? " waits for its own host function, which has not returned"
                                      : " waits for its own copy")};
    }
    // On a shared queue, another stream's packet may be ahead of ours.
    if (const std::string head = queue.head_label(); !head.empty() && head != stream.label())
        return {stream.label() + " is queued after " + head + " on the hardware queue that they share", find(head)};
    if (first) return explain(stream, *first);
    return explain_packet(stream, *slot);
}

Autopsy::Finding Autopsy::explain(const StreamCore& stream, const PacketRecord& record) const {
    switch (record.kind) {
        case PacketRecord::Kind::gate:
        case PacketRecord::Kind::decrement:
            break;
        case PacketRecord::Kind::copy:
            return {stream.label() + " waits for its own copy"};
        case PacketRecord::Kind::host:
            return {stream.label() + " waits for its own host function, which has not returned"};
        case PacketRecord::Kind::event: {
            const auto timeline = stream.timeline()->upstream_of(record.epoch);
            if (!timeline) return {stream.label() + " waits for an event"};  // which has completed meanwhile
            const StreamCore* upstream = find(timeline.get());
            return {stream.label() + " waits for an event of " + timeline->label() + ", which has " +
                        progress_of(*timeline) + (upstream ? "" : " and was destroyed"),
                    upstream};
        }
        case PacketRecord::Kind::signal:
            return {stream.label() + " waits for signal " + hex(record.on.handle) + " " +
                        condition_text(record.condition, record.value) + ", which is " +
                        std::to_string(SignalRef(record.on).load()),
                    nullptr, record.on};
        case PacketRecord::Kind::batch:
            return explain_packet(
                stream,
                stream.timeline()->running_slot(stream.shared_queue()->ref().read_index()).value_or(record.slot),
                &record);
    }
    return {stream.label() + " has a barrier that its packet processor has not processed"};
}

Autopsy::Finding Autopsy::explain_packet(const StreamCore& stream, std::uint64_t slot, const PacketRecord* record) {
    const Packet packet =
        with_header(stream.shared_queue()->ref().peek(slot), record, record ? slot - record->slot : 0);
    const bool and_type = packet.type() == PacketType::barrier_and, or_type = packet.type() == PacketType::barrier_or;
    if (and_type || or_type) {
        const auto barrier = packet.as<hsa_barrier_and_packet_t>();
        for (const hsa_signal_t signal : barrier.dep_signal)
            if (signal.handle != 0 && SignalRef(signal).load() != 0)
                return {stream.label() + " waits for signal " + hex(signal.handle) + " == 0" +
                            (or_type ? ", or another one" : "") + ", which is " +
                            std::to_string(SignalRef(signal).load()),
                        nullptr, signal};
    }
    const auto dispatch = packet.as<hsa_kernel_dispatch_packet_t>();
    if (and_type || or_type || dispatch.setup == 0) return {stream.label() + " has a barrier that is not complete"};
    const Dim3 grid(dispatch.grid_size_x, dispatch.grid_size_y, dispatch.grid_size_z);
    return {stream.label() + " runs " +
            kernel_call_text(dispatch.kernel_object, static_cast<const std::byte*>(dispatch.kernarg_address)) + " on " +
            grid.text() + " work-items, which has not ended"};
}

}  // namespace hsadrv::detail
