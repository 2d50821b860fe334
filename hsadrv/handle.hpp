// The one hand-written move of the library: a native handle that is destroyed exactly once.
//
//   struct SignalTraits { using Native = hsa_signal_t; static Native null() noexcept; static bool
//   is_null(Native)…;
//                         static void destroy(Native) noexcept; };
//   UniqueHandle<SignalTraits> handle{native};
//
// Owns: the native handle. In a forked child nothing is destroyed, because the runtime's threads and its
// device file are the parent's; see driver.hpp. Thread safety: that of a pointer.
#pragma once

#include <utility>

namespace hsadrv {

/// True in a child forked after the runtime had been initialised. One relaxed load.
bool in_forked_child() noexcept;

/// Throws ForkedChild("call: …") in such a child. For the entry points that create things.
void refuse_in_forked_child(const char* call);

template <class Traits>
class UniqueHandle {
  public:
    using Native = typename Traits::Native;

    UniqueHandle() noexcept = default;
    explicit UniqueHandle(Native native) noexcept : native_(native) {}
    UniqueHandle(UniqueHandle&& other) noexcept : native_(other.release()) {}
    UniqueHandle& operator=(UniqueHandle&& other) noexcept {
        if (this != &other) reset(other.release());
        return *this;
    }
    ~UniqueHandle() { reset(); }

    Native get() const noexcept { return native_; }
    explicit operator bool() const noexcept { return !Traits::is_null(native_); }

    /// Gives the handle up without destroying it.
    Native release() noexcept { return std::exchange(native_, Traits::null()); }

    void reset(Native native = Traits::null()) noexcept {
        const Native old = std::exchange(native_, native);
        if (!Traits::is_null(old) && !in_forked_child()) Traits::destroy(old);
    }

  private:
    Native native_ = Traits::null();
};

}  // namespace hsadrv
