#include "hsadrv/c/structures.hpp"

#include <span>

#include "hsadrv/error.hpp"

namespace hsadrv::c {
namespace {

constexpr std::size_t most_bytes = 4096;  // no version of a structure is larger

[[noreturn]] void refuse(const char* call, const char* name, const std::string& why) {
    throw InvalidArgument(std::string(call) + ": '" + name + "' " + why);
}

}  // namespace

void check_size(const char* call, const char* name, std::size_t given_bytes, std::size_t first_bytes) {
    if (given_bytes >= first_bytes && given_bytes <= most_bytes) return;
    refuse(call, name,
           "has a struct_size of " + std::to_string(given_bytes) + "; set it to sizeof the structure, at least " +
               std::to_string(first_bytes));
}

void check_unknown_fields(const char* call, const char* name, const void* given, std::size_t given_bytes,
                          std::size_t known_bytes) {
    if (given_bytes <= known_bytes) return;
    const std::span bytes(static_cast<const std::byte*>(given) + known_bytes, given_bytes - known_bytes);
    if (std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{}; })) return;
    refuse(call, name,
           "has " + std::to_string(given_bytes) + " bytes, of which this library knows " + std::to_string(known_bytes) +
               ", and the others are not zero: the program was compiled for a newer hsadrv");
}

}  // namespace hsadrv::c
