// Internal: whether this thread runs host functions. Work in flight waits for them, so they must not wait for that.
//
//   if (on_callback_thread()) …
//
// Thread safety: any thread.
#pragma once

namespace hsadrv::detail {

/// True on the thread of any SignalCallbacks.
bool on_callback_thread() noexcept;

}  // namespace hsadrv::detail
