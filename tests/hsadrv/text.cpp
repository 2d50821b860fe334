#include "hsadrv/base/text.hpp"

#include "tests/support/catch.hpp"

using hsadrv::detail::hex;

TEST_CASE("numbers and addresses are printed with the needed or the requested number of hexadecimal digits", "[text]") {
    CHECK(hex(std::uint64_t{0}) == "0x0");
    CHECK(hex(std::uint64_t{0x7f5d2a001000}) == "0x7f5d2a001000");
    CHECK(hex(UINT64_MAX) == "0xffffffffffffffff");
    CHECK(hex(std::uint64_t{0xabc}, 16) == "0x0000000000000abc");
    CHECK(hex(UINT64_MAX, 4) == "0xffffffffffffffff");
    CHECK(hex(nullptr) == "0x0");
    CHECK(hex(reinterpret_cast<const void*>(0x1000)) == "0x1000");
}
