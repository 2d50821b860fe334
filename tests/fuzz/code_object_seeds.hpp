// Seeds for the targets that read code objects: the tests' kernels as compiled, of several
// versions, alone and bundled.
#pragma once

#include "hsadrv/code/offload_bundle.hpp"
#include "hsadrv/file_bytes.hpp"
#include "tests/fuzz/fuzz.hpp"

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

/// The code object for one target out of a bundle.
inline Bytes code_object_in(const std::string& bundle, const std::string& target) {
    const Bytes file = kernel_file(bundle);
    const hsadrv::TargetId agent[] = {hsadrv::TargetId::parse(target)};
    const auto code = hsadrv::select_code_object({reinterpret_cast<const std::byte*>(file.data()), file.size()}, agent);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(code.data());
    return {bytes, bytes + code.size()};
}

/// A bundle of two entries with a few bytes each.
inline Bytes small_bundle() {
    const std::string ids[] = {"host-x86_64-unknown-linux-gnu--", "hipv4-amdgcn-amd-amdhsa--" FUZZ_TARGET};
    Output bundle;
    for (const char c : std::string{"__CLANG_OFFLOAD_BUNDLE__"}) bundle.put(c);
    bundle.put(std::uint64_t{2});
    std::uint64_t at = 32 + 2 * 24 + ids[0].size() + ids[1].size();
    for (const std::string& id : ids) {
        bundle.put(at).put(std::uint64_t{16}).put(std::uint64_t{id.size()});
        for (const char c : id) bundle.put(c);
        at += 16;
    }
    for (std::uint64_t word = 0; word < 4; ++word) bundle.put(word);
    return bundle.bytes;
}

}  // namespace fuzz
