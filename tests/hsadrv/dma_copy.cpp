// One copy by the runtime's engines, without a stream.
#include "hsadrv/dma_copy.hpp"

#include "tests/hsadrv/stream_fixture.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

namespace {

struct Ends : Buffers {
    static constexpr std::size_t size = 100'000;
    AgentRef host = driver.cpus().front();
    Allocation from = pinned(size), to = pinned(size), middle = device(size), other = device(size);
    std::vector<std::uint8_t> wanted = pattern(size);

    Ends() { std::copy(wanted.begin(), wanted.end(), bytes_of(from).begin()); }
    bool arrived() const { return std::equal(wanted.begin(), wanted.end(), bytes_of(to).begin()); }
};

}  // namespace

TEST_CASE("copies in sequence, each after the signal of the previous one", "[copy]") {
    NEEDS_DEVICE();
    const Ends f;
    const Signal up = Signal::create(1), within = Signal::create(1), down = Signal::create(1), go = Signal::create(1);
    const hsa_signal_t after_go = go.native(), after_up = up.native(), after_within = within.native();
    dma_copy({f.middle.data(), f.gpu}, {f.from.data(), f.host}, f.size, up, {&after_go, 1});
    dma_copy({f.other.data(), f.gpu}, {f.middle.data(), f.gpu}, f.size, within, {&after_up, 1});
    dma_copy({f.to.data(), f.host}, {f.other.data(), f.gpu}, f.size, down, {&after_within, 1});
    CHECK(down.load() == 1);
    go.store(0);
    down.wait(Condition::less, 1, patience);
    CHECK(down.load() == 0);
    CHECK(f.arrived());
}

TEST_CASE("a named engine copies, unless the runtime is too old to choose engines", "[copy]") {
    NEEDS_DEVICE();
    const Ends f;
    const Signal done = Signal::create(1);
    if (!optional_api().memory_async_copy_on_engine) {
        CHECK_THROWS_AS(free_dma_engines(f.gpu, f.host), NotOffered);
        try {
            dma_copy({f.middle.data(), f.gpu}, {f.from.data(), f.host}, f.size, done, {}, 0);
            FAIL("the engine was accepted");
        } catch (const NotOffered& error) {
            CHECK_THAT(error.what(), Contains("5.6"));
        }
        CHECK(done.load() == 1);
        return;
    }
    CHECK(free_dma_engines(f.gpu, f.gpu) == 0);
    const std::uint32_t up = free_dma_engines(f.gpu, f.host), down = free_dma_engines(f.host, f.gpu);
    REQUIRE(up != 0);
    REQUIRE(down != 0);
    done.store(1);
    dma_copy({f.middle.data(), f.gpu}, {f.from.data(), f.host}, f.size, done, {}, unsigned(std::countr_zero(up)));
    done.wait(Condition::less, 1, patience);
    done.store(1);
    dma_copy({f.to.data(), f.host}, {f.middle.data(), f.gpu}, f.size, done, {}, unsigned(std::countr_zero(down)));
    done.wait(Condition::less, 1, patience);
    CHECK(f.arrived());
    // A GPU has fewer engines than 31.
    CHECK_THROWS_AS(dma_copy({f.middle.data(), f.gpu}, {f.from.data(), f.host}, f.size, done, {}, 30), Error);
}

TEST_CASE("an invalid engine is refused with both ends and the size", "[copy]") {
    NEEDS_DEVICE();
    const Ends f;
    const Signal done = Signal::create(1);
    try {
        dma_copy({f.middle.data(), f.gpu}, {f.from.data(), f.host}, f.size, done, {}, 32);
        FAIL("the engine was accepted");
    } catch (const InvalidArgument& error) {
        CHECK_THAT(error.what(), Contains("of " + f.gpu.label()));
        CHECK_THAT(error.what(), Contains("of cpu0"));
        CHECK_THAT(error.what(), Contains("100000 B, engine 32): engines are numbered from 0 to 31"));
    }
    CHECK(done.load() == 1);
}

TEST_CASE("a copy waits for at most five signals", "[copy]") {
    NEEDS_DEVICE();
    const Ends f;
    const Signal gate = Signal::create(0), done = Signal::create(1);
    const std::vector<hsa_signal_t> five(5, gate.native()), six(6, gate.native());
    CHECK_THROWS_WITH(dma_copy({f.middle.data(), f.gpu}, {f.from.data(), f.host}, f.size, done, six),
                      Contains("6 signals to wait for, and the runtime takes at most 5"));
    CHECK(done.load() == 1);
    dma_copy({f.middle.data(), f.gpu}, {f.from.data(), f.host}, f.size, done, five);
    CHECK(done.wait(Condition::less, 1, std::chrono::seconds(10)) == 0);
}
