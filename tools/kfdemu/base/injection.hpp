// Fault injection: holds the requested failures and decides when each takes effect. Failing calls, lost interrupts,
// stalled queues, corrupted packets.
//
//     injection().fail({.point = Point::allocation, .turns = {.nth = 3}, .error = ENOMEM});
//     if (int error = injection().failure(Point::allocation)) return error;  // where allocations are made
//
// Thread safety: every function, any thread. If nothing was requested, each query costs one load.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "tools/kfdemu/base/defect.hpp"
#include "tools/kfdemu/base/failure.hpp"

namespace kfdemu {

enum class InterruptAction : std::uint8_t { deliver = 0, drop = 1, delay = 2, duplicate = 3 };
enum class QueueKind : std::uint8_t { compute = 1, sdma = 2 };

class Injection {
  public:
    struct Interrupt {
        InterruptAction action = InterruptAction::deliver;
        std::uint64_t delay_us = 0;
    };
    struct Patch {
        std::uint8_t offset = 0, size = 0;
        std::byte bytes[8]{};
    };

    /// Requests. `ring`: address of a queue's ring, or a QueueKind for all queues of that kind.
    void fail(const Failure& failure);
    void interrupts(Interrupt what, Turns turns);
    void stall(std::uint64_t ring, bool stalled);
    void patch(std::uint64_t ring, std::uint64_t nth, const Patch& patch);
    void defect(const Defect& defect);
    void reset();

    /// The errno with which the current call must fail, or 0 to proceed.
    int failure(Point point, std::uint32_t number = 0);
    /// What to do with the interrupt that is about to be raised.
    Interrupt interrupt();
    bool stalled(QueueKind kind, std::uint64_t ring);
    /// Applies a requested patch to a packet that a queue has just read.
    void apply(QueueKind kind, std::uint64_t ring, std::span<std::byte> packet);

    /// Whether the copy that a DMA engine has just begun is corrupted; whether the kernel about to start never ends.
    bool corrupts_copy() { return counted(DefectKind::copies); }
    bool hangs_dispatch() { return counted(DefectKind::dispatches); }

    /// Called around fork(), so that the child's copy is consistent.
    void before_fork() { mutex_.lock(); }
    void after_fork() { mutex_.unlock(); }

  private:
    struct Disturbance {
        Interrupt what;
        Turns turns;
    };
    struct Break {
        std::uint64_t ring;
        Turns turns;
        Patch patch;
    };

    bool counted(DefectKind kind);
    bool armed() const { return armed_.load(std::memory_order_relaxed); }

    // Relaxed: the thread that requests a failure also makes the failing call, or synchronises with the thread that
    // does.
    std::atomic<bool> armed_{false};
    std::mutex mutex_;
    std::vector<Failure> failures_;
    std::vector<Disturbance> disturbances_;
    std::vector<std::uint64_t> stalled_;
    std::vector<Break> breaks_;
    std::vector<Defect> defects_;
};

/// The process-wide instance. Never destroyed: device threads outlive static objects.
Injection& injection();

}  // namespace kfdemu
