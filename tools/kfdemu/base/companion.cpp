#include "base/companion.hpp"

#include <dlfcn.h>
#include <unistd.h>

namespace kfdemu {

std::string companion(const std::string& name, const std::string& folder) {
    Dl_info self{};
    if (dladdr(reinterpret_cast<const void*>(&companion), &self) == 0 || self.dli_fname == nullptr) return {};
    const std::string library = self.dli_fname, here = library.substr(0, library.rfind('/') + 1);
    for (const std::string& path : {here + name, here + folder + "/" + name})
        if (access(path.c_str(), R_OK) == 0) return path;
    return {};
}

}  // namespace kfdemu
