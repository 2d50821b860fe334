// Memory runs out while a stream ends or keeps objects: what its packets use is leaked, never freed too early.
#include <atomic>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "hsadrv/error.hpp"
#include "tests/hsadrv/stream_fixture.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/checks.hpp"

using namespace hsadrv;
using namespace device_test;

namespace {

/// Runs `what` again and again with a later allocation of this thread failing, until none fails.
template <class What>
int fail_each_allocation(What&& what) {
    for (int nth = 1;; ++nth) {
        const bool failed = what([nth] { test_support::fail_allocation(nth, test_support::Whose::ours); },
                                 [] {
                                     const bool over = test_support::allocations_left() == 0;
                                     test_support::fail_allocation(0);
                                     return over;
                                 });
        if (!failed) return nth - 1;
    }
}

}  // namespace

TEST_CASE("a stream with packets after another stream's ends although memory runs out", "[stream][pool]") {
    NEEDS_DEVICE();
    NEEDS_LEAKS_UNSEEN();
    std::vector<Words> written;  // until the packets have run
    const int failures = fail_each_allocation([&](auto&& begin, auto&& end) {
        Busy f;
        const auto gone = std::make_shared<std::atomic<bool>>(false);
        f.after.attach(std::shared_ptr<const void>(nullptr, [gone](const void*) { *gone = true; }));
        f.scale_add.launch(f.after, one, f.data.data(), 0u, 7u, 1u);
        begin();
        f.after.close(0ms);
        const bool failed = end();
        CHECK_FALSE(*gone);
        f.flag.set(1);
        CHECK_NOTHROW(f.runs.synchronize(patience));
        CHECK(is_written_or_stopped(f.data, 7));
        f.streams.clear();
        written.push_back(std::move(f.data));
        if (!failed) CHECK(eventually([&] { return gone->load(); }));
        return failed;
    });
    CHECK(failures > 0);
}

TEST_CASE("what a stream keeps is not released early although memory runs out", "[stream][memory]") {
    NEEDS_DEVICE();
    const int failures = fail_each_allocation([&](auto&& begin, auto&& end) {
        const Kernels f;
        const Words flag(1);
        std::atomic<bool> gone{false};
        Stream stream(f.gpu);
        f.spin.launch(stream, one, flag.data());
        std::shared_ptr<const void> object(nullptr, [&](const void*) { gone = true; });
        begin();
        bool threw = false;
        try {
            stream.keep_alive(std::move(object));
        } catch (const std::bad_alloc&) {
            threw = true;
        }
        end();
        CHECK_FALSE(gone);
        flag.set(1);
        CHECK_NOTHROW(stream.synchronize(patience));
        CHECK(gone == !threw);
        return threw;
    });
    CHECK(failures > 0);
}

TEST_CASE("making a stream throws when memory runs out", "[stream]") {
    NEEDS_DEVICE();
    const Device device;
    const int failures = fail_each_allocation([&](auto&& begin, auto&& end) {
        std::optional<Stream> stream;
        begin();
        try {
            stream.emplace(device.gpu);
        } catch (const std::bad_alloc&) {
        } catch (const Error&) {
        }
        return end();
    });
    CHECK(failures > 0);
}
