// Offload binaries: images for several targets with their properties as text, one after the other, as LLVM's newer
// offloading tools write them (clang-offload-packager, --offload-new-driver, OpenMP).
//
//     if (is_offload_binary(file))
//         for (const OffloadImage& image : parse_offload_binaries(file)) use(image.triple, image.arch, image.bytes);
//
// Pure functions of bytes. What is returned points into the bytes given: Borrows them for as long as it is used.
// Thread safety: no state. Source: LLVM, class OffloadBinary (llvm/Object/OffloadBinary.h), version 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace hsadrv {

struct OffloadImage {
    std::uint16_t image_kind = 0;  ///< 1 an object, 2 bitcode, 3 a CUDA object, 4 a CUDA binary, 5 PTX
    std::uint16_t producer = 0;    ///< 1 OpenMP, 2 CUDA, 4 HIP, 8 SYCL
    std::string_view triple;       ///< "amdgcn-amd-amdhsa"; empty where it is not stated
    std::string_view arch;         ///< "gfx90a:xnack-"; empty where it is not stated
    std::span<const std::byte> bytes;
};

/// Begins with the magic 10 FF 10 AD.
bool is_offload_binary(std::span<const std::byte> file);

/// How long the one that `file` begins with says it is; no more than `file` has. Throws InvalidCodeObject.
std::uint64_t offload_binary_bytes(std::span<const std::byte> file);

/// Every image, of one offload binary after the other, each offset and size checked. Throws InvalidCodeObject saying
/// which is wrong and how.
std::vector<OffloadImage> parse_offload_binaries(std::span<const std::byte> file);

}  // namespace hsadrv
