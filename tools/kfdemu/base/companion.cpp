#include "tools/kfdemu/base/companion.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace kfdemu {

std::string companion(const std::string& name, const std::string& folder) {
    Dl_info self{};
    if (dladdr(reinterpret_cast<const void*>(&companion), &self) == 0 || self.dli_fname == nullptr) return {};
    const std::string library = self.dli_fname, here = library.substr(0, library.rfind('/') + 1);
    for (const std::string& path : {here + name, here + folder + "/" + name})
        if (access(path.c_str(), R_OK) == 0) return path;
    return {};
}

/// A path as HSA_TOOLS_LIB has it, a list with blanks between: with backslashes before blanks, quotes and backslashes.
static std::string listed_tool(const std::string& path) {
    std::string text;
    for (const char c : path) {
        if (c == ' ' || c == '"' || c == '\\') text += '\\';
        text += c;
    }
    return text;
}

void add_tool(const std::string& path) {
    const std::string listed = listed_tool(path);
    const char* const others = std::getenv("HSA_TOOLS_LIB");
    if (others == nullptr || *others == 0)
        setenv("HSA_TOOLS_LIB", listed.c_str(), 1);
    else if (std::strstr(others, listed.c_str()) == nullptr)
        setenv("HSA_TOOLS_LIB", (listed + " " + others).c_str(), 1);
}

}  // namespace kfdemu
