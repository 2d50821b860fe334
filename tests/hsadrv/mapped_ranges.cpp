// Which mapping of a VirtualRange an address is in.
#include "hsadrv/memory/mapped_ranges.hpp"

#include <array>

#include "tests/support/catch.hpp"

using namespace hsadrv;

TEST_CASE("an address within a mapping has its facts, and no other one", "[vmem]") {
    std::array<std::byte, 64> memory;
    const AgentRef gpus[] = {AgentRef(hsa_agent_t{8}), AgentRef(hsa_agent_t{16})};
    std::byte* const first = memory.data();
    CHECK_FALSE(detail::mapped_ranges::info(first));
    detail::mapped_ranges::enter(first + 16, 16, gpus);
    detail::mapped_ranges::enter(first + 32, 8, std::span(gpus).last(1));
    CHECK_FALSE(detail::mapped_ranges::info(first + 15));
    CHECK_FALSE(detail::mapped_ranges::info(first + 40));
    const auto low = detail::mapped_ranges::info(first + 31), high = detail::mapped_ranges::info(first + 32);
    REQUIRE(low);
    REQUIRE(high);
    CHECK(low->kind == PointerInfo::Kind::other);
    CHECK(low->agent_base == first + 16);
    CHECK(low->size_bytes == 16);
    CHECK(low->bytes_after(first + 31) == 1);
    CHECK(low->accessible_by(gpus[1]));
    CHECK(high->owner == gpus[1]);
    CHECK_FALSE(high->accessible_by(gpus[0]));
    detail::mapped_ranges::leave(first + 16);
    CHECK_FALSE(detail::mapped_ranges::info(first + 16));
    detail::mapped_ranges::leave(first + 32);
    CHECK_FALSE(detail::mapped_ranges::info(first + 32));
}
