// UniqueHandle: a move-only owner of a native HSA handle, which it destroys exactly once.
//
//   struct SignalTraits {
//       using Native = hsa_signal_t;
//       static Native null() noexcept;
//       static bool is_null(Native) noexcept;
//       static void destroy(Native) noexcept;
//   };
//   UniqueHandle<SignalTraits> handle{native, Driver::current()};
//
// Owns: the native handle. Keeps alive: the runtime, until after the handle has been destroyed. In a forked
// child the handle is not destroyed, because the runtime's threads and device file belong to the parent; see
// driver.hpp. Thread safety: that of a pointer.
#pragma once

#include <utility>

#include "hsadrv/driver.hpp"

namespace hsadrv {

template <class Traits>
class UniqueHandle {
  public:
    using Native = typename Traits::Native;

    UniqueHandle() noexcept = default;
    explicit UniqueHandle(Native native, DriverRef runtime = {}) noexcept
        : runtime_(std::move(runtime)), native_(native) {}
    UniqueHandle(UniqueHandle&& other) noexcept
        : runtime_(std::move(other.runtime_)), native_(std::exchange(other.native_, Traits::null())) {}
    UniqueHandle& operator=(UniqueHandle&& other) noexcept {
        if (this == &other) return *this;
        const UniqueHandle old(std::move(*this));  // destroyed on return, while its own runtime is alive
        runtime_ = std::move(other.runtime_);
        native_ = std::exchange(other.native_, Traits::null());
        return *this;
    }
    ~UniqueHandle() {
        if (!Traits::is_null(native_) && !in_forked_child()) Traits::destroy(native_);
    }

    Native get() const noexcept { return native_; }
    explicit operator bool() const noexcept { return !Traits::is_null(native_); }

    /// Destroys the owned handle and takes ownership of `native`.
    void reset(Native native = Traits::null(), DriverRef runtime = {}) noexcept {
        *this = UniqueHandle(native, std::move(runtime));
    }

    /// Releases ownership without destroying the handle.
    Native release() noexcept {
        const Native native = std::exchange(native_, Traits::null());
        runtime_ = {};
        return native;
    }

  private:
    DriverRef runtime_;
    Native native_ = Traits::null();
};

}  // namespace hsadrv
