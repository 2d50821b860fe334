// Internal: lets another thread change what a mutex guards, while the thread that holds the mutex waits.
//
//   { const Parking::Parked parked(parking); signal.try_wait(…); }     // the thread that holds the mutex
//   if (parking.try_claim()) { …; parking.release(); }                // another one, which does not wait for it
//
// Thread safety: any thread; one parks at a time. Memory ordering: claiming acquires what the parked thread wrote, and
// the parked thread acquires what the claiming thread wrote.
#pragma once

#include <atomic>
#include <thread>

namespace hsadrv::detail {

class Parking {
  public:
    /// Another thread may claim during its lifetime; its destructor waits until the claim is released.
    class Parked {
      public:
        explicit Parked(Parking& parking) noexcept : parking_(parking) {
            parking_.state_.store(State::parked, std::memory_order_release);
        }
        Parked(const Parked&) = delete;
        Parked& operator=(const Parked&) = delete;
        ~Parked() {
            State expected = State::parked;
            while (!parking_.state_.compare_exchange_weak(expected, State::running, std::memory_order_acquire,
                                                          std::memory_order_relaxed)) {
                expected = State::parked;
                std::this_thread::yield();
            }
        }

      private:
        Parking& parking_;
    };

    bool try_claim() noexcept {
        State expected = State::parked;
        return state_.compare_exchange_strong(expected, State::claimed, std::memory_order_acquire,
                                              std::memory_order_relaxed);
    }
    void release() noexcept { state_.store(State::parked, std::memory_order_release); }

  private:
    enum class State : unsigned char { running, parked, claimed };
    std::atomic<State> state_{State::running};
};

}  // namespace hsadrv::detail
