#include "hsadrv/c/handle_table.hpp"

#include <iterator>
#include <utility>

#include "hsadrv/error.hpp"

namespace hsadrv::c {
namespace {

// A handle: kind in bits 56 to 59, generation in bits 32 to 55, slot below. The kind is never zero, so neither is it.
constexpr unsigned kind_shift = 56, generation_shift = 32;

static_assert(sizeof(void*) == sizeof(std::uint64_t), "handles have 60 bits");

std::uint64_t number_of(const void* handle) noexcept { return reinterpret_cast<std::uintptr_t>(handle); }
std::uint32_t slot_number(std::uint64_t handle) noexcept { return static_cast<std::uint32_t>(handle); }
std::uint32_t generation_of(std::uint64_t handle) noexcept {
    return static_cast<std::uint32_t>(handle >> generation_shift & 0xffffff);
}

}  // namespace

const char* kind_text(HandleKind kind) noexcept {
    static constexpr const char* texts[] = {
        "no handle",       "a driver",        "a device",          "memory",         "a registration", "a stream",
        "an event",        "an executable",   "a kernel",          "a graph",        "a compilation",  "a signal",
        "physical memory", "a virtual range", "a memory resource", "a graph builder"};
    static_assert(std::size(texts) == static_cast<std::size_t>(last_kind) + 1);
    return texts[static_cast<std::size_t>(kind)];
}

HandleTable& HandleTable::process() noexcept {
    static auto* const table = new HandleTable;
    return *table;
}

void* HandleTable::put(HandleKind kind, std::shared_ptr<void> object) {
    const std::lock_guard held(mutex_);
    if (free_.empty()) {
        if (slots_.size() > UINT32_MAX) throw OutOfMemory("the C interface's handles are used up");
        slots_.emplace_back();
        free_.push_back(static_cast<std::uint32_t>(slots_.size() - 1));
    }
    const std::uint32_t number = free_.front();
    Slot& slot = slots_[number];
    slot.kind = kind;
    slot.object = std::move(object);
    free_.pop_front();
    ++used_;
    const std::uint64_t handle = std::uint64_t{static_cast<std::uint8_t>(kind)} << kind_shift |
                                 std::uint64_t{slot.generation} << generation_shift | number;
    return reinterpret_cast<void*>(handle);
}

/// Called with the lock held. Null unless the handle is in use.
const HandleTable::Slot* HandleTable::slot_of(std::uint64_t handle, HandleKind kind) const noexcept {
    if (handle >> kind_shift != static_cast<std::uint8_t>(kind)) return nullptr;
    if (slot_number(handle) >= slots_.size()) return nullptr;
    const Slot& slot = slots_[slot_number(handle)];
    return slot.kind == kind && slot.generation == generation_of(handle) ? &slot : nullptr;
}

std::shared_ptr<void> HandleTable::find(const void* handle, HandleKind kind) const noexcept {
    const std::lock_guard held(mutex_);
    const Slot* const slot = slot_of(number_of(handle), kind);
    return slot ? slot->object : nullptr;
}

std::shared_ptr<void> HandleTable::take(const void* handle, HandleKind kind) noexcept {
    const std::lock_guard held(mutex_);
    const std::uint32_t number = slot_number(number_of(handle));
    if (!slot_of(number_of(handle), kind)) return nullptr;
    Slot& slot = slots_[number];
    std::shared_ptr<void> object = std::exchange(slot.object, nullptr);
    slot.kind = HandleKind::none;
    --used_;
    if (slot.generation == last_generation) return object;
    ++slot.generation;
    try {
        free_.push_back(number);
    } catch (...) {
        // Without memory the slot stays unused.
    }
    return object;
}

HandleKind HandleTable::kind_of(const void* handle) const noexcept {
    const std::uint64_t number = number_of(handle), kind = number >> kind_shift;
    if (kind > static_cast<std::uint8_t>(last_kind)) return HandleKind::none;
    const std::lock_guard held(mutex_);
    if (slot_number(number) >= slots_.size()) return HandleKind::none;
    const Slot& slot = slots_[slot_number(number)];
    const bool seen = generation_of(number) < slot.generation ||
                      (generation_of(number) == slot.generation && slot.kind == static_cast<HandleKind>(kind));
    return seen ? static_cast<HandleKind>(kind) : HandleKind::none;
}

std::size_t HandleTable::size() const noexcept {
    const std::lock_guard held(mutex_);
    return used_;
}

}  // namespace hsadrv::c
