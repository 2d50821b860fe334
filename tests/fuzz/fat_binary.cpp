// Host programs as bytes: their GPU code is found inside the file and in order, and each part is read separately,
// or the file is refused as InvalidCodeObject.
#include "hsadrv/code/fat_binary.hpp"

#include "hsadrv/code/offload_binary.hpp"
#include "hsadrv/error.hpp"
#include "tests/fuzz/code_object_seeds.hpp"
#include "tests/support/host_elf.hpp"
#include "tests/support/packed_bundle.hpp"

namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes_of(const fuzz::Bytes& bytes) {
    const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
    return {data, data + bytes.size()};
}

void check_offload_binary(std::span<const std::byte> bytes) {
    try {
        for (const hsadrv::OffloadImage& image : hsadrv::parse_offload_binaries(bytes))
            if (image.bytes.data() < bytes.data() ||
                image.bytes.data() + image.bytes.size() > bytes.data() + bytes.size())
                fuzz::broken("an image is outside its offload binary");
    } catch (const hsadrv::InvalidCodeObject&) {
    }
}

void check_found(std::span<const std::byte> file, const std::vector<hsadrv::EmbeddedCode>& found) {
    for (const hsadrv::EmbeddedCode& code : found) {
        if (code.bytes.empty()) fuzz::broken("an empty result was reported");
        if (code.offset_bytes > file.size() || code.bytes.size() > file.size() - code.offset_bytes ||
            code.bytes.data() != file.data() + code.offset_bytes)
            fuzz::broken("a result is not at its reported offset");
        if (hsadrv::is_offload_bundle(code.bytes))
            hsadrv::parse_offload_bundle(code.bytes);  // reading it again succeeds
        if (hsadrv::is_offload_binary(code.bytes)) check_offload_binary(code.bytes);
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::span file{reinterpret_cast<const std::byte*>(data), size};
    if (hsadrv::is_offload_binary(file)) check_offload_binary(file);
    if (!hsadrv::is_host_elf(file)) return 0;
    if (hsadrv::host_elf_text(file).empty()) fuzz::broken("a program without a description");
    std::vector<hsadrv::EmbeddedCode> found;
    try {
        found = hsadrv::find_embedded_code(file);
    } catch (const hsadrv::InvalidCodeObject& error) {
        if (std::string_view{error.what()}.empty()) fuzz::broken("refused without a reason");
    }
    check_found(file, found);
    return 0;
}

std::vector<fuzz::Bytes> fuzz::seeds() {
    using namespace test_support;
    const auto small = bytes_of(small_bundle());
    std::vector<std::vector<std::byte>> files{offload_binary("amdgcn-amd-amdhsa", FUZZ_TARGET, small)};
    files.push_back(host_elf({{".llvm.offloading", files.front()}, {".text", small}}));
    for (unsigned version = 1; version <= 3; ++version) {
        for (const auto method : {hsadrv::Compression::zlib, hsadrv::Compression::zstd}) {
            auto section = packed_bundle(version, method, small);
            section.resize((section.size() + 63) / 64 * 64);
            section.insert(section.end(), small.begin(), small.end());
            files.push_back(host_elf({{".hip_fatbin", section}}));
        }
    }
    std::vector<fuzz::Bytes> all;
    for (const auto& file : files) {
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(file.data());
        all.emplace_back(bytes, bytes + file.size());
    }
    return all;
}
