#include "hsadrv/code/compressed_bundle.hpp"

#include <random>

#include "hsadrv/code/offload_bundle.hpp"
#include "hsadrv/error.hpp"
#include "tests/hsadrv/code_objects.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/packed_bundle.hpp"

using namespace hsadrv;
using namespace test_support;
using test_support::Contains;

namespace {

std::string unpack_refusal(std::span<const std::byte> file, std::size_t limit = max_bundle_bytes) {
    return message_of<InvalidCodeObject>([&] { decompress_offload_bundle(file, limit); });
}

}  // namespace

TEST_CASE("a bundle compressed by clang's own tool decompresses to the plain bundle", "[compressed_bundle]") {
    const Bytes file = test_code_object("launch.ccob");
    REQUIRE(is_compressed_offload_bundle(file));
    CHECK(read_compressed_bundle_header(file).version >= 2);
    const Bytes plain = decompress_offload_bundle(file);
    CHECK(parse_offload_bundle(plain).size() >= 2);
    for (const char* processor : {"gfx90a", "gfx900"}) {
        const TargetId target = TargetId::parse(processor);
        CHECK(extract_code_object(file, std::span(&target, 1)) ==
              test_code_object("launch." + std::string(processor) + ".v5.O2.hsaco"));
    }
}

TEST_CASE("versions 1 to 3, by zstd and by zlib, are read", "[compressed_bundle]") {
    const unsigned version = GENERATE(1u, 2u, 3u);
    const auto method = GENERATE(Compression::zlib, Compression::zstd);
    CAPTURE(version, static_cast<int>(method));
    const Bytes plain = test_code_object("globals.hsaco");
    const Bytes file = packed_bundle(version, method, plain);
    const CompressedBundleHeader header = read_compressed_bundle_header(file);
    CHECK(header.version == version);
    CHECK(header.method == method);
    CHECK(header.file_bytes == file.size());
    CHECK(header.unpacked_bytes == plain.size());
    CHECK(decompress_offload_bundle(file) == plain);
}

TEST_CASE("an invalid header is refused, naming the field", "[compressed_bundle]") {
    const Bytes plain = test_code_object("globals.hsaco");
    struct Row {
        unsigned version;
        Compression method;
        std::size_t at;
        std::uint32_t value;  // 0 at 2 bytes for version and method
        const char* reason;
    };
    const Row row = GENERATE(values<Row>({
        {2, Compression::zstd, 0, 0x424f4344, "the magic CCOB is missing"},
        {2, Compression::zstd, 4, 0x10000, "version 0 at offset 4"},
        {2, Compression::zstd, 4, 0x10004, "version 4 at offset 4"},
        {2, Compression::zstd, 4, 0x20002, "compression method 2 at offset 6"},
        {2, Compression::zstd, 8, 23, "the header alone has 24"},
        {2, Compression::zstd, 8, 0xffffffff, "4294967295 bytes, the file has"},
        {2, Compression::zstd, 8, 100, "bytes follow its end at offset 100"},
        {3, Compression::zstd, 12, 1, "is it truncated?"},
        {3, Compression::zstd, 20, 1, "more than the limit"},
        {3, Compression::zlib, 16, 0x7fffffff, "can hold"},
        {1, Compression::zlib, 8, 0x7fffffff, "can hold"},
        {1, Compression::zstd, 8, 1, "zstd: "},
        {2, Compression::zlib, 12, 1, "zlib: "},
        {2, Compression::zstd, 16, 0, "damaged"},
        {1, Compression::zlib, 12, 0, "damaged"},
        {3, Compression::zlib, 24, 0, "damaged"},
    }));
    Bytes file = packed_bundle(row.version, row.method, plain);
    patch(std::span(file), row.at, row.value);
    CAPTURE(row.version, row.at, row.value);
    CHECK_THAT(unpack_refusal(file), Contains("compressed offload bundle: ") && Contains(row.reason));
}

TEST_CASE("a size that differs from the decompressed size is refused with both", "[compressed_bundle]") {
    const auto method = GENERATE(Compression::zlib, Compression::zstd);
    const Bytes plain = test_code_object("globals.hsaco");
    Bytes file = packed_bundle(2, method, plain);
    patch(std::span(file), 12, static_cast<std::uint32_t>(plain.size() + 1));
    CHECK_THAT(unpack_refusal(file),
               Contains(std::to_string(plain.size() + 1)) && Contains(std::to_string(plain.size())));
    patch(std::span(file), 12, static_cast<std::uint32_t>(plain.size() - 1));
    CHECK_FALSE(unpack_refusal(file).empty());
}

TEST_CASE("the limit is inclusive, and is checked before decompression", "[compressed_bundle]") {
    const Bytes plain(100000, std::byte{7});
    const Bytes file = packed_bundle(2, Compression::zstd, plain);
    CHECK(unpack_refusal(file, plain.size()).empty());
    CHECK_THAT(unpack_refusal(file, plain.size() - 1), Contains("more than the limit of 99999"));
}

TEST_CASE("highly compressible zeros are accepted", "[compressed_bundle]") {
    const auto method = GENERATE(Compression::zlib, Compression::zstd);
    const Bytes plain(std::size_t{64} << 20, std::byte{0});
    CHECK(decompress_offload_bundle(packed_bundle(3, method, plain)) == plain);
}

TEST_CASE("the contents must be a plain bundle", "[compressed_bundle]") {
    const TargetId target = TargetId::parse("gfx90a");
    const auto why = [&](const Bytes& file) {
        return message_of<InvalidCodeObject>([&] { extract_code_object(file, std::span(&target, 1)); });
    };
    CHECK_THAT(why(packed_bundle(2, Compression::zstd, bytes_of("plain text"))), Contains("no offload bundle"));
    CHECK_THAT(why(packed_bundle(2, Compression::zstd, {})), Contains("no offload bundle"));
    const Bytes inner = packed_bundle(3, Compression::zlib, test_code_object("globals.hsaco"));
    CHECK_THAT(why(packed_bundle(2, Compression::zstd, inner)), Contains("no offload bundle"));
}

TEST_CASE("a compressed bundle truncated at every byte is refused", "[compressed_bundle]") {
    const unsigned version = GENERATE(1u, 2u, 3u);
    const auto method = GENERATE(Compression::zlib, Compression::zstd);
    const Bytes file = packed_bundle(version, method, test_code_object("globals.hsaco"));
    GuardedBytes guarded(file.size());
    for (std::size_t size = 0; size < file.size(); ++size) {
        INFO("size " << size);
        REQUIRE_FALSE(unpack_refusal(guarded.put(std::span(file).first(size))).empty());
    }
    CHECK(unpack_refusal(guarded.put(file)).empty());
}

TEST_CASE("a compressed bundle with any byte changed is refused, or has the same contents", "[compressed_bundle]") {
    const auto method = GENERATE(Compression::zlib, Compression::zstd);
    const Bytes plain = test_code_object("globals.hsaco");
    Bytes file = packed_bundle(3, method, plain);
    GuardedBytes guarded(file.size());
    std::mt19937 random(11);
    for (std::size_t at = 0; at < file.size(); ++at) {
        const std::byte before = file[at];
        file[at] ^= static_cast<std::byte>(1 + random() % 255);
        try {
            const Bytes again = decompress_offload_bundle(guarded.put(file));
            REQUIRE(again == plain);  // bits that the format does not use
        } catch (const InvalidCodeObject&) {
        }
        file[at] = before;
    }
}
