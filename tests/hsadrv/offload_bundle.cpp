#include "hsadrv/code/offload_bundle.hpp"

#include <random>

#include "hsadrv/error.hpp"
#include "tests/hsadrv/code_objects.hpp"
#include "tests/support/catch.hpp"

using namespace hsadrv;
using namespace test_support;
using test_support::Contains;

namespace {

struct Entry {
    std::string id, content;
};

void append(Bytes& bytes, std::uint64_t value) {
    const auto* data = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), data, data + sizeof value);
}

void append(Bytes& bytes, const std::string& text) {
    const auto* data = reinterpret_cast<const std::byte*>(text.data());
    bytes.insert(bytes.end(), data, data + text.size());
}

Bytes bundle(const std::vector<Entry>& entries) {
    std::uint64_t offset = 24 + 8;
    for (const Entry& entry : entries) offset += 24 + entry.id.size();
    Bytes bytes;
    append(bytes, "__CLANG_OFFLOAD_BUNDLE__");
    append(bytes, entries.size());
    for (const Entry& entry : entries) {
        append(bytes, offset);
        append(bytes, entry.content.size());
        append(bytes, entry.id.size());
        append(bytes, entry.id);
        offset += entry.content.size();
    }
    for (const Entry& entry : entries) append(bytes, entry.content);
    return bytes;
}

std::string text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string selected(const Bytes& file, const char* agent) {
    const TargetId target = TargetId::parse(agent);
    return text_of(select_code_object(file, std::span(&target, 1)));
}

}  // namespace

TEST_CASE("a bundle's entries are read in order", "[offload_bundle]") {
    const Bytes file = bundle({{"host-x86_64-unknown-linux-gnu--", ""},
                               {"hipv4-amdgcn-amd-amdhsa--gfx90a", "A"},
                               {"hipv4-amdgcn-amd-amdhsa--gfx900", "bb"}});
    REQUIRE(is_offload_bundle(file));
    const auto entries = parse_offload_bundle(file);
    REQUIRE(entries.size() == 3);
    CHECK(entries[0].id == "host-x86_64-unknown-linux-gnu--");
    CHECK(entries[0].bytes.empty());
    CHECK(text_of(entries[1].bytes) == "A");
    CHECK(text_of(entries[2].bytes) == "bb");
}

TEST_CASE("the entry that matches the agent is chosen, the more specific one first", "[offload_bundle]") {
    const Bytes file = bundle({{"host-x86_64-unknown-linux-gnu--", "host"},
                               {"hipv4-amdgcn-amd-amdhsa--gfx900", "900"},
                               {"hipv4-amdgcn-amd-amdhsa--gfx90a", "any"},
                               {"hipv4-amdgcn-amd-amdhsa-unknown-gfx90a:xnack-", "off"},
                               {"hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+", "on"}});
    CHECK(selected(file, "gfx90a:sramecc+:xnack-") == "off");
    CHECK(selected(file, "gfx90a:sramecc+:xnack+") == "on");
    CHECK(selected(file, "gfx90a") == "any");
    CHECK(selected(file, "gfx900:xnack-") == "900");
}

TEST_CASE("a bundle without the agent's target is refused with its contents and the remedy", "[offload_bundle]") {
    const Bytes file = bundle({{"host-x86_64-unknown-linux-gnu--", ""},
                               {"hipv4-amdgcn-amd-amdhsa--gfx900", "a"},
                               {"hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+", "b"}});
    const std::string why = message_of<InvalidCodeObject>([&] { selected(file, "gfx906:sramecc-:xnack-"); });
    CHECK_THAT(why, Contains("holds code for gfx900, gfx90a:xnack+") &&
                        Contains("this agent is gfx906:sramecc-:xnack-") && Contains("-mcpu=gfx906"));
    CHECK_THAT(message_of<InvalidCodeObject>([&] { selected(bundle({}), "gfx90a"); }), Contains("no device code"));
}

TEST_CASE("an entry whose id cannot be read does not hide the others", "[offload_bundle]") {
    const Bytes file =
        bundle({{"hipv9-amdgcn-amd-amdhsa--gfx90a:later+", "?"}, {"hipv4-amdgcn-amd-amdhsa--gfx90a", "A"}});
    CHECK(selected(file, "gfx90a") == "A");
    CHECK_THAT(message_of<InvalidCodeObject>([&] { selected(file, "gfx900"); }),
               Contains("hipv9-amdgcn-amd-amdhsa--gfx90a:later+"));
}

TEST_CASE("a compressed bundle is not a plain one, and must be decompressed first", "[offload_bundle]") {
    Bytes file;
    append(file, "CCOB");
    append(file, 0x0000000100000003);
    CHECK_FALSE(is_offload_bundle(file));
    CHECK_THAT(message_of<InvalidCodeObject>([&] { selected(file, "gfx90a"); }), Contains("compressed (CCOB)"));
}

TEST_CASE("a file that is no bundle is passed on unchanged", "[offload_bundle]") {
    Bytes file;
    append(file,
           "\x7f"
           "ELF and so on");
    CHECK(selected(file, "gfx90a") == text_of(file));
    CHECK(selected({}, "gfx90a").empty());
}

TEST_CASE("offsets and sizes outside the file are refused, naming the entry", "[offload_bundle]") {
    const Bytes good = bundle({{"hipv4-amdgcn-amd-amdhsa--gfx90a", "AAAA"}});
    struct Row {
        std::size_t at;
        std::uint64_t value;
        const char* reason;
    };
    const Row row = GENERATE(values<Row>({
        {24, 2, "truncated"},  // half of the second entry's header
        {24, std::uint64_t{1} << 40, "entries cannot be"},
        {24, ~std::uint64_t{0}, "entries cannot be"},
        {32, std::uint64_t{1} << 40, "entry 0"},
        {32, ~std::uint64_t{0}, "entry 0"},
        {40, 1000, "entry 0"},
        {40, ~std::uint64_t{0}, "entry 0"},
        {48, 1000, "entry 0"},
        {48, ~std::uint64_t{0}, "entry 0"},
    }));
    CAPTURE(row.at, row.value);
    Bytes bad = good;
    patch(std::span(bad), row.at, row.value);
    CHECK_THAT(message_of<InvalidCodeObject>([&] { parse_offload_bundle(bad); }),
               Contains("offload bundle") && Contains(row.reason));
}

TEST_CASE("a real bundle truncated at every byte is refused or yields its complete entries", "[offload_bundle]") {
    const Bytes file = test_code_object("launch.hsaco");
    GuardedBytes guarded(file.size());
    const std::size_t step = 1;
    const auto entries = parse_offload_bundle(file);
    REQUIRE(entries.size() >= 2);
    for (std::size_t size = 0; size < file.size(); size += size < 1024 ? step : 61) {
        const auto part = guarded.put(std::span(file).first(size));
        if (!is_offload_bundle(part)) continue;
        INFO("size " << size);
        CHECK_THROWS_AS(parse_offload_bundle(part), InvalidCodeObject);
    }
}

TEST_CASE("a bundle of random bytes never reads outside them", "[offload_bundle]") {
    std::mt19937 random(1);
    const Bytes good = bundle({{"hipv4-amdgcn-amd-amdhsa--gfx90a", "AAAA"}, {"hipv4-amdgcn-amd-amdhsa--gfx900", "BB"}});
    GuardedBytes guarded(good.size());
    const TargetId target = TargetId::parse("gfx90a");
    for (int i = 0; i < 20000; ++i) {
        Bytes bad = good;
        for (int flips = 0; flips < 3; ++flips)
            bad[24 + random() % (bad.size() - 24)] = static_cast<std::byte>(random());
        const auto bytes = guarded.put(bad);
        unsigned sum = 0;
        try {
            for (std::byte b : select_code_object(bytes, std::span(&target, 1))) sum += static_cast<unsigned>(b);
        } catch (const InvalidCodeObject&) {
        }
        REQUIRE(sum < 1000000);
    }
}
