// The trace of a profile: one row per stream, one event per record, times in microseconds of the host's clock.
#include "hsadrv/profile.hpp"
#include "support/catch.hpp"

using namespace hsadrv;
using namespace std::chrono_literals;
using test_support::Contains;

namespace {

ProfileRecord kernel_record(std::string name) {
    ProfileRecord record{.name = std::move(name), .grid = {64, 2, 1}, .workgroup = {32, 1, 1}};
    record.begin_ticks = 1;
    record.end_ticks = 2;
    record.begin = std::chrono::steady_clock::time_point(1'000'000'250ns);
    record.end = record.begin + 1'500ns;
    return record;
}

}  // namespace

TEST_CASE("an empty trace is valid", "[profile]") {
    CHECK(chrome_trace({}) == "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n]}\n");
}

TEST_CASE("a trace has each record, in the row of its stream", "[profile]") {
    ProfileRecord copy{.kind = ProfileRecord::Kind::copy, .direction = CopyDirection::device_to_host, .bytes = 4096};
    copy.name = text_of(copy.direction);
    copy.end_ticks = 9;
    const Profile profiles[] = {{.stream = "stream 0 on gpu0", .records = {kernel_record("add")}},
                                {.stream = "stream 1 on gpu0", .records = {copy}}};
    CHECK(chrome_trace(profiles) ==
          "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
          "{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"name\":\"thread_name\",\"args\":{\"name\":\"stream 0 on "
          "gpu0\"}},\n"
          "{\"ph\":\"X\",\"pid\":1,\"tid\":0,\"name\":\"add\",\"cat\":\"kernel\",\"ts\":1000000.250,\"dur\":"
          "1.500,"
          "\"args\":{\"grid\":\"64x2x1\",\"workgroup\":\"32x1x1\"}},\n"
          "{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"name\":\"thread_name\",\"args\":{\"name\":\"stream 1 on "
          "gpu0\"}},\n"
          "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"name\":\"device to "
          "host\",\"cat\":\"copy\",\"ts\":0.000,\"dur\":0.000,"
          "\"args\":{\"bytes\":4096}}\n"
          "]}\n");
}

TEST_CASE("names of any characters are JSON, and records without times are left out", "[profile]") {
    ProfileRecord lost{.name = "lost"};
    lost.failed = true;
    const Profile profiles[] = {{.stream = "stream 'a\"b\\c\n'", .records = {kernel_record("f<\"x\">\t"), lost}}};
    const std::string text = chrome_trace(profiles);
    CHECK_THAT(text, Contains("stream 'a\\\"b\\\\c\\u000a'"));
    CHECK_THAT(text, Contains("f<\\\"x\\\">\\u0009"));
    CHECK_THAT(text, !Contains("lost"));
}

TEST_CASE("each direction has a name", "[profile]") {
    CHECK(std::string(text_of(CopyDirection::host_to_host)) == "host to host");
    CHECK(std::string(text_of(CopyDirection::host_to_device)) == "host to device");
    CHECK(std::string(text_of(CopyDirection::device_to_host)) == "device to host");
    CHECK(std::string(text_of(CopyDirection::device_to_device)) == "device to device");
}
