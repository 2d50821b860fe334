// PendingWork: kernels and copies that a GPU has not finished, by the signal that says so; they are written when it
// does.
//
//     pending.add(signal, {.name = "vector_add", …});
//     pending.collect(signal);         // before the program learns that the signal has changed, or changes it itself
//
// The times of a kernel or copy are in its completion signal until the next one uses it: a call that waits for a
// signal, changes or destroys it collects first, and a thread collects now and then. A signal that counts several
// packets has the times of the last alone; the others' are unknown. When the program changes a signal, what has not
// ended by it is given up: from then on its value does not say what has ended. Packets without a signal get one of
// ours, of a pool. Thread safety: any thread.
#pragma once

#include <hsa/hsa.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tools/trace/format/trace_writer.hpp"
#include "tools/trace/record/recorder.hpp"
#include "tools/trace/record/runtime.hpp"

namespace trace {

struct PendingItem {
    std::uint64_t id = 0;
    Stage stage = Stage::kernel;
    std::shared_ptr<const std::string> name, queue;
    unsigned gpu = 0;
    hsa_agent_t agent{};  ///< that ran it, of Stage::kernel
    KernelLaunch launch{};
    std::vector<std::pair<std::string_view, std::uint64_t>> values;  ///< names are literals
    std::uint64_t enqueued_ns = 0;
};

class PendingWork {
  public:
    PendingWork(const Runtime& runtime, SystemClock clock) : runtime_{runtime}, clock_{clock} {}
    ~PendingWork();

    /// The packet counts the signal down when it ends.
    void add(hsa_signal_t signal, PendingItem item);
    /// So does a packet that is not written, such as a barrier.
    void add_uncounted(hsa_signal_t signal);
    /// A signal of ours whose value is 1, for a packet without one. Null handle: there is none.
    hsa_signal_t own_signal();
    /// It was not enqueued after all.
    void cancel(hsa_signal_t signal, std::uint64_t id);
    /// The signal is changed or destroyed, or a packet that is not known counts it: collects, and writes the rest
    /// without times.
    void give_up(hsa_signal_t signal, const char* why);
    /// Whether the signal is one of ours, which a packet that was moved from a dead queue still has.
    bool is_ours(hsa_signal_t signal);
    /// Writes it now, without times.
    void write_untimed(const PendingItem& item, const char* why);
    /// Writes what the signal says has ended; returns its ids. Of packets with signals of ours, too: the program may
    /// know that they have ended, and may be killed next.
    std::vector<std::uint64_t> collect(hsa_signal_t signal);
    /// All signals; what has not ended is written as it is. `patient`: false at the end of a process, whose other
    /// threads may have stopped in our calls, or which a signal handler of this thread ends: then what is locked stays.
    void collect_rest(bool patient);
    /// After a fault of the GPU, which stops its queues: writes what has not ended, since the runtime may abort next.
    void give_up_gpu(unsigned gpu);
    void start_collector();
    void stop_collector(bool patient);

  private:
    struct Counted {
        std::unique_ptr<PendingItem> item;  ///< null: not written
        hsa_signal_value_t done_at;         ///< it has ended when the value is this or less
    };
    struct OfSignal {
        std::deque<Counted> items;
    };

    void push(hsa_signal_t signal, std::unique_ptr<PendingItem> item);
    void write(const PendingItem& item, std::uint64_t begin_ns, std::uint64_t end_ns, const char* remark);
    std::vector<std::uint64_t> take_ended(hsa_signal_t signal, OfSignal& of);
    std::pair<std::uint64_t, std::uint64_t> times(hsa_signal_t signal, const PendingItem& item) const;
    void collect_all();
    void sweep(std::size_t most, bool only_ours);

    const Runtime& runtime_;
    const SystemClock clock_;
    std::mutex mutex_;
    std::unordered_map<std::uint64_t, OfSignal> signals_;
    std::unordered_set<std::uint64_t> ours_;
    std::vector<hsa_signal_t> free_;     // of ours_
    std::atomic<std::size_t> count_{0};  // of signals; relaxed: a hint, the lock orders
    std::atomic<bool> stopping_{false};
    std::thread collector_;
};

}  // namespace trace
