// hsadrv-conformance: the tests that need a device, in one program, which hsadrv test starts.
//
//     hsadrv-conformance --conformance-list
//         a line of JSON about the suite, then one for each test case
//     hsadrv-conformance --conformance-run NAMES JOURNAL GPU SEED SECONDS
//         runs the test cases whose names are the lines of NAMES, in turn; again with the next seed until the
//         seconds are over
//
// With other arguments it is a Catch2 test program: test cases start it that way for child processes.
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/conformance/areas.hpp"
#include "tests/conformance/journal.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/session.hpp"

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// The test cases that are not children of others, in the order of the files.
template <class Visit>
void for_each_test_case(Visit&& visit) {
    const Catch::Config config{Catch::ConfigData()};
    for (const auto& test_case : Catch::getAllTestCasesSorted(config)) {
        const Catch::TestCaseInfo& info = test_case.getTestCaseInfo();
        if (!info.isHidden()) visit(test_case, info);
    }
}

/// The number of test cases that a name selects; must be one, to run it by name.
std::size_t chosen_by(const std::string& name) {
    Catch::ConfigData data;
    data.testsOrTags = {test_support::specification_of(name)};
    const Catch::Config config(data);
    return filterTests(Catch::getAllTestCasesSorted(config), config.testSpec(), config).size();
}

void print(const Json& line) { std::printf("%s\n", line.dump().c_str()); }

int list() {
    int status = 0;
    print({{"suite", "hsadrv"}, {"version", HSADRV_VERSION_TEXT}, {"targets", {CONFORMANCE_TARGETS}}});
    for_each_test_case([&](const auto&, const Catch::TestCaseInfo& info) {
        const char* area = conformance::area_of(info.lineInfo.file, info.tagsAsString());
        if (!area || chosen_by(info.name) != 1) {
            std::fprintf(stderr, "hsadrv-conformance: %s: \"%s\" %s\n", info.lineInfo.file, info.name.c_str(),
                         area ? "is not selected by its name" : "has no area: its file is missing in areas.cpp");
            status = 1;
            return;
        }
        print({{"area", area}, {"file", conformance::short_file(info.lineInfo.file)}, {"name", info.name}});
    });
    return status;
}

struct RunArguments {
    std::string names, journal, gpu;
    unsigned long seed = 0, seconds = 0;
};

/// True if there are kernels for that GPU.
bool has_kernels_for(const std::string& gpu) {
    const std::string targets[] = {CONFORMANCE_TARGETS};
    return std::find(std::begin(targets), std::end(targets), gpu) != std::end(targets);
}

int run(const RunArguments& given) {
    std::vector<std::string> names;
    std::ifstream file(given.names);
    for (std::string name; std::getline(file, name);) names.push_back(name);
    conformance::open_journal(given.journal, has_kernels_for(given.gpu) ? "" : given.gpu);
    ::setenv("HSADRV_TEST_DEVICE", "chosen", 1);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(given.seconds);
    unsigned long seed = given.seed;
    const auto take_seed = [&] { ::setenv("HSADRV_TEST_SEED", std::to_string(seed).c_str(), 1); };
    take_seed();
    test_support::run_test_cases(names, [&] {
        conformance::note_round(seed);
        ++seed;
        take_seed();
        return std::chrono::steady_clock::now() < end;
    });
    return 0;
}

/// When installed, its kernels are in a folder next to it.
void find_files() {
    std::error_code error;
    const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path() / "conformance";
    if (fs::exists(folder / "stream.hsaco", error)) ::setenv("HSADRV_TEST_FILES", folder.c_str(), 0);
}

}  // namespace

// Freed memory counts as long as AddressSanitizer quarantines it, and the suite checks its footprint.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "quarantine_size_mb=1"; }

int main(int argc, char** argv) try {
    find_files();
    const std::string what = argc > 1 ? argv[1] : "";
    if (what == "--conformance-list") return list();
    if (what == "--conformance-run" && argc == 7)
        return run({argv[2], argv[3], argv[4], std::strtoul(argv[5], nullptr, 10), std::strtoul(argv[6], nullptr, 10)});
    return test_support::run_session(argc, argv);
} catch (const std::exception& error) {
    std::fprintf(stderr, "hsadrv-conformance: %s\n", error.what());
    return 2;
}
