// Compressed offload bundles: `CCOB`, a header and an offload bundle packed by zstd or zlib, as clang writes it for
// --offload-compress.
//
//     if (is_compressed_offload_bundle(file)) file = decompressed = decompress_offload_bundle(file);
//
// Internal. Pure functions of bytes; what is returned is owned by the caller. Sizes are checked before memory
// is asked for: against a limit, and against what so many compressed bytes can hold at most. The hash is
// checked, so damage is found here and not by the device. Thread safety: no state. Sources: clang
// documentation, "Clang Offload Bundler", Compression; clang's class CompressedOffloadBundle (the header's
// fields); RFC 1950; RFC 8878.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hsadrv {

/// More than any bundle we have seen, by far.
inline constexpr std::size_t max_bundle_bytes = std::size_t{2} << 30;

enum class Compression : std::uint16_t { zlib = 0, zstd = 1 };

struct CompressedBundleHeader {
    unsigned version = 0;  ///< 1 to 3
    Compression method = Compression::zstd;
    std::uint64_t header_bytes = 0;
    std::uint64_t file_bytes = 0;  ///< header and packed bytes; version 1 does not state it: all of the file
    std::uint64_t unpacked_bytes = 0;
    std::uint64_t hash = 0;  ///< the first eight bytes of the unpacked bytes' MD5
};

/// Begins with the magic of a compressed bundle, `CCOB`.
bool is_compressed_offload_bundle(std::span<const std::byte> file);

/// The header, every size in it possible. Throws InvalidCodeObject saying which field is wrong, where and how.
CompressedBundleHeader read_compressed_bundle_header(std::span<const std::byte> file,
                                                     std::size_t max_bytes = max_bundle_bytes);

/// Where the bundle that `bytes` begins with ends, whatever follows it: in a section of a program, other bundles.
/// Version 1 does not state it; there the packed data's end is looked for. Throws InvalidCodeObject.
std::uint64_t compressed_bundle_extent(std::span<const std::byte> bytes);

/// The plain bundle inside, which has the hash that the header states. Throws InvalidCodeObject.
std::vector<std::byte> decompress_offload_bundle(std::span<const std::byte> file,
                                                 std::size_t max_bytes = max_bundle_bytes);

}  // namespace hsadrv
