#include "tools/trace/record/copies.hpp"

namespace trace {

void CopyInFlight::begin(Session& session, hsa_agent_t to, hsa_agent_t from, std::uint64_t bytes, hsa_signal_t done,
                         std::optional<std::uint64_t> engine) {
    id_ = 0;
    if (bytes == 0 || done.handle == 0) return;  // the runtime does nothing, and leaves the signal as it is
    const Agents& agents = session.agents;
    PendingItem item;
    item.id = id_ = Recorder::active() ? Recorder::active()->new_work_id() : 0;
    done_ = done;
    item.stage = Stage::copy;
    // OpenMP's runtime names one agent for both.
    item.name = item.queue = std::make_shared<const std::string>(
        to.handle == from.handle ? "copy by " + agents.name(to)
                                 : "copy " + agents.name(from) + " to " + agents.name(to));
    const auto gpu = agents.gpu(to) ? agents.gpu(to) : agents.gpu(from);
    item.gpu = gpu.value_or(0);
    item.values.emplace_back("bytes", bytes);
    if (engine) item.values.emplace_back("engine", *engine);
    item.enqueued_ns = now_ns();
    session.pending.add(done, std::move(item));
}

void CopyInFlight::enqueued(Session& session, hsa_status_t result, std::vector<std::uint64_t>& ids) {
    if (id_ == 0) return;
    if (result == HSA_STATUS_SUCCESS)
        ids.push_back(id_);
    else
        session.pending.cancel(done_, id_);
}

void write_copy(std::uint64_t begin_ns, std::uint64_t bytes, std::vector<std::uint64_t>& ids) {
    Recorder* const recorder = Recorder::active();
    if (recorder == nullptr) return;
    const Annotation annotations[] = {{"bytes", bytes}, {"enqueued_ns", begin_ns}};
    Work work;
    work.id = recorder->new_work_id();
    work.stage = Stage::copy;
    work.name = work.queue = "hsa_memory_copy";
    work.begin_ns = begin_ns;
    work.end_ns = now_ns();
    work.annotations = annotations;
    recorder->write([&](TraceWriter& writer, std::string& packets) { writer.work(packets, work); });
    ids.push_back(work.id);
}

}  // namespace trace
