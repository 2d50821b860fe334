#include "tests/support/test_file.hpp"

#include <cstdlib>
#include <filesystem>

#include "tests/support/turn.hpp"

namespace test_support {
namespace fs = std::filesystem;

std::string test_file(const std::string& name) {
    if (const char* folder = std::getenv("HSADRV_TEST_FILES"); folder && *folder) return fs::path(folder) / name;
    static const fs::path folders[] = {TEST_FOLDERS};
    for (const fs::path& folder : folders)
        if (fs::exists(folder / name)) return folder / name;
    return folders[0] / name;
}

unsigned long test_seed() {
    const char* text = std::getenv("HSADRV_TEST_SEED");
    return text ? std::strtoul(text, nullptr, 10) : test_turn();
}

}  // namespace test_support
