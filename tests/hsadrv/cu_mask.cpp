// Masks of compute units as the runtime's environment variable names them.
#include "hsadrv/base/cu_mask.hpp"

#include "support/catch.hpp"

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

TEST_CASE("a text of another form names none", "[cu_mask]") {
    for (const char* text : {"", "0", "0:", ":1", "0:1-", "0:7-3", "0:x", "0:1;;1:2", "0:1,", "0:0-99999", "0:-1", "0:1:2"})
        CHECK(cu_mask_in(text, 0).empty());
    CHECK(cu_mask_in("0:1;", 0) == Mask{2});
}
