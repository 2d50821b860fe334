// $HSADRV_LOG: the calls that are written, and what a line says.
#include "hsadrv/base/call_log.hpp"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "hsadrv/file_bytes.hpp"
#include "tests/hsadrv/device.hpp"
#include "tests/support/test_file.hpp"

using namespace hsadrv;
using namespace device_test;
using detail::call_log::Area;
using test_support::Contains;

namespace {

std::uint32_t bit(Area area) { return 1u << static_cast<unsigned>(area); }

/// A file that ends with the scope.
class LogFile {
  public:
    LogFile() {
        char name[] = "/tmp/hsadrv-log-XXXXXX";
        ::close(mkstemp(name));
        name_ = name;
    }
    ~LogFile() { ::unlink(name_.c_str()); }
    LogFile(const LogFile&) = delete;
    LogFile& operator=(const LogFile&) = delete;

    const std::string& name() const { return name_; }
    std::vector<std::string> lines() const {
        std::ifstream file(name_);
        std::vector<std::string> all;
        for (std::string line; std::getline(file, line);) all.push_back(line);
        return all;
    }

  private:
    std::string name_;
};

/// What the hidden test case below writes under this setting.
std::vector<std::string> logged(const std::string& setting = "") {
    const LogFile file;
    const std::string value = setting + (setting.empty() ? "" : ",") + "file=" + file.name();
    const ChildResult child = run_test_in_child("a child makes calls", "HSADRV_LOG", value.c_str());
    INFO(child.output);
    CHECK(child.status == 0);
    return file.lines();
}

std::ptrdiff_t count_lines(const std::vector<std::string>& lines, const std::string& pattern) {
    const std::regex wanted(pattern);
    return std::count_if(lines.begin(), lines.end(), [&](const auto& line) { return std::regex_search(line, wanted); });
}

}  // namespace

TEST_CASE("a child makes calls", "[.child]") {
    const Driver driver;
    const Context gpu(driver.gpus().front());
    {
        Stream stream = gpu.stream();
        const Executable code = Executable::load(gpu, test_support::test_file("stream.hsaco"));
        const Allocation data = gpu.allocate(4096);
        for (int i = 0; i < 3; ++i)
            code.kernel("scale_add").launch(stream, {.grid = 64, .workgroup = 64}, data, 1u, 0u, 64u);
        std::vector<int> back(1024);
        stream.copy_async(back.data(), data.data(), 4096);
        stream.synchronize(patience);
        const Event event = stream.record();
        event.synchronize(patience);
        const Signal signal = Signal::create(7);
        CHECK_THROWS_AS(signal.wait(Condition::equal, 8, 10ms), Timeout);
        std::thread([&] { CHECK(signal.try_wait(Condition::equal, 7, patience)); }).join();
    }
}

TEST_CASE("settings name areas and a file", "[call_log]") {
    using detail::call_log::parse;
    CHECK(parse("memory").areas == bit(Area::memory));
    CHECK(parse("memory,code").areas == (bit(Area::memory) | bit(Area::code)));
    const std::uint32_t all = parse("all").areas;
    CHECK((all & bit(Area::driver) & bit(Area::driver)) != 0);
    CHECK(parse("1").areas == all);
    CHECK(parse("stderr").areas == all);
    CHECK(parse("file=/a b").file == "/a b");
    CHECK(parse("file=/a").areas == all);
    CHECK(parse("stream,file=/a").areas == bit(Area::stream));
    CHECK(parse("stream").file.empty());
    const std::string wrong = GENERATE("everything", "memory,", "file=", ",", "Memory");
    CHECK_THROWS_WITH(parse(wrong), Contains("is none of all, driver, memory"));
}

TEST_CASE("every call is a line with time, thread, area, arguments, result and duration", "[call_log][device]") {
    NEEDS_DEVICE();
    const auto lines = logged();
    INFO(lines.size());
    for (const std::string& line : lines) {
        CAPTURE(line);
        CHECK(std::regex_match(line, std::regex(R"(hsadrv \d+\.\d{6} \d+ [a-z]+ [\w:~ ]+\(.*\).*, \d+\.\d{3} ms)")));
    }
    CHECK(count_lines(lines, R"( driver Driver::Driver\(\))") >= 1);
    CHECK(count_lines(lines, R"( driver the end of the last Driver\(\))") == 1);
    CHECK(count_lines(lines, R"( stream Stream::Stream\(gpu0 )") == 1);
    CHECK(count_lines(lines, R"( memory Allocation::from_pool\(4096 B, gpu0 .*\) = 0x[0-9a-f]+, )") == 1);
    CHECK(count_lines(lines, R"( memory Allocation::~Allocation\(0x)") >= 1);
    CHECK(count_lines(lines, R"( code Executable::load\(.*stream.hsaco.*, gpu0 )") == 1);
    CHECK(count_lines(lines, R"( launch Kernel::launch\(stream .*scale_add.*grid 64.*work-group 64)") == 3);
    CHECK(count_lines(lines, R"( stream Stream::copy_async\(.*0x[0-9a-f]+, 0x[0-9a-f]+, 4096 B\))") == 1);
    CHECK(count_lines(lines, R"( stream Stream::synchronize\(.*, 60000 ms\))") == 1);
    CHECK(count_lines(lines, R"( stream Event::synchronize\(an event of )") == 1);
    CHECK(count_lines(lines, R"( signal Signal::create\(7\) = 0x)") == 1);
    CHECK(count_lines(
              lines,
              R"( signal SignalRef::wait\(.*== 8, 10 ms\) threw hsadrv::Timeout: .*the value is 7, [1-9]\d+\.)") == 1);
    CHECK(count_lines(lines, R"( signal SignalRef::try_wait\(.* = 7, )") ==
          1);  // the one inside of wait() is not a line
    std::vector<std::string> threads;
    for (const std::string& line : lines) {
        const auto begin = line.find(' ', 7) + 1;
        threads.push_back(line.substr(begin, line.find(' ', begin) - begin));
    }
    std::sort(threads.begin(), threads.end());
    CHECK(std::unique(threads.begin(), threads.end()) - threads.begin() >= 2);
}

TEST_CASE("only the areas that were asked for are written", "[call_log][device]") {
    NEEDS_DEVICE();
    const auto launches = logged("launch");
    CHECK(launches.size() == 3);
    CHECK(count_lines(launches, " launch Kernel::launch") == 3);
    const auto two = logged("code,signal");
    CHECK(count_lines(two, " (code|signal) ") == static_cast<std::ptrdiff_t>(two.size()));
    CHECK(two.size() >= 4);
}

TEST_CASE("a setting that is wrong is reported, and the program runs", "[call_log][device]") {
    NEEDS_DEVICE();
    const auto output_with = [](const char* value) {
        const ChildResult child = run_test_in_child("a child makes calls", "HSADRV_LOG", value);
        CHECK(child.status == 0);
        return child.output;
    };
    CHECK_THAT(output_with("everything"), Contains("hsadrv: HSADRV_LOG: 'everything' is none of all, driver") &&
                                              Contains("; nothing is logged\n"));
    CHECK_THAT(output_with("file=/nowhere/log"), Contains("file /nowhere/log cannot be opened: No such file"));
    CHECK_THAT(output_with("driver"), Contains(" driver Driver::Driver()"));  // to standard error
    CHECK(output_with("").find("hsadrv 0.") == std::string::npos);
}

TEST_CASE("a log to a closed pipe does not end the program", "[call_log][device]") {
    NEEDS_DEVICE();
    const ChildResult child = run_test_in_child("child: its log is a closed pipe", "HSADRV_LOG", "all");
    INFO(child.output);
    CHECK(child.status == 0);
}

TEST_CASE("child: its log is a closed pipe", "[.child]") {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    REQUIRE(::dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    const Driver driver;
    CHECK_FALSE(driver.gpus().empty());
    // A SIGPIPE of the program's own is left to it.
    sigset_t pipe, pending;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    raise(SIGPIPE);
    const Signal another = Signal::create(1);
    sigpending(&pending);
    CHECK(sigismember(&pending, SIGPIPE) == 1);
    const timespec now{};
    CHECK(sigtimedwait(&pipe, nullptr, &now) == SIGPIPE);
}
