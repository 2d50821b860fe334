// A minimal coroutine: starts at once, and keeps its exception.
//
//     Task waits(Stream& stream) { co_await stream.completion(); }
//     Task task = waits(stream);
//     REQUIRE(task.done.wait_for(patience) == std::future_status::ready);
#pragma once

#include <coroutine>
#include <exception>
#include <future>

namespace device_test {

struct Task {
    struct promise_type {
        std::promise<void> done;
        Task get_return_object() { return {done.get_future()}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() { done.set_value(); }
        void unhandled_exception() { done.set_exception(std::current_exception()); }
    };
    std::future<void> done;
};

}  // namespace device_test
