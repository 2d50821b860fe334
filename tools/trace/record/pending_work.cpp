#include "tools/trace/record/pending_work.hpp"

#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa_ext_amd.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <system_error>

namespace trace {
namespace {

/// Also of a signal that the program has destroyed: the runtime keeps its memory, and would assert that it is valid.
hsa_signal_value_t value_of_signal(hsa_signal_t signal) {
    return __atomic_load_n(&reinterpret_cast<const amd_signal_t*>(signal.handle)->value, __ATOMIC_ACQUIRE);
}

}  // namespace

PendingWork::~PendingWork() { stop_collector(true); }

/// Under the lock. Neighbours that are not written are one.
void PendingWork::push(hsa_signal_t signal, std::unique_ptr<PendingItem> item) {
    std::deque<Counted>& items = signals_[signal.handle].items;
    const hsa_signal_value_t before = !items.empty()                  ? items.back().done_at
                                      : ours_.contains(signal.handle) ? 1
                                                                      : value_of_signal(signal);
    if (!item && !items.empty() && !items.back().item)
        items.back().done_at = before - 1;
    else
        items.push_back({std::move(item), before - 1});
    count_.store(signals_.size(), std::memory_order_relaxed);
}

void PendingWork::add(hsa_signal_t signal, PendingItem item) {
    auto kept = std::make_unique<PendingItem>(std::move(item));
    const std::lock_guard lock{mutex_};
    push(signal, std::move(kept));
}

void PendingWork::add_uncounted(hsa_signal_t signal) {
    const std::lock_guard lock{mutex_};
    push(signal, nullptr);
}

hsa_signal_t PendingWork::own_signal() {
    const std::lock_guard lock{mutex_};
    hsa_signal_t signal{0};
    if (!free_.empty()) {
        signal = free_.back();
        free_.pop_back();
    } else if (runtime_.amd_signal_create(1, 0, nullptr, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &signal) == HSA_STATUS_SUCCESS) {
        ours_.insert(signal.handle);
    }
    return signal;
}

void PendingWork::cancel(hsa_signal_t signal, std::uint64_t id) {
    const std::lock_guard lock{mutex_};
    const auto found = signals_.find(signal.handle);
    if (found == signals_.end()) return;
    std::erase_if(found->second.items, [=](const Counted& counted) { return counted.item && counted.item->id == id; });
    if (found->second.items.empty()) signals_.erase(found);
    count_.store(signals_.size(), std::memory_order_relaxed);
}

void PendingWork::give_up(hsa_signal_t signal, const char* why) {
    if (count_.load(std::memory_order_relaxed) == 0) return;
    const std::lock_guard lock{mutex_};
    const auto found = signals_.find(signal.handle);
    if (found == signals_.end()) return;
    take_ended(signal, found->second);
    for (const Counted& counted : found->second.items)
        if (counted.item) write_untimed(*counted.item, why);
    signals_.erase(found);
    count_.store(signals_.size(), std::memory_order_relaxed);
}

bool PendingWork::is_ours(hsa_signal_t signal) {
    const std::lock_guard lock{mutex_};
    return ours_.contains(signal.handle);
}

void PendingWork::write_untimed(const PendingItem& item, const char* why) {
    write(item, item.enqueued_ns, item.enqueued_ns, why);
}

std::pair<std::uint64_t, std::uint64_t> PendingWork::times(hsa_signal_t signal, const PendingItem& item) const {
    std::uint64_t start = 0, end = 0;
    if (item.stage == Stage::kernel) {
        hsa_amd_profiling_dispatch_time_t time{};
        if (runtime_.dispatch_time(item.agent, signal, &time) == HSA_STATUS_SUCCESS) start = time.start, end = time.end;
    } else {
        hsa_amd_profiling_async_copy_time_t time{};
        if (runtime_.copy_time(signal, &time) == HSA_STATUS_SUCCESS) start = time.start, end = time.end;
    }
    if (start == 0 || end < start) return {0, 0};
    return {clock_.ns(start), clock_.ns(end)};
}

/// Under the lock. Of several that have ended, the last has the signal's times.
std::vector<std::uint64_t> PendingWork::take_ended(hsa_signal_t signal, OfSignal& of) {
    const hsa_signal_value_t value = value_of_signal(signal);
    const auto ended =
        std::find_if(of.items.begin(), of.items.end(), [=](const Counted& counted) { return value > counted.done_at; });
    std::vector<std::uint64_t> ids;
    for (auto counted = of.items.begin(); counted != ended; ++counted) {
        if (!counted->item) continue;
        const bool is_last = counted + 1 == ended;
        const auto [begin, end] = is_last ? times(signal, *counted->item) : std::pair<std::uint64_t, std::uint64_t>{};
        if (end != 0)
            write(*counted->item, begin, end, nullptr);
        else
            write_untimed(*counted->item, is_last ? "not given" : "one signal for several packets");
        ids.push_back(counted->item->id);
    }
    of.items.erase(of.items.begin(), ended);
    return ids;
}

std::vector<std::uint64_t> PendingWork::collect(hsa_signal_t signal) {
    if (count_.load(std::memory_order_relaxed) == 0) return {};
    const std::lock_guard lock{mutex_};
    const auto found = signals_.find(signal.handle);
    if (found == signals_.end()) return {};
    const std::size_t before = found->second.items.size();
    auto ids = take_ended(signal, found->second);
    const bool has_ended = found->second.items.size() != before;
    if (found->second.items.empty()) signals_.erase(found);
    constexpr std::size_t most = 256;  // so that a wait stays short; the collector does the rest
    if (has_ended) sweep(most, true);
    count_.store(signals_.size(), std::memory_order_relaxed);
    return ids;
}

void PendingWork::collect_all() {
    const std::lock_guard lock{mutex_};
    sweep(signals_.size(), false);
}

/// Under the lock. Writes what has ended of so many signals. `only_ours`: the others are what a wait returns ids for.
void PendingWork::sweep(std::size_t most, bool only_ours) {
    for (auto at = signals_.begin(); at != signals_.end() && most > 0; --most) {
        const hsa_signal_t signal{at->first};
        const bool ours = ours_.contains(at->first);
        if (ours || !only_ours) take_ended(signal, at->second);
        if (!at->second.items.empty()) {
            ++at;
            continue;
        }
        if (ours) {
            runtime_.signal_store(signal, 1);
            free_.push_back(signal);
        }
        at = signals_.erase(at);
    }
    count_.store(signals_.size(), std::memory_order_relaxed);
}

void PendingWork::collect_rest(bool patient) {
    const std::unique_lock lock = patient ? std::unique_lock{mutex_} : try_for_long(mutex_);
    if (!lock) return;
    const std::uint64_t now = now_ns();
    for (auto& [handle, of] : signals_) {
        take_ended({handle}, of);
        for (const Counted& counted : of.items)
            if (counted.item) write(*counted.item, counted.item->enqueued_ns, now, "not finished");
    }
    signals_.clear();
    count_.store(0, std::memory_order_relaxed);
    if (!patient) return;  // the runtime is gone, or goes with the process
    for (const std::uint64_t handle : ours_) runtime_.signal_destroy({handle});
    free_.clear();
    ours_.clear();
}

void PendingWork::give_up_gpu(unsigned gpu) {
    const std::unique_lock lock = try_for_long(mutex_);
    if (!lock) return;
    const std::uint64_t now = now_ns();
    for (auto& [handle, of] : signals_) {
        take_ended({handle}, of);
        for (Counted& counted : of.items) {
            if (!counted.item || counted.item->gpu != gpu) continue;
            write(*counted.item, counted.item->enqueued_ns, now, "not finished");
            counted.item.reset();
        }
    }
}

void PendingWork::write(const PendingItem& item, std::uint64_t begin_ns, std::uint64_t end_ns, const char* remark) {
    Recorder* const recorder = Recorder::active();
    if (recorder == nullptr) return;
    std::vector<Annotation> annotations;
    for (const auto& [name, value] : item.values) annotations.push_back({name, value});
    annotations.push_back({"enqueued_ns", item.enqueued_ns});
    if (remark != nullptr) annotations.push_back({"times", std::string_view{remark}});
    Work work;
    work.id = item.id;
    work.stage = item.stage;
    work.name = *item.name;
    work.begin_ns = begin_ns;
    work.end_ns = end_ns;
    work.gpu = item.gpu;
    work.queue = *item.queue;
    if (item.stage == Stage::kernel) work.launch = &item.launch;
    work.annotations = annotations;
    recorder->write([&](TraceWriter& writer, std::string& packets) { writer.work(packets, work); });
}

void PendingWork::start_collector() {
    // Blocked: the program's handlers must not run on this thread.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        collector_ = std::thread{[this] {
            pthread_setname_np(pthread_self(), "hsadrv-trace");
            while (!stopping_.load(std::memory_order_acquire)) {
                std::this_thread::sleep_for(std::chrono::milliseconds{2});
                if (count_.load(std::memory_order_relaxed) != 0) guarded([this] { collect_all(); });
            }
        }};
    } catch (const std::system_error&) {  // no further thread is allowed: calls collect
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void PendingWork::stop_collector(bool patient) {
    stopping_.store(true, std::memory_order_release);
    if (collector_.joinable()) patient ? collector_.join() : collector_.detach();
}

}  // namespace trace
