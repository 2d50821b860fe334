#include "hsadrv/stream/copy_queue.hpp"

#include <utility>

#include "hsadrv/base/runtime.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/queue/fault.hpp"
#include "hsadrv/signal_callbacks.hpp"

namespace hsadrv::detail {

namespace {

std::int64_t parts_to_start(const CopyQueue::Copy& copy) noexcept {
    return static_cast<std::int64_t>(copy.parts.count - copy.started);
}

// The signal becomes -1 when the parts that were started are complete; until then the others keep it above zero, and
// no packet after the copy runs. The callback has no owner: a failure of the stream does not make it due.
void abandon(const CopyQueue::Copy& copy) noexcept {
    const auto& done = copy.done;
    if (copy.started == 0) return done->ref().store(-1);
    try {
        Driver::current().runtime().copies().on_signal(done->ref(), Condition::less, parts_to_start(copy) + 1,
                                                       [done] { done->ref().store(-1); });
    } catch (...) {  // out of memory: it stays above zero, and what it keeps is leaked
    }
}

}  // namespace

CopyQueue::CopyQueue(std::shared_ptr<Timeline> timeline)
    : timeline_(std::move(timeline)), room_(Driver::current().runtime().engine_room()) {}

// A signal that stays at one is never released: a callback may have it.
CopyQueue::~CopyQueue() {
    if (!in_forked_child()) end();
}

hsa_status_t CopyQueue::put(Copy copy) {
    const std::uint64_t epochs = copy.before.epochs;
    std::exception_ptr error;
    {
        const std::lock_guard lock(mutex_);
        if (ended_ || timeline_->failed() || timeline_->lost_copy(copy.before)) {
            copy.done->ref().store(-1);
            return HSA_STATUS_SUCCESS;
        }
        waiting_.push_back(std::move(copy));
        if (waiting_.size() > 1) return HSA_STATUS_SUCCESS;
        Copy& front = waiting_.front();
        try {
            const hsa_status_t status = give(front);
            if (status == HSA_STATUS_SUCCESS && !front.given) return await_front(), status;
            if (status != HSA_STATUS_SUCCESS) front.done->ref().store(-1);  // nothing lowers it any more
            waiting_.pop_front();
            return status;
        } catch (...) {
            if (front.started == 0) {
                front.done->ref().store(-1);
                waiting_.pop_front();
                throw;
            }
            error = std::current_exception();
        }
    }
    timeline_->fail(error, epochs);
    end();
    return HSA_STATUS_SUCCESS;
}

bool CopyQueue::in_order(const Copy& copy) const noexcept {
    const auto& before = copy.before.copy;
    return !before || before->ref().load() == 0 || (before == last_given_ && copy.engine_id == last_engine_);
}

hsa_status_t CopyQueue::give(Copy& copy) {
    copy.in_line = false;
    if (!in_order(copy)) return HSA_STATUS_SUCCESS;
    hsa_signal_t before{};
    Dependencies dependencies;
    if (copy.before.copy && copy.before.copy->ref().load() != 0) {
        before = copy.before.copy->native();
        dependencies = {&before, 1};
    }
    if (!copy.in_parts) {
        const hsa_status_t status = give_whole(copy, dependencies);
        if (status == HSA_STATUS_SUCCESS || copy.parts.count == 0) return status;
        copy.in_parts = true;
        copy.done->ref().store(static_cast<std::int64_t>(copy.parts.count));
    }
    give_parts(copy, dependencies);
    return HSA_STATUS_SUCCESS;
}

template <class Function>
bool CopyQueue::start_in_room(Copy& copy, std::int64_t below, std::size_t size_bytes, Function&& start) {
    if (const auto fault = copy.agent ? faults::of(copy.agent) : std::nullopt) throw fault->lost(timeline_->label());
    copy.in_line = !room_->take(copy.agent, weak_from_this(), {copy.done, below, size_bytes});
    if (copy.in_line) return false;
    bool started = false;
    try {
        started = start();
    } catch (...) {
        room_->give_back(copy.agent, copy.done);
        throw;
    }
    if (!started) room_->give_back(copy.agent, copy.done);
    return true;
}

hsa_status_t CopyQueue::give_whole(Copy& copy, Dependencies dependencies) {
    hsa_status_t status = HSA_STATUS_SUCCESS;
    const auto start = [&] { return (status = copy.start(dependencies, copy.done)) == HSA_STATUS_SUCCESS; };
    if (!start_in_room(copy, 1, copy.size_bytes + copy.parts.ring_bytes, start) || status != HSA_STATUS_SUCCESS)
        return status;
    copy.given = true;
    last_given_ = copy.done;
    last_engine_ = copy.engine_id;
    return status;
}

// The next copy waits for all parts: it comes after the last one.
void CopyQueue::give_parts(Copy& copy, Dependencies dependencies) {
    last_given_ = nullptr;
    const auto start = [&] { return copy.parts.start(copy.started, dependencies, copy.done), true; };
    while (copy.started < copy.parts.count && start_in_room(copy, parts_to_start(copy), 0, start)) ++copy.started;
    copy.given = copy.started == copy.parts.count;
}

// The callback keeps the signal alive: the runtime's thread reads it until then. EngineRoom calls what is in its line;
// then this call is for the stream's failure, and one is enough for all turns of a copy.
void CopyQueue::await_front() {
    Copy& front = waiting_.front();
    SignalCallbacks& thread = Driver::current().runtime().copies();
    const auto advance = [weak = weak_from_this()](const std::shared_ptr<PooledSignal>& watched) {
        const auto queue = weak.lock();
        if (queue && watched) queue->unwatch(watched);
        if (queue) queue->advance();
    };
    if (!front.in_line)
        return timeline_->call_when(thread, front.before, [advance, keep = front.before] { advance(nullptr); });
    if (front.watched) return;
    timeline_->call_when(thread, {front.before.epochs, front.done}, [advance, done = front.done] { advance(done); });
    front.watched = true;
}

void CopyQueue::unwatch(const std::shared_ptr<PooledSignal>& done) noexcept {
    const std::lock_guard lock(mutex_);
    if (!waiting_.empty() && waiting_.front().done == done) waiting_.front().watched = false;
}

// Runs on the callbacks' thread for copies, also after the stream has failed.
void CopyQueue::advance() noexcept {
    std::uint64_t before = 0;  // packets before the copy that waits longest
    try {
        const std::lock_guard lock(mutex_);
        const auto intact = [&] {
            before = waiting_.front().before.epochs;
            return !ended_ && timeline_->may_follow(waiting_.front().before);
        };
        for (; !waiting_.empty() && intact(); waiting_.pop_front()) {
            check(give(waiting_.front()), [&] { return "a copy of " + timeline_->label(); });
            if (!waiting_.front().given) return await_front();
        }
        if (waiting_.empty()) return;
    } catch (...) {
        timeline_->fail(std::current_exception(), before);
    }
    end();
}

void CopyQueue::end() noexcept {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    for (const Copy& copy : waiting_) abandon(copy);
    waiting_.clear();
}

}  // namespace hsadrv::detail
