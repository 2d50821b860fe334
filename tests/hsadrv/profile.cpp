// Profiling: records of kernels and copies, their times, and what is not recorded.
#include "hsadrv/profile.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "hsadrv/base/runtime.hpp"
#include "hsadrv/stream/queue_pool.hpp"
#include "tests/hsadrv/stream_fixture.hpp"
#include "tools/kfdemu/kfdemu.h"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;
using Kind = ProfileRecord::Kind;

namespace {

using Clock = std::chrono::steady_clock;
// Two clocks are read one after the other, not at the same time.
constexpr auto clock_slack = 1ms;

/// A kernel of at least that duration, ended by the host.
void launch_lasting(const Kernels& f, Stream& stream, const Words& flags, std::chrono::milliseconds time) {
    f.code.kernel("begin_and_spin").launch(stream, {.grid = 1, .workgroup = 1}, flags.data(), flags.data() + 1);
    CHECK(eventually([&] { return flags.get() == 1; }));
    std::this_thread::sleep_for(time);
    flags.set(1, 1);
    stream.synchronize(patience);
}

std::size_t live_signals(const Kernels& f) { return f.driver.runtime().signals().counts().live; }

}  // namespace

TEST_CASE("a kernel's record has its name, its grid, and when it ran", "[profile]") {
    NEEDS_DEVICE();
    const Kernels f;
    Stream stream(f.gpu, {.name = "timed", .profile = true});
    const Words flags(2), data(128);
    const auto before = Clock::now();
    const std::uint64_t before_ticks = f.driver.timestamp();
    launch_lasting(f, stream, flags, 30ms);
    f.scale_add.launch(stream, {.grid = {64, 2}, .workgroup = 32}, data.data(), 0u, 7u, 0u);  // changes nothing
    stream.synchronize(patience);
    const auto after = Clock::now();
    const Profile profile = stream.take_profile();
    CHECK_THAT(profile.stream, Contains("stream 'timed' on " + f.gpu.label()));
    CHECK(profile.dropped == 0);
    REQUIRE(profile.records.size() == 2);
    const ProfileRecord &spin = profile.records[0], &scale = profile.records[1];
    CHECK(spin.name == "begin_and_spin");
    CHECK(scale.name == "scale_add");
    CHECK(scale.grid == Dim3(64, 2));
    CHECK(scale.workgroup == Dim3(32));
    for (const ProfileRecord& record : profile.records) {
        CHECK(record.kind == Kind::kernel);
        CHECK_FALSE(record.failed);
        CHECK(record.begin_ticks >= before_ticks);
        CHECK(record.begin_ticks <= record.end_ticks);
        CHECK(record.end_ticks <= f.driver.timestamp());
        CHECK(record.begin >= before - clock_slack);
        CHECK(record.begin <= record.end);
        CHECK(record.end <= after + clock_slack);
    }
    CHECK(spin.duration() >= 30ms - clock_slack);
    CHECK(spin.duration() <= after - before);
    CHECK(scale.begin_ticks >= spin.end_ticks);
    CHECK(stream.take_profile().records.empty());
}

TEST_CASE("a copy's record has its direction, its bytes, and when it ran", "[profile]") {
    NEEDS_DEVICE();
    const Kernels f;
    constexpr std::size_t bytes = 1 << 20;
    const Allocation device = Allocation::from_pool(device_pool(f.gpu), bytes),
                     other = Allocation::from_pool(device_pool(f.gpu), bytes);
    const Words pinned(bytes / 4, 5), back(bytes / 4);
    std::vector<std::uint32_t> pageable(bytes / 4);
    Stream stream(f.gpu, {.profile = true});
    const auto before = Clock::now();
    stream.copy_async(device.data(), pinned.data(), bytes);
    stream.copy_async(other.data(), device.data(), bytes / 2);
    stream.copy_async(back.data(), other.data(), bytes / 4);
    stream.copy_async(pageable.data(), device.data(), bytes);
    stream.copy_async(back.data(), pinned.data(), 64);  // copied by the host
    stream.copy_rect_async(
        {.destination = {device.data(), 1024}, .source = {pinned.data(), 512}, .width_bytes = 256, .height = 8});
    stream.synchronize(patience);
    const auto after = Clock::now();
    const Profile profile = stream.take_profile();
    struct Row {
        CopyDirection direction;
        std::uint64_t bytes;
    };
    const Row rows[] = {
        {CopyDirection::host_to_device, bytes},     {CopyDirection::device_to_device, bytes / 2},
        {CopyDirection::device_to_host, bytes / 4}, {CopyDirection::device_to_host, bytes},
        {CopyDirection::host_to_host, 64},          {CopyDirection::host_to_device, 256 * 8},
    };
    REQUIRE(profile.records.size() == std::size(rows));
    for (std::size_t i = 0; i < std::size(rows); ++i) {
        CAPTURE(i);
        const ProfileRecord& record = profile.records[i];
        CHECK(record.kind == Kind::copy);
        CHECK_FALSE(record.failed);
        CHECK(record.direction == rows[i].direction);
        CHECK(record.name == text_of(rows[i].direction));
        CHECK(record.bytes == rows[i].bytes);
        CHECK(record.begin_ticks != 0);
        CHECK(record.begin_ticks <= record.end_ticks);
        CHECK(record.begin >= before - clock_slack);
        CHECK(record.end <= after + clock_slack);
        if (i > 0)
            CHECK(record.begin_ticks + f.driver.system().timestamp_frequency_hz / 1000 >=
                  profile.records[i - 1].end_ticks);
    }
    CHECK(pageable.back() == 5);
}

TEST_CASE("profiling starts and stops on request; results in between are right", "[profile]") {
    NEEDS_DEVICE();
    const Kernels f;
    Stream stream(f.gpu);
    const Words data(1);
    const auto step = [&](std::uint32_t addend) {
        f.scale_add.launch(stream, {.grid = 1, .workgroup = 1}, data.data(), 3u, addend, 1u);
    };
    step(1);
    CHECK(stream.take_profile().records.empty());
    const auto packets = stream.progress().submitted;
    stream.profile(true);
    step(2);
    step(3);
    stream.profile(false);
    step(4);
    stream.profile(true);
    stream.profile(true);
    step(5);
    stream.profile(false);
    stream.synchronize(patience);
    CHECK(stream.progress().submitted == packets + 4);
    CHECK(data.get() == ((((1 * 3 + 2) * 3 + 3) * 3 + 4) * 3 + 5));
    CHECK(stream.take_profile().records.size() == 3);
}

TEST_CASE("a profile taken with work in flight has the complete part", "[profile]") {
    NEEDS_DEVICE();
    const Kernels f;
    Stream stream(f.gpu, {.profile = true});
    const Words flag(1), data(1);
    f.scale_add.launch(stream, {.grid = 1, .workgroup = 1}, data.data(), 0u, 7u, 1u);
    const Event first = stream.record();
    f.spin.launch(stream, {.grid = 1, .workgroup = 1}, flag.data());
    f.scale_add.launch(stream, {.grid = 1, .workgroup = 1}, data.data(), 2u, 0u, 1u);
    first.synchronize(patience);
    CHECK(stream.take_profile().records.size() == 1);
    CHECK(stream.take_profile().records.empty());
    flag.set(1);
    stream.synchronize(patience);
    const Profile rest = stream.take_profile();
    REQUIRE(rest.records.size() == 2);
    CHECK(rest.records[0].name == "spin");
    CHECK(data.get() == 14);
}

TEST_CASE("a profile keeps the latest records up to its limit, and counts those dropped", "[profile]") {
    NEEDS_DEVICE();
    const Kernels f;
    Stream stream(f.gpu, {.packets = 64, .profile = true, .profile_records = 10});
    const Words data(1);
    for (std::uint32_t i = 1; i <= 200; ++i)
        f.scale_add.launch(stream, {.grid = i, .workgroup = 1, .deadline = patience}, data.data(), 1u, 1u, 1u);
    stream.synchronize(patience);
    const Profile profile = stream.take_profile();
    CHECK(data.get() == 200);
    REQUIRE(profile.records.size() == 10);
    CHECK(profile.dropped == 190);
    CHECK(profile.records.front().grid == Dim3(191));
    CHECK(profile.records.back().grid == Dim3(200));
    CHECK(stream.take_profile().dropped == 0);
}

TEST_CASE("each kernel and copy of a graph is recorded at each replay", "[profile][graph]") {
    NEEDS_DEVICE();
    const Kernels f;
    Stream stream(f.gpu);
    const Words data(64), copy(1 << 16);
    const Allocation device = Allocation::from_pool(device_pool(f.gpu), 4 << 16);
    stream.begin_capture();
    for (std::uint32_t i = 0; i < 5; ++i)
        f.scale_add.launch(stream, {.grid = 64, .workgroup = 64}, data.data(), 3u, i, 64u);
    stream.copy_async(device.data(), copy.data(), 4 << 16);
    f.scale_add.launch(stream, {.grid = 64, .workgroup = 64}, data.data(), 2u, 0u, 64u);
    const Graph graph = stream.end_capture();
    std::uint32_t expected = 0;
    const auto replay = [&] {
        graph.launch(stream, patience);
        for (std::uint32_t i = 0; i < 5; ++i) expected = expected * 3 + i;
        expected *= 2;
    };
    replay();
    stream.profile(true);
    replay();
    replay();
    stream.synchronize(patience);
    CHECK(data.get(63) == expected);
    const Profile profile = stream.take_profile();
    REQUIRE(profile.records.size() == 14);
    std::uint64_t last = 0;
    for (std::size_t i = 0; i < profile.records.size(); ++i) {
        CAPTURE(i);
        const ProfileRecord& record = profile.records[i];
        CHECK((record.kind == Kind::copy) == (i % 7 == 5));
        CHECK_FALSE(record.failed);
        CHECK(record.end_ticks != 0);
        if (record.kind == Kind::kernel) {
            CHECK(record.begin_ticks >= last);
            last = record.end_ticks;
        }
    }
    stream.profile(false);
    replay();
    stream.synchronize(patience);
    CHECK(data.get(63) == expected);
    CHECK(stream.take_profile().records.empty());
}

TEST_CASE("work lost with its stream is recorded as failed", "[profile][error]") {
    NEEDS_DEVICE();
    const Kernels f;
    const std::size_t signals = live_signals(f);
    {
        const Words flag(1), data(1 << 16);
        const Allocation device = Allocation::from_pool(device_pool(f.gpu), 4 << 16);
        Stream stream(f.gpu, {.profile = true});  // destroyed first: no thread waits for its copy
        f.scale_add.launch(stream, {.grid = 1, .workgroup = 1}, data.data(), 0u, 7u, 1u);
        f.spin.launch(stream, {.grid = 1, .workgroup = 1}, flag.data());
        break_queue(stream);
        f.scale_add.launch(stream, {.grid = 1, .workgroup = 1}, data.data(), 2u, 0u, 1u);
        stream.copy_async(device.data(), data.data(), 4 << 16);
        f.scale_add.launch(stream, {.grid = 1, .workgroup = 1}, data.data(), 2u, 0u, 1u);
        flag.set(1);
        CHECK_THROWS_AS(stream.synchronize(patience), QueueError);
        const Profile profile = stream.take_profile();
        REQUIRE(profile.records.size() == 5);
        const bool failed[] = {false, false, true, true, true};
        for (std::size_t i = 0; i < 5; ++i) {
            CAPTURE(i);
            CHECK(profile.records[i].failed == failed[i]);
            CHECK((profile.records[i].end_ticks == 0) == failed[i]);
        }
        CHECK(data.get() == 7);
        CHECK_THROWS_AS(stream.profile(true), QueueError);
    }
    CHECK(eventually([&] { return live_signals(f) == signals; }));  // another thread releases the resources of a queue
}

TEST_CASE("signals of profiled work return to the pool", "[profile]") {
    NEEDS_DEVICE();
    const Kernels f;
    const Words data(1 << 14), copy(1 << 14);
    const std::size_t before = live_signals(f);
    {
        Stream stream(f.gpu, {.profile = true, .profile_records = 0});
        for (int round = 0; round < 5; ++round) {
            for (int i = 0; i < 300; ++i)
                f.scale_add.launch(stream, {.grid = 1, .workgroup = 1, .deadline = patience}, data.data(), 1u, 1u, 1u);
            stream.copy_async(copy.data(), data.data(), 4 << 14, patience);
            stream.synchronize(patience);
            const Profile profile = stream.take_profile();
            CHECK(profile.records.empty());
            CHECK(profile.dropped == 301);
        }
        CHECK(live_signals(f) <= before + 8);
    }
    CHECK(live_signals(f) == before);
}

TEST_CASE("a stream destroyed with profiled work in flight leaks nothing", "[profile][pool]") {
    NEEDS_DEVICE();
    const Kernels f;
    const std::size_t before = live_signals(f);
    {
        std::vector<Stream> streams;
        for (std::size_t i = 0; i <= detail::QueuePool::most; ++i)
            streams.emplace_back(f.gpu, StreamOptions{.profile = true});
        Stream* busy = nullptr;
        Stream& goes = streams.back();
        for (Stream& stream : streams)
            if (&stream != &goes && stream.queue().native() == goes.queue().native()) busy = &stream;
        REQUIRE(busy != nullptr);
        const Words flag(1), data(2);
        f.spin.launch(*busy, {.grid = 1, .workgroup = 1}, flag.data());
        f.scale_add.launch(goes, {.grid = 1, .workgroup = 1}, data.data(), 0u, 7u, 1u);
        CHECK_FALSE(goes.close(20ms));
        f.scale_add.launch(*busy, {.grid = 1, .workgroup = 1}, data.data() + 1, 0u, 8u, 1u);
        flag.set(1);
        busy->synchronize(patience);
        CHECK(is_written_or_stopped(data, 7));  // its resources were kept
        CHECK(data.get(1) == 8);
        CHECK(busy->take_profile().records.size() == 2);
    }
    CHECK(eventually([&] { return live_signals(f) == before; }));  // another thread releases the resources of a queue
}

TEST_CASE("profiled packets move with their stream off a failed queue", "[profile][pool][error]") {
    NEEDS_DEVICE();
    const Kernels f;
    std::vector<Stream> streams;
    for (std::size_t i = 0; i <= detail::QueuePool::most; ++i)
        streams.emplace_back(f.gpu, StreamOptions{.profile = true});
    Stream& good = streams.back();
    Stream* bad = nullptr;
    for (Stream& stream : streams)
        if (&stream != &good && stream.queue().native() == good.queue().native()) bad = &stream;
    REQUIRE(bad != nullptr);
    const Words flag(1), data(1);
    f.spin.launch(*bad, {.grid = 1, .workgroup = 1}, flag.data());
    break_queue(*bad);
    for (std::uint32_t i = 0; i < 10; ++i)
        f.scale_add.launch(good, {.grid = 1, .workgroup = 1}, data.data(), 3u, i, 1u);
    flag.set(1);
    good.synchronize(patience);
    std::uint32_t expected = 0;
    for (std::uint32_t i = 0; i < 10; ++i) expected = expected * 3 + i;
    CHECK(data.get() == expected);
    const Profile profile = good.take_profile();
    REQUIRE(profile.records.size() == 10);
    for (const ProfileRecord& record : profile.records) {
        CHECK_FALSE(record.failed);
        CHECK(record.end_ticks != 0);
    }
}

TEST_CASE("a hang of a profiled kernel is reported like any other", "[profile][autopsy]") {
    NEEDS_DEVICE();
    const Kernels f;
    Stream stream(f.gpu, {.profile = true});
    const Words flag(1);
    f.spin.launch(stream, {.grid = 1, .workgroup = 1}, flag.data());
    CHECK_THROWS_WITH(stream.synchronize(20ms), Contains("runs kernel spin("));
    flag.set(1);
    stream.synchronize(patience);
}

TEST_CASE("many threads launch on profiled streams while others take the records", "[profile][stress]") {
    NEEDS_DEVICE();
    const Kernels f;
    constexpr std::uint32_t each = 300;
    Stream stream(f.gpu, {.profile = true, .profile_records = 1 << 20});
    const Words data(4);
    std::atomic<std::size_t> taken{0}, dropped{0}, running{4};
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (std::uint32_t i = 0; i < each; ++i)
                f.scale_add.launch(stream, {.grid = 1, .workgroup = 1, .deadline = patience}, data.data() + t, 1u, 1u,
                                   1u);
            --running;
        });
    const auto take = [&] {
        const Profile profile = stream.take_profile();
        taken += profile.records.size();
        dropped += profile.dropped;
    };
    threads.emplace_back([&] {
        while (running > 0) take();
    });
    for (std::thread& thread : threads) thread.join();
    stream.synchronize(patience);
    take();
    for (std::size_t t = 0; t < 4; ++t) CHECK(data.get(t) == each);
    CHECK(taken == 4 * each);
    CHECK(dropped == 0);
}

TEST_CASE("cooperative kernels are recorded, launched by a stream and by its graph", "[profile][cooperative]") {
    NEEDS_DEVICE();
    const Kernels f;
    const Words data(1);
    Stream stream(f.gpu, {.profile = true});
    const auto launch = [&] {
        f.scale_add.launch(stream, {.grid = 1, .workgroup = 1, .cooperative = true}, data.data(), 1u, 1u, 1u);
    };
    const auto recorded = [&] {
        stream.synchronize(patience);
        const Profile profile = stream.take_profile();
        return std::count_if(profile.records.begin(), profile.records.end(), [](const ProfileRecord& record) {
            return record.kind == ProfileRecord::Kind::kernel && record.name == "scale_add" && record.begin_ticks != 0;
        });
    };
    launch();
    CHECK(recorded() == 1);
    stream.begin_capture();
    launch();
    const Graph graph = stream.end_capture();
    graph.launch(stream);
    CHECK(recorded() == 1);
    stream.profile(false);
    launch();
    CHECK(recorded() == 0);
    CHECK(data.get() == 3);
}
