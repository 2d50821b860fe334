#include "tools/common/scratch_folder.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>

#include "tools/common/environment.hpp"
#include "tools/common/failure.hpp"

namespace tools {
namespace fs = std::filesystem;

ScratchFolder::ScratchFolder() {
    const std::string set = variable("TMPDIR");
    const fs::path parent = fs::absolute(set.empty() ? "/tmp" : set);
    std::string name = (parent / "hsadrv-XXXXXX").string();
    if (!mkdtemp(name.data())) {
        throw Failure(ExitStatus::files,
                      fmt::format("cannot make a folder for temporary files in {}: {}; set $TMPDIR to another",
                                  parent.string(), std::strerror(errno)));
    }
    folder_ = name;
}

ScratchFolder::~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
}

}  // namespace tools
