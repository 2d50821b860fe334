// A thread's current device: nested, one per thread, ended in any order.
#include "hsadrv/context.hpp"

#include <memory>
#include <thread>

#include "tests/hsadrv/device.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

TEST_CASE("contexts nest, with one current device per thread", "[context]") {
    NEEDS_DEVICE();
    const Device device;
    CHECK(Context::try_current() == nullptr);
    CHECK_THROWS_AS(Context::current(), Error);
    {
        Context outer(device.gpu);
        CHECK(&Context::current() == &outer);
        {
            Context inner(device.driver.gpus().back());
            CHECK(&Context::current() == &inner);
        }
        CHECK(&Context::current() == &outer);
        CHECK(outer.allocate(100).owner() == device.gpu);
        CHECK(outer.allocate_host(100).owner().is_cpu());
        CHECK(outer.stream().agent() == device.gpu);
        CHECK(AgentRef(outer) == device.gpu);
        CHECK(outer.device_pool().native().handle == device_pool(device.gpu).native().handle);
        CHECK(outer.host_pool(HostMemory::kernarg).native().handle == host_pool(HostMemory::kernarg).native().handle);
        CHECK(outer.driver().gpus() == device.driver.gpus());
    }
    CHECK(Context::try_current() == nullptr);
}

TEST_CASE("a context needs a GPU", "[context]") {
    NEEDS_DEVICE();
    const Device device;
    CHECK_THROWS_AS(Context(device.driver.cpus().front()), InvalidArgument);
    CHECK_THROWS_AS(Context(AgentRef()), InvalidArgument);
    CHECK(Context::try_current() == nullptr);
}

TEST_CASE("without a context the error names the remedy", "[context]") {
    CHECK_THROWS_WITH(Context::current(), Contains("construct a hsadrv::Context"));
    CHECK(Context::try_current() == nullptr);
}

TEST_CASE("each thread has its own contexts", "[context]") {
    NEEDS_DEVICE();
    const Device device;
    const Context here(device.gpu);
    Context* there = nullptr;
    bool none_before = false, none_after = false;
    std::thread other([&] {
        none_before = Context::try_current() == nullptr;
        {
            Context context(device.driver.gpus().back());
            there = Context::try_current();
            none_after = there != &context;
        }
        none_after = none_after || Context::try_current() != nullptr;
    });
    other.join();
    CHECK(none_before);
    CHECK_FALSE(none_after);
    CHECK(there != &here);
    CHECK(Context::try_current() == &here);
}

TEST_CASE("contexts that end out of order leave the others unchanged", "[context]") {
    NEEDS_DEVICE();
    const Device device;
    auto a = std::make_unique<Context>(device.gpu), b = std::make_unique<Context>(device.gpu),
         c = std::make_unique<Context>(device.gpu);
    CHECK(&Context::current() == c.get());
    b.reset();  // from the middle
    CHECK(&Context::current() == c.get());
    a.reset();  // the outermost
    CHECK(&Context::current() == c.get());
    auto d = std::make_unique<Context>(device.gpu);
    c.reset();
    CHECK(&Context::current() == d.get());
    d.reset();
    CHECK(Context::try_current() == nullptr);
}

TEST_CASE("a context may outlive its thread and end on another", "[context]") {
    NEEDS_DEVICE();
    const Device device;
    std::unique_ptr<Context> theirs;
    const Context mine(device.gpu);
    std::thread([&] { theirs = std::make_unique<Context>(device.gpu); }).join();
    CHECK(&Context::current() == &mine);
    CHECK(theirs->agent() == device.gpu);
    theirs.reset();
    CHECK(&Context::current() == &mine);
}

TEST_CASE("a refused context is not current; a context keeps the runtime alive", "[context]") {
    NEEDS_DEVICE();
    std::unique_ptr<Context> context;
    {
        const Device device;
        context = std::make_unique<Context>(device.gpu);
        CHECK_THROWS_AS(Context(device.driver.cpus().front()), InvalidArgument);
        CHECK(Context::try_current() == context.get());
    }
    CHECK_NOTHROW(Driver::current());
    CHECK(context->driver().gpus().size() >= 1);
    context.reset();
    CHECK_THROWS_AS(Driver::current(), Error);
    CHECK(Context::try_current() == nullptr);
}
