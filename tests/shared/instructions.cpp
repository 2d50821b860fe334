// What the device headers become: the instructions in the assembly that clang makes of the kernels.
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "support/catch.hpp"

namespace {

std::vector<std::string> targets() {
    std::vector<std::string> names;
    std::istringstream list(TARGETS);
    for (std::string name; std::getline(list, name, ',');) names.push_back(name);
    return names;
}

std::string assembly(const std::string& source, const std::string& level, const std::string& target) {
    const std::string path = KERNEL_DIR "/" + source + "." + level + "." + target + ".s";
    std::ifstream file(path);
    INFO(path);
    REQUIRE(file);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// The lines of one kernel, from its label to its end.
std::string kernel(const std::string& text, const std::string& name) {
    const std::size_t start = text.find("\n" + name + ":");
    REQUIRE(start != std::string::npos);
    return text.substr(start, text.find("s_endpgm", start) - start);
}

}  // namespace

TEST_CASE("device functions become the instructions that their headers name", "[device]") {
    struct Row {
        const char* source;
        const char* kernel;
        const char* pattern;
    };
    const Row rows[] = {
        {"device", "reverse", "\ts_barrier"},
        {"device", "reverse", "\tds_write"},
        {"device", "reverse", "\tds_read"},
        {"device", "dynamic_arrays", "\ts_barrier"},
        {"device", "dynamic_arrays", "\tds_write_b8"},
        {"device", "dynamic_arrays", "\tds_write_b64|\tds_write2"},
        {"device", "atomics", "\tds_add_(rtn_)?u32"},
        {"device", "atomics", "\t(global|flat)_atomic_add "},
        {"device", "atomics", "\t(global|flat)_atomic_add_x2 "},
        {"opencl", "reverse", "\ts_barrier"},
        {"opencl", "reverse", "\tds_write"},
        {"opencl", "dynamic_arrays", "\tds_read_b32"},
        {"opencl", "atomics", "\tds_add_(rtn_)?u32"},
        {"opencl", "atomics", "\t(global|flat)_atomic_add "},
    };
    for (const std::string& target : targets()) {
        for (const char* level : {"O0", "O2", "O3"}) {
            for (const Row& row : rows) {
                CAPTURE(target, level, row.source, row.kernel, row.pattern);
                const std::string body = kernel(assembly(row.source, level, target), row.kernel);
                CHECK(std::regex_search(body, std::regex(row.pattern)));
            }
        }
    }
}

TEST_CASE("optimised kernels reach memory in its own address space, never through flat instructions",
          "[device]") {
    for (const std::string& target : targets()) {
        for (const char* source : {"device", "opencl"}) {
            for (const char* level : {"O2", "O3"}) {
                CAPTURE(target, source, level);
                const std::string text = assembly(source, level, target);
                CHECK(text.find("\tflat_load") == std::string::npos);
                CHECK(text.find("\tflat_store") == std::string::npos);
                CHECK(text.find("\tflat_atomic") == std::string::npos);
                CHECK(text.find("s_swappc") == std::string::npos);
            }
        }
    }
}
