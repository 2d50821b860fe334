#include "tools/kfdemu/kfd/runtime_models.hpp"

#include <link.h>

#include <cstdlib>
#include <memory>
#include <string_view>

#include "tools/kfdemu/base/log.hpp"

namespace kfdemu {
namespace {

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// Whether what the library has loaded and does not write to, which is where its constants are, has the text.
bool has_text(const dl_phdr_info& library, std::string_view text) {
    for (unsigned n = 0; n < library.dlpi_phnum; ++n) {
        const ElfW(Phdr)& part = library.dlpi_phdr[n];
        if (part.p_type != PT_LOAD || (part.p_flags & PF_R) == 0 || (part.p_flags & PF_W) != 0) continue;
        const auto* begin = reinterpret_cast<const char*>(library.dlpi_addr + part.p_vaddr);
        if (std::string_view{begin, part.p_filesz}.find(text) != std::string_view::npos) return true;
    }
    return false;
}

/// "libhsa-runtime64.so.1.5.0", of which the path may be a link.
std::string full_name(const char* path) {
    const std::unique_ptr<char, decltype(&std::free)> real{::realpath(path, nullptr), &std::free};
    return std::string{file_name(real ? real.get() : path)};
}

int say_if_older(dl_phdr_info* library, std::size_t, void* data) {
    const Model& model = *static_cast<const Model*>(data);
    if (!file_name(library->dlpi_name).starts_with("libhsa-runtime64.so")) return 0;
    if (!has_text(*library, model.name))
        log(LogLevel::error, "the HSA runtime of this process, {}, does not know {}: ROCR {} does",
            full_name(library->dlpi_name), model.name, model.runtime);
    return 1;
}

}  // namespace

void say_if_runtime_is_older(const Model& model) { dl_iterate_phdr(say_if_older, const_cast<Model*>(&model)); }

}  // namespace kfdemu
