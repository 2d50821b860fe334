// What TraceWriter writes, read_trace reads back.
#include "tests/support/catch.hpp"
#include "tools/trace/format/trace_reader.hpp"
#include "tools/trace/format/trace_writer.hpp"

using namespace trace;

namespace {

const Process this_process{7, {"a.out", "-v"}};

Work kernel(std::uint64_t id, std::string_view name, const KernelLaunch& launch) {
    Work work;
    work.id = id;
    work.name = name;
    work.begin_ns = 1000 * id;
    work.end_ns = 1000 * id + 250;
    work.gpu = 1;
    work.queue = "queue 3";
    work.launch = &launch;
    return work;
}

}  // namespace

TEST_CASE("calls come back with their thread, times and the work that they enqueued and waited for", "[trace]") {
    TraceWriter writer{this_process};
    std::string packets = writer.begin();
    const std::uint64_t submitted[] = {5, 6}, waited[] = {4};
    const Annotation annotations[] = {{"size", std::uint64_t{4096}}, {"address", Pointer{0xabc}}};
    const Track thread = writer.thread(packets, 9, "worker");
    writer.slice(packets, thread, {"hsa_memory_copy", 100, 300, annotations, submitted, waited});
    writer.slice(packets, writer.thread(packets, 9, "worker"), {"hsa_memory_copy", 400, 450, annotations, {}, {}});
    const Events events = read_trace(packets);
    CHECK(events.problem.empty());
    REQUIRE(events.processes.at(7) == "a.out -v");
    REQUIRE(events.calls.size() == 2);
    CHECK(events.calls[0].name == "hsa_memory_copy");
    CHECK(events.calls[0].pid == 7);
    CHECK(events.calls[0].tid == 9);
    CHECK(events.calls[0].begin_ns == 100);
    CHECK(events.calls[0].end_ns == 300);
    CHECK(events.calls[0].submitted == std::vector<std::uint64_t>{5, 6});
    CHECK(events.calls[0].waited_for == std::vector<std::uint64_t>{4});
    CHECK(events.calls[1].end_ns == 450);
}

TEST_CASE("kernels come back with their launch, queue and times", "[trace]") {
    TraceWriter writer{this_process};
    std::string packets = writer.begin();
    KernelLaunch launch{.target = "gfx90a"};
    launch.groups = {16, 2, 1};
    launch.workgroup = {256, 1, 1};
    launch.lds_bytes = 512;
    launch.scratch_bytes = 8;
    launch.kernarg_bytes = 24;
    writer.work(packets, kernel(1, "saxpy", launch));
    writer.work(packets, kernel(2, "saxpy", launch));
    Work last = kernel(3, "dot", launch);
    const Annotation remark[] = {{"times", std::string_view{"not given"}}};
    last.annotations = remark;
    writer.work(packets, last);
    const Events events = read_trace(packets);
    REQUIRE(events.work.size() == 3);
    for (const WorkEvent& work : events.work) {
        CHECK(work.stage == "kernel");
        CHECK(work.queue == "queue 3");
        CHECK(work.gpu == 1);
        CHECK(work.pid == 7);
        CHECK(work.end_ns - work.begin_ns == 250);
        CHECK(work.groups == std::array<std::uint32_t, 3>{16, 2, 1});
        CHECK(work.workgroup == std::array<std::uint32_t, 3>{256, 1, 1});
        CHECK(work.numbers.at("lds_bytes") == 512);
        CHECK(work.numbers.at("scratch_bytes") == 8);
        CHECK(work.numbers.at("kernarg_bytes") == 24);
    }
    CHECK(events.work[1].name == "saxpy");
    CHECK(events.work[2].name == "dot");
    CHECK(events.work[0].times.empty());
    CHECK(events.work[2].times == "not given");
}

TEST_CASE("copies, counters and instants come back", "[trace]") {
    TraceWriter writer{this_process};
    std::string packets = writer.begin();
    Work copy;
    copy.id = 1;
    copy.stage = Stage::copy;
    copy.name = "copy host to gpu0";
    copy.queue = "DMA: host to gpu0";
    const Annotation bytes[] = {{"bytes", std::uint64_t{1 << 20}}};
    copy.annotations = bytes;
    writer.work(packets, copy);
    writer.count(packets, writer.counter(packets, "allocated: gpu0"), 50, -3);
    const Annotation fault[] = {{"gpu", std::string_view{"gpu0"}}, {"address", Pointer{16}}};
    writer.instant(packets, writer.thread(packets, 9, ""), "memory fault", 60, fault);
    const Events events = read_trace(packets);
    REQUIRE(events.work.size() == 1);
    CHECK(events.work[0].stage == "copy");
    CHECK(events.work[0].numbers.at("bytes") == 1 << 20);
    REQUIRE(events.counters.size() == 1);
    CHECK(events.counters[0].name == "allocated: gpu0");
    CHECK(events.counters[0].value == -3);
    REQUIRE(events.instants.size() == 1);
    CHECK(events.instants[0].at_ns == 60);
    CHECK(events.instants[0].values.at("gpu") == "gpu0");
    CHECK(events.instants[0].values.at("address") == "16");
}

TEST_CASE("traces of two processes, one after the other, are one", "[trace]") {
    std::string joined;
    for (const std::uint32_t pid : {7u, 8u}) {
        TraceWriter writer{{pid, {"p" + std::to_string(pid)}}};
        std::string packets = writer.begin();
        writer.slice(packets, writer.thread(packets, pid, ""), {pid == 7 ? "first" : "second", 1, 2, {}, {}, {}});
        joined += packets;
    }
    const Events events = read_trace(joined);
    CHECK(events.processes.size() == 2);
    REQUIRE(events.calls.size() == 2);
    CHECK(events.calls[0].name == "first");
    CHECK(events.calls[1].name == "second");
    CHECK(events.calls[1].pid == 8);
}

TEST_CASE("a new file introduces its names again", "[trace]") {
    TraceWriter writer{this_process};
    std::string first = writer.begin();
    writer.slice(first, writer.thread(first, 9, ""), {"call", 1, 2, {}, {}, {}});
    std::string second = writer.begin();
    writer.slice(second, writer.thread(second, 9, ""), {"call", 3, 4, {}, {}, {}});
    const Events events = read_trace(second);
    REQUIRE(events.calls.size() == 1);
    CHECK(events.calls[0].name == "call");
    CHECK(events.calls[0].tid == 9);
}

TEST_CASE("a trace that ends anywhere gives the events before, and says so", "[trace]") {
    TraceWriter writer{this_process};
    std::string packets = writer.begin();
    const std::size_t head = packets.size();
    for (unsigned n = 0; n < 20; ++n)
        writer.slice(packets, writer.thread(packets, 9, ""), {"call", n, n + 1, {}, {}, {}});
    for (std::size_t length = head; length < packets.size(); ++length) {
        const Events events = read_trace(std::string_view{packets}.substr(0, length));
        CHECK(events.processes.size() == 1);
        CHECK(events.calls.size() <= 20);
    }
    CHECK_FALSE(read_trace(std::string_view{packets}.substr(0, packets.size() - 1)).problem.empty());
    CHECK(read_trace("\xff\xff\xff\xff").calls.empty());
}
