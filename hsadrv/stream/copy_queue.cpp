#include "hsadrv/stream/copy_queue.hpp"

#include <utility>

#include "hsadrv/base/runtime.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/queue/fault.hpp"

namespace hsadrv::detail {

// The refused parts leave one: zero would let the packets after the copy run. The callback has no owner: a failure of
// the stream does not make it due.
void start_parts(std::size_t parts, const std::shared_ptr<PooledSignal>& done,
                 const std::function<void(std::size_t)>& start) {
    done->ref().store(static_cast<std::int64_t>(parts));
    std::size_t started = 0;
    try {
        for (; started < parts; ++started) start(started);
    } catch (...) {
        if (started == 0) throw;
        const PartlyStarted part{std::current_exception()};
        done->ref().subtract(static_cast<std::int64_t>(parts - started - 1));
        try {
            Driver::current().runtime().copies().on_signal(done->ref(), Condition::less, 2,
                                                           [done] { done->ref().store(-1); });
        } catch (...) {  // out of memory: it stays at one, and what it keeps is leaked
        }
        throw part;
    }
}

hsa_status_t CopyQueue::put(Copy copy) {
    const std::lock_guard lock(mutex_);
    if (ended_ || timeline_->failed() || timeline_->lost_copy(copy.before)) {
        copy.done->ref().store(-1);
        return HSA_STATUS_SUCCESS;
    }
    if (waiting_.empty() && may_run(copy)) return give(copy);
    waiting_.push_back(std::move(copy));
    if (waiting_.size() > 1) return HSA_STATUS_SUCCESS;
    try {
        await_front();
    } catch (...) {
        waiting_.pop_back();
        throw;
    }
    return HSA_STATUS_SUCCESS;
}

bool CopyQueue::in_order(const Copy& copy) const noexcept {
    const auto& before = copy.before.copy;
    return !before || before->ref().load() == 0 || (before == last_given_ && copy.engine_id == last_engine_);
}

bool CopyQueue::may_run(const Copy& copy) { return in_order(copy) && !first_of_many(); }

std::shared_ptr<PooledSignal> CopyQueue::first_of_many() {
    while (!given_.empty() && given_.front()->ref().load() < 1) given_.pop_front();
    return given_.size() < most_given ? nullptr : given_.front();
}

hsa_status_t CopyQueue::give(const Copy& copy) {
    if (const auto fault = copy.agent ? faults::of(copy.agent) : std::nullopt) throw fault->lost(timeline_->label());
    given_.push_back(copy.done);
    hsa_signal_t before{};
    std::span<const hsa_signal_t> dependencies;
    if (copy.before.copy && copy.before.copy->ref().load() != 0) {
        before = copy.before.copy->native();
        dependencies = {&before, 1};
    }
    hsa_status_t status = HSA_STATUS_SUCCESS;
    try {
        status = copy.engine(dependencies, copy.done);
    } catch (const PartlyStarted&) {
        throw;
    } catch (...) {
        given_.pop_back();
        throw;
    }
    if (status != HSA_STATUS_SUCCESS) return given_.pop_back(), status;
    last_given_ = copy.done;
    last_engine_ = copy.engine_id;
    return status;
}

// The callback keeps the signal alive: the runtime's thread reads it until then.
void CopyQueue::await_front() {
    const Completion before = waiting_.front().before;
    const auto first = in_order(waiting_.front()) ? first_of_many() : nullptr;
    const Completion awaited = first ? Completion{before.epochs, first} : before;
    timeline_->call_when(Driver::current().runtime().copies(), awaited, [awaited, weak = weak_from_this()] {
        if (const auto queue = weak.lock()) queue->advance();
    });
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
        while (!waiting_.empty() && intact() && may_run(waiting_.front())) {
            try {
                check(give(waiting_.front()), [&] { return "a copy of " + timeline_->label(); });
            } catch (const PartlyStarted&) {  // an engine uses its signal
                waiting_.pop_front();
                throw;
            }
            waiting_.pop_front();
        }
        if (waiting_.empty()) return;
        if (intact()) return await_front();
    } catch (const PartlyStarted& part) {
        timeline_->fail(part.error, before);
    } catch (...) {
        timeline_->fail(std::current_exception(), before);
    }
    end();
}

void CopyQueue::end() noexcept {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    for (const Copy& copy : waiting_) copy.done->ref().store(-1);
    waiting_.clear();
}

}  // namespace hsadrv::detail
