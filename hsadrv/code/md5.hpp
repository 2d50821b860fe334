// The MD5 digest of bytes, which compressed bundles carry the beginning of. No protection against anybody: it
// finds damage, as a checksum does.
//
//     if (md5_low64(bytes) != header.hash) …
//
// Internal. Pure function of bytes. Thread safety: no state. Source: RFC 1321.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace hsadrv {

/// The four words A, B, C, D; the digest is their bytes, each word's lowest first.
std::array<std::uint32_t, 4> md5(std::span<const std::byte> bytes) noexcept;

/// The digest's first eight bytes as a little-endian number.
inline std::uint64_t md5_low64(std::span<const std::byte> bytes) noexcept {
    const auto words = md5(bytes);
    return words[0] | std::uint64_t{words[1]} << 32;
}

}  // namespace hsadrv
