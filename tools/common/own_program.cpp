#include "tools/common/own_program.hpp"

#include <sys/auxv.h>

namespace tools {

std::filesystem::path own_program() {
    std::error_code error;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
    return error ? std::filesystem::canonical(reinterpret_cast<const char*>(getauxval(AT_EXECFN))) : program;
}

}  // namespace tools
