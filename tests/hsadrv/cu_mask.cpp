// Masks of compute units as the runtime's environment variable names them.
#include "hsadrv/base/cu_mask.hpp"

#include "tests/support/catch.hpp"

using namespace hsadrv::detail;
using Mask = std::vector<std::uint32_t>;

TEST_CASE("HSA_CU_MASK names units of GPUs, by numbers and ranges", "[cu_mask]") {
    CHECK(cu_mask_in("0:0-7", 0) == Mask{0xff});
    CHECK(cu_mask_in("0:0-7", 1).empty());
    CHECK(cu_mask_in("0:3,5-6;1-2:33", 0) == Mask{0x68});
    CHECK(cu_mask_in("0:3,5-6;1-2:33", 2) == Mask{0, 2});
    CHECK(cu_mask_in("40:1", 40) == Mask{2});
    CHECK(count_units(cu_mask_in("0:0-103", 0)) == 104);
}

TEST_CASE("units of gfx10 and newer are named in pairs", "[cu_mask]") {
    for (const char* target : {"gfx1030", "gfx1100", "gfx1201"}) {
        CHECK_FALSE(splits_pairs(Mask{0x3, 0xc0000000}, target));
        for (const std::uint32_t half : {1u, 2u, 6u, 0x80000000u}) CHECK(splits_pairs(Mask{0x3, half}, target));
    }
    for (const char* target : {"gfx900", "gfx90a", "gfx942", "gfx950"}) CHECK_FALSE(splits_pairs(Mask{1}, target));
}

TEST_CASE("a text of another form names none", "[cu_mask]") {
    for (const char* text :
         {"", "0", "0:", ":1", "0:1-", "0:7-3", "0:x", "0:1;;1:2", "0:1,", "0:0-99999", "0:-1", "0:1:2"})
        CHECK(cu_mask_in(text, 0).empty());
    CHECK(cu_mask_in("0:1;", 0) == Mask{2});
}
