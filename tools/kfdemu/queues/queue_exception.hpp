// Reports a queue's error to a runtime that has called RUNTIME_ENABLE: sets a bit in a word of the runtime and signals
// an event. The header of the queue's context save area names both.
//
//     raise_exception(events, save_area, aql::kInvalidCode);
//
// Layout and codes: the kernel's include/uapi/linux/kfd_ioctl.h, kfd_context_save_area_header and
// kfd_dbg_trap_exception_code. Thread safety: every function, any thread.
#pragma once

#include <cstdint>

#include "tools/kfdemu/resources/events.hpp"

namespace kfdemu {

/// `error`: an aql::QueueError. Does nothing if the save area names no event.
void raise_exception(Events& events, std::uint64_t save_area, std::uint64_t error);

}  // namespace kfdemu
