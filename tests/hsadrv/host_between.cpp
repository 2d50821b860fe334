// Host functions' calls that go between the parts of another thread's operation on the stream.
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "hsadrv/graph.hpp"
#include "hsadrv/graph_builder.hpp"
#include "hsadrv/kernel_output.hpp"
#include "tests/hsadrv/kernel_texts.hpp"
#include "tests/hsadrv/stream_fixture.hpp"

using namespace hsadrv;
using namespace device_test;

namespace {

/// Host functions that launch a kernel on a stream, while another thread's operations on it never end.
struct Between : Kernels {
    static constexpr unsigned rounds = 6;
    Kernel work = code.kernel("work_then_ticket"), begin_and_spin = code.kernel("begin_and_spin");
    Stream stream{gpu, {.packets = 256}}, other{gpu};
    Words tickets{64}, begun{rounds}, flag{rounds};

    /// How often the operations' kernels went on while the host function's ran. `counts`: the words that they count in.
    unsigned overlaps(unsigned counts, const std::function<void()>& operation) {
        std::atomic<bool> over{false};
        std::string failed;
        std::thread thread([&] {
            failed = thrown_by([&] {
                while (!over) operation();
            });
        });
        unsigned found = 0;
        for (unsigned round = 0; round < rounds; ++round) {
            other.call(
                [this, round] { begin_and_spin.launch(stream, one, begun.data() + round, flag.data() + round); });
            CHECK(eventually([&] { return begun.get(round) == 1; }));
            const unsigned before = sum(counts);
            std::this_thread::sleep_for(30ms);
            found += sum(counts) != before;
            flag.set(1, round);
        }
        over = true;
        thread.join();
        CHECK(failed.empty());
        CHECK_NOTHROW(stream.synchronize(patience));
        return found;
    }
    unsigned sum(unsigned counts) const {
        unsigned total = 0;
        for (unsigned i = 0; i < counts; ++i) total += tickets.get(i);
        return total;
    }
};

}  // namespace

TEST_CASE("a host function's kernel runs beside no cooperative kernel of its stream", "[stream][cooperative][host]") {
    NEEDS_DEVICE();
    Between f;
    CHECK(f.overlaps(1, [&] {
        f.work.launch(f.stream, {.grid = 1, .workgroup = 1, .cooperative = true}, f.tickets.data(),
                      f.tickets.data() + 60, 20000u);
    }) == 0);
}

TEST_CASE("what a host function writes between the parts of a fill is not filled with", "[stream][fill][host]") {
    NEEDS_DEVICE();
    Kernels f;
    constexpr std::size_t bytes = 8 << 20;
    Stream stream(f.gpu), other(f.gpu);
    const Allocation filled = Allocation::from_pool(device_pool(f.gpu), bytes),
                     beside = Allocation::from_pool(device_pool(f.gpu), bytes);
    const Words written(256, 0xdddddddd);
    const Signal open = Signal::create(0);
    const std::vector<char> source((4 << 20) -
                                   100 * 1024);  // the staging buffers, but for less than a fill's first part
    stream.wait(open, Condition::not_equal, 0);
    stream.copy_async(beside.data(), source.data(), source.size());
    std::thread fills([&] { stream.fill_async(filled.as<std::uint32_t>(), 0x11111111u, bytes / 4); });
    let_time_pass();
    std::atomic<bool> copied{false};
    other.call([&] {
        stream.copy_async(filled.data(), written.data(), 1024);
        copied = true;
    });
    CHECK(eventually([&] { return copied.load(); }));
    open.store(1);
    fills.join();
    std::vector<std::uint32_t> found(bytes / 4);
    stream.copy_async(found.data(), filled.data(), bytes);
    stream.synchronize(patience);
    CHECK(std::count(found.begin() + 256, found.end(), 0x11111111u) == static_cast<long>(found.size() - 256));
}

TEST_CASE("a launch that prints is whole: a capture that begins meanwhile records none of it",
          "[stream][graph][opencl_printf]") {
    NEEDS_DEVICE();
    Kernels f;
    const Kernel prints = Executable::load(f.gpu, test_support::test_file("opencl_printf.hsaco")).kernel("hello");
    Stream stream(f.gpu, {.packets = f.gpu.queue_min_packets(), .exclusive_queue = true});
    const Words flag(1), data(64);
    test_support::KernelTexts output;
    f.spin.launch(stream, one, flag.data());
    thrown_by([&] {
        for (;;) f.scale_add.launch(stream, {.grid = 1, .workgroup = 1, .deadline = 20ms}, data.data() + 8, 1u, 1u, 1u);
    });
    std::thread launches([&] { prints.launch(stream, one, data.data()); });
    let_time_pass();
    stream.begin_capture();
    flag.set(1);
    launches.join();
    CHECK(stream.end_capture().nodes() == 0);
    CHECK_NOTHROW(stream.synchronize(patience));
    CHECK(output.texts().size() == 1);
}

TEST_CASE("an object that a host function's call lets go of may wait for host functions", "[stream][graph][host]") {
    NEEDS_DEVICE();
    Kernels f;
    Stream stream(f.gpu), other(f.gpu);
    const Words data(1);
    stream.begin_capture();
    f.scale_add.launch(stream, one, data.data(), 1u, 1u, 1u);
    const Graph graph = stream.end_capture();
    std::string thrown = "it is not destroyed";
    std::atomic<bool> destroyed{false};
    struct Waits {
        Stream stream;
        std::string& thrown;
        std::atomic<bool>& destroyed;
        Waits(AgentRef gpu, std::string& text, std::atomic<bool>& is) : stream(gpu), thrown(text), destroyed(is) {}
        ~Waits() {
            thrown = thrown_by([&] { stream.synchronize(patience); });
            destroyed = true;
        }
    };
    const Signal open = Signal::create(1);
    stream.wait(open, Condition::less, 1);
    {
        auto waits = std::make_shared<Waits>(f.gpu, thrown, destroyed);
        waits->stream.wait(open, Condition::less, 1);
        waits->stream.call([] {});
        stream.keep_alive(std::move(waits));
    }
    const int kind = GENERATE(0, 1, 2);
    other.call([&] {
        open.store(0);
        let_time_pass();
        if (kind == 0) graph.launch(stream);
        if (kind == 1) stream.query();
        if (kind == 2) stream.call([] {});
    });
    CHECK_NOTHROW(other.synchronize(patience));
    CHECK_NOTHROW(stream.synchronize(patience));
    CHECK(eventually([&] { return destroyed.load(); }));
    CHECK(thrown.empty());
}

TEST_CASE("an object that a launch lets go of may wait for a host function of its stream", "[stream][graph][host]") {
    NEEDS_DEVICE();
    Kernels f;
    const bool cooperative = GENERATE(false, true);
    Stream stream(f.gpu);
    const Words data(4);
    std::atomic<bool> destroyed{false};
    struct Waits {
        Stream stream;
        std::atomic<bool>& over;
        Waits(AgentRef gpu, std::atomic<bool>& is_over) : stream(gpu), over(is_over) {}
        ~Waits() {
            stream.synchronize(patience);
            over = true;
        }
    };
    stream.begin_capture();
    for (unsigned i = 0; i < 2; ++i) {
        f.scale_add.launch(stream, one, data.data(), 1u, 1u, 1u);
        stream.call([] {});
    }
    const Graph graph = stream.end_capture();
    const Signal open = Signal::create(0);
    stream.wait(open, Condition::not_equal, 0);
    {
        auto waits = std::make_shared<Waits>(f.gpu, destroyed);
        waits->stream.call([&] {
            let_time_pass();
            f.scale_add.launch(stream, one, data.data() + 1, 1u, 1u, 1u);
        });
        stream.keep_alive(std::move(waits));
    }
    open.store(1);
    std::thread launches([&] {
        for (int i = 0; i < 200 && !destroyed; ++i) {
            if (cooperative)
                f.scale_add.launch(stream, {.grid = 1, .workgroup = 1, .cooperative = true}, data.data() + 2, 1u, 1u,
                                   1u);
            else
                graph.launch(stream);
            std::this_thread::sleep_for(5ms);
        }
    });
    CHECK(eventually([&] { return destroyed.load(); }));
    launches.join();
    CHECK_NOTHROW(stream.synchronize(patience));
    CHECK(data.get(1) == 1);
}

TEST_CASE("branches let go of what their graph held at the next launch", "[stream][graph]") {
    NEEDS_DEVICE();
    Kernels f;
    Stream stream(f.gpu);
    const Words data(4);
    std::vector<std::weak_ptr<int>> held;
    for (int round = 0; round < 8; ++round) {
        const auto object = std::make_shared<int>(round);
        held.push_back(object);
        GraphBuilder build(f.gpu);
        for (unsigned i = 0; i < 2; ++i)
            build.call({build.kernel({}, f.scale_add, one, data.data() + i, 1u, 1u, 1u)}, [object] {});
        build.finish().launch(stream);
        stream.synchronize(patience);
    }
    CHECK(std::count_if(held.begin(), held.end(), [](const auto& object) { return !object.expired(); }) <= 2);
}
