// The trace as a tool of the HSA runtime: it loads the library (HSA_TOOLS_LIB), and calls OnLoad and OnUnload.
//
// Other tools chain: each calls what it found in the table.
#include <hsa/hsa_ext_amd.h>

#include <pthread.h>

#include "tools/trace/record/calls.hpp"
#include "tools/trace/record/session.hpp"

namespace trace {
namespace {

SystemClock clock_of(const Runtime& runtime) {
    std::uint64_t frequency = 1'000'000'000, ticks = 0;
    runtime.system_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency);
    const std::uint64_t before = now_ns();
    runtime.system_info(HSA_SYSTEM_INFO_TIMESTAMP, &ticks);
    return {ticks, before + (now_ns() - before) / 2, frequency};
}

/// The program's handler, or the runtime's end of the process, follows.
hsa_status_t on_system_event(const hsa_amd_event_t* event, void*) {
    Recorder* const recorder = Recorder::active();
    Session* const session = Session::active();
    if (recorder == nullptr || session == nullptr || event->event_type != HSA_AMD_GPU_MEMORY_FAULT_EVENT)
        return HSA_STATUS_ERROR;
    const std::string gpu = session->agents.name(event->memory_fault.agent);
    const Annotation annotations[] = {{"gpu", std::string_view{gpu}},
                                      {"address", Pointer{event->memory_fault.virtual_address}},
                                      {"reasons", std::uint64_t{event->memory_fault.fault_reason_mask}}};
    guarded([&] {
        recorder->instant("memory fault", annotations);
        if (const auto gpu_number = session->agents.gpu(event->memory_fault.agent))
            session->pending.give_up_gpu(*gpu_number);
    });
    return HSA_STATUS_ERROR;
}

void watch_faults(HsaApiTable& table) {
    const std::size_t at =
        amd_offset(offsetof(AmdExtTable, hsa_amd_register_system_event_handler_fn), table.amd_ext_->version.minor_id);
    decltype(hsa_amd_register_system_event_handler)* watch = nullptr;
    std::memcpy(&watch, reinterpret_cast<const std::byte*>(table.amd_ext_) + at, sizeof watch);
    watch(&on_system_event, nullptr);
}

void begin(HsaApiTable& table) {
    if (Recorder::start() == nullptr) return;
    const Runtime runtime{table};
    auto* session = new Session{runtime, clock_of(runtime)};
    // A child of fork() has no runtime.
    static const int registered =
        pthread_atfork(nullptr, nullptr, [] { Session::current.store(nullptr, std::memory_order_release); });
    static_cast<void>(registered);
    watch_faults(table);
    session->runtime.profile_copies(true);
    session->pending.start_collector();
    wrap_calls(table);
    Session::current.store(session, std::memory_order_release);
}

/// Other threads may still be in our calls: the session stays.
void end(bool patient) {
    Session* const session = Session::current.exchange(nullptr, std::memory_order_acq_rel);
    if (session == nullptr) return;
    session->pending.stop_collector(patient);
    session->pending.collect_rest(patient);
    Recorder::stop(patient);
}

}  // namespace
}  // namespace trace

extern "C" [[gnu::visibility("default")]] bool OnLoad(HsaApiTable* table, std::uint64_t, std::uint64_t,
                                                      const char* const*) {
    using namespace trace;
    if (Session::active() != nullptr) return true;  // it is named twice
    guarded([&] { begin(*table); });
    return true;
}

extern "C" [[gnu::visibility("default")]] void OnUnload() {
    trace::guarded([] { trace::end(true); });
}

/// A process that ends without hsa_shut_down.
[[gnu::destructor]] static void end_of_process() {
    trace::guarded([] { trace::end(false); });
}
