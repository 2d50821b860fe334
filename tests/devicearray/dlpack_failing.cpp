// Every allocation of an export and of an import fails in turn: nobody's tensor is lost, or deleted twice.
#include <cstdlib>
#include <new>

#include "dlpack_fixture.hpp"

namespace {
thread_local int left = 0;  // of this thread's allocations, until one fails; 0: none does
}  // namespace

// Not inlined: a compiler that sees one side takes malloc() or free() for a mistake.
[[gnu::noinline]] void* operator new(std::size_t size) {
    if (left > 0 && --left == 0) throw std::bad_alloc();
    if (void* memory = std::malloc(size ? size : 1)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

#if defined(WITH_DLPACK)
using namespace dlpack_test;

namespace {

/// Calls it with the first allocation failing, then with the second, …, until none is left to fail. How many did.
template <class Call, class Failed>
int fail_in_turn(Call&& call, Failed&& failed) {
    for (int nth = 1;; ++nth) {
        left = nth;
        try {
            call();
            const bool all_made = left > 0;
            left = 0;
            if (all_made) return nth - 1;
        } catch (const std::exception&) {
            left = 0;
        }
        failed();
    }
}

}  // namespace

TEMPLATE_TEST_CASE("an import that fails leaves the tensor to its owner", "[dlpack][device]", DLPACK_FORMS) {
    NEEDS_DEVICE();
    Device device;
    const Allocation memory = device.gpu.allocate(4096);
    std::vector<float> host(1024);
    for (const bool on_gpu : {true, false}) {
        CAPTURE(on_gpu);
        void* const data = on_gpu ? memory.data() : host.data();
        Foreign<typename TestType::Tensor> foreign(data, on_gpu ? rocm : cpu, 0, float32, {1024});
        std::optional<DlpackArray> array;
        const int failures = fail_in_turn([&] { array = from_dlpack(foreign.raw()); },
                                          [&] {
                                              REQUIRE_FALSE(array);
                                              REQUIRE(foreign.deleted == 0);
                                          });
        CHECK(failures > 0);
        CHECK(foreign.deleted == 0);
        array.reset();
        CHECK(foreign.deleted == 1);
    }
}

TEMPLATE_TEST_CASE("an export that fails keeps nothing of the array", "[dlpack][device]", DLPACK_FORMS) {
    NEEDS_DEVICE();
    Device device;
    const DlpackArray array = device_array<float>({8, 8}, device.stream);
    const auto& keep_alive = std::get<DeviceNDArray>(array).keep_alive();
    const auto shares = keep_alive.use_count();
    decltype(TestType::of(array)) tensor;
    const int failures = fail_in_turn([&] { tensor = TestType::of(array); },
                                      [&] {
                                          REQUIRE_FALSE(tensor);
                                          REQUIRE(keep_alive.use_count() == shares);
                                      });
    CHECK(failures > 0);
    CHECK(keep_alive.use_count() == shares + 1);
    tensor.reset();
    CHECK(keep_alive.use_count() == shares);
}
#endif
