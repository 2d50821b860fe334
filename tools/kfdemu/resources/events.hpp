// KFD events, on which host threads sleep until the device signals them.
//
//     auto id = events.create(abi::kEventSignal, /*auto_reset=*/true);
//     events.signal(*id);                 // from the device: an interrupt
//     events.wait(data, false, 1000);     // from WAIT_EVENTS
//
// Semantics follow the kernel's kfd_events.c. Setting an event activates every current waiter. The event stays
// signalled for a later waiter only if there was none, or if it is not auto-reset. An activated waiter stays activated
// until its wait returns. A signal event has an age, which increases each time it is set. A waiter that passes the age
// it last saw returns immediately if the event is newer, so that no other thread can take its wake-up (KFD 1.14).
// Destroying an event fails its waiters.
//
// Interrupts name an event, but not reliably: ROCm's device library sends the lowest 8 bits of the id. The device
// therefore first stores a value into the event's slot of the event page, and an interrupt signals the named event only
// if its slot was stored to, else all events whose slots were (kfd_signal_event_interrupt).
//
// Thread safety: every function, any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "tools/kfdemu/base/abi.hpp"
#include "tools/kfdemu/base/injection.hpp"
#include "tools/kfdemu/resources/buffer.hpp"
#include "tools/kfdemu/resources/smi_events.hpp"

namespace kfdemu {

class Events {
  public:
    /// A new event's id, or std::nullopt if abi::kSignalEventLimit is reached (ENOSPC).
    /// A signal or debug event's id is also its slot in the event page.
    std::optional<std::uint32_t> create(std::uint32_t type, bool auto_reset);

    /// False: no such event.
    bool destroy(std::uint32_t id);
    /// By the program. False: no such signal event; other events are the driver's to set.
    bool set(std::uint32_t id);
    bool reset(std::uint32_t id);

    /// Uses `page` as the event page: kSignalEventLimit slots of 8 bytes, which become unsignalled. False: there is
    /// one. Keeps it alive.
    bool use_page(std::shared_ptr<Buffer> page);

    /// The device's interrupt for a signal event. Fault injection may drop or delay it (injection.hpp). Without an
    /// event page the id alone counts, and an unknown one is ignored: the event may have been destroyed.
    void signal(std::uint32_t id);
    /// Delivers delayed interrupts that are due. Called often by the device's threads; costs one load if there are
    /// none.
    void deliver_late();
    /// Signals every memory (hardware-exception) event with this data.
    void raise(const abi::MemoryException& data);
    void raise(const abi::HwException& data);

    /// Waits until one (or all) of `events` are signalled. Writes the data of memory and exception events and the age
    /// of signal events. std::nullopt: an unknown id (EINVAL). A long wait may also complete for a wake-up that another
    /// thread took, see kLongWaitMs in events.cpp.
    std::optional<abi::WaitResult> wait(std::span<abi::EventData> events, bool all, std::uint32_t timeout_ms);

    /// The event files of GPUs, which raise() also writes to.
    SmiEvents& smi() { return smi_; }

  private:
    struct Waiter {  // one thread waiting for one event
        bool activated = false, destroyed = false;
        std::uint64_t age = 0;
        abi::MemoryException memory{};
        abi::HwException hw{};
    };
    struct Event {
        std::uint32_t type;
        bool auto_reset;
        bool signalled = false;
        std::uint64_t age = 1;       // 0 in a request: age not requested
        std::uint64_t last_set = 0;  // number of the last time it was set; 0: never
        abi::MemoryException memory{};
        abi::HwException hw{};
        std::vector<Waiter*> waiters{};
    };

    struct Late {
        std::uint64_t due_ns;
        std::uint32_t id;
    };

    void activate(Event& event);
    void deliver(std::uint32_t id);
    bool take_mark(std::uint32_t id) const;
    void hold_back(std::uint32_t id, const Injection::Interrupt& how);
    static void activate(Waiter& waiter, const Event& event);

    SmiEvents smi_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::uint32_t, Event> events_;
    std::shared_ptr<Buffer> page_;
    std::vector<Late> late_;
    std::atomic<std::size_t> late_count_{0};  // relaxed hint; mutex_ guards what it counts
    std::uint32_t signal_events_ = 0;
    std::uint32_t next_signal_id_ = 1;
    std::uint32_t next_other_id_ = 0x40000000;  // positive as an int, as the kernel's
};

}  // namespace kfdemu
