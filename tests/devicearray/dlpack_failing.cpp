// Every allocation of an export and of an import fails in turn: no tensor is leaked or deleted twice.
#include "tests/devicearray/dlpack_fixture.hpp"
#include "tests/support/allocations.hpp"

#if defined(WITH_DLPACK)
using namespace dlpack_test;

namespace {

/// Calls it with the first allocation failing, then the second, …, until all succeed. Returns the number of failures.
template <class Call, class Failed>
int fail_in_turn(Call&& call, Failed&& failed) {
    for (int nth = 1;; ++nth) {
        test_support::fail_allocation(nth);
        try {
            call();
            const bool all_made = test_support::allocations_left() > 0;
            test_support::fail_allocation(0);
            if (all_made) return nth - 1;
        } catch (const std::exception&) {
            test_support::fail_allocation(0);
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

TEMPLATE_TEST_CASE("an export that fails keeps no reference to the array", "[dlpack][device]", DLPACK_FORMS) {
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
