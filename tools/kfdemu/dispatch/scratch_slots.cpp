#include "tools/kfdemu/dispatch/scratch_slots.hpp"

namespace kfdemu {

ScratchSlots::ScratchSlots(std::uint32_t count) {
    free_.reserve(count);
    for (std::uint32_t slot = count; slot > 0; --slot) free_.push_back(static_cast<std::uint16_t>(slot - 1));
}

bool ScratchSlots::acquire(std::uint16_t* slots, std::uint32_t count) {
    const std::lock_guard lock{mutex_};
    if (free_.size() < count) return false;
    for (std::uint32_t i = 0; i < count; ++i) {
        slots[i] = free_.back();
        free_.pop_back();
    }
    return true;
}

void ScratchSlots::release(const std::uint16_t* slots, std::uint32_t count) {
    const std::lock_guard lock{mutex_};
    for (std::uint32_t i = count; i > 0; --i) free_.push_back(slots[i - 1]);
}

}  // namespace kfdemu
