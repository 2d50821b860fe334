#include "headers.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "failure.hpp"
#include "tools/common/own_program.hpp"

namespace hsadrv_cc {
namespace fs = std::filesystem;

namespace {

/// The folder that the build wrote beside the program; empty when installed.
std::string source_folder(const fs::path& here) {
    std::ifstream file(here / "hsadrv-cc.headers");
    std::string line;
    std::getline(file, line);
    return line;
}

bool has_headers(const fs::path& folder) {
    std::error_code error;
    return !folder.empty() && fs::exists(folder / "shared/device/device.hpp", error);
}

}  // namespace

std::string header_folder() {
    const fs::path here = tools::own_program().parent_path();
    const fs::path installed = (here / HSADRV_CC_HEADERS_FROM_BIN).lexically_normal();
    if (const fs::path source = source_folder(here); has_headers(source)) return source.string();
    if (has_headers(installed)) return installed.string();
    throw Failure(ExitStatus::files,
                  fmt::format("the headers for kernels are not in {}: is the installation of hsadrv complete?",
                              installed.string()));
}

}  // namespace hsadrv_cc
