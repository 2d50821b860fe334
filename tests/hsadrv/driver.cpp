// The runtime's lifetime: shared, counted, refused in a forked child; the error without a device.
#include "hsadrv/driver.hpp"

#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "tests/hsadrv/device.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

TEST_CASE("the host and at least one GPU are found", "[driver]") {
    NEEDS_DEVICE();
    const Driver driver;
    CHECK_FALSE(driver.gpus().empty());
    CHECK_FALSE(driver.cpus().empty());
    CHECK(driver.agents().size() >= driver.gpus().size() + driver.cpus().size());
}

TEST_CASE("system facts are plausible", "[driver]") {
    NEEDS_DEVICE();
    const Driver driver;
    const SystemFacts& facts = driver.system();
    CHECK(facts.version_major == 1);
    CHECK(facts.timestamp_frequency_hz > 1000000);
    CHECK(facts.large_model);
    CHECK(facts.little_endian);
    CHECK(facts.signal_max_wait_ticks > 0);
    CHECK(facts.build_version == runtime_build_version());
    CHECK(facts.build_version.find('"') == std::string::npos);
    CHECK_THAT(runtime_version_text(), Contains(facts.build_version));
    // Queries newer than ROCR 5.2 are answered together or not at all.
    CHECK(facts.amd_version_major.has_value() == facts.amd_version_minor.has_value());
    if (facts.amd_version_major) CHECK(*facts.amd_version_major >= 1);
    if (facts.dmabuf_supported) CHECK(facts.mwaitx_enabled.has_value());
}

TEST_CASE("the runtime's clock runs at its frequency", "[driver]") {
    NEEDS_DEVICE();
    const Driver driver;
    const auto start = std::chrono::steady_clock::now();
    const std::uint64_t first = driver.timestamp();
    std::this_thread::sleep_for(50ms);
    const std::uint64_t ticks = driver.timestamp() - first;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    const double seconds = static_cast<double>(ticks) / static_cast<double>(driver.system().timestamp_frequency_hz);
    CHECK(seconds > 0.04);
    CHECK(seconds < passed.count() * 1.1);
}

TEST_CASE("extensions are queried by number and version", "[driver]") {
    NEEDS_DEVICE();
    const Driver driver;
    CHECK(driver.extension(HSA_EXTENSION_AMD_LOADER));
    CHECK_FALSE(driver.extension(HSA_EXTENSION_AMD_LOADER, 99));
    CHECK_FALSE(driver.extension(static_cast<hsa_extension_t>(0x3fe)));
}

TEST_CASE("drivers share one runtime, which ends with the last of them", "[driver]") {
    NEEDS_DEVICE();
    CHECK_THROWS_AS(Driver::current(), Error);
    {
        std::optional<Driver> first(std::in_place);
        const Driver second;
        CHECK(&first->runtime() == &second.runtime());
        first.reset();
        CHECK(Driver::current().gpus().size() == second.gpus().size());
    }
    CHECK_THROWS_WITH(Driver::current(), Contains("construct a hsadrv::Driver first"));
}

TEST_CASE("objects made under a driver keep the runtime alive", "[driver]") {
    NEEDS_DEVICE();
    Signal signal;
    {
        const Driver driver;
        signal = Signal::create(3);
    }
    CHECK(signal.load() == 3);
    CHECK_NOTHROW(Driver::current());
    signal = Signal();
    CHECK_THROWS_AS(Driver::current(), Error);
}

TEST_CASE("assignment destroys the old value under its own runtime before taking the new one", "[driver]") {
    NEEDS_DEVICE();
    Signal signal;
    for (int round = 0; round < 3; ++round) {
        const Driver driver;
        signal = Signal::create(round);
        CHECK(signal.load() == round);
    }
}

TEST_CASE("init and shutdown may race", "[driver][stress]") {
    NEEDS_DEVICE();
    std::vector<std::thread> threads;
    std::atomic<int> failures{0};
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            for (int round = 0; round < 10; ++round) try {
                    if (Driver().gpus().empty()) ++failures;
                } catch (const std::exception&) {
                    ++failures;
                }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(failures == 0);
}

TEST_CASE("a child forked after init gets a clear error, and the parent is unaffected", "[driver][fork]") {
    NEEDS_DEVICE();
    const Driver driver;
    const Signal signal = Signal::create(1);
    const pid_t child = ::fork();
    if (child == 0) {
        int status = 1;
        try {
            const Driver again;
        } catch (const ForkedChild&) {
            status = 0;
        } catch (...) {
            status = 2;
        }
        try {
            Signal::create(1);
            status |= 4;
        } catch (const ForkedChild&) {
        } catch (...) {
            status |= 8;
        }
        ::_exit(status);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK(signal.load() == 1);
    CHECK_NOTHROW(Signal::create(1));
}

TEST_CASE("without a Driver, factory functions name the call and the remedy", "[driver]") {
    REQUIRE_THROWS_AS(Driver::current(), Error);
    CHECK_THROWS_WITH(Signal::create(1), Contains("Signal::create") && Contains("construct a hsadrv::Driver first"));
    CHECK_THROWS_WITH(Queue::create({}), Contains("Queue::create") && Contains("construct a hsadrv::Driver first"));
    CHECK_THROWS_WITH(host_pool(), Contains("host_pool") && Contains("construct a hsadrv::Driver first"));
    CHECK_THROWS_WITH(SignalPool().acquire(1), Contains("SignalPool::acquire"));
    int here = 0;
    CHECK_THROWS_WITH(register_memory(&here, sizeof here), Contains("register_memory"));
}

TEST_CASE("a forked child is detected, and refused with the name of the call", "[driver][fork]") {
    NEEDS_DEVICE();
    const Driver driver;
    CHECK_FALSE(in_forked_child());
    CHECK_NOTHROW(refuse_in_forked_child("a call"));
    const pid_t child = ::fork();
    if (child == 0) {
        int status = in_forked_child() ? 1 : 2;
        try {
            refuse_in_forked_child("a call");
        } catch (const ForkedChild& error) {
            if (std::string(error.what()).find("a call: ") == 0) status = 0;
        }
        ::_exit(status);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

TEST_CASE("a child forked before init may use the runtime", "[driver][fork]") {
    NEEDS_DEVICE();
    REQUIRE_THROWS_AS(Driver::current(), Error);
    const pid_t child = ::fork();
    if (child == 0) {
        int status = 1;
        try {
            const Driver driver;
            status = driver.gpus().empty() ? 2 : 0;
        } catch (const std::exception&) {
        }
        ::_exit(status);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

TEST_CASE("without a device the error names what was tried and the remedy", "[driver]") {
    // A raw system call, which no emulation in this process intercepts.
    if (::syscall(SYS_access, "/dev/kfd", F_OK) == 0) SKIP_BECAUSE("this machine has a real GPU");
    const ChildResult child = run_test_in_child("child: a driver without a device", "KFDEMU", "off");
    INFO(child.output);
    CHECK(child.status == 0);
}

TEST_CASE("child: a driver without a device", "[.child]") {
    CHECK_THROWS_AS(Driver(), NoDevice);
    CHECK_THROWS_WITH(Driver(), Contains("hsa_init()") && Contains("/dev/kfd: ") && Contains("kfdemu run"));
}

TEST_CASE("$HSADRV_DEVICE names the default GPU", "[driver]") {
    NEEDS_DEVICE();
    const Driver driver;
    const char* const had = std::getenv("HSADRV_DEVICE");
    const std::optional<std::string> before = had ? std::optional<std::string>(had) : std::nullopt;
    const auto with = [&](const std::string& text) {
        ::setenv("HSADRV_DEVICE", text.c_str(), 1);
        return driver.default_gpu();
    };
    for (std::size_t i = 0; i < driver.gpus().size(); ++i) CHECK(with(std::to_string(i)) == driver.gpus()[i]);
    for (const AgentRef gpu : driver.gpus()) {
        CHECK(with(gpu.pci_address().text()) == gpu);
        if (gpu.uuid() != "GPU-XX") CHECK(with(gpu.uuid()) == gpu);
    }
    CHECK(with("") == driver.gpus().front());
    CHECK_THROWS_WITH(with("99"), Contains("HSADRV_DEVICE=99: ") && Contains("no GPU has that ordinal; there are"));
    CHECK_THROWS_AS(with("gfx1"), NoDevice);
    ::unsetenv("HSADRV_DEVICE");
    CHECK(driver.default_gpu() == driver.gpus().front());
    if (before) ::setenv("HSADRV_DEVICE", before->c_str(), 1);
}
