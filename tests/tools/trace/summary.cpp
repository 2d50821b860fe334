// What a trace amounts to, number by number.
#include "tools/trace/report/summary.hpp"

#include "tests/support/catch.hpp"

using namespace trace;

namespace {

WorkEvent work(const char* stage, const char* name, std::uint64_t begin, std::uint64_t end, std::uint32_t gpu = 0) {
    WorkEvent event;
    event.stage = stage;
    event.name = name;
    event.begin_ns = begin;
    event.end_ns = end;
    event.gpu = gpu;
    return event;
}

}  // namespace

TEST_CASE("kernels are summed up by name, the longest first", "[trace][summary]") {
    Events events;
    events.work = {work("kernel", "a", 0, 10), work("kernel", "b", 10, 110), work("kernel", "a", 110, 140)};
    events.work[0].numbers["enqueued_ns"] = 0;
    events.work[1].numbers["enqueued_ns"] = 5;
    events.work[2].numbers["enqueued_ns"] = 10;
    const Summary summary = summarize(events);
    CHECK(summary.dispatches == 3);
    REQUIRE(summary.kernels.size() == 2);
    CHECK(summary.kernels[0].name == "b");
    CHECK(summary.kernels[1].dispatches == 2);
    CHECK(summary.kernels[1].times.total_ns == 40);
    CHECK(summary.kernels[1].times.least_ns == 10);
    CHECK(summary.kernels[1].times.most_ns == 30);
    CHECK(summary.kernels[1].times.mean_ns() == 20);
    // b: 5 after its doorbell; the last: 100. The first has none.
    CHECK(summary.launch_latency.count == 2);
    CHECK(summary.launch_latency.least_ns == 5);
    CHECK(summary.launch_latency.most_ns == 100);
}

TEST_CASE("copies have bytes and a bandwidth", "[trace][summary]") {
    Events events;
    events.work = {work("copy", "copy host to gpu0", 0, 1000), work("copy", "copy host to gpu0", 1000, 2000),
                   work("copy", "copy host to gpu0", 2000, 2000)};
    for (WorkEvent& copy : events.work) copy.numbers["bytes"] = 4000;
    events.work[2].times = "not given";
    const Summary summary = summarize(events);
    CHECK(summary.copies == 3);
    CHECK(summary.untimed == 1);
    REQUIRE(summary.copy_kinds.size() == 1);
    CHECK(summary.copy_kinds[0].bytes == 12000);
    CHECK(summary.copy_kinds[0].bytes_per_second() == 4e9);
}

TEST_CASE("a GPU's time is kernels, copies, both, and gaps", "[trace][summary]") {
    Events events;
    events.work = {
        work("kernel", "k", 0, 100),        work("kernel", "k", 50, 150),  // two at once: 150
        work("copy", "c", 120, 200),                                       // 30 of it beside them
        work("kernel", "k", 300, 400),                                     // after a gap of 100
        work("copy", "c", 420, 500),                                       // and one of 20
        work("kernel", "k", 1000, 2000, 1),
    };
    const Summary summary = summarize(events);
    REQUIRE(summary.gpus.size() == 2);
    const GpuSummary& gpu = summary.gpus[0];
    CHECK(gpu.span_ns == 500);
    CHECK(gpu.kernels_ns == 250);
    CHECK(gpu.copies_ns == 160);
    CHECK(gpu.overlap_ns == 30);
    CHECK(gpu.idle_ns == 120);
    CHECK(gpu.gaps.count == 2);
    CHECK(gpu.gaps.most_ns == 100);
    CHECK(summary.gpus[1].span_ns == 1000);
    CHECK(summary.gpus[1].idle_ns == 0);
}

TEST_CASE("counters have peaks, calls have times", "[trace][summary]") {
    Events events;
    events.counters = {{"gpu0", 0, 10}, {"gpu0", 1, 30}, {"gpu0", 2, 0}, {"host", 3, 4}};
    CallEvent call;
    call.name = "hsa_init";
    call.begin_ns = 5;
    call.end_ns = 25;
    events.calls = {call};
    const Summary summary = summarize(events);
    CHECK(summary.peak_bytes.at("gpu0") == 30);
    CHECK(summary.peak_bytes.at("host") == 4);
    REQUIRE(summary.calls.size() == 1);
    CHECK(summary.calls[0].times.total_ns == 20);
}

TEST_CASE("nothing amounts to nothing", "[trace][summary]") {
    const Summary summary = summarize({});
    CHECK(summary.dispatches == 0);
    CHECK(summary.gpus.empty());
    CHECK(summary.launch_latency.count == 0);
    CHECK(distribution_of({}).mean_ns() == 0);
    CHECK(distribution_of({7}).p95_ns == 7);
}
