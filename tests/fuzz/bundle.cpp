// Offload bundles as bytes, plain and compressed: each is read, or refused as InvalidCodeObject. And a bundle
// that is compressed here, by each method and version in turn, gives the same result as the plain one.
#include <optional>

#include "hsadrv/code/compressed_bundle.hpp"
#include "hsadrv/code/offload_bundle.hpp"
#include "hsadrv/error.hpp"
#include "tests/fuzz/code_object_seeds.hpp"
#include "tests/support/packed_bundle.hpp"

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t max_bytes = 1 << 20;  // so that no input allocates gigabytes

const hsadrv::TargetId agent[] = {hsadrv::TargetId::parse(FUZZ_TARGET)};

/// The entry chosen from a bundle; std::nullopt if it is refused.
std::optional<Bytes> chosen(std::span<const std::byte> file) {
    try {
        return hsadrv::extract_code_object(file, agent);
    } catch (const hsadrv::InvalidCodeObject& error) {
        if (std::string_view{error.what()}.empty()) fuzz::broken("refused without a reason");
        return std::nullopt;
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::span file{reinterpret_cast<const std::byte*>(data), size};
    if (hsadrv::is_compressed_offload_bundle(file)) {
        try {
            hsadrv::decompress_offload_bundle(file, max_bytes);
        } catch (const hsadrv::InvalidCodeObject&) {
        }
        return 0;
    }
    const auto plain = chosen(file);
    if (!hsadrv::is_offload_bundle(file)) return 0;
    const auto method = size % 2 ? hsadrv::Compression::zstd : hsadrv::Compression::zlib;
    if (chosen(test_support::packed_bundle(1 + size % 3, method, file)) != plain)
        fuzz::broken("the compressed bundle differs from the plain one");
    return 0;
}

std::vector<fuzz::Bytes> fuzz::seeds() {
    std::vector<fuzz::Bytes> all = bundles();
    const fuzz::Bytes small = small_bundle();
    all.push_back(small);
    const std::span plain{reinterpret_cast<const std::byte*>(small.data()), small.size()};
    for (unsigned version = 1; version <= 3; ++version) {
        for (const auto method : {hsadrv::Compression::zlib, hsadrv::Compression::zstd}) {
            const auto file = test_support::packed_bundle(version, method, plain);
            const auto* bytes = reinterpret_cast<const std::uint8_t*>(file.data());
            all.emplace_back(bytes, bytes + file.size());
        }
    }
    return all;
}
