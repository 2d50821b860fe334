#include "hsadrv/code/file_range.hpp"

#include <string>

#include "hsadrv/error.hpp"

namespace hsadrv {

std::span<const std::byte> file_range(std::span<const std::byte> file, std::uint64_t offset, std::uint64_t size,
                                      std::string_view kind, std::string_view what) {
    if (offset <= file.size() && size <= file.size() - offset) return file.subspan(offset, size);
    throw InvalidCodeObject(std::string(kind) + ": " + std::string(what) + ": bytes " + std::to_string(offset) + " + " +
                            std::to_string(size) + " are past the end of the file, which has " +
                            std::to_string(file.size()) + " bytes; is it truncated?");
}

}  // namespace hsadrv
