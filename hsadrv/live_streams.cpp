#include "hsadrv/live_streams.hpp"

#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "hsadrv/autopsy.hpp"
#include "hsadrv/stream_core.hpp"

namespace hsadrv::detail::live_streams {

namespace {

struct List {
    std::mutex mutex;
    std::vector<StreamCore*> streams;
};

// Never destroyed: the runtime's thread may still call at exit.
List& list() {
    static auto* list = new List;
    return *list;
}

}  // namespace

void enter(StreamCore& stream) {
    const std::lock_guard lock(list().mutex);
    list().streams.push_back(&stream);
}

void leave(StreamCore& stream) noexcept {
    const std::lock_guard lock(list().mutex);
    std::erase(list().streams, &stream);
}

void visit(const std::function<void(StreamCore&)>& each) {
    const std::lock_guard lock(list().mutex);
    for (StreamCore* stream : list().streams) each(*stream);
}

void leave_dead_queues(const StreamCore* held) noexcept {
    const std::lock_guard lock(list().mutex);
    for (StreamCore* stream : list().streams)
        if (stream != held) stream->try_free_queue();
    for (StreamCore* stream : list().streams)
        if (stream != held) stream->try_follow_queue();
}

void look_after(const Timeline& timeline) noexcept {
    leave_dead_queues();
    const std::lock_guard lock(list().mutex);
    for (StreamCore* stream : list().streams)
        if (stream->timeline().get() == &timeline) stream->claim_fault();
}

void look_after_awaited() noexcept {
    leave_dead_queues();
    const std::lock_guard lock(list().mutex);
    for (StreamCore* stream : list().streams)
        if (stream->awaited()) stream->claim_fault();
}

bool retire_holds() {
    std::vector<std::shared_ptr<const void>> done;  // destroyed without the lock
    bool more = false;
    const std::lock_guard lock(list().mutex);
    for (StreamCore* stream : list().streams) more |= stream->try_retire(done);
    return more;
}

void let_go(AgentRef agent, std::shared_ptr<const void> object) noexcept {
    try {
        visit([&](StreamCore& stream) {
            if (stream.agent() == agent) stream.hold_if_in_flight(object);
        });
    } catch (const std::bad_alloc&) {
        // A reference that is never given back: better leaked than gone under a kernel.
        [[maybe_unused]] union Forever {
            std::shared_ptr<const void> reference;
            ~Forever() {}  // NOLINT: that is the point
        } forever{std::move(object)};
    }
}

std::string autopsy_of(const Timeline& timeline, const StreamCore* held) {
    const std::lock_guard lock(list().mutex);
    return Autopsy(list().streams, held).of(timeline);
}

}  // namespace hsadrv::detail::live_streams
