// Loading and globals with failing kernel requests, and with many threads.
#include <atomic>
#include <thread>

#include "hsadrv/error.hpp"
#include "hsadrv/executable_builder.hpp"
#include "tests/hsadrv/control.hpp"
#include "tests/hsadrv/launch_device.hpp"

using namespace hsadrv;
using namespace test_support;
using test_support::Contains;

namespace {

/// Requests of a loader. Freeing and unmapping are left out: if the kernel refuses those, ROCR ends
/// the process (MemoryRegion::FreeKfdMemory asserts).
constexpr device_test::Failure failures[] = {
    {"allocation, ENOMEM", KFDEMU_ALLOCATION, ENOMEM},
    {"allocation, EIO", KFDEMU_ALLOCATION, EIO},
    {"mmap, ENOMEM", KFDEMU_MMAP, ENOMEM},
    {"mmap, EAGAIN", KFDEMU_MMAP, EAGAIN},
    {"ioctl, EINTR", KFDEMU_IOCTL, EINTR},
    {"ioctl, EAGAIN", KFDEMU_IOCTL, EAGAIN},
    {"map, ENOMEM", KFDEMU_IOCTL_NUMBER(0x18), ENOMEM},
};

}  // namespace

TEST_CASE("loading that fails at any request leaks nothing, and succeeds the next time",
          "[executable_failures][device]") {
    NEEDS_DEVICE();
    NEEDS_CONTROL(control);
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const Bytes file = read_file(test_file("globals.hsaco"));
    const auto load = [&] {
        const Executable code = ExecutableBuilder(device.gpu).add(file, "globals").build();
        code.kernel("read_globals");
        code.global("counter");
    };
    load();
    const std::uint64_t held = control.held();
    for (const device_test::Failure& failure : failures) {
        const std::uint64_t calls = control.calls(failure, load);
        for (std::uint64_t nth = 1; nth <= calls; ++nth) {
            CAPTURE(failure.what, nth, calls);
            control.fail(failure, nth);
            try {
                load();
            } catch (const Error& error) {
                CHECK_THAT(error.what(), Contains("hsa_"));
            }
            control.reset();
            CHECK(control.held() == held);
        }
    }
    load();
    CHECK(control.held() == held);
}

TEST_CASE("a global's copy throws or is right when out of memory, and the next one is right",
          "[executable_failures][device]") {
    NEEDS_DEVICE();
    NEEDS_CONTROL(control);
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const std::uint64_t injected = control.counters().injected;
    for (const std::uint64_t nth : {1, 2, 3}) {
        if (nth == 3 && !device_test::survives_refused_queue(device.driver)) continue;  // it is a queue's
        // A new executable each time: its first copy creates the stream and its resources.
        const DeviceGlobal counter = Executable::load(device.gpu, test_file("globals.hsaco")).global("counter");
        CAPTURE(nth);
        REQUIRE(control->fail(KFDEMU_ALLOCATION, nth, 1, ENOMEM) == 0);
        int value = 7;
        try {
            value = counter.read<int>(std::chrono::seconds(60));
        } catch (const OutOfMemory&) {  // or the copy succeeded another way
        }
        control.reset();
        CHECK(value == 7);
        CHECK(counter.read<int>(std::chrono::seconds(60)) == 7);
    }
    CHECK(control.counters().injected > injected);
}

TEST_CASE("threads load, and look up kernels and globals of one executable, concurrently",
          "[executable_failures][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const Executable shared = Executable::load(device.gpu, test_file("globals.hsaco"));
    std::atomic<int> wrong = 0;
    const auto work = [&](int which) {
        try {
            Stream stream(device.gpu.agent());
            for (int i = 0; i < 5; ++i) {
                const Executable own = Executable::load(device.gpu, test_file("globals.hsaco"));
                own.global("counter").write(which);
                own.kernel("add_to_counter").launch(stream, {.grid = 1, .workgroup = 1}, 5);
                wrong += own.global("counter").read<int>(stream) != which + 13;
                wrong += shared.kernel("read_globals").kernel_object() == 0;
                wrong += shared.global("table").read<std::array<int, 4>>()[3] != 40;
                wrong += shared.symbols().empty();
            }
        } catch (const std::exception& error) {
            ++wrong;
        }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back(work, i);
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
}
