#include "hsadrv/compile/header_folder.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <fstream>

#include "hsadrv/error.hpp"

namespace hsadrv::detail {
namespace fs = std::filesystem;

namespace {

/// The folder that the build wrote beside the program or library; empty when installed.
std::string source_folder(const fs::path& here) {
    std::ifstream file(here / "hsadrv.headers");
    std::string line;
    std::getline(file, line);
    return line;
}

bool has_headers(const fs::path& folder) {
    std::error_code error;
    return !folder.empty() && fs::exists(folder / "shared/device/device.hpp", error);
}

}  // namespace

std::string header_folder(const std::string& here) {
    if (const std::string source = source_folder(here); has_headers(source)) return source;
    std::string searched;
    for (const char* place :
         {HSADRV_HEADERS_FROM_BIN, HSADRV_HEADERS_FROM_LIB, HSADRV_HEADERS_FROM_WHEEL, HSADRV_HEADERS}) {
        const fs::path folder = (fs::path(here) / place).lexically_normal();
        if (has_headers(folder)) return folder.string();
        searched += (searched.empty() ? "" : ", ") + folder.string();
    }
    throw Error("the headers for kernels are in none of " + searched + ": is the installation of hsadrv complete?");
}

std::string folder_of_this_library() {
    Dl_info info{};
    std::error_code error;
    const auto* own = reinterpret_cast<const void*>(&folder_of_this_library);
    if (!dladdr(own, &info) || !info.dli_fname) return "/";
    const fs::path file = fs::canonical(info.dli_fname, error);  // a program's is as it was started
    return (error ? fs::read_symlink("/proc/self/exe", error) : file).parent_path().string();
}

}  // namespace hsadrv::detail
