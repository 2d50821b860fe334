#include "tools/kfdemu/queues/scheduler.hpp"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <thread>
#include <utility>

#include "tools/kfdemu/base/behaviour.hpp"
#include "tools/kfdemu/base/host_fault.hpp"
#include "tools/kfdemu/base/log.hpp"
#include "tools/kfdemu/base/order.hpp"
#include "tools/kfdemu/queues/aql_queue.hpp"
#include "tools/kfdemu/queues/sdma_queue.hpp"

namespace kfdemu {
namespace {

isa::Target target_of(const Model& model) {
    for (isa::Target target : isa::kTargets)
        if (model.name == isa::name(target)) return target;
    std::abort();  // a model without an executor cannot be in the table
}

sdma::Version sdma_version(const Model& model) {
    if (model.gfx_target_version < 100000) return sdma::Version::v4;
    return model.gfx_target_version < 120000 ? sdma::Version::v5 : sdma::Version::v7;
}

bool power_of_two(std::uint64_t value) { return value && (value & (value - 1)) == 0; }

/// How long the polling worker sleeps after `rounds` idle rounds. Spinning first keeps each of a steady stream of
/// launches below a few microseconds. A wake-up costs up to 20 us on a virtual machine, so the last step, after about
/// half a second, keeps an idle device below one percent of a core. A thread that waits in a system call ends the sleep
/// at once.
std::chrono::microseconds pause_after(unsigned rounds) {
    using std::chrono::microseconds;
    if (rounds < 400) return microseconds{0};
    if (rounds < 600) return microseconds{20};
    if (rounds < 1000) return microseconds{100};
    if (rounds < 1400) return microseconds{1000};
    return microseconds{8000};
}

}  // namespace

Scheduler::Scheduler(const Topology& topology, Memory& memory, Events& events, std::vector<AddressSpace*> spaces,
                     unsigned workers, std::uint64_t seed, jit::When translated)
    : memory_{memory},
      events_{events},
      spaces_{std::move(spaces)},
      workers_{workers ? workers : std::max(1u, std::thread::hardware_concurrency())},
      queue_list_{std::make_shared<const std::vector<std::shared_ptr<Queue>>>()},
      seeded_{shows(Behaviour::seeded_order)},
      random_{seed} {
    for (const Gpu& gpu : topology.gpus) {
        code_.push_back(std::make_unique<CodeCache>(target_of(*gpu.model), translated));
        evictions_.push_back(std::make_unique<Eviction>(events_));
    }
}

int Scheduler::create_queue(const Gpu& gpu, abi::CreateQueue& args) {
    if (args.ring_base_address == 0 || !power_of_two(args.ring_size) || args.read_pointer_address == 0 ||
        args.write_pointer_address == 0 || args.queue_percentage > 100)
        return EINVAL;
    std::lock_guard lock{mutex_};
    unsigned doorbell = 0;
    for (bool taken = true; taken && doorbell < kMaxQueues; doorbell += taken) {
        taken = false;
        for (const auto& [id, entry] : queues_) taken |= entry.gpu == gpu.index && entry.doorbell == doorbell;
    }
    if (doorbell == kMaxQueues) return ENOMEM;

    const DeviceFile::Range& page = memory_.doorbells(gpu.index);
    if (!page.host) return ENOMEM;
    auto* bell = reinterpret_cast<volatile std::uint64_t*>(page.host + 8 * doorbell);
    const AddressSpace& space = *spaces_[gpu.index];
    Eviction& eviction = *evictions_[gpu.index];
    std::shared_ptr<Queue> queue;
    if (args.queue_type == abi::kComputeAql) {
        if (args.ring_size < sizeof(aql::Packet)) return EINVAL;
        queue =
            std::make_shared<AqlQueue>(gpu, space, events_, eviction, *this, *code_[gpu.index], groups_, args, bell);
    } else if (args.queue_type == abi::kSdma || args.queue_type == abi::kSdmaXgmi ||
               args.queue_type == abi::kSdmaByEngine) {
        const std::uint32_t engines = gpu.model->sdma_engines + gpu.model->xgmi_sdma_engines;
        if (args.queue_type == abi::kSdmaByEngine && args.sdma_engine_id >= engines) return EINVAL;
        queue = std::make_shared<SdmaQueue>(gpu.index, space, events_, eviction, args, bell, sdma_version(*gpu.model));
    } else {
        log(LogLevel::warning, "gpu{}: unknown queue type {}", gpu.index, args.queue_type);
        return EINVAL;
    }
    args.queue_id = next_queue_id_++;
    args.doorbell_offset = page.offset + 8 * doorbell;
    queues_.emplace(args.queue_id, Entry{queue, gpu.index, doorbell});
    auto list = std::make_shared<std::vector<std::shared_ptr<Queue>>>(*queue_list_);
    list->push_back(queue);
    queue_list_ = list;
    log(LogLevel::info, "gpu{}: queue {} of type {}, ring of {} B at {:#x}", gpu.index, args.queue_id, args.queue_type,
        args.ring_size, args.ring_base_address);
    if (eviction.evicted()) log(LogLevel::info, "gpu{}: queue {} starts evicted", gpu.index, args.queue_id);
    start_workers();
    wake_.notify_all();
    return 0;
}

bool Scheduler::destroy_queue(std::uint32_t id) {
    const auto queue = find_queue(id);
    if (!queue) return false;
    queue->stop();  // before another queue can reuse its doorbell
    {
        std::lock_guard lock{mutex_};
        if (queues_.erase(id) == 0) return false;
        auto list = std::make_shared<std::vector<std::shared_ptr<Queue>>>();
        for (const auto& [other, left] : queues_) list->push_back(left.queue);
        queue_list_ = list;
    }
    log(LogLevel::info, "queue {} destroyed", id);
    return true;
}

int Scheduler::update_queue(const abi::UpdateQueue& args) {
    const auto queue = find_queue(args.queue_id);
    if (!queue) return EINVAL;
    const int error = queue->update(args);
    nudge();
    return error;
}

std::shared_ptr<Queue> Scheduler::find_queue(std::uint32_t id) const {
    std::lock_guard lock{mutex_};
    auto at = queues_.find(id);
    return at == queues_.end() ? nullptr : at->second.queue;
}

std::vector<std::shared_ptr<Queue>> Scheduler::queues_of(unsigned gpu) const {
    std::lock_guard lock{mutex_};
    std::vector<std::shared_ptr<Queue>> queues;
    for (const auto& [id, entry] : queues_)
        if (entry.gpu == gpu) queues.push_back(entry.queue);
    return queues;
}

bool Scheduler::busy(unsigned gpu) const {
    const auto queues = queues_of(gpu);  // a queue's lock is not taken under this one's
    return std::any_of(queues.begin(), queues.end(), [](const auto& queue) { return queue->busy(); });
}

std::uint64_t Scheduler::count_slots(std::uint64_t ring, std::uint64_t (AdvertisedSlots::*number)() const) const {
    std::lock_guard lock{mutex_};
    std::uint64_t sum = 0;
    for (const auto& [id, entry] : queues_) {
        const auto* queue = dynamic_cast<const AqlQueue*>(entry.queue.get());
        if (queue && (ring == queue->ring() || ring == static_cast<std::uint64_t>(QueueKind::compute)))
            sum += (queue->advertised().*number)();
    }
    return sum;
}

bool Scheduler::has_queue(std::uint32_t id) const { return find_queue(id) != nullptr; }

int Scheduler::set_cu_mask(std::uint32_t id, std::span<const std::uint32_t> words) {
    const auto queue = find_queue(id);
    return queue ? queue->set_cu_mask(words) : EINVAL;
}

void Scheduler::reset(const Gpu& gpu, bool memory_lost) {
    events_.smi().reset_begins(gpu.gpu_id);
    events_.smi().evicted_by_reset(gpu.gpu_id);
    const auto queues = queues_of(gpu.index);
    for (const auto& queue : queues) queue->stop();
    log(LogLevel::error, "gpu{}: reset; {} queues are stopped", gpu.index, queues.size());
    events_.raise(
        abi::HwException{.reset_type = 0, .reset_cause = 0, .memory_lost = memory_lost, .gpu_id = gpu.gpu_id});
    events_.smi().reset_ended(gpu.gpu_id);
}

void Scheduler::add(std::shared_ptr<Work> work, std::uint64_t parts, std::uint32_t priority) {
    std::lock_guard lock{mutex_};
    constexpr std::uint64_t kPassedOver = 64;
    works_.add(std::move(work), priority, seeded_ ? static_cast<unsigned>(random_.below(kPassedOver)) : 0);
    work_count_.store(works_.size(), std::memory_order_relaxed);
    if (parts < 2) return;
    ++nudges_;
    wake_.notify_all();
}

void Scheduler::nudge() {
    std::lock_guard lock{mutex_};
    ++nudges_;
    wake_.notify_all();
}

void Scheduler::start_workers() {
    if (std::exchange(started_, true)) return;
    host_fault::install();
    // Block all signals: the program's handlers must not run on the emulator's threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (unsigned i = 0; i < workers_; ++i) std::thread{[this, i] { run(i); }}.detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Scheduler::run(unsigned worker) {
    pthread_setname_np(pthread_self(), "kfdemu");
    prctl(PR_SET_TIMERSLACK, 1000);  // ns: for precise short sleeps
    unsigned fruitless = 0;
    bool stood_aside = false;
    while (true) {
        host_fault::accept_in_this_thread();
        const bool seeded = order_seed.load(std::memory_order_relaxed) != 0;
        if (worker != 0 && seeded) {
            if (!std::exchange(stood_aside, true)) nudge();             // worker 0 may sleep while this one polled
            std::this_thread::sleep_for(std::chrono::milliseconds{5});  // worker 0 does everything, in order
            continue;
        }
        stood_aside = false;
        const bool worked = run_work();
        const bool served = serve_queues();
        fruitless = worked || served ? 0 : fruitless + 1;
        if (fruitless) idle(fruitless);
    }
}

bool Scheduler::run_work() {
    if (work_count_.load(std::memory_order_relaxed) == 0) return false;
    bool any = false;
    for (std::size_t tries = work_count_.load(std::memory_order_relaxed) + 1; tries > 0; --tries) {
        const std::shared_ptr<Work> work = next_work(any);
        if (!work) return work_count_.load(std::memory_order_relaxed) != 0;  // one skips its turn: do not sleep
        switch (work->run()) {
            case Work::Result::some:
                return true;
            case Work::Result::idle:
                any = true;
                continue;
            case Work::Result::done: {
                std::lock_guard lock{mutex_};
                works_.remove(*work);
                work_count_.store(works_.size(), std::memory_order_relaxed);
                return true;
            }
        }
    }
    return false;
}

/// The next work of the highest priority, round robin. Every eighth turn it selects from all, to prevent starvation.
std::shared_ptr<Work> Scheduler::next_work(bool any) {
    constexpr unsigned kTurnsOfTheHighest = 8;
    std::lock_guard lock{mutex_};
    any |= ++turn_ % kTurnsOfTheHighest == 0;
    const auto from = any ? WorkList::From::all : WorkList::From::highest;
    return seeded_ ? works_.drawn(from, random_) : works_.next(from);
}

bool Scheduler::serve_queues() {
    std::shared_ptr<const std::vector<std::shared_ptr<Queue>>> queues;
    {
        std::lock_guard lock{mutex_};
        queues = queue_list_;
    }
    events_.deliver_late();
    bool did = false;
    for (const auto& queue : *queues) {
        // Acquire and release on the flag pass the queue's state from one worker to the next.
        if (queue->serving.test_and_set(std::memory_order_acquire)) continue;
        did |= queue->service();
        queue->serving.clear(std::memory_order_release);
    }
    return did;
}

void Scheduler::idle(unsigned rounds) {
    std::unique_lock lock{mutex_};
    const std::uint64_t nudges = nudges_;
    const auto called = [&] { return nudges_ != nudges; };
    if (watched_) {
        // Another worker polls the queues; this one is needed for new work, or when that worker has found some.
        wake_.wait(lock, [&] { return called() || !watched_; });
        return;
    }
    watched_ = true;
    const auto pause = pause_after(rounds);
    if (queues_.empty()) {
        wake_.wait(lock, [&] { return called() || !queues_.empty(); });
    } else if (pause.count() == 0) {
        lock.unlock();
        sched_yield();
        lock.lock();
    } else {
        wake_.wait_for(lock, pause, called);
    }
    watched_ = false;
}

}  // namespace kfdemu
