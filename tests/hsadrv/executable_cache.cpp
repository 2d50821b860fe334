// One load of each code object: what is shared, what is not, and for how long.
#include "hsadrv/executable_cache.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include "hsadrv/error.hpp"
#include "hsadrv/file_bytes.hpp"
#include "tests/hsadrv/launch_device.hpp"

using namespace hsadrv;
using namespace test_support;

namespace {

std::vector<std::byte> stream_kernels() { return read_file(test_file("stream.hsaco")); }

/// The address of its first kernel: equal for one executable alone.
std::uint64_t place_of(const Executable& code) {
    return code.kernel(code.code_object().kernels.front().name).kernel_object();
}

}  // namespace

TEST_CASE("the same bytes are loaded once", "[executable_cache][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    ExecutableCache cache;
    const auto bytes = stream_kernels(), other = read_file(launch_file(device.gpu.agent(), "v5.O2"));
    const Executable first = cache.load(device.gpu, bytes, "first");
    const std::vector<std::byte> copy = bytes;
    CHECK(place_of(cache.load(device.gpu, copy, "second")) == place_of(first));
    CHECK(place_of(cache.load(device.gpu, other)) != place_of(first));
    CHECK(cache.size() == 2);
    CHECK_THROWS_AS(cache.load(device.gpu, std::span(bytes).first(100)), InvalidCodeObject);
    CHECK(cache.size() == 2);
    const auto gpus = device.driver.gpus();
    if (gpus.size() > 1) {
        CHECK(place_of(cache.load(gpus[1], bytes)) != place_of(first));
        CHECK(cache.load(gpus[1], bytes).agent() == gpus[1]);
    }
}

TEST_CASE("code with variables that kernels write to is loaded each time", "[executable_cache][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    ExecutableCache cache;
    const auto bytes = read_file(test_file("globals.hsaco"));
    const Executable one = cache.load(device.gpu, bytes), two = cache.load(device.gpu, bytes);
    CHECK(cache.size() == 0);
    one.global("counter").write(50);
    CHECK(two.global("counter").read<int>() != 50);
}

TEST_CASE("an executable that the cache gives up lives for its users", "[executable_cache][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    ExecutableCache cache(1);
    const auto bytes = stream_kernels(), other = read_file(launch_file(device.gpu.agent(), "v5.O2"));
    const Executable code = cache.load(device.gpu, bytes);
    const std::uint64_t place = place_of(code);
    cache.load(device.gpu, other);  // instead of it
    CHECK(cache.size() == 1);
    CHECK(place_of(code) == place);
    CHECK(place_of(cache.load(device.gpu, bytes)) != place);
    cache.clear();
    CHECK(cache.size() == 0);
    CHECK(place_of(code) == place);
    ExecutableCache none(0);
    none.load(device.gpu, bytes);
    CHECK(none.size() == 0);
}

TEST_CASE("threads that load the same bytes share them", "[executable_cache][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    ExecutableCache cache;
    const auto bytes = stream_kernels();
    std::vector<std::thread> threads;
    std::vector<std::uint64_t> places(8);
    for (auto& place : places)
        threads.emplace_back([&] {
            for (int i = 0; i < 5; ++i) place = place_of(cache.load(device.gpu, bytes));
        });
    for (std::thread& thread : threads) thread.join();
    for (const std::uint64_t place : places) CHECK(place == places[0]);
    CHECK(cache.size() == 1);
}
