// Recorder: the process's trace, which all threads write.
//
//     if (Recorder* recorder = Recorder::active())
//         recorder->slice({"hsa_queue_create", begin_ns, now_ns(), arguments});
//
// Thread safety: any thread, under one lock. In a child of fork() there is none: the file is its parent's.
// Lifetime: begins with start(), and stays until the process ends, since other threads may still call.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "tools/trace/format/trace_file.hpp"
#include "tools/trace/format/trace_writer.hpp"
#include "tools/trace/record/clock.hpp"

namespace trace {

class Recorder {
  public:
    /// As HSADRV_TRACE, HSADRV_TRACE_LIMIT and HSADRV_TRACE_RING say; null: nothing is traced, which has been said if
    /// it was wanted.
    static Recorder* start();
    static Recorder* active() { return instance_.load(std::memory_order_acquire); }
    /// The file is whole, and nothing is written any more.
    /// `patient`: as PendingWork::collect_rest().
    static void stop(bool patient);
    /// Something went wrong in the trace itself, which must not reach the program: the trace ends here.
    static void give_up() noexcept { instance_.store(nullptr, std::memory_order_release); }

    template <class Write>
    void write(Write&& write) {
        const std::lock_guard lock{mutex_};
        for (unsigned tries = 0; file_ && tries < 2; ++tries) {  // in a new file, names are introduced again
            packets_.clear();
            write(writer_, packets_);
            if (packets_.empty() || file_->append(packets_) || !make_room()) return;
        }
    }
    /// On the calling thread's track; an instant is now.
    void slice(const Slice& slice);
    void instant(std::string_view name, std::span<const Annotation> annotations);

    std::uint64_t new_work_id() { return next_work_.fetch_add(1, std::memory_order_relaxed); }

  private:
    Recorder(std::uint64_t limit_bytes, bool ring);
    static Track own_track(TraceWriter& writer, std::string& packets);
    bool open(const std::string& path);
    /// The file is full. False: that is the end of the trace.
    bool make_room();
    void leave_to_parent();

    static std::atomic<Recorder*> instance_;  // release when made

    std::mutex mutex_;
    TraceWriter writer_;
    std::optional<TraceFile> file_;
    std::string packets_;
    const std::uint64_t limit_bytes_;       ///< of a file
    const bool ring_;                       ///< the last events are kept, in this file and the one before it
    std::atomic<std::uint64_t> next_work_;  // relaxed: hands out numbers
};

/// Calls body(): no exception reaches the program, whose code is C.
template <class Body>
void guarded(Body&& body) noexcept {
    try {
        body();
    } catch (...) {
        Recorder::give_up();
    }
}

/// A lock, unless another thread has it for 0.2 s, or this one.
inline std::unique_lock<std::mutex> try_for_long(std::mutex& mutex) {
    std::unique_lock lock{mutex, std::try_to_lock};
    for (unsigned n = 0; !lock && n < 200; ++n) {
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
        static_cast<void>(lock.try_lock());
    }
    return lock;
}

}  // namespace trace
