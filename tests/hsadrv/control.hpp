// Injects failures into kernel requests, for one test case; reset at its end.
//
//     NEEDS_CONTROL(control);
//     for (const Failure& failure : control.kinds())
//         for (std::uint64_t nth = 1; nth <= control.calls(failure, use); ++nth) {
//             control.fail(failure, nth);
//             …
//             control.reset();
//         }
#pragma once

#include <cerrno>
#include <span>

#include "hsadrv/driver.hpp"
#include "tests/support/control.hpp"

namespace device_test {

struct Failure {
    const char* what;
    std::uint32_t point;
    int error;
};

class Control : public test_support::Control {
  public:
    /// Every kind of failure of a request: no memory, no device, or interrupted.
    static std::span<const Failure> kinds() {
        static constexpr Failure all[] = {
            {"allocation, ENOMEM", KFDEMU_ALLOCATION, ENOMEM},
            {"allocation, EIO", KFDEMU_ALLOCATION, EIO},
            {"mmap, ENOMEM", KFDEMU_MMAP, ENOMEM},
            {"mmap, EAGAIN", KFDEMU_MMAP, EAGAIN},
            {"ioctl, ENOMEM", KFDEMU_IOCTL, ENOMEM},
            {"ioctl, EIO", KFDEMU_IOCTL, EIO},
            {"ioctl, EINTR", KFDEMU_IOCTL, EINTR},
            {"ioctl, EAGAIN", KFDEMU_IOCTL, EAGAIN},
        };
        return all;
    }

    /// How many requests of that kind `use` makes.
    template <class Use>
    std::uint64_t calls(const Failure& failure, Use&& use) const {
        const std::uint64_t before = tried(failure);
        use();
        return tried(failure) - before;
    }
    void fail(const Failure& failure, std::uint64_t nth) const {
        REQUIRE((*this)->fail(failure.point, nth, 1, failure.error) == 0);
    }
    void reset() const { (*this)->reset(); }

    /// Buffer objects that the process holds in the kernel: equal before and after, unless there is a leak.
    std::uint64_t held() const { return counters().buffers; }

  private:
    std::uint64_t tried(const Failure& failure) const {
        const kfdemu_counters now = counters();
        return failure.point == KFDEMU_ALLOCATION ? now.allocations
               : failure.point == KFDEMU_MMAP     ? now.mappings
                                                  : now.ioctls;
    }
};

/// False for a runtime that asserts, in GpuAgent::ReleaseQueueMainScratch, if the kernel refuses a queue: ROCR 7.2.
inline bool survives_refused_queue(const hsadrv::Driver& driver) {
    return driver.system().amd_version_minor.value_or(0) <= 7;
}

}  // namespace device_test

#define NEEDS_CONTROL(name) NEEDS_CONTROL_AS(device_test::Control, name)
