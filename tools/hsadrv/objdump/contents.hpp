// Contents: a file's code for GPUs: a code object, or bundles of them, or bundles in a host program.
//
//     Contents contents = read_contents("program", bytes);
//     for (const Entry& entry : contents.entries) if (entry.code) use(entry.code->kernels); else say(entry.error);
//
// Needs no device. A file that cannot be read at all has an error instead of entries; an entry that cannot be read does
// not hide the others. Owns: the bytes that entries point into; moving the object does not move them.
// Thread safety: a plain value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hsadrv/code_object.hpp"

namespace hsadrv_tool::objdump {

using Bytes = std::vector<std::byte>;

/// A bundle of code objects.
struct Bundle {
    enum class Kind { plain, compressed, offload_binary } kind = Kind::plain;
    std::string section;             ///< of a host program; empty: the bundle is the file
    std::uint64_t offset_bytes = 0;  ///< in the file
    std::uint64_t size_bytes = 0;    ///< there
    std::string compression;         ///< "zstd", "zlib"; empty: not compressed
    std::uint64_t unpacked_bytes = 0;
    std::vector<std::string> others;  ///< ids of entries that are not for AMDGPU, usually the host's
};

/// An entry for an AMD GPU.
struct Entry {
    std::optional<std::size_t> bundle;  ///< index; std::nullopt: the file itself
    std::string id;                     ///< as in the bundle
    std::span<const std::byte> bytes;
    std::optional<hsadrv::CodeObject> code;
    std::string error;  ///< why it is not a loadable code object

    /// Of the code object, or else of the bundle; std::nullopt if neither can be read.
    std::optional<hsadrv::TargetId> target() const;
};

struct Contents {
    std::string name;  ///< the file's
    std::size_t size_bytes = 0;
    std::string host;  ///< "ELF program or library for x86-64"; empty: no host program
    std::vector<Bundle> bundles;
    std::vector<Entry> entries;
    std::string error;
    std::vector<Bytes> storage;  ///< the file, and decompressed bundles

    Contents() = default;
    Contents(Contents&&) noexcept = default;
    Contents& operator=(Contents&&) noexcept = default;
};

Contents read_contents(std::string name, Bytes bytes);

/// The contents of a file that cannot be read.
Contents unreadable(std::string name, std::string error);

/// "plain bundle", "bundle compressed by zstd", "offload binary"
std::string kind_text(const Bundle& bundle);

}  // namespace hsadrv_tool::objdump
