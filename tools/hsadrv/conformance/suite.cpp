#include "tools/hsadrv/conformance/suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "tools/common/own_program.hpp"
#include "tools/hsadrv/exit_status.hpp"
#include "tools/hsadrv/json.hpp"

namespace hsadrv_tool {
namespace {

namespace fs = std::filesystem;

fs::path find_program() {
    const fs::path here = tools::own_program().parent_path();
    const fs::path installed = (here / HSADRV_CONFORMANCE_FROM_BIN).lexically_normal();
    const fs::path built = (here / "../../tests/conformance/hsadrv-conformance").lexically_normal();
    std::error_code error;
    for (const fs::path& place : {installed, built})
        if (fs::exists(place, error)) return place;
    throw tools::Failure(
        exit_status::files,
        fmt::format("the conformance suite is not installed: there is no {}\nIt is built with the tests: "
                    "meson setup -Dtests=true …, then meson install",
                    installed.string()));
}

[[noreturn]] void refuse(const std::string& why) {
    throw tools::Failure(exit_status::files, "the conformance suite does not tell its tests: " + why);
}

std::size_t place_of(const std::string& area) {
    const auto found = std::find(areas.begin(), areas.end(), area);
    if (found == areas.end()) refuse("there is no area '" + area + "'");
    return static_cast<std::size_t>(found - areas.begin());
}

}  // namespace

std::vector<TestResult> tests_of(const std::string& listing) try {
    std::istringstream lines(listing);
    std::string line;
    std::getline(lines, line);
    const std::string version = Json::parse(line).at("version");
    if (version != HSADRV_VERSION_TEXT)
        refuse(fmt::format("it is of version {}, this is hsadrv {}", version, HSADRV_VERSION_TEXT));
    std::map<std::string, std::size_t> files;                               // in the order in which they come
    std::multimap<std::pair<std::size_t, std::size_t>, TestResult> placed;  // by area and file; equal ones in order
    while (std::getline(lines, line)) {
        const Json test = Json::parse(line);
        TestResult result{test.at("area"), test.at("file"), test.at("name")};
        const std::size_t file = files.emplace(result.file, files.size()).first->second;
        placed.emplace(std::pair(place_of(result.area), file), std::move(result));
    }
    if (placed.empty()) refuse("there are none");
    std::vector<TestResult> tests;
    for (auto& [place, result] : placed) tests.push_back(std::move(result));
    return tests;
} catch (const tools::JsonError&) {
    refuse("it printed: " + listing.substr(0, 400));
}

Suite find_suite(const tools::Interruptions& interruptions) {
    Suite suite{find_program(), {}};
    const tools::Captured said =
        tools::capture({suite.program.string(), "--conformance-list"}, interruptions, {{}, std::chrono::seconds(60)});
    if (said.status != 0)
        refuse(fmt::format("{} --conformance-list ended with status {}: {}", suite.program.string(), said.status,
                           said.text));
    suite.tests = tests_of(said.text);
    return suite;
}

}  // namespace hsadrv_tool
