#include "hsadrv/code/md5.hpp"

#include <cstdio>
#include <string>

#include "tests/support/catch.hpp"

using namespace hsadrv;

namespace {
std::string digest(const std::string& text) {
    std::string result;
    for (const std::uint32_t word : md5(std::as_bytes(std::span(text)))) {
        for (int shift = 0; shift < 32; shift += 8) {
            char hex[4];
            std::snprintf(hex, sizeof hex, "%02x", word >> shift & 0xff);
            result += hex;
        }
    }
    return result;
}
}  // namespace

TEST_CASE("the digests of RFC 1321's test suite", "[md5]") {
    struct Row {
        const char* text;
        const char* digest;
    };
    const Row row = GENERATE(values<Row>({
        {"", "d41d8cd98f00b204e9800998ecf8427e"},
        {"a", "0cc175b9c0f1b6a831c399e269772661"},
        {"abc", "900150983cd24fb0d6963f7d28e17f72"},
        {"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
        {"abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"},
        {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "d174ab98d277d9f5a5611c2c9f419d9f"},
        {"12345678901234567890123456789012345678901234567890123456789012345678901234567890",
         "57edf4a22be3c955ac49da2e2107b67a"},
    }));
    CHECK(digest(row.text) == row.digest);
}

TEST_CASE("lengths around the end of a block are padded correctly", "[md5]") {
    CHECK(digest(std::string(55, 'x')) == "04364420e25c512fd958a70738aa8f72");
    CHECK(digest(std::string(56, 'x')) == "668a72d5ba17f08e62dabcafad6db14b");
    CHECK(digest(std::string(63, 'x')) == "7dc2ca208106a2f703567bdff99d8981");
    CHECK(digest(std::string(64, 'x')) == "c1bb4f81d892b2d57947682aeb252456");
    CHECK(md5_low64({}) == 0x04b2008fd98c1dd4);
}
