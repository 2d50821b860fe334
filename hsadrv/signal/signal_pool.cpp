#include "hsadrv/signal_pool.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "hsadrv/base/lock_rank.hpp"
#include "hsadrv/error.hpp"

namespace hsadrv {

namespace detail {

// Shared by the pool and every signal acquired from it. Idle signals are bare handles: owners would keep the runtime
// alive, and the runtime owns the pool.
struct SignalShelf {
    using Mutex = Ranked<std::mutex, LockRank::leaf>;
    Mutex mutex;
    std::condition_variable_any returned;
    std::vector<hsa_signal_t> idle;
    std::size_t live = 0;
    std::size_t peak = 0;
    std::size_t budget = 0;
    std::size_t waiting = 0;
    std::uint64_t waits = 0;
    bool closed = false;

    /// Reserves one signal of the budget. False if all are in use.
    bool reserve() noexcept {
        if (live >= budget) return false;
        peak = std::max(peak, ++live);
        return true;
    }

    /// The same, but waits for one until the deadline.
    bool reserve(std::unique_lock<Mutex>& lock, Deadline deadline) noexcept {
        if (reserve()) return true;
        ++waits;
        ++waiting;
        const auto reserved = [this] { return reserve(); };
        bool done = true;
        if (deadline.is_never())
            returned.wait(lock, reserved);
        else
            done = returned.wait_for(lock, deadline.remaining(), reserved);
        --waiting;
        return done;
    }

    /// An idle signal, or null. Reserves room for every live signal to be returned, so that put() never allocates.
    hsa_signal_t take() {
        const std::lock_guard lock(mutex);
        if (idle.capacity() < live) idle.reserve(std::max<std::size_t>(16, 2 * live));
        if (idle.empty()) return {0};
        const hsa_signal_t signal = idle.back();
        idle.pop_back();
        return signal;
    }

    /// Returns a signal to the pool. If `signal` is null, only returns its reservation to the budget.
    void put(hsa_signal_t signal) noexcept {
        std::unique_lock lock(mutex);
        --live;
        if (waiting > 0) returned.notify_one();
        if (signal.handle == 0) return;
        if (!closed && idle.size() < idle.capacity()) return idle.push_back(signal);
        lock.unlock();
        hsa_signal_destroy(signal);
    }
};

}  // namespace detail

PooledSignal::~PooledSignal() {
    if (!in_forked_child()) shelf_->put(signal_.native());
}

SignalPool::SignalPool(std::size_t budget) : shelf_(std::make_shared<detail::SignalShelf>()) {
    if (budget == 0) throw InvalidArgument("SignalPool(budget 0): no signal could ever be acquired");
    shelf_->budget = budget;
}

SignalPool::~SignalPool() {
    if (in_forked_child()) return;
    std::vector<hsa_signal_t> idle;
    {
        const std::lock_guard lock(shelf_->mutex);
        shelf_->closed = true;
        idle.swap(shelf_->idle);
    }
    for (const hsa_signal_t signal : idle) hsa_signal_destroy(signal);
}

// The caller has reserved one signal of the budget.
std::shared_ptr<PooledSignal> SignalPool::make(const Driver& driver, std::int64_t initial) {
    hsa_signal_t signal{0};
    try {
        signal = shelf_->take();
        if (signal.handle != 0)
            hsa_signal_silent_store_relaxed(signal, initial);  // no thread can be waiting for it
        else
            signal = Signal::create(initial).release();
        return std::make_shared<PooledSignal>(driver, shelf_, signal);
    } catch (...) {
        shelf_->put(signal);
        throw;
    }
}

std::shared_ptr<PooledSignal> SignalPool::acquire(std::int64_t initial, Deadline deadline) {
    const Driver driver = Driver::current("SignalPool::acquire");
    {
        std::unique_lock lock(shelf_->mutex);
        if (!shelf_->reserve(lock, deadline))
            throw Timeout("SignalPool::acquire(" + deadline.text() + "): all " + std::to_string(shelf_->budget) +
                          " signals of the budget are handed out, and " + std::to_string(shelf_->waiting + 1) +
                          " callers wait for one; release some, or give the pool a larger budget");
    }
    return make(driver, initial);
}

std::shared_ptr<PooledSignal> SignalPool::try_acquire(std::int64_t initial) {
    const Driver driver = Driver::current("SignalPool::try_acquire");
    {
        const std::lock_guard lock(shelf_->mutex);
        if (!shelf_->reserve()) return nullptr;
    }
    return make(driver, initial);
}

SignalPool::Counts SignalPool::counts() const {
    refuse_in_forked_child("SignalPool::counts");
    const std::lock_guard lock(shelf_->mutex);
    return {shelf_->live, shelf_->idle.size(), shelf_->peak, shelf_->budget, shelf_->waits};
}

}  // namespace hsadrv
