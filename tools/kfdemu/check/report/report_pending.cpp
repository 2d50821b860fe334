// Findings whose functions and lines are not named yet. A thread of the report's own names them: a thread that executes
// kernels must not wait for the dynamic linker's lock, which a constructor may hold that waits for the kernel.
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <system_error>

#include "tools/kfdemu/check/report/report.hpp"

namespace kfdemu::check {
namespace {

/// For how long a kernel is held up, so that a finding is printed when it happens.
constexpr std::chrono::seconds kPatience{1}, kPatienceBeforeStop{10};

}  // namespace

Report::~Report() {
    if (!thread_.joinable()) return;
    {
        std::lock_guard lock{mutex_};
        ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

/// False: there can be no thread.
bool Report::start_thread() {
    if (thread_.joinable()) return true;
    // The program's handlers must not run on the emulator's threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        thread_ = std::thread{[this] { serve(); }};
    } catch (const std::system_error&) {
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread_.joinable();
}

void Report::serve() {
    pthread_setname_np(pthread_self(), "kfdemu-check");
    std::unique_lock lock{mutex_};
    for (;;) {
        changed_.wait(lock, [&] { return ending_ || !pending_.empty(); });
        if (ending_) return;
        lock.unlock();
        settle();
        lock.lock();
    }
}

void Report::wait_for(std::unique_lock<std::mutex>& lock, std::uint64_t number) {
    if (!start_thread()) {
        lock.unlock();
        return settle();
    }
    changed_.notify_all();
    if (stuck_) return;
    const auto patience = settings_.stop ? kPatienceBeforeStop : kPatience;
    stuck_ = !changed_.wait_for(lock, patience, [&] { return settled_ >= number; });
}

void Report::settle() {
    while (settle_first()) {
    }
}

/// Several threads may name the same finding: the thread may be stuck while another that has the linker's lock needs
/// the findings. The first to finish reports it.
bool Report::settle_first() {
    std::unique_lock lock{mutex_};
    if (pending_.empty()) return false;
    const std::uint64_t number = taken_ + 1;
    Finding finding = pending_.front();
    lock.unlock();
    resolve_(finding);
    lock.lock();
    if (taken_ + 1 != number) return true;
    pending_.pop_front();
    taken_ = number;
    announce(lock, keep(std::move(finding)));
    settled_ = std::max(settled_, number);
    stuck_ = false;
    changed_.notify_all();
    return true;
}

}  // namespace kfdemu::check
