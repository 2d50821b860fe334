#include "hsadrv/code/offload_binary.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "hsadrv/base/text.hpp"
#include "hsadrv/error.hpp"

namespace hsadrv {
namespace {

constexpr std::array offload_binary_magic{std::byte{0x10}, std::byte{0xff}, std::byte{0x10}, std::byte{0xad}};

// The layout of version 1, little endian as the hosts of ROCm are.
struct OffloadHeader {
    std::array<std::byte, 4> magic;
    std::uint32_t version;
    std::uint64_t size, entry_offset, entry_size;
};
struct OffloadEntry {
    std::uint16_t image_kind, producer;
    std::uint32_t flags;
    std::uint64_t strings_offset, strings, image_offset, image_size;
};
struct StringEntry {
    std::uint64_t key_offset, value_offset;
};
static_assert(sizeof(OffloadHeader) == 32 && sizeof(OffloadEntry) == 40 && sizeof(StringEntry) == 16);

[[noreturn]] void refuse_offload_binary(const std::string& why) { throw InvalidCodeObject("offload binary: " + why); }

using detail::number;

/// Throws if `size` bytes at `offset` are not all in `file`.
std::span<const std::byte> range(std::span<const std::byte> file, std::uint64_t offset, std::uint64_t size,
                                 const char* what) {
    if (offset <= file.size() && size <= file.size() - offset) return file.subspan(offset, size);
    refuse_offload_binary(std::string(what) + ": bytes " + number(offset) + " + " + number(size) +
                          " are past its end; it has " + number(file.size()) + " bytes; is it truncated?");
}

template <class T>
T read(std::span<const std::byte> file, std::uint64_t offset, const char* what) {
    T value;
    std::memcpy(&value, range(file, offset, sizeof value, what).data(), sizeof value);
    return value;
}

std::string_view text_at(std::span<const std::byte> file, std::uint64_t offset, const char* what) {
    range(file, offset, 1, what);
    const auto rest = file.subspan(offset);
    const auto end = std::find(rest.begin(), rest.end(), std::byte{0});
    if (end == rest.end()) refuse_offload_binary(std::string(what) + " at " + number(offset) + " has no end");
    return {reinterpret_cast<const char*>(rest.data()), static_cast<std::size_t>(end - rest.begin())};
}

OffloadHeader read_offload_header(std::span<const std::byte> file) {
    if (!is_offload_binary(file)) refuse_offload_binary("the magic 10 ff 10 ad is missing");
    const auto header = read<OffloadHeader>(file, 0, "its header");
    if (header.version != 1)
        refuse_offload_binary("version " + number(header.version) +
                              ", known is 1: package it with an older LLVM, or as a bundle");
    if (header.size < sizeof header) refuse_offload_binary("its header says " + number(header.size) + " bytes in all");
    range(file, 0, header.size, "all of it");
    return header;
}

OffloadImage read_one(std::span<const std::byte> file, const OffloadHeader& header) {
    if (header.entry_size < sizeof(OffloadEntry))
        refuse_offload_binary("an entry of " + number(header.entry_size) + " bytes");
    const auto entry = read<OffloadEntry>(file, header.entry_offset, "its entry");
    OffloadImage image{
        entry.image_kind, entry.producer, {}, {}, range(file, entry.image_offset, entry.image_size, "its image")};
    if (entry.strings > file.size() / sizeof(StringEntry)) refuse_offload_binary(number(entry.strings) + " strings");
    for (std::uint64_t i = 0; i < entry.strings; ++i) {
        const auto strings = range(file, entry.strings_offset, entry.strings * sizeof(StringEntry), "its strings");
        const auto pair = read<StringEntry>(strings, i * sizeof(StringEntry), "a string");
        const std::string_view key = text_at(file, pair.key_offset, "a property's name");
        const std::string_view value = text_at(file, pair.value_offset, "a property");
        if (key == "triple") image.triple = value;
        if (key == "arch") image.arch = value;
    }
    return image;
}

}  // namespace

bool is_offload_binary(std::span<const std::byte> file) {
    return file.size() >= offload_binary_magic.size() &&
           std::equal(offload_binary_magic.begin(), offload_binary_magic.end(), file.begin());
}

std::uint64_t offload_binary_bytes(std::span<const std::byte> file) { return read_offload_header(file).size; }

std::vector<OffloadImage> parse_offload_binaries(std::span<const std::byte> file) {
    std::vector<OffloadImage> images;
    do {
        const OffloadHeader header = read_offload_header(file);
        images.push_back(read_one(file.first(header.size), header));
        file = file.subspan(header.size);
    } while (!file.empty());
    return images;
}

}  // namespace hsadrv
