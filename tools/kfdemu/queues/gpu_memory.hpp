// Memory access of the packet processor and SDMA engines, through the GPU's address space.
//
//     AddressSpace::Hold hold{space};
//     if (auto* value = at<std::int64_t>(space, va, kWrite)) …     // nullptr: a memory fault
//
// Thread safety: as AddressSpace; the caller must have a Hold.
#pragma once

#include "tools/kfdemu/base/address_space.hpp"
#include "tools/kfdemu/base/clock.hpp"
#include "tools/kfdemu/base/host_fault.hpp"
#include "tools/kfdemu/queues/packet.hpp"
#include "tools/kfdemu/resources/events.hpp"

namespace kfdemu {

/// Whether bits 63 to 48 repeat bit 47. Other addresses do not reach the page tables.
inline bool is_canonical(std::uint64_t va) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(va << 16) >> 16) == va;
}

/// The object at a GPU virtual address, or nullptr if it is misaligned or not mapped with that access, on the GPU or in
/// the program.
template <class T>
T* at(const AddressSpace& space, std::uint64_t va, std::uint32_t access) {
    const AddressSpace::Range* range = space.find(va);
    if (!range || va % alignof(T) != 0 || !range->contains(va, sizeof(T)) || !range->allows(access)) return nullptr;
    if (range->user_pages && !host_fault::accessible(space, range->at(va), access)) return nullptr;
    return reinterpret_cast<T*>(range->at(va));
}

/// Runs `body` with the object at `va`. False: a memory fault, also if the program takes the page away meanwhile. The
/// body must own nothing with a destructor.
template <class T, class Body>
bool access(const AddressSpace& space, std::uint64_t va, std::uint32_t access, Body&& body) {
    const AddressSpace::Range* range = space.find(va);
    if (!range || va % alignof(T) != 0 || !range->contains(va, sizeof(T)) || !range->allows(access)) return false;
    T* object = reinterpret_cast<T*>(range->at(va));
    if (!range->user_pages) return body(*object), true;
    return !host_fault::guarded(&space, [&] { body(*object); });
}

/// The memory exception for a failed access, as reported to the runtime.
inline abi::MemoryException memory_exception(const AddressSpace& space, std::uint32_t gpu_id, std::uint64_t va,
                                             std::uint32_t access) {
    const AddressSpace::Range* range = space.find(va);
    const bool there =
        range && (!range->user_pages || host_fault::accessible(space, range->at(va), kRead));  // PROT_NONE: absent
    return {.not_present = !there,
            .read_only = there && (access & kWrite),
            .no_execute = there && (access & kExecute),
            .imprecise = 0,
            .va = va & ~std::uint64_t{4095},
            .gpu_id = gpu_id,
            .error_type = 0};
}

/// Raises the signal's interrupt, if it has an event: stores the event's id into the mailbox and wakes its waiters.
inline void interrupt(const AddressSpace& space, Events& events, const aql::AmdSignal& signal) {
    if (signal.event_mailbox_ptr == 0) return;
    const std::uint32_t id = signal.event_id;
    access<std::uint64_t>(space, signal.event_mailbox_ptr, kWrite,
                          [&](std::uint64_t& mailbox) { __atomic_store_n(&mailbox, id, __ATOMIC_RELEASE); });
    events.signal(id);
}

/// Whether a completion signal can be completed: it is null or mapped for writing.
inline bool can_complete(const AddressSpace& space, std::uint64_t signal_handle) {
    return signal_handle == 0 || at<aql::AmdSignal>(space, signal_handle, kWrite) != nullptr;
}

/// Completes a packet: stores the times, decrements the signal, raises the interrupt. Memory ordering: the decrement
/// publishes the times and all writes of the packet. A null signal is valid. False: the signal is not mapped.
inline bool complete(const AddressSpace& space, Events& events, std::uint64_t signal_handle, std::uint64_t start_ticks,
                     std::uint64_t end_ticks) {
    if (signal_handle == 0) return true;
    aql::AmdSignal copy;
    const bool there = access<aql::AmdSignal>(space, signal_handle, kWrite, [&](aql::AmdSignal& signal) {
        // Relaxed: the decrement publishes them. If several packets complete one signal at once, any of their times may
        // stay.
        __atomic_store_n(&signal.start_ts, start_ticks, __ATOMIC_RELAXED);
        __atomic_store_n(&signal.end_ts, end_ticks, __ATOMIC_RELAXED);
        // A waiter that sees the new value may destroy the signal, so what the interrupt needs is read before.
        copy = signal;
        __atomic_fetch_sub(&signal.value, 1, __ATOMIC_ACQ_REL);
    });
    if (there) interrupt(space, events, copy);
    return there;
}

/// Stores a value into a signal, as the firmware does with a queue's inactive signal.
inline bool store(const AddressSpace& space, Events& events, std::uint64_t signal_handle, std::uint64_t value) {
    aql::AmdSignal copy;
    const bool there = access<aql::AmdSignal>(space, signal_handle, kWrite, [&](aql::AmdSignal& signal) {
        copy = signal;
        __atomic_store_n(&signal.value, static_cast<std::int64_t>(value), __ATOMIC_RELEASE);
    });
    if (there) interrupt(space, events, copy);
    return there;
}

}  // namespace kfdemu
