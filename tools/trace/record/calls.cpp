#include "tools/trace/record/calls.hpp"

#include "tools/trace/record/call.hpp"
#include "tools/trace/record/copies.hpp"

namespace trace {
namespace {

// One tag a call.
#define CALL(table, function, ...)                                              \
    struct function##_tag {                                                     \
        static constexpr const char* name = #function;                          \
        static constexpr std::array<const char*, 12> arguments = {__VA_ARGS__}; \
        static inline decltype(::function)* next = nullptr;                     \
    };
#include "tools/trace/record/calls.inc"
#undef CALL

/// hsa_amd_vmem_alloc_handle_t.
struct PhysicalMemory {
    std::uint64_t handle;
};
#define NEWER(offset, function, type, ...)                                      \
    struct function##_tag {                                                     \
        static constexpr const char* name = #function;                          \
        static constexpr std::array<const char*, 12> arguments = {__VA_ARGS__}; \
        using Function = type;                                                  \
        static inline Function* next = nullptr;                                 \
    };
#include "tools/trace/record/newer_calls.inc"
#undef NEWER

// ---- what else calls do

template <class Tag, class... A>
void before(Tag, Session&, A&...) {}
template <class Tag, class R, class... A>
void after(Tag, Session&, CallEnd&, R, const A&...) {}

/// The program's callback for errors of a queue, and its data.
struct ErrorCallback {
    void (*call)(hsa_status_t, hsa_queue_t*, void*);
    void* data;
};
void on_queue_error(hsa_status_t status, hsa_queue_t* queue, void* data) {
    guarded([&] {
        Recorder* const recorder = Recorder::active();
        if (recorder == nullptr) return;
        const Annotation annotations[] = {{"status", static_cast<std::uint64_t>(status)}, {"queue", value_of(queue)}};
        recorder->instant("queue error", annotations);
    });
    const auto* callback = static_cast<const ErrorCallback*>(data);
    callback->call(status, queue, callback->data);
}

// A queue's callback may be called as long as the queue exists, and it is not known for how long the runtime keeps it.
void before(hsa_queue_create_tag, Session&, hsa_agent_t&, std::uint32_t&, hsa_queue_type32_t&,
            void (*&callback)(hsa_status_t, hsa_queue_t*, void*), void*& data, std::uint32_t&, std::uint32_t&,
            hsa_queue_t**&) {
    if (callback == nullptr) return;
    data = new ErrorCallback{callback, data};
    callback = &on_queue_error;
}
void after(hsa_queue_create_tag, Session& session, CallEnd&, hsa_status_t result, hsa_agent_t agent, std::uint32_t,
           hsa_queue_type32_t, void (*)(hsa_status_t, hsa_queue_t*, void*), void*, std::uint32_t, std::uint32_t,
           hsa_queue_t** queue) {
    if (result != HSA_STATUS_SUCCESS) return;
    session.runtime.profile_queue(*queue, 1);
    session.queues.add(*queue, agent);
}
void before(hsa_queue_destroy_tag, Session& session, hsa_queue_t*& queue) {
    if (queue != nullptr) session.queues.remove(queue);
}

void after(hsa_memory_allocate_tag, Session& session, CallEnd&, hsa_status_t result, hsa_region_t region,
           std::size_t bytes, void** address) {
    if (result == HSA_STATUS_SUCCESS) session.memory.allocated(*address, bytes, session.agents.memory(region.handle));
}
void before(hsa_memory_free_tag, Session& session, void*& address) { session.memory.freed(address); }
void after(hsa_amd_memory_pool_allocate_tag, Session& session, CallEnd&, hsa_status_t result,
           hsa_amd_memory_pool_t pool, std::size_t bytes, std::uint32_t, void** address) {
    if (result == HSA_STATUS_SUCCESS) session.memory.allocated(*address, bytes, session.agents.memory(pool.handle));
}
void before(hsa_amd_memory_pool_free_tag, Session& session, void*& address) { session.memory.freed(address); }
void after(hsa_amd_vmem_handle_create_tag, Session& session, CallEnd&, hsa_status_t result, hsa_amd_memory_pool_t pool,
           std::size_t bytes, int, std::uint64_t, PhysicalMemory* made) {
    if (result == HSA_STATUS_SUCCESS) session.memory.created(made->handle, bytes, session.agents.memory(pool.handle));
}
void after(hsa_amd_vmem_retain_alloc_handle_tag, Session& session, CallEnd&, hsa_status_t result, PhysicalMemory* found,
           void*) {
    if (result == HSA_STATUS_SUCCESS) session.memory.retained(found->handle);
}
void before(hsa_amd_vmem_handle_release_tag, Session& session, PhysicalMemory& memory) {
    session.memory.released(memory.handle);
}
void after(hsa_amd_vmem_map_tag, Session& session, CallEnd&, hsa_status_t result, void* address, std::size_t,
           std::size_t, PhysicalMemory memory, std::uint64_t) {
    if (result == HSA_STATUS_SUCCESS) session.memory.mapped(address, memory.handle);
}
void before(hsa_amd_vmem_unmap_tag, Session& session, void*& address, std::size_t&) {
    session.memory.unmapped(address);
}

void after(hsa_executable_freeze_tag, Session& session, CallEnd&, hsa_status_t result, hsa_executable_t executable,
           const char*) {
    if (result == HSA_STATUS_SUCCESS) session.kernels.add(session.runtime, executable, session.agents);
}

template <class Tag>
concept Wait = std::is_same_v<Tag, hsa_signal_wait_relaxed_tag> || std::is_same_v<Tag, hsa_signal_wait_scacquire_tag>;
template <Wait Tag>
void after(Tag, Session& session, CallEnd& end, hsa_signal_value_t, hsa_signal_t signal, hsa_signal_condition_t,
           hsa_signal_value_t, std::uint64_t, hsa_wait_state_t) {
    end.waited_for = session.pending.collect(signal);
}
void after(hsa_amd_signal_wait_any_tag, Session& session, CallEnd& end, std::uint32_t index, std::uint32_t count,
           hsa_signal_t* signals, hsa_signal_condition_t*, hsa_signal_value_t*, std::uint64_t, hsa_wait_state_t,
           hsa_signal_value_t*) {
    if (index < count) end.waited_for = session.pending.collect(signals[index]);
}
void after(hsa_amd_signal_wait_all_tag, Session& session, CallEnd& end, std::uint32_t, std::uint32_t count,
           hsa_signal_t* signals, hsa_signal_condition_t*, hsa_signal_value_t*, std::uint64_t, hsa_wait_state_t,
           hsa_signal_value_t*) {
    for (std::uint32_t n = 0; n < count; ++n)
        for (const std::uint64_t id : session.pending.collect(signals[n])) end.waited_for.push_back(id);
}
void before(hsa_signal_destroy_tag, Session& session, hsa_signal_t& signal) {
    session.pending.give_up(signal, "its signal was destroyed before it ended");
}

// ---- copies

thread_local CopyInFlight copy_in_flight;
thread_local std::uint64_t copy_begin_ns = 0;

void before(hsa_memory_copy_tag, Session&, void*&, const void*&, std::size_t&) { copy_begin_ns = now_ns(); }
void after(hsa_memory_copy_tag, Session&, CallEnd& end, hsa_status_t result, void*, const void*, std::size_t bytes) {
    if (result == HSA_STATUS_SUCCESS) write_copy(copy_begin_ns, bytes, end.submitted);
}

void before(hsa_amd_memory_async_copy_tag, Session& session, void*&, hsa_agent_t& to, const void*&, hsa_agent_t& from,
            std::size_t& bytes, std::uint32_t&, const hsa_signal_t*&, hsa_signal_t& done) {
    copy_in_flight.begin(session, to, from, bytes, done);
}
void after(hsa_amd_memory_async_copy_tag, Session& session, CallEnd& end, hsa_status_t result, void*, hsa_agent_t,
           const void*, hsa_agent_t, std::size_t, std::uint32_t, const hsa_signal_t*, hsa_signal_t) {
    copy_in_flight.enqueued(session, result, end.submitted);
}

void before(hsa_amd_memory_async_copy_rect_tag, Session& session, const hsa_pitched_ptr_t*&, const hsa_dim3_t*&,
            const hsa_pitched_ptr_t*&, const hsa_dim3_t*&, const hsa_dim3_t*& range, hsa_agent_t& agent,
            hsa_amd_copy_direction_t&, std::uint32_t&, const hsa_signal_t*&, hsa_signal_t& done) {
    const std::uint64_t bytes = range ? std::uint64_t{range->x} * range->y * range->z : 0;
    copy_in_flight.begin(session, agent, agent, bytes, done);
}
void after(hsa_amd_memory_async_copy_rect_tag, Session& session, CallEnd& end, hsa_status_t result,
           const hsa_pitched_ptr_t*, const hsa_dim3_t*, const hsa_pitched_ptr_t*, const hsa_dim3_t*, const hsa_dim3_t*,
           hsa_agent_t, hsa_amd_copy_direction_t, std::uint32_t, const hsa_signal_t*, hsa_signal_t) {
    copy_in_flight.enqueued(session, result, end.submitted);
}

void before(hsa_amd_memory_async_copy_on_engine_tag, Session& session, void*&, hsa_agent_t& to, const void*&,
            hsa_agent_t& from, std::size_t& bytes, std::uint32_t&, const hsa_signal_t*&, hsa_signal_t& done,
            int& engine, bool&) {
    copy_in_flight.begin(session, to, from, bytes, done, static_cast<std::uint64_t>(engine));
}
void after(hsa_amd_memory_async_copy_on_engine_tag, Session& session, CallEnd& end, hsa_status_t result, void*,
           hsa_agent_t, const void*, hsa_agent_t, std::size_t, std::uint32_t, const hsa_signal_t*, hsa_signal_t, int,
           bool) {
    copy_in_flight.enqueued(session, result, end.submitted);
}

// ---- stores, which ring doorbells and set signals for their next use

constexpr const char* changed = "the program changed its signal before it ended";

template <class Tag>
struct Store {
    static void call(hsa_signal_t signal, hsa_signal_value_t value) {
        Session* const session = Session::active();
        Recorder* const recorder = Recorder::active();
        if (session == nullptr || recorder == nullptr) return Tag::next(signal, value);
        const std::uint64_t begin_ns = now_ns();
        Enqueued enqueued;
        guarded([&] {
            if (!session->queues.rings(signal, value, enqueued)) session->pending.give_up(signal, changed);
        });
        Tag::next(signal, value);
        if (!enqueued.ids.empty()) guarded([&] { write(*recorder, begin_ns, value, enqueued); });
    }

  private:
    static void write(Recorder& recorder, std::uint64_t begin_ns, hsa_signal_value_t value, const Enqueued& enqueued) {
        const Annotation annotations[] = {{"kernel", std::string_view{*enqueued.first}},
                                          {"kernels", std::uint64_t{enqueued.ids.size()}},
                                          {"packet", static_cast<std::uint64_t>(value)}};
        const Slice slice{"enqueue", begin_ns, now_ns(), annotations, enqueued.ids, {}};
        recorder.slice(slice);
    }
};

/// Read-modify-write operations on a signal: void or the old value.
template <class Tag, class Function>
struct Change;
template <class Tag, class R, class... A>
struct Change<Tag, R(hsa_signal_t, A...)> {
    static R call(hsa_signal_t signal, A... operands) {
        if (Session* const session = Session::active()) guarded([&] { session->pending.give_up(signal, changed); });
        return Tag::next(signal, operands...);
    }
};

#define STORE(function)                                     \
    struct function##_tag {                                 \
        static inline decltype(::function)* next = nullptr; \
    };
#define CHANGE(function) STORE(function)
#include "tools/trace/record/signal_changes.inc"
#undef CHANGE
#undef STORE

// ---- times, which stay on

decltype(hsa_amd_profiling_set_profiler_enabled)* next_profile_queue = nullptr;
hsa_status_t profile_queue(hsa_queue_t* queue, int) { return next_profile_queue(queue, 1); }
decltype(hsa_amd_profiling_async_copy_enable)* next_profile_copies = nullptr;
hsa_status_t profile_copies(bool) { return next_profile_copies(true); }

}  // namespace

#define core_OFFSET(function) offsetof(CoreApiTable, function##_fn)
#define amd_OFFSET(function) amd_offset(offsetof(AmdExtTable, function##_fn), amd_bytes)
#define WRAP(table, function, ours, next) replace(table##_table, table##_OFFSET(function), ours, next)

void wrap_calls(HsaApiTable& table) {
    CoreApiTable* const core_table = table.core_;
    AmdExtTable* const amd_table = table.amd_ext_;
    const std::size_t amd_bytes = amd_table->version.minor_id;
#define CALL(table, function, ...) \
    WRAP(table, function, (&Wrapper<function##_tag, decltype(::function)>::call), function##_tag::next);
#include "tools/trace/record/calls.inc"
#undef CALL
#define STORE(function) WRAP(core, function, &Store<function##_tag>::call, function##_tag::next);
#define CHANGE(function) \
    WRAP(core, function, (&Change<function##_tag, decltype(::function)>::call), function##_tag::next);
#include "tools/trace/record/signal_changes.inc"
#undef CHANGE
#undef STORE
    WRAP(amd, hsa_amd_profiling_set_profiler_enabled, &profile_queue, next_profile_queue);
    WRAP(amd, hsa_amd_profiling_async_copy_enable, &profile_copies, next_profile_copies);
    if (!has_inserted(amd_bytes)) return;
#define NEWER(offset, function, type, ...) \
    replace(amd_table, offset, &Wrapper<function##_tag, function##_tag::Function>::call, function##_tag::next);
#include "tools/trace/record/newer_calls.inc"
#undef NEWER
}

}  // namespace trace
