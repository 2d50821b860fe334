// Seeds for the targets that read code objects: the tests' kernels as the compiler left them, of several
// versions, alone and bundled.
#pragma once

#include "fuzz.hpp"
#include "hsadrv/file_bytes.hpp"

namespace fuzz {

inline Bytes kernel_file(const std::string& name) {
    const auto file = hsadrv::read_file(std::string{TEST_KERNEL_DIR "/"} + name);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(file.data());
    return {bytes, bytes + file.size()};
}

/// Code objects of one target.
inline std::vector<Bytes> code_objects(const std::string& target) {
    std::vector<Bytes> all;
    for (const char* variant : {"v4.O0", "v4.O2", "v5.O0", "v5.O2", "v6.O2"})
        all.push_back(kernel_file("launch." + target + "." + variant + ".hsaco"));
    return all;
}

/// Bundles for several targets; the last one compressed.
inline std::vector<Bytes> bundles() {
    return {kernel_file("fill.hsaco"), kernel_file("globals.hsaco"), kernel_file("launch.ccob")};
}

}  // namespace fuzz
