#include "hsadrv/code/fat_binary.hpp"

#include <elf.h>

#include "hsadrv/code/offload_binary.hpp"
#include "hsadrv/code/offload_bundle.hpp"
#include "hsadrv/error.hpp"
#include "tests/hsadrv/code_objects.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/host_elf.hpp"
#include "tests/support/packed_bundle.hpp"

using namespace hsadrv;
using namespace test_support;
using test_support::Contains;

namespace {

/// In sequence, each at a multiple of a page, as linkers place them.
Bytes joined(const std::vector<Bytes>& parts) {
    Bytes all;
    for (const Bytes& part : parts) {
        all.resize((all.size() + 4095) / 4096 * 4096);
        all.insert(all.end(), part.begin(), part.end());
    }
    return all;
}

std::string search_refusal(const Bytes& file) {
    return message_of<InvalidCodeObject>([&] { find_embedded_code(file); });
}

}  // namespace

TEST_CASE("a host program is distinguished from a code object", "[fat_binary]") {
    CHECK(is_host_elf(host_elf({})));
    CHECK(host_elf_text(host_elf({})) == "ELF program or library for x86-64");
    CHECK(host_elf_text(host_elf({}, EM_AARCH64)) == "ELF program or library for AArch64");
    CHECK_FALSE(is_host_elf(test_code_object("globals.hsaco")));
    CHECK_FALSE(is_host_elf(test_code_object("launch.gfx90a.v5.O2.hsaco")));
    CHECK_FALSE(is_host_elf(bytes_of("text")));
    CHECK_FALSE(is_host_elf({}));
}

TEST_CASE("the bundles of a section are found, plain and compressed, with zeros between them", "[fat_binary]") {
    const Bytes plain = test_code_object("globals.hsaco");
    const unsigned version = GENERATE(1u, 2u, 3u);
    const auto method = GENERATE(Compression::zlib, Compression::zstd);
    CAPTURE(version, static_cast<int>(method));
    const Bytes compressed = packed_bundle(version, method, plain);
    const Bytes file = host_elf({{".text", bytes_of("code")}, {".hip_fatbin", joined({plain, compressed, plain})}});

    const auto found = find_embedded_code(file);
    REQUIRE(found.size() == 3);
    CHECK(found[0].section == ".hip_fatbin");
    CHECK(found[1].bytes.size() == compressed.size());
    CHECK(decompress_offload_bundle(found[1].bytes) == plain);
    for (const EmbeddedCode& code : found) CHECK(file.data() + code.offset_bytes == code.bytes.data());
    for (const std::size_t i : {0, 2})
        CHECK(parse_offload_bundle(found[i].bytes).size() == parse_offload_bundle(plain).size());
}

TEST_CASE("offload binaries are found, and their images read", "[fat_binary]") {
    const Bytes image = test_code_object("launch.gfx90a.v5.O2.hsaco");
    const Bytes first = offload_binary("amdgcn-amd-amdhsa", "gfx90a", image),
                second = offload_binary("nvptx64-nvidia-cuda", "sm_90", image);
    const Bytes file = host_elf({{".llvm.offloading", joined({first, second})}});
    const auto found = find_embedded_code(file);
    REQUIRE(found.size() == 2);
    CHECK(found[0].section == ".llvm.offloading");
    const auto images = parse_offload_binaries(found[0].bytes);
    REQUIRE(images.size() == 1);
    CHECK(images[0].triple == "amdgcn-amd-amdhsa");
    CHECK(images[0].arch == "gfx90a");
    CHECK(std::equal(images[0].bytes.begin(), images[0].bytes.end(), image.begin(), image.end()));
    CHECK(parse_offload_binaries(found[1].bytes)[0].arch == "sm_90");
}

TEST_CASE("sections match by their whole name, with or without a numeric suffix", "[fat_binary]") {
    const Bytes plain = test_code_object("globals.hsaco");
    CHECK(find_embedded_code(host_elf({{".hip_fatbin.1a2b", plain}, {".llvm.offloading.relocatable", plain}})).size() ==
          2);
    CHECK(find_embedded_code(host_elf({{".hipFatBinSegment", plain}, {".hip_fatbins", plain}, {".text", plain}}))
              .empty());
    CHECK(find_embedded_code(host_elf({{".hip_fatbin", {}}})).empty());
    CHECK(find_embedded_code(host_elf({{".hip_fatbin", Bytes(100)}})).empty());
}

TEST_CASE("contents that no linker writes are refused with their offset", "[fat_binary]") {
    const Bytes plain = test_code_object("globals.hsaco");
    CHECK_THAT(search_refusal(host_elf({{".hip_fatbin", bytes_of("text")}})),
               Contains("section .hip_fatbin holds no offload bundle at offset 64"));
    CHECK_THAT(search_refusal(host_elf({{".hip_fatbin", Bytes(plain.begin(), plain.end() - 1)}})),
               Contains("is it truncated?"));
    Bytes file = host_elf({{".hip_fatbin", plain}});
    file[EI_CLASS] = std::byte{ELFCLASS32};
    CHECK_THAT(search_refusal(file), Contains("not a 64-bit little-endian ELF file"));
    file = host_elf({{".hip_fatbin", plain}});
    patch<std::uint16_t>(file, offsetof(Elf64_Ehdr, e_shentsize), 40);
    CHECK_THAT(search_refusal(file), Contains("entries of 40 bytes"));
    file = host_elf({{".hip_fatbin", plain}});
    patch<std::uint16_t>(file, offsetof(Elf64_Ehdr, e_shstrndx), 9);
    CHECK_THAT(search_refusal(file), Contains("section names are said to be in section 9"));
    file = host_elf({{".hip_fatbin", plain}});
    patch<std::uint16_t>(file, offsetof(Elf64_Ehdr, e_shnum), 0xff00);
    CHECK_THAT(search_refusal(file), Contains("65280 section headers are past the end"));
    file = host_elf({});
    patch<std::uint64_t>(file, offsetof(Elf64_Ehdr, e_shoff), 0);
    CHECK(find_embedded_code(file).empty());
}

TEST_CASE("section counts beyond the header's range are read from the first section", "[fat_binary]") {
    Bytes file = host_elf({{".hip_fatbin", test_code_object("globals.hsaco")}});
    const auto table = peek<std::uint64_t>(file, offsetof(Elf64_Ehdr, e_shoff));
    patch<std::uint64_t>(file, table + offsetof(Elf64_Shdr, sh_size), 3);
    patch<std::uint32_t>(file, table + offsetof(Elf64_Shdr, sh_link), 2);
    patch<std::uint16_t>(file, offsetof(Elf64_Ehdr, e_shnum), 0);
    patch<std::uint16_t>(file, offsetof(Elf64_Ehdr, e_shstrndx), SHN_XINDEX);
    CHECK(find_embedded_code(file).size() == 1);
}

TEST_CASE("offload binaries with inconsistent headers are refused", "[fat_binary]") {
    const auto why = [](std::size_t at, std::uint64_t value) {
        Bytes file = offload_binary("amdgcn-amd-amdhsa", "gfx90a", bytes_of("image"));
        patch(file, at, value);
        return message_of<InvalidCodeObject>([&] { parse_offload_binaries(file); });
    };
    CHECK_THAT(why(0, 0), Contains("the magic 10 ff 10 ad is missing"));
    CHECK_THAT(why(4, 2), Contains("version 2, known is 1"));
    CHECK_THAT(why(8, 31), Contains("its header says 31 bytes in all"));
    CHECK_THAT(why(8, 1 << 20), Contains("all of it: bytes 0 + 1048576 are past its end"));
    CHECK_THAT(why(16, 1 << 20), Contains("its entry: bytes"));
    CHECK_THAT(why(24, 8), Contains("an entry of 8 bytes"));
    CHECK_THAT(why(32 + 16, 1 << 20), Contains("1048576 strings"));
    CHECK_THAT(why(32 + 24, 1 << 20), Contains("its image: bytes"));
    CHECK_THAT(why(72, 1 << 20), Contains("a property's name: bytes"));
}

TEST_CASE("a program truncated anywhere is read or refused", "[fat_binary]") {
    const Bytes plain = test_code_object("globals.hsaco");
    const Bytes file = host_elf({{".hip_fatbin", joined({packed_bundle(2, Compression::zstd, plain), plain})},
                                 {".llvm.offloading", offload_binary("amdgcn-amd-amdhsa", "gfx90a", plain)}});
    GuardedBytes guarded(file.size());
    for (std::size_t size = sizeof(Elf64_Ehdr); size < file.size(); ++size) {
        const auto cut = guarded.put(std::span(file).first(size));
        CHECK_FALSE(message_of<InvalidCodeObject>([&] { find_embedded_code(cut); }).empty());
    }
    CHECK(find_embedded_code(guarded.put(file)).size() == 3);
}
