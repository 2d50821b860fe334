// How the kernel tells a runtime of a queue's error once that has asked for it (RUNTIME_ENABLE): a bit in a
// word of the runtime's own, and an event. Where both are, the runtime says in the header of the queue's
// context save area.
//
//     raise_exception(events, save_area, aql::kInvalidCode);
//
// Layout and codes: the kernel's include/uapi/linux/kfd_ioctl.h, kfd_context_save_area_header and
// kfd_dbg_trap_exception_code. Thread safety: every function, any thread.
#pragma once

#include <cstdint>

#include "resources/events.hpp"

namespace kfdemu {

/// `error` is one of aql::QueueError. Does nothing where the runtime has named no event.
void raise_exception(Events& events, std::uint64_t save_area, std::uint64_t error);

}  // namespace kfdemu
