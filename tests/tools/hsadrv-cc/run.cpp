// The output of hsadrv-cc runs: bundles and single code objects, of one source and of several.
#include <numeric>
#include <string>

#include "hsadrv/executable.hpp"
#include "hsadrv/memory.hpp"
#include "tests/support/device.hpp"

using namespace hsadrv;

namespace {

constexpr unsigned size = 200, workgroup = 64;

/// 0, 1, 2, … on the device.
struct Numbers {
    explicit Numbers(Context& gpu) : memory(gpu.allocate_host(size * sizeof(int))) {
        std::iota(memory.as<int>(), memory.as<int>() + size, 0);
    }
    int operator[](unsigned i) const { return memory.as<int>()[i]; }

    Allocation memory;
};

void check_scale(test_support::Device& device, Executable& code, int factor) {
    Numbers numbers(device.gpu);
    code.kernel("scale").launch(device.stream, {.grid = size, .workgroup = workgroup}, numbers.memory, size);
    device.stream.synchronize(std::chrono::seconds(20));
    for (unsigned i = 0; i < size; ++i) REQUIRE(numbers[i] == static_cast<int>(i) * factor);
}

void check_reverse(test_support::Device& device, Executable& code, const char* name, unsigned lds_bytes) {
    Numbers numbers(device.gpu);
    code.kernel(name).launch(device.stream, {.grid = workgroup, .workgroup = workgroup, .lds = lds_bytes},
                             numbers.memory);
    device.stream.synchronize(std::chrono::seconds(20));
    for (unsigned i = 0; i < workgroup; ++i) REQUIRE(numbers[i] == static_cast<int>(workgroup - 1 - i));
    REQUIRE(numbers[workgroup] == static_cast<int>(workgroup));
}

}  // namespace

TEST_CASE("kernels of several sources run, each with functions of the others", "[hsadrv-cc][device]") {
    NEEDS_DEVICE();
    const std::string file =
        GENERATE("linked.hsaco", "linked_O0.hsaco", "linked_O3g.hsaco", "linked_V4.hsaco", "compressed.hsaco");
    CAPTURE(file);
    test_support::Device device;
    Executable code = Executable::load(device.gpu, file);
    check_scale(device, code, 3);
    check_reverse(device, code, "reverse_static", 0);
    check_reverse(device, code, "reverse_dynamic", workgroup * sizeof(int));
}

TEST_CASE("a macro reaches the kernel", "[hsadrv-cc][device]") {
    NEEDS_DEVICE();
    test_support::Device device;
    Executable code = Executable::load(device.gpu, "factor_7.hsaco");
    check_scale(device, code, 7);
}

TEST_CASE("kernels of one source run, in OpenCL C and in C++", "[hsadrv-cc][device]") {
    NEEDS_DEVICE();
    test_support::Device device;
    Executable opencl = Executable::load(device.gpu, "third.hsaco");
    check_reverse(device, opencl, "reverse_dynamic", workgroup * sizeof(int));
    Executable cpp = Executable::load(device.gpu, "second.hsaco");
    check_reverse(device, cpp, "reverse_static", 0);
}
