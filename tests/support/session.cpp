// Catch2's run of a test program, a last line for tools/test, and the skipped test cases.
#if __has_include(<catch2/catch_all.hpp>)
#define CATCH_IS_V3 1
#else
#define CATCH_CONFIG_RUNNER
#endif
#include "tests/support/session.hpp"

#include <cstdio>
#include <functional>
#include <map>

#include "tests/support/catch.hpp"

namespace {
std::size_t passed = 0, failed = 0;
std::map<std::string, std::string> skipped;  // with the reason
std::string running;

#ifdef CATCH_IS_V3
using ListenerBase = Catch::EventListenerBase;
#else
using ListenerBase = Catch::TestEventListenerBase;
#endif

struct Tally : ListenerBase {
    using ListenerBase::ListenerBase;
    void testCaseStarting(const Catch::TestCaseInfo& info) override {
        running = info.name;
        skipped.erase(running);
    }
    void testCaseEnded(const Catch::TestCaseStats& stats) override {
        if (!stats.totals.assertions.allOk()) {
            skipped.erase(running);
            ++failed;
        } else if (!skipped.count(running)) {
            ++passed;
        }
    }
};
CATCH_REGISTER_LISTENER(Tally)
}  // namespace

namespace test_support {
void skip(const std::string& reason) {
    skipped[running] = reason;
    std::printf("skipped: %s: %s\n", running.c_str(), reason.c_str());
}

std::optional<std::string> skip_reason(const std::string& test_case) {
    const auto found = skipped.find(test_case);
    if (found == skipped.end()) return std::nullopt;
    return found->second;
}

std::string specification_of(const std::string& name) {
    std::string text = "\"";
    for (const char c : name) {
        if (c == '"' || c == '\\' || c == ',' || c == '[') text += '\\';
        text += c;
    }
    return text + '"';
}

void run_test_cases(const std::vector<std::string>& names, const std::function<bool()>& again) {
    Catch::Session session;
    const char* const arguments[] = {"", "--reporter", "compact", "--out", "/dev/null"};
    session.applyCommandLine(5, arguments);
    for (const std::string& name : names) {
        session.configData().testsOrTags.push_back(specification_of(name));
        session.configData().testsOrTags.push_back(",");
    }
    do session.run();
    while (again());
}

int run_session(int argc, char** argv) {
    const int status = Catch::Session().run(argc, argv);
    std::printf("%zu passed, %zu failed, %zu skipped\n", passed, failed, skipped.size());
    return status;
}
}  // namespace test_support
