#include "hsadrv/target_id.hpp"

#include "hsadrv/error.hpp"
#include "tests/support/catch.hpp"

using namespace hsadrv;
using test_support::Contains;

TEST_CASE("a target ID is read in each spelling and printed in HSA's", "[target_id]") {
    struct Row {
        const char* text;
        const char* isa_name;
    };
    const Row row = GENERATE(values<Row>({
        {"gfx90a", "amdgcn-amd-amdhsa--gfx90a"},
        {"gfx90a:xnack-", "amdgcn-amd-amdhsa--gfx90a:xnack-"},
        {"amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"},
        {"amdgcn-amd-amdhsa--gfx90a:xnack-:sramecc+", "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"},
        {"amdgcn-amd-amdhsa-unknown-gfx90a", "amdgcn-amd-amdhsa--gfx90a"},
        {"amdgcn-amd-amdhsa-unknown-gfx90a:xnack+", "amdgcn-amd-amdhsa--gfx90a:xnack+"},
        {"hipv4-amdgcn-amd-amdhsa--gfx906:sramecc-", "amdgcn-amd-amdhsa--gfx906:sramecc-"},
        {"hip-amdgcn-amd-amdhsa-gfx900", "amdgcn-amd-amdhsa--gfx900"},
        {"amdgcn-amd-amdhsa--gfx9-4-generic", "amdgcn-amd-amdhsa--gfx9-4-generic"},
        {"amdgcn-amd-amdhsa-unknown-gfx10-3-generic", "amdgcn-amd-amdhsa--gfx10-3-generic"},
    }));
    CAPTURE(row.text);
    CHECK(TargetId::parse(row.text).isa_name() == row.isa_name);
    CHECK(TargetId::parse(row.isa_name) == TargetId::parse(row.text));
}

TEST_CASE("an invalid target ID is refused with the reason", "[target_id]") {
    struct Row {
        const char* text;
        const char* reason;
    };
    const Row row = GENERATE(values<Row>({
        {"", "not a processor name"},
        {"gfx", "not a processor name"},
        {"x86-64", "not a processor name"},
        {"gfx90a:", "neither + nor -"},
        {"gfx90a:xnack", "neither + nor -"},
        {"gfx90a:-", "neither + nor -"},
        {"gfx90a:cumode+", "unknown feature 'cumode'"},
        {"gfx90a:xnack+:xnack+", "duplicate feature 'xnack'"},
        {"gfx90a:xnack+:xnack-", "duplicate feature 'xnack'"},
        {"amdgcn-amd-amdpal--gfx90a", "amdgcn-amd-amdhsa"},
        {"amdgcn-", "amdgcn-amd-amdhsa"},
        {"GFX90A", "not a processor name"},
    }));
    CAPTURE(row.text);
    CHECK_THROWS_WITH(TargetId::parse(row.text), Contains(row.reason));
    CHECK_THROWS_AS(TargetId::parse(row.text), InvalidArgument);
}

TEST_CASE("ELF flags name the target", "[target_id]") {
    struct Row {
        std::uint8_t abi_version;
        std::uint32_t flags;
        const char* name;
    };
    const Row row = GENERATE(values<Row>({
        {3, 0x53f, "gfx90a"},                  // V5, both features any
        {2, 0x63f, "gfx90a:xnack-"},           // V4
        {4, 0xf3f, "gfx90a:sramecc+:xnack+"},  // V6
        {3, 0xa3f, "gfx90a:sramecc-:xnack-"},
        {3, 0x12c, "gfx900"},
        {1, 0x02c, "gfx900:xnack-"},  // V3: a clear bit means off if the processor has the feature
        {1, 0x12c, "gfx900:xnack+"},
        {1, 0x23f, "gfx90a:sramecc+:xnack-"},
        {1, 0x036, "gfx1030"},
        {4, 0x1000151, "gfx9-generic"},
    }));
    CAPTURE(row.flags);
    const auto target = TargetId::from_elf_flags(row.abi_version, row.flags);
    REQUIRE(target);
    CHECK(target->name() == row.name);
}

TEST_CASE("ELF flags of an unknown processor name no target", "[target_id]") {
    CHECK_FALSE(TargetId::from_elf_flags(3, 0x00));
    CHECK_FALSE(TargetId::from_elf_flags(3, 0x27));
    CHECK_FALSE(TargetId::from_elf_flags(3, 0xff));
}

TEST_CASE("code runs where the processor is equal and each feature is equal or not stated", "[target_id]") {
    const TargetId agent = TargetId::parse("amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-");
    for (const char* code : {"gfx90a", "gfx90a:xnack-", "gfx90a:sramecc+", "gfx90a:sramecc+:xnack-"}) {
        CAPTURE(code);
        CHECK_FALSE(mismatch(TargetId::parse(code), agent));
    }
    for (const char* code : {"gfx900", "gfx90c", "gfx90a:xnack+", "gfx90a:sramecc-", "gfx90a:sramecc-:xnack-"}) {
        CAPTURE(code);
        CHECK(mismatch(TargetId::parse(code), agent));
    }
}

TEST_CASE("a mismatch names the wanted and the given target, and the remedy", "[target_id]") {
    const TargetId agent = TargetId::parse("gfx90a:sramecc+:xnack-");
    CHECK(*mismatch(TargetId::parse("gfx900"), agent) ==
          "code object is for gfx900, this agent is gfx90a: compile with -mcpu=gfx90a");
    CHECK_THAT(*mismatch(TargetId::parse("gfx90a:xnack+"), agent),
               Contains("gfx90a:xnack+") && Contains("gfx90a:sramecc+:xnack-") && Contains("HSA_XNACK=1"));
    CHECK_THAT(*mismatch(TargetId::parse("gfx90a:sramecc-"), agent), Contains("-mcpu=gfx90a"));
}

TEST_CASE("one matching ISA of several is enough; otherwise the native one gives the reason", "[target_id]") {
    const TargetId isas[] = {TargetId::parse("gfx90a:sramecc+:xnack-"), TargetId::parse("gfx9-generic:xnack-")};
    CHECK_FALSE(mismatch(TargetId::parse("gfx9-generic"), isas));
    CHECK_FALSE(mismatch(TargetId::parse("gfx90a"), isas));
    CHECK_THAT(*mismatch(TargetId::parse("gfx900"), isas), Contains("this agent is gfx90a"));
    CHECK_THAT(*mismatch(TargetId::parse("gfx900"), std::span<const TargetId>{}), Contains("names no ISA"));
}
