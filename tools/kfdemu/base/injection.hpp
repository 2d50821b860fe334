// What was asked to go wrong, and whether it is time: failing calls, lost interrupts, stalled queues, broken packets.
//
//     injection().fail({.point = Point::allocation, .turns = {.nth = 3}, .error = ENOMEM});
//     if (int error = injection().failure(Point::allocation)) return error;  // where allocations are made
//
// Thread safety: every function, any thread. Where nothing was asked for, each question costs one load.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "base/defect.hpp"
#include "base/failure.hpp"

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

    /// Each asks for something. `ring`: where a queue's ring lies, or a QueueKind for all of that kind.
    void fail(const Failure& failure);
    void interrupts(Interrupt what, Turns turns);
    void stall(std::uint64_t ring, bool stalled);
    void patch(std::uint64_t ring, std::uint64_t nth, const Patch& patch);
    void defect(const Defect& defect);
    void reset();

    /// What the call that is about to be made has to answer; 0: nothing, it goes its way.
    int failure(Point point, std::uint32_t number = 0);
    /// What becomes of the interrupt that is about to be raised.
    Interrupt interrupt();
    bool stalled(QueueKind kind, std::uint64_t ring);
    /// Replaces bytes of a packet that a queue has just read.
    void apply(QueueKind kind, std::uint64_t ring, std::span<std::byte> packet);

    /// Whether the copy that a DMA engine has just begun goes wrong, and the kernel that is about to start never ends.
    bool corrupts_copy() { return counted(DefectKind::copies); }
    bool hangs_dispatch() { return counted(DefectKind::dispatches); }

    /// Around fork(): the child's copy is whole.
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

    // Relaxed: whoever asks for a failure and then makes the call that shall fail is one thread, or synchronises.
    std::atomic<bool> armed_{false};
    std::mutex mutex_;
    std::vector<Failure> failures_;
    std::vector<Disturbance> disturbances_;
    std::vector<std::uint64_t> stalled_;
    std::vector<Break> breaks_;
    std::vector<Defect> defects_;
};

/// The process's own. Never destroyed: threads of the device outlive static objects.
Injection& injection();

}  // namespace kfdemu
