// Internal: a call of the runtime that may never return, on a thread of its own.
//
//   const auto status = attempt<hsa_status_t>([code] { return hsa_executable_freeze(…); }, deadline);
//   if (!status) throw Timeout(…);
//
// The calls own their captures: one that is given up goes on, and what it returns after that is undone. Errors:
// OutOfMemory if there is no thread; the calls throw none. Thread safety: any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "hsadrv/deadline.hpp"
#include "hsadrv/error.hpp"

namespace hsadrv::detail {

/// What `call` returns; nothing if it has not returned by the deadline, or when `hopeless`, which this thread asks ten
/// times a second, is true: then it is given up, and what it still returns goes to `undo`. Without either, this thread
/// makes the call.
template <class T>
std::optional<T> attempt(std::function<T()> call, Deadline deadline, const std::function<bool()>& hopeless = {},
                         std::function<void(T)> undo = {}) {
    if (deadline.is_never() && !hopeless) return call();
    struct State {
        std::mutex mutex;
        std::condition_variable returned;
        std::optional<T> result;
        bool given_up = false;
    };
    const auto state = std::make_shared<State>();
    const auto run = [state, call = std::move(call), undo = std::move(undo)]() noexcept {
        T result = call();
        const std::lock_guard lock(state->mutex);
        if (state->given_up) return undo ? undo(std::move(result)) : void();
        state->result = std::move(result);
        state->returned.notify_all();
    };
    std::thread thread;
    try {
        thread = std::thread(run);
    } catch (const std::system_error& error) {
        throw OutOfMemory(std::string("a thread for a call that may not return: ") + error.what(),
                          HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    }
    std::unique_lock lock(state->mutex);
    while (!state->result && !deadline.passed() && !(hopeless && hopeless()))
        state->returned.wait_for(lock, deadline.sliced(std::chrono::milliseconds(100)).remaining());
    state->given_up = !state->result;
    lock.unlock();
    state->given_up ? thread.detach() : thread.join();
    return std::move(state->result);
}

}  // namespace hsadrv::detail
