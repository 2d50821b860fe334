#include "hsadrv/signal_pool.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

namespace hsadrv {

namespace detail {

// Shared by the pool and every signal that it handed out. Signals on the shelf are bare handles: a shelf that
// kept the runtime alive would be kept alive by the runtime's own pool.
struct SignalShelf {
    std::mutex mutex;
    std::vector<hsa_signal_t> idle;
    std::size_t live = 0;
    std::size_t peak = 0;
    bool closed = false;

    /// An idle signal, or none. Makes room for every live one to come back, so that put() never allocates.
    hsa_signal_t take() {
        const std::lock_guard lock(mutex);
        if (idle.capacity() <= live) idle.reserve(std::max<std::size_t>(16, 2 * live + 1));
        if (idle.empty()) return {0};
        const hsa_signal_t signal = idle.back();
        idle.pop_back();
        return signal;
    }

    void lend() noexcept {
        const std::lock_guard lock(mutex);
        peak = std::max(peak, ++live);
    }

    void put(hsa_signal_t signal) noexcept {
        std::unique_lock lock(mutex);
        --live;
        if (!closed && idle.size() < idle.capacity()) return idle.push_back(signal);
        lock.unlock();
        hsa_signal_destroy(signal);
    }
};

}  // namespace detail

PooledSignal::~PooledSignal() {
    if (!in_forked_child()) shelf_->put(signal_.native());
}

SignalPool::SignalPool() : shelf_(std::make_shared<detail::SignalShelf>()) {}

SignalPool::~SignalPool() {
    std::vector<hsa_signal_t> idle;
    {
        const std::lock_guard lock(shelf_->mutex);
        shelf_->closed = true;
        idle.swap(shelf_->idle);
    }
    if (in_forked_child()) return;
    for (const hsa_signal_t signal : idle) hsa_signal_destroy(signal);
}

std::shared_ptr<PooledSignal> SignalPool::acquire(std::int64_t initial) {
    const Driver driver = Driver::current();
    hsa_signal_t signal = shelf_->take();
    if (signal.handle != 0)
        hsa_signal_silent_store_relaxed(signal, initial);  // nobody can be waiting for it
    else
        signal = Signal::create(initial).release();
    shelf_->lend();
    return std::make_shared<PooledSignal>(driver, shelf_, signal);
}

SignalPool::Counts SignalPool::counts() const {
    const std::lock_guard lock(shelf_->mutex);
    return {shelf_->live, shelf_->idle.size(), shelf_->peak};
}

}  // namespace hsadrv
