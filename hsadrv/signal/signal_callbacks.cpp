#include "hsadrv/signal_callbacks.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <condition_variable>
#include <list>
#include <mutex>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "hsadrv/base/leak.hpp"
#include "hsadrv/base/lock_rank.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/signal/callback_thread.hpp"
#include "hsadrv/signal/signal_wait.hpp"
#include "hsadrv/signal/watched_wait.hpp"

namespace hsadrv {

// Shared with the thread, which outlives the SignalCallbacks if one of its callbacks destroys it.
struct SignalCallbacks::State {
    struct Registration {
        Id id;
        SignalTerm term;
        std::function<void()> function;
        Meanwhile meanwhile = nullptr;
        const void* owner = nullptr;
        std::uint64_t mark = UINT64_MAX;
        bool due = false;
    };
    using Registrations = std::list<Registration>;

    using Mutex = detail::Ranked<std::mutex, detail::LockRank::callbacks>;
    mutable Mutex mutex;
    std::condition_variable_any changed;  // a callback ran or was dropped, or the thread woke
    Registrations waiting;                // in order of registration
    std::vector<Meanwhile> pollers;       // distinct `meanwhile` functions of all registrations so far
    Id next_id = 1;
    Id running = 0;
    const void* running_owner = nullptr;
    bool asleep = false;  // the thread sleeps on the signals that were in `waiting` when it began
    std::uint64_t sleeps = 0;
    Deadline::Clock::time_point polled_at = Deadline::Clock::now();
    bool stop = false;
    const char* name = "";
    std::function<void()> bell_rung;
    std::uint64_t run = 0, threw = 0, dropped = 0;
    std::exception_ptr error;

    // Nonzero wakes the thread, which waits for it together with the callbacks' signals. A bare handle: an owner would
    // keep the runtime alive, which owns this.
    hsa_signal_t wake{0};
    std::thread thread;

    // With the mutex held.
    void start(const std::shared_ptr<State>& shared);
    void mark_due() noexcept;
    void run_first_due(std::unique_lock<Mutex>& lock) noexcept;
    void sleep(std::unique_lock<Mutex>& lock, std::vector<SignalTerm>& terms) noexcept;
    bool polls() const noexcept;
    void poll(std::unique_lock<Mutex>& lock) noexcept;
    void forget(std::unique_lock<Mutex>& lock, const Registrations& cancelled);
    void ring() const noexcept { hsa_signal_store_screlease(wake, 1); }
    bool on_thread() const noexcept { return thread.get_id() == std::this_thread::get_id(); }
    std::size_t unfinished_before(Id end) const noexcept;

    void loop() noexcept;
};

namespace {

thread_local bool runs_callbacks = false;

/// Starts a thread with all POSIX signals blocked: the process's handlers do not expect to run on it.
template <class Body>
std::thread quiet_thread(const char* name, Body&& body) {
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        std::thread thread(std::forward<Body>(body));
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
        ::pthread_setname_np(thread.native_handle(), name);
        return thread;
    } catch (const std::system_error& error) {
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw OutOfMemory(std::string("a thread for SignalCallbacks: ") + error.what(),
                          HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    }
}

}  // namespace

bool detail::on_callback_thread() noexcept { return runs_callbacks; }

// ---- on the thread

void SignalCallbacks::State::mark_due() noexcept {
    // In reverse order: a signal that falls during the loop cannot make a later registration due before an earlier one.
    for (auto at = waiting.rbegin(); at != waiting.rend(); ++at)
        if (!at->due) at->due = holds(at->term.condition, at->term.signal.load(), at->term.than);
}

void SignalCallbacks::State::run_first_due(std::unique_lock<Mutex>& lock) noexcept {
    const auto due = std::find_if(waiting.begin(), waiting.end(), [](const Registration& r) { return r.due; });
    Registrations mine;
    mine.splice(mine.begin(), waiting, due);
    running = mine.front().id;
    running_owner = mine.front().owner;
    lock.unlock();
    std::exception_ptr thrown;
    try {
        mine.front().function();
    } catch (...) {
        thrown = std::current_exception();
    }
    mine.clear();  // destroys the captures before the callback is reported as run
    lock.lock();
    running = 0;
    running_owner = nullptr;
    ++run;
    if (thrown) ++threw;
    if (thrown && !error) error = thrown;
    changed.notify_all();
}

void SignalCallbacks::State::sleep(std::unique_lock<Mutex>& lock, std::vector<SignalTerm>& terms) noexcept {
    const SignalTerm woken{SignalRef(wake), Condition::not_equal, 0};
    std::span<const SignalTerm> all(&woken, 1);
    Deadline deadline;
    if (polls()) deadline = Deadline::at(polled_at + detail::poll_period);
    try {
        terms.assign(1, woken);
        for (const Registration& registration : waiting) terms.push_back(registration.term);
        all = terms;
    } catch (const std::bad_alloc&) {
        deadline = std::chrono::milliseconds(1);  // without the list, poll often
    }
    asleep = true;
    ++sleeps;
    lock.unlock();
    detail::wait_any(all, deadline);
    lock.lock();
    asleep = false;
    // Reset before the next check of `waiting`: a later registration rings again.
    const bool rung = hsa_signal_exchange_scacq_screl(wake, 0) != 0;
    changed.notify_all();
    if (!rung || !bell_rung || stop) return;
    lock.unlock();
    bell_rung();
    lock.lock();
}

bool SignalCallbacks::State::polls() const noexcept {
    return std::any_of(waiting.begin(), waiting.end(), [](const Registration& r) { return r.meanwhile != nullptr; });
}

void SignalCallbacks::State::poll(std::unique_lock<Mutex>& lock) noexcept {
    const auto now = Deadline::Clock::now();
    if (now < polled_at + detail::poll_period) return;
    polled_at = now;
    // By index: another thread may add a poller while one runs.
    for (std::size_t i = 0; i < pollers.size() && !stop; ++i) {
        const Meanwhile poller = pollers[i];
        if (std::none_of(waiting.begin(), waiting.end(), [&](const Registration& r) { return r.meanwhile == poller; }))
            continue;
        lock.unlock();
        poller();
        lock.lock();
    }
}

void SignalCallbacks::State::loop() noexcept {
    runs_callbacks = true;
    std::vector<SignalTerm> terms;
    std::unique_lock lock(mutex);
    while (!stop) {
        poll(lock);
        if (stop) break;
        mark_due();
        std::size_t due = static_cast<std::size_t>(
            std::count_if(waiting.begin(), waiting.end(), [](const Registration& r) { return r.due; }));
        if (due == 0) sleep(lock, terms);
        // A callback may end the runtime, so no runtime call follows it once `stop` is set. It may also cancel others.
        while (due-- > 0 && !stop && std::any_of(waiting.begin(), waiting.end(), [](const auto& r) { return r.due; }))
            run_first_due(lock);
    }
}

std::size_t SignalCallbacks::State::unfinished_before(Id end) const noexcept {
    const auto before = [&](const Registration& registration) { return registration.id < end; };
    return static_cast<std::size_t>(std::count_if(waiting.begin(), waiting.end(), before)) +
           (running != 0 && running < end);
}

// ---- on any thread

SignalCallbacks::SignalCallbacks(const char* thread_name) : state_(std::make_shared<State>()) {
    state_->name = thread_name;
}

SignalCallbacks::~SignalCallbacks() {
    // The thread exists only in the parent: leak the state instead of joining or detaching.
    if (in_forked_child()) {
        detail::leak(std::move(state_));
        return;
    }
    State& state = *state_;
    bool own_thread = false;
    {
        const std::lock_guard lock(state.mutex);
        state.stop = true;
        if (state.wake.handle != 0) state.ring();
        own_thread = state.on_thread();
    }
    if (own_thread)
        state.thread.detach();
    else if (state.thread.joinable())
        state.thread.join();
    State::Registrations never;
    {
        const std::lock_guard lock(state.mutex);
        never.swap(state.waiting);
    }
    if (state.wake.handle != 0) hsa_signal_destroy(state.wake);
}

SignalCallbacks::SignalCallbacks(const char* thread_name, std::function<void()> bell_rung)
    : SignalCallbacks(thread_name) {
    state_->bell_rung = std::move(bell_rung);
}

/// With the mutex held. The thread, and the signal that wakes it.
void SignalCallbacks::State::start(const std::shared_ptr<State>& shared) {
    if (wake.handle == 0) check(hsa_signal_create(0, 0, nullptr, &wake), "hsa_signal_create() for SignalCallbacks");
    if (!thread.joinable()) thread = quiet_thread(name, [shared] { shared->loop(); });
}

SignalRef SignalCallbacks::bell() {
    refuse_in_forked_child("SignalCallbacks::bell");
    const std::lock_guard lock(state_->mutex);
    state_->start(state_);
    return SignalRef(state_->wake);
}

SignalCallbacks::Id SignalCallbacks::on_signal(SignalRef signal, Condition condition, std::int64_t than,
                                               std::function<void()> function, Meanwhile meanwhile, const void* owner,
                                               std::uint64_t mark) {
    if (!signal || !function)
        throw InvalidArgument(std::string("SignalCallbacks::on_signal(): no ") + (signal ? "function" : "signal"));
    refuse_in_forked_child("SignalCallbacks::on_signal");
    State::Registrations fresh;
    fresh.push_back({0, {signal, condition, than}, std::move(function), meanwhile, owner, mark});
    State& state = *state_;
    const std::lock_guard lock(state.mutex);
    state.start(state_);
    if (meanwhile != nullptr && std::find(state.pollers.begin(), state.pollers.end(), meanwhile) == state.pollers.end())
        state.pollers.push_back(meanwhile);
    const Id id = fresh.front().id = state.next_id++;
    state.waiting.splice(state.waiting.end(), fresh);
    state.ring();
    return id;
}

void SignalCallbacks::hurry(const void* owner, std::uint64_t from) noexcept {
    if (in_forked_child()) return;
    State& state = *state_;
    const std::lock_guard lock(state.mutex);
    for (State::Registration& registration : state.waiting)
        if (registration.owner == owner && registration.mark >= from) registration.due = true;
    if (state.wake.handle != 0) state.ring();
}

// With the mutex held. The caller may destroy the signals next, so the thread must no longer wait for them.
void SignalCallbacks::State::forget(std::unique_lock<Mutex>& lock, const Registrations& cancelled) {
    dropped += cancelled.size();
    changed.notify_all();
    if (!asleep) return;
    ring();
    changed.wait(lock, [&, sleep = sleeps] { return !asleep || sleeps != sleep; });
}

// In a forked child the thread is the parent's, and may have the mutex for ever: none of the callbacks runs there.
bool SignalCallbacks::cancel(Id id) {
    if (in_forked_child()) return false;
    State& state = *state_;
    State::Registrations cancelled;  // destroyed after the lock was given back
    std::unique_lock lock(state.mutex);
    const auto found =
        std::find_if(state.waiting.begin(), state.waiting.end(), [&](const auto& r) { return r.id == id; });
    if (found == state.waiting.end()) {
        if (!state.on_thread()) state.changed.wait(lock, [&] { return state.running != id; });
        return false;
    }
    cancelled.splice(cancelled.begin(), state.waiting, found);
    state.forget(lock, cancelled);
    return true;
}

void SignalCallbacks::cancel_of(const void* owner) {
    if (in_forked_child()) return;
    drop_of(owner);
    State& state = *state_;
    std::unique_lock lock(state.mutex);
    if (!state.on_thread()) state.changed.wait(lock, [&] { return state.running_owner != owner; });
}

void SignalCallbacks::drop_of(const void* owner) {
    if (in_forked_child()) return;
    State& state = *state_;
    State::Registrations cancelled;  // destroyed after the lock was given back
    std::unique_lock lock(state.mutex);
    for (auto at = state.waiting.begin(); at != state.waiting.end();)
        if (const auto mine = at++; mine->owner == owner) cancelled.splice(cancelled.end(), state.waiting, mine);
    if (!cancelled.empty()) state.forget(lock, cancelled);
}

void SignalCallbacks::drain(Deadline deadline) {
    refuse_in_forked_child("SignalCallbacks::drain");
    State& state = *state_;
    std::unique_lock lock(state.mutex);
    if (state.on_thread()) throw Error("SignalCallbacks::drain(): called by a callback, which would wait for itself");
    const Id end = state.next_id;
    const auto done = [&] { return state.unfinished_before(end) == 0; };
    if (deadline.is_never())
        state.changed.wait(lock, done);
    else if (!state.changed.wait_for(lock, deadline.remaining(), done))
        throw Timeout("SignalCallbacks::drain(" + deadline.text() +
                      "): " + std::to_string(state.unfinished_before(end)) + " callbacks have not run" +
                      (state.running != 0 ? ", one of them is running" : ""));
    if (std::exception_ptr error = std::exchange(state.error, nullptr)) std::rethrow_exception(error);
}

std::exception_ptr SignalCallbacks::take_error() noexcept {
    if (in_forked_child()) return nullptr;
    const std::lock_guard lock(state_->mutex);
    return std::exchange(state_->error, nullptr);
}

SignalCallbacks::Counts SignalCallbacks::counts() const {
    refuse_in_forked_child("SignalCallbacks::counts");
    const std::lock_guard lock(state_->mutex);
    return {state_->unfinished_before(state_->next_id), state_->run, state_->threw, state_->dropped};
}

}  // namespace hsadrv
