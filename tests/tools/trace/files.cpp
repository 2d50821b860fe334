// The file of a trace is whole at every moment.
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "tests/support/catch.hpp"
#include "tools/trace/format/trace_file.hpp"
#include "tools/trace/format/trace_reader.hpp"
#include "tools/trace/format/trace_writer.hpp"

using namespace trace;

namespace {

struct Folder {
    Folder() { REQUIRE(mkdtemp(path.data()) != nullptr); }
    ~Folder() { std::filesystem::remove_all(path); }
    std::string operator/(const char* name) const { return path + "/" + name; }
    std::string path = "/tmp/trace-test-XXXXXX";
};

std::string content(const std::string& file) {
    std::ifstream in{file, std::ios::binary};
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

/// Calls one after the other, in a file that already has the trace's begin.
void append_call(TraceFile& file, TraceWriter& writer, std::uint64_t n) {
    std::string packets;
    writer.slice(packets, writer.thread(packets, 9, "worker"),
                 {"call " + std::to_string(n % 50), n, n + 1, {}, {}, {}});
    REQUIRE(file.append(packets));
}

}  // namespace

TEST_CASE("a file has its packets, and no padding once it is finished", "[trace][file]") {
    const Folder folder;
    TraceWriter writer{{7, {"a.out"}}};
    {
        TraceFile file{folder / "t", {}};
        REQUIRE(file.append(writer.begin()));
        for (unsigned n = 0; n < 1000; ++n) append_call(file, writer, n);
        CHECK(read_trace(content(folder / "t")).calls.size() == 1000);
        file.finish();
        CHECK(std::filesystem::file_size(folder / "t") == file.size_bytes());
    }
    const Events events = read_trace(content(folder / "t"));
    CHECK(events.problem.empty());
    CHECK(events.calls.size() == 1000);
    CHECK(events.calls[999].end_ns == 1000);
}

TEST_CASE("a process that is killed leaves all that it has appended", "[trace][file]") {
    const Folder folder;
    for (unsigned round = 0; round < 20; ++round) {
        std::filesystem::remove(folder / "t");
        int appended[2];
        REQUIRE(pipe(appended) == 0);
        const pid_t child = fork();
        if (child == 0) {
            TraceWriter writer{{7, {"a.out"}}};
            TraceFile file{folder / "t", {}};
            file.append(writer.begin());
            for (std::uint64_t n = 0;; ++n) {
                std::string packets;
                writer.slice(packets, writer.thread(packets, 9, ""), {"call", n, n + 1, {}, {}, {}});
                if (!file.append(packets) || write(appended[1], "x", 1) != 1) _exit(1);
            }
        }
        char bytes[512];
        std::size_t seen = 0;
        while (seen < 1000 + round * 50) seen += static_cast<std::size_t>(read(appended[0], bytes, sizeof bytes));
        kill(child, SIGKILL);
        REQUIRE(waitpid(child, nullptr, 0) == child);
        close(appended[1]);
        for (ssize_t more; (more = read(appended[0], bytes, sizeof bytes)) > 0;) seen += static_cast<std::size_t>(more);
        close(appended[0]);
        const Events events = read_trace(content(folder / "t"));
        CHECK(events.problem.empty());
        CHECK(events.calls.size() >= seen);
        CHECK(events.calls.size() <= seen + 1);
    }
}

TEST_CASE("a file that is there is left alone", "[trace][file]") {
    const Folder folder;
    std::ofstream{folder / "t"} << "precious";
    try {
        const TraceFile file{folder / "t", {}};
        FAIL("it was overwritten");
    } catch (const std::system_error& error) {
        CHECK(error.code() == std::errc::file_exists);
    }
    CHECK(content(folder / "t") == "precious");
}

TEST_CASE("a full file keeps what it has", "[trace][file]") {
    const Folder folder;
    TraceWriter writer{{7, {"a.out"}}};
    TraceFile file{folder / "t", {.most_bytes = 1 << 20}};
    REQUIRE(file.append(writer.begin()));
    std::size_t calls = 0;
    for (;; ++calls) {
        std::string packets;
        writer.slice(packets, writer.thread(packets, 9, ""), {"call", calls, calls + 1, {}, {}, {}});
        if (!file.append(packets)) break;
    }
    CHECK(calls > 10'000);
    CHECK(std::filesystem::file_size(folder / "t") <= 1 << 20);
    CHECK(read_trace(content(folder / "t")).calls.size() == calls);
    file.finish();
    CHECK(read_trace(content(folder / "t")).calls.size() == calls);
}

TEST_CASE("a file that cannot be made or that may not grow is an error that names it", "[trace][file]") {
    const Folder folder;
    CHECK_THROWS_AS((TraceFile{folder / "none/t", {}}), std::system_error);
    // As on a full disk, in a child: the limit stays.
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        const rlimit most{4096, 4096};
        setrlimit(RLIMIT_FSIZE, &most);
        try {
            const TraceFile file{folder / "t", {}};
        } catch (const std::system_error& error) {
            _exit(std::string{error.what()}.find("/t') failed") != std::string::npos ||
                          std::string{error.what()}.find("/t')") != std::string::npos
                      ? 0
                      : 2);
        }
        _exit(1);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
}

TEST_CASE("what is left to another process is not truncated", "[trace][file]") {
    const Folder folder;
    TraceWriter writer{{7, {"a.out"}}};
    TraceFile file{folder / "t", {}};
    REQUIRE(file.append(writer.begin()));
    append_call(file, writer, 1);
    const auto size = std::filesystem::file_size(folder / "t");
    file.abandon();
    file.finish();
    CHECK(std::filesystem::file_size(folder / "t") == size);
    CHECK_FALSE(file.append(writer.begin()));
}
