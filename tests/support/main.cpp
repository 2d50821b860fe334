// The main() of every test program: Catch2's, and a last line that tools/test adds up.
#if __has_include(<catch2/catch_all.hpp>)
#define CATCH_IS_V3 1
#else
#define CATCH_CONFIG_RUNNER
#endif
#include "support/catch.hpp"

#include <cstdio>
#include <set>
#include <string>

namespace {
std::size_t passed = 0, failed = 0;
std::set<std::string> skipped;
std::string running;

#ifdef CATCH_IS_V3
using ListenerBase = Catch::EventListenerBase;
#else
using ListenerBase = Catch::TestEventListenerBase;
#endif

struct Tally : ListenerBase {
    using ListenerBase::ListenerBase;
    void testCaseStarting(const Catch::TestCaseInfo& info) override { running = info.name; }
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
    skipped.insert(running);
    std::printf("skipped: %s: %s\n", running.c_str(), reason.c_str());
}
}  // namespace test_support

int main(int argc, char** argv) {
    const int status = Catch::Session().run(argc, argv);
    std::printf("%zu passed, %zu failed, %zu skipped\n", passed, failed, skipped.size());
    return status;
}
