// Compressed bundles of each version and method, made here because no single tool writes them all; and offload
// binaries.
//
//     Bytes file = packed_bundle(2, Compression::zstd, plain);
#pragma once

#include <zlib.h>
#include <zstd.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "hsadrv/code/compressed_bundle.hpp"
#include "hsadrv/code/md5.hpp"

namespace test_support {

inline std::vector<std::byte> packed(hsadrv::Compression method, std::span<const std::byte> plain) {
    if (method == hsadrv::Compression::zstd) {
        std::vector<std::byte> bytes(ZSTD_compressBound(plain.size()));
        bytes.resize(ZSTD_compress(bytes.data(), bytes.size(), plain.data(), plain.size(), 1));
        return bytes;
    }
    uLongf size = compressBound(plain.size());
    std::vector<std::byte> bytes(size);
    if (compress2(reinterpret_cast<Bytef*>(bytes.data()), &size, reinterpret_cast<const Bytef*>(plain.data()),
                  plain.size(), 1) != Z_OK)
        throw std::runtime_error("zlib failed to compress");
    bytes.resize(size);
    return bytes;
}

/// Little endian.
inline void put(std::vector<std::byte>& file, std::uint64_t value, std::size_t bytes) {
    const auto* from = reinterpret_cast<const std::byte*>(&value);
    file.insert(file.end(), from, from + bytes);
}

inline std::vector<std::byte> packed_bundle(unsigned version, hsadrv::Compression method,
                                            std::span<const std::byte> plain) {
    const std::vector<std::byte> data = packed(method, plain);
    std::vector<std::byte> file;
    put(file, 0x424f4343, 4);  // CCOB
    put(file, version, 2);
    put(file, static_cast<std::uint16_t>(method), 2);
    if (version > 1) put(file, data.size() + (version == 2 ? 24 : 32), version == 2 ? 4 : 8);
    put(file, plain.size(), version == 3 ? 8 : 4);
    put(file, hsadrv::md5_low64(plain), 8);
    file.insert(file.end(), data.begin(), data.end());
    return file;
}

/// With one image: the header, its entry, two strings and the image.
inline std::vector<std::byte> offload_binary(const std::string& triple, const std::string& arch,
                                             std::span<const std::byte> image) {
    const std::string texts = std::string("triple\0arch\0", 12) + triple + '\0' + arch + '\0';
    constexpr std::uint64_t entry = 32, strings = entry + 40, text = strings + 2 * 16;
    const std::uint64_t at = (text + texts.size() + 7) / 8 * 8;
    std::vector<std::byte> file;
    put(file, 0xad10ff10, 4);
    put(file, 1, 4);
    for (const std::uint64_t value : {at + image.size(), entry, std::uint64_t{40}}) put(file, value, 8);
    put(file, 1, 2);  // an object
    put(file, 4, 2);  // of HIP
    put(file, 0, 4);
    for (const std::uint64_t value : {strings, std::uint64_t{2}, at, std::uint64_t{image.size()}}) put(file, value, 8);
    for (const std::uint64_t value : {text, text + 12, text + 7, text + 12 + triple.size() + 1}) put(file, value, 8);
    const auto* bytes = reinterpret_cast<const std::byte*>(texts.data());
    file.insert(file.end(), bytes, bytes + texts.size());
    file.resize(at);
    file.insert(file.end(), image.begin(), image.end());
    return file;
}

}  // namespace test_support
