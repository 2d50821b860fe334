#include "tools/hsadrv/stop_request.hpp"

#include <atomic>

namespace hsadrv_tool {
namespace {

std::atomic<int> noted{0};
static_assert(std::atomic<int>::is_always_lock_free);  // so a handler may write it

// Memory ordering: relaxed; no other data is published with the number.
void note(int number) { noted.store(number, std::memory_order_relaxed); }

}  // namespace

StopRequest::StopRequest() {
    note(0);
    for (int number : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction ours{}, before{};
        ours.sa_handler = note;
        ours.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
        sigemptyset(&ours.sa_mask);
        sigaction(number, &ours, &before);
        if (before.sa_handler == SIG_IGN)
            sigaction(number, &before, nullptr);
        else
            before_.push_back({number, before});
    }
}

StopRequest::~StopRequest() {
    for (const Before& before : before_) sigaction(before.number, &before.action, nullptr);
}

int StopRequest::signal() const noexcept { return noted.load(std::memory_order_relaxed); }

}  // namespace hsadrv_tool
