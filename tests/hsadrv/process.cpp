// The runtime and its process: adopted, exited early, out of descriptors, without a device, unloaded and reloaded.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include "hsadrv/base/device_file.hpp"
#include "tests/hsadrv/device.hpp"
#include "tests/support/test_file.hpp"
#include "tools/kfdemu/kfdemu.h"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

namespace {

bool runtime_is_up() {
    std::uint16_t version = 0;
    return hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &version) == HSA_STATUS_SUCCESS;
}

bool device_file_is_open() {
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code error;
        if (std::filesystem::read_symlink(entry.path(), error).string().find("/dev/kfd") == 0) return true;
    }
    return false;
}

}  // namespace

TEST_CASE("a program that only links the library touches no device", "[driver][process]") {
    check_child("child: no runtime is started");
}

TEST_CASE("child: no runtime is started", "[.child]") {
    CHECK_FALSE(runtime_is_up());
    CHECK_FALSE(device_file_is_open());
    if (const kfdemu_control* emulator = kfdemu_find_control()) {
        kfdemu_counters counters{};
        emulator->counters(&counters, sizeof counters);
        CHECK(counters.ioctls == 0);
        CHECK(counters.mappings == 0);
    }
}

TEST_CASE("init and shutdown race a thousand times", "[driver][process][stress]") {
    NEEDS_DEVICE();
    std::vector<std::thread> threads;
    std::atomic<int> failures{0};
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&, i] {
            for (int round = 0; round < 250; ++round) try {
                    const Driver driver;
                    if (driver.gpus().empty()) ++failures;
                    if (i == 0 && Signal::create(round).load() != round) ++failures;
                } catch (const std::exception&) {
                    ++failures;
                }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(failures == 0);
    CHECK_FALSE(runtime_is_up());
}

TEST_CASE("a process that has called hsa_init is adopted, and its reference count kept", "[driver][process]") {
    NEEDS_DEVICE();
    REQUIRE(hsa_init() == HSA_STATUS_SUCCESS);
    for (int round = 0; round < 3; ++round) {
        const Driver driver;
        CHECK(Signal::create(4).load() == 4);
        CHECK_FALSE(driver.gpus().empty());
    }
    CHECK(runtime_is_up());
    CHECK_THROWS_AS(Driver::current(), Error);
    hsa_signal_t theirs{};
    CHECK(hsa_signal_create(1, 0, nullptr, &theirs) == HSA_STATUS_SUCCESS);
    CHECK(hsa_signal_destroy(theirs) == HSA_STATUS_SUCCESS);
    CHECK(hsa_shut_down() == HSA_STATUS_SUCCESS);
    CHECK_FALSE(runtime_is_up());
}

TEST_CASE("hsa_init called under a driver keeps the runtime up after it", "[driver][process]") {
    NEEDS_DEVICE();
    {
        const Driver driver;
        REQUIRE(hsa_init() == HSA_STATUS_SUCCESS);
    }
    CHECK(runtime_is_up());
    CHECK_NOTHROW(Driver());
    CHECK(hsa_shut_down() == HSA_STATUS_SUCCESS);
    CHECK_FALSE(runtime_is_up());
}

// ---- system events

TEST_CASE("a fault reaches every handler of system events, and a stream", "[driver][process][fault]") {
    NEEDS_DEVICE();
    check_child("child: handlers of system events");
}

namespace {
std::atomic<int> their_events{0};
hsa_status_t their_handler(const hsa_amd_event_t* event, void* data) {
    their_events += event->event_type == HSA_AMD_GPU_MEMORY_FAULT_EVENT && data == &their_events;
    return HSA_STATUS_ERROR;  // "not mine": as the only handler it would let the runtime abort
}
}  // namespace

TEST_CASE("child: handlers of system events", "[.child][defect]") {
    REQUIRE(hsa_init() == HSA_STATUS_SUCCESS);
    REQUIRE(hsa_amd_register_system_event_handler(their_handler, &their_events) == HSA_STATUS_SUCCESS);
    {
        const Driver before;
    }  // its handler stays registered and is not counted
    {
        const Device device;
        REQUIRE(hsa_amd_register_system_event_handler(their_handler, &their_events) == HSA_STATUS_SUCCESS);
        const Executable code = Executable::load(device.gpu, test_support::test_file("stream.hsaco"));
        Stream stream(device.gpu);
        code.kernel("store_at").launch(stream, {.grid = 1, .workgroup = 1}, std::uint64_t{0x7000'0000'0000}, 1u);
        CHECK_THROWS_AS(stream.synchronize(patience), MemoryFault);
        CHECK(eventually([] { return their_events == 2; }));  // streams are notified before later handlers
    }
    CHECK(hsa_shut_down() == HSA_STATUS_SUCCESS);
}

TEST_CASE("a GPU reset ends waits with an error, not the process", "[driver][process][fault]") {
    NEEDS_DEVICE();
    if (!kfdemu_find_control()) SKIP_BECAUSE("only kfdemu's GPUs can be reset");
    check_child("child: a GPU that is reset");
}

TEST_CASE("child: a GPU that is reset", "[.child]") {
    const Device device;
    const Executable code = Executable::load(device.gpu, test_support::test_file("faults.hsaco"));
    const Allocation flag = Allocation::from_pool(host_pool(), 64);
    std::memset(flag.data(), 0, 64);
    Stream stream(device.gpu, {.drain = 100ms});
    const Queue queue = Queue::create(device.gpu, {.packets = 64});
    const Signal never = Signal::create(1);
    code.kernel("endless").launch(stream, {.grid = 1, .workgroup = 1}, static_cast<std::uint32_t*>(flag.data()));
    REQUIRE(kfdemu_find_control()->reset_gpu(0, 1) == 0);
    // A runtime that reports the reset (6.0 or newer) makes it a fault; with an older one the deadline passes.
    CHECK_THROWS_AS(stream.synchronize(1s), Error);
    CHECK_THROWS_AS(queue.ref().wait(never, Condition::less, 1, 1s), Error);
}

// ---- exit

TEST_CASE("a process may exit without shutdown, in the middle of its work", "[driver][process]") {
    NEEDS_DEVICE();
    check_child("child: exits without shutdown");
}

TEST_CASE("child: exits without shutdown", "[.child][defect]") {
    auto* device = new Device;
    auto* queue = new Queue(Queue::create(device->gpu));
    auto* never = new Signal(Signal::create(1));
    const hsa_signal_t dependency = never->native();
    queue->ref().submit(barrier_and({&dependency, 1}));
    device->driver.callbacks().on_signal(*never, Condition::less, 1, [] {});
    static const Driver at_exit;  // destroyed with the statics
    std::exit(0);
}

TEST_CASE("a process may exit while its last callback ends the runtime", "[driver][process]") {
    NEEDS_DEVICE();
    for (int round = 0; round < 10; ++round) check_child("child: exits in its last callback");
}

// At its exit, the signal may still be there, which the check "leak" would report.
TEST_CASE("child: exits in its last callback", "[.child][defect]") {
    std::atomic<bool> begun{false};
    {
        const Driver driver;
        const auto signal = std::make_shared<Signal>(Signal::create(1));
        driver.callbacks().on_signal(*signal, Condition::less, 1, [&begun, signal, driver] { begun = true; });
        signal->store(0);
    }
    while (!begun) std::this_thread::yield();
}

// ---- no device

TEST_CASE("errors of the device file, with the remedy", "[driver][process]") {
    struct Row {
        detail::DeviceFile file;
        const char* says;
        const char* remedy;
    };
    const Row rows[] = {
        {{.open_error = ENOENT}, "/dev/kfd: No such file", "amdgpu kernel driver loaded"},
        {{.open_error = EACCES}, "/dev/kfd: Permission denied", "render and video"},
        {{.open_error = EPERM}, "/dev/kfd: Operation not permitted", "render and video"},
        {{.open_error = ENXIO}, "/dev/kfd: No such device", "not bound to a GPU"},
        {{.open_error = ENODEV}, "/dev/kfd: No such device", "not bound to a GPU"},
        {{.open_error = EMFILE}, "/dev/kfd: Too many open files", "ulimit -n"},
        {{.open_error = ENFILE}, "/dev/kfd: Too many open files in system", "no file descriptors left"},
        {{.open_error = ENOMEM}, "/dev/kfd: Cannot allocate memory", "no memory left"},
        {{.open_error = EIO}, "/dev/kfd: Input/output error", ""},
        {{.ioctl_error = ENOTTY}, "gives no version", "Inappropriate ioctl"},
        {{.version_major = 0, .version_minor = 9}, "its interface is 0.9", "newer kernel"},
        {{.version_major = 1, .version_minor = 14}, "/dev/kfd opens, interface 1.14", ""},
    };
    for (const Row& row : rows) {
        CAPTURE(row.says);
        CHECK_THAT(row.file.text(), Contains(row.says) && Contains(row.remedy));
        CHECK_THAT(detail::no_device_advice(row.file), Contains(row.says) && Contains("kfdemu run"));
    }
}

TEST_CASE("the device file of this machine opens and has a version", "[driver][process]") {
    NEEDS_DEVICE();
    const auto file = detail::DeviceFile::probe();
    CHECK(file.open_error == 0);
    CHECK(file.version_major >= 1);
}

TEST_CASE("a message names the variables that hide devices", "[driver][process]") {
    NEEDS_DEVICE();
    const ChildResult child = run_test_in_child("child: every GPU hidden", "ROCR_VISIBLE_DEVICES", "");
    INFO(child.output);
    CHECK(child.status == 0);
}

TEST_CASE("child: every GPU hidden", "[.child]") {
    try {
        Driver().gpus();
        FAIL("there is a GPU");
    } catch (const NoDevice& error) {
        CHECK_THAT(error.what(), Contains("ROCR_VISIBLE_DEVICES="));
    }
}

TEST_CASE("out of descriptors: a typed error, and recovery", "[driver][process]") {
    NEEDS_DEVICE();
    if (sanitizer) SKIP_BECAUSE("the sanitizers need descriptors themselves");
    check_child("child: out of descriptors");
}

TEST_CASE("child: out of descriptors", "[.child]") {
    rlimit limit{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = 64;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
    std::vector<int> taken;
    for (int fd; (fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) taken.push_back(fd);
    std::string said;
    try {
        Driver();
    } catch (const NoDevice& error) {
        said = error.what();
    }
    for (const int fd : taken) ::close(fd);
    CHECK_THAT(said, Contains("hsa_init()"));
    if (!kfdemu_find_control()) CHECK_THAT(said, Contains("ulimit -n"));
    CHECK_NOTHROW(Driver().gpus());
}

TEST_CASE("failing ioctls: a typed error, and recovery", "[driver][process]") {
    NEEDS_DEVICE();
    const kfdemu_control* emulator = kfdemu_find_control();
    if (!emulator) SKIP_BECAUSE("only kfdemu can inject failures");
    for (const int error : {ENOMEM, EIO, ENODEV, EPERM}) {
        CAPTURE(error);
        emulator->fail(KFDEMU_IOCTL, 1, KFDEMU_ALL, error);
        CHECK_THROWS_AS(Driver(), NoDevice);
        emulator->reset();
        CHECK_NOTHROW(Driver());
    }
}

// ---- loading

TEST_CASE("the library is loaded, used, unloaded and loaded again", "[driver][process]") {
    NEEDS_DEVICE();
    for (int round = 0; round < 20; ++round) {
        void* plugin = ::dlopen(test_support::test_file("libhsadrv_test_plugin.so").c_str(), RTLD_NOW | RTLD_LOCAL);
        INFO(::dlerror());
        REQUIRE(plugin != nullptr);
        const auto use = reinterpret_cast<int (*)()>(::dlsym(plugin, "hsadrv_test_plugin"));
        REQUIRE(use != nullptr);
        CHECK(use() == 42);
        CHECK(::dlclose(plugin) == 0);
    }
    CHECK_FALSE(runtime_is_up());
}
