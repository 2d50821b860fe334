#include "hsadrv/elf_image.hpp"

#include <elf.h>

#include <algorithm>
#include <cstddef>

#include "hsadrv/code/offload_bundle.hpp"
#include "hsadrv/error.hpp"
#include "tests/hsadrv/code_objects.hpp"
#include "tests/support/catch.hpp"

using namespace hsadrv;
using namespace test_support;
using test_support::Contains;

namespace {

const Bytes& good() {
    static const Bytes file = test_code_object("launch.gfx90a.v5.O2.hsaco");
    return file;
}

/// A code object with relocations: two of 8 bytes each against data symbols.
const Bytes& relocated() {
    static const Bytes file = [] {
        const Bytes bundle = test_code_object("globals.hsaco");
        const TargetId target = TargetId::parse("gfx90a");
        const auto code = select_code_object(bundle, std::span(&target, 1));
        return Bytes(code.begin(), code.end());
    }();
    return file;
}

std::string refusal(std::span<const std::byte> file) {
    return message_of<InvalidCodeObject>([&] { read_elf_image(file); });
}

/// The good file with one field of the ELF header changed.
template <class T>
Bytes with_header(std::size_t offset, T value) {
    Bytes file = good();
    patch<T>(file, offset, value);
    return file;
}

std::size_t program_header(const Bytes& file, std::uint32_t type, unsigned skip = 0) {
    const auto header = peek<Elf64_Ehdr>(file, 0);
    for (unsigned i = 0; i < header.e_phnum; ++i) {
        const std::size_t at = header.e_phoff + i * sizeof(Elf64_Phdr);
        if (peek<Elf64_Phdr>(file, at).p_type == type && skip-- == 0) return at;
    }
    throw std::out_of_range("no such segment");
}

std::size_t section_header(const Bytes& file, const std::string& name) {
    const auto header = peek<Elf64_Ehdr>(file, 0);
    const auto names = peek<Elf64_Shdr>(file, header.e_shoff + header.e_shstrndx * sizeof(Elf64_Shdr));
    for (unsigned i = 0; i < header.e_shnum; ++i) {
        const std::size_t at = header.e_shoff + i * sizeof(Elf64_Shdr);
        if (name == reinterpret_cast<const char*>(file.data() + names.sh_offset + peek<Elf64_Shdr>(file, at).sh_name))
            return at;
    }
    throw std::out_of_range("no section " + name);
}

template <class T>
Bytes with_section(const std::string& name, std::size_t field, T value) {
    Bytes file = good();
    patch<T>(file, section_header(file, name) + field, value);
    return file;
}

template <class T>
Bytes with_segment(std::uint32_t type, unsigned skip, std::size_t field, T value) {
    Bytes file = good();
    patch<T>(file, program_header(file, type, skip) + field, value);
    return file;
}

std::size_t symbol(const Bytes& file, const std::string& table, const std::string& name) {
    const auto header = peek<Elf64_Ehdr>(file, 0);
    const auto section = peek<Elf64_Shdr>(file, section_header(file, table));
    const auto names = peek<Elf64_Shdr>(file, header.e_shoff + section.sh_link * sizeof(Elf64_Shdr));
    for (std::size_t at = section.sh_offset; at < section.sh_offset + section.sh_size; at += sizeof(Elf64_Sym)) {
        if (name == reinterpret_cast<const char*>(file.data() + names.sh_offset + peek<Elf64_Sym>(file, at).st_name))
            return at;
    }
    throw std::out_of_range("no symbol " + name);
}

template <class T>
Bytes with_symbol(const std::string& name, std::size_t field, T value) {
    Bytes file = good();
    patch<T>(file, symbol(file, ".symtab", name) + field, value);
    return file;
}

}  // namespace

TEST_CASE("a real code object's facts are read, whatever its version", "[elf_image]") {
    const std::string target = GENERATE("gfx90a", "gfx900");
    const unsigned version = GENERATE(4u, 5u, 6u);
    const std::string level = GENERATE("O0", "O2");
    CAPTURE(target, version, level);
    const Bytes file = test_code_object("launch." + target + ".v" + std::to_string(version) + "." + level + ".hsaco");
    const ElfImage elf = read_elf_image(file);
    CHECK(elf.code_object_version == version);
    CHECK(elf.target == TargetId::parse(target));
    CHECK(elf.kernel_descriptors.size() == 10);
    CHECK(elf.metadata_note.size() > 100);
    CHECK(elf.has_symbol_table);
    CHECK_FALSE(elf.calls_hostcall);
}

TEST_CASE("code object V3 is read, its feature bits by V3's rules", "[elf_image]") {
    Bytes file = with_header<std::uint8_t>(EI_ABIVERSION, 1);
    patch<std::uint32_t>(file, offsetof(Elf64_Ehdr, e_flags), 0x23f);
    const ElfImage elf = read_elf_image(file);
    CHECK(elf.code_object_version == 3);
    CHECK(elf.target.name() == "gfx90a:sramecc+:xnack-");
}

TEST_CASE("a file that is not for AMDGPU HSA is refused, naming what it is", "[elf_image]") {
    const auto text = [](const char* content) { return std::as_bytes(std::span(content, std::strlen(content))); };
    CHECK_THAT(refusal({}), Contains("is empty"));
    CHECK_THAT(refusal(text("__kernel void f() {}")), Contains("not an ELF file") && Contains("5f 5f 6b 65"));
    CHECK_THAT(refusal(text("\x7f"
                            "ELF")),
               Contains("truncated"));
    CHECK_THAT(refusal(with_header<std::uint8_t>(EI_CLASS, ELFCLASS32)), Contains("64-bit"));
    CHECK_THAT(refusal(with_header<std::uint8_t>(EI_DATA, ELFDATA2MSB)), Contains("little-endian"));
    CHECK_THAT(refusal(with_header<std::uint8_t>(EI_VERSION, 2)), Contains("ELF version"));
    CHECK_THAT(refusal(with_header<std::uint16_t>(offsetof(Elf64_Ehdr, e_machine), EM_X86_64)), Contains("x86-64"));
    CHECK_THAT(refusal(with_header<std::uint16_t>(offsetof(Elf64_Ehdr, e_machine), 9)), Contains("ELF machine 9"));
    CHECK_THAT(refusal(with_header<std::uint8_t>(EI_OSABI, 0)), Contains("OS ABI 0") && Contains("amdhsa"));
    CHECK_THAT(refusal(with_header<std::uint16_t>(offsetof(Elf64_Ehdr, e_type), ET_REL)), Contains("not linked"));
    CHECK_THAT(refusal(with_header<std::uint16_t>(offsetof(Elf64_Ehdr, e_type), ET_EXEC)), Contains("ELF type 2"));
    CHECK_THAT(refusal(with_header<std::uint32_t>(offsetof(Elf64_Ehdr, e_flags), 0x5ff)),
               Contains("processor number 255"));
}

TEST_CASE("versions outside V3 to V6 are refused with the remedy", "[elf_image]") {
    CHECK_THAT(refusal(with_header<std::uint8_t>(EI_ABIVERSION, 0)),
               Contains("V2") && Contains("-mcode-object-version=5"));
    CHECK_THAT(refusal(with_header<std::uint8_t>(EI_ABIVERSION, 5)),
               Contains("ABI version 5") && Contains("-mcode-object-version=5"));
}

TEST_CASE("header tables out of range are refused", "[elf_image]") {
    CHECK_THAT(refusal(with_header<std::uint64_t>(offsetof(Elf64_Ehdr, e_phoff), ~0ull << 3)),
               Contains("program header table"));
    CHECK_THAT(refusal(with_header<std::uint64_t>(offsetof(Elf64_Ehdr, e_phoff), 65)), Contains("misaligned"));
    CHECK_THAT(refusal(with_header<std::uint16_t>(offsetof(Elf64_Ehdr, e_phnum), 0)), Contains("no program headers"));
    CHECK_THAT(refusal(with_header<std::uint16_t>(offsetof(Elf64_Ehdr, e_phnum), 0xffff)), Contains("program headers"));
    CHECK_THAT(refusal(with_header<std::uint16_t>(offsetof(Elf64_Ehdr, e_phentsize), 32)), Contains("entries of 32"));
    CHECK_THAT(refusal(with_header<std::uint64_t>(offsetof(Elf64_Ehdr, e_shoff), good().size())),
               Contains("section header table"));
    CHECK_THAT(refusal(with_header<std::uint16_t>(offsetof(Elf64_Ehdr, e_shnum), 0)), Contains("no section headers"));
    CHECK_THAT(refusal(with_header<std::uint16_t>(offsetof(Elf64_Ehdr, e_shnum), 0xff00)),
               Contains("section header table"));
    CHECK_THAT(refusal(with_header<std::uint16_t>(offsetof(Elf64_Ehdr, e_shstrndx), 200)), Contains("section names"));
    CHECK_THAT(refusal(with_header<std::uint16_t>(offsetof(Elf64_Ehdr, e_shstrndx), 1)), Contains("no string table"));
}

TEST_CASE("segments out of range, out of order or overlapping are refused", "[elf_image]") {
    CHECK_THAT(refusal(with_segment<std::uint64_t>(PT_LOAD, 1, offsetof(Elf64_Phdr, p_offset), 1ull << 40)),
               Contains("past the end"));
    CHECK_THAT(refusal(with_segment<std::uint64_t>(PT_LOAD, 1, offsetof(Elf64_Phdr, p_filesz), ~0ull)),
               Contains("past the end"));
    CHECK_THAT(refusal(with_segment<std::uint64_t>(PT_LOAD, 1, offsetof(Elf64_Phdr, p_memsz), 8)),
               Contains("only 8 in memory"));
    CHECK_THAT(refusal(with_segment<std::uint64_t>(PT_LOAD, 2, offsetof(Elf64_Phdr, p_memsz), ~0ull)),
               Contains("beyond the limit"));
    CHECK_THAT(refusal(with_segment<std::uint64_t>(PT_LOAD, 2, offsetof(Elf64_Phdr, p_vaddr), ~0ull)),
               Contains("beyond the limit"));
    CHECK_THAT(refusal(with_segment<std::uint64_t>(PT_LOAD, 1, offsetof(Elf64_Phdr, p_vaddr), 0)),
               Contains("overlaps or precedes"));
    CHECK_THAT(refusal(with_segment<std::uint64_t>(PT_LOAD, 0, offsetof(Elf64_Phdr, p_memsz), 1ull << 20)),
               Contains("overlaps or precedes"));
    Bytes none = good();
    for (int i = 0; i < 3; ++i) patch<std::uint32_t>(none, program_header(none, PT_LOAD), PT_NULL);
    CHECK_THAT(refusal(none), Contains("no loadable segment"));
}

TEST_CASE("sections out of range or at odds with their segment are refused", "[elf_image]") {
    CHECK_THAT(refusal(with_section<std::uint64_t>(".text", offsetof(Elf64_Shdr, sh_size), 1ull << 40)),
               Contains("past the end"));
    CHECK_THAT(refusal(with_section<std::uint64_t>(".comment", offsetof(Elf64_Shdr, sh_offset), ~0ull)),
               Contains("past the end"));
    CHECK_THAT(refusal(with_section<std::uint32_t>(".text", offsetof(Elf64_Shdr, sh_name), 1u << 20)),
               Contains("its name"));
    CHECK_THAT(refusal(with_section<std::uint64_t>(".text", offsetof(Elf64_Shdr, sh_addralign), 3)),
               Contains("alignment 3"));
    CHECK_THAT(refusal(with_section<std::uint64_t>(".rodata", offsetof(Elf64_Shdr, sh_addr), 1ull << 30)),
               Contains("in no segment"));
    CHECK_THAT(refusal(with_section<std::uint64_t>(".rodata", offsetof(Elf64_Shdr, sh_offset), 64)),
               Contains("disagrees"));
    CHECK_THAT(refusal(with_section<std::uint64_t>(".symtab", offsetof(Elf64_Shdr, sh_entsize), 8)),
               Contains("whole entries"));
    CHECK_THAT(refusal(with_section<std::uint64_t>(".symtab", offsetof(Elf64_Shdr, sh_size), 25)),
               Contains("whole entries"));
    CHECK_THAT(refusal(with_section<std::uint32_t>(".symtab", offsetof(Elf64_Shdr, sh_link), 1)),
               Contains("no string table"));
    CHECK_THAT(refusal(with_section<std::uint32_t>(".symtab", offsetof(Elf64_Shdr, sh_link), 999)),
               Contains("no string table"));
    CHECK_THAT(refusal(with_section<std::uint64_t>(".strtab", offsetof(Elf64_Shdr, sh_size), 5)), Contains("NUL"));
    CHECK_THAT(refusal(with_section<std::uint32_t>(".comment", offsetof(Elf64_Shdr, sh_type), SHT_REL)),
               Contains("SHT_REL"));
}

TEST_CASE("sections that a loader finds by name must have the type of that name", "[elf_image]") {
    const auto name = peek<std::uint32_t>(good(), section_header(good(), ".note") + offsetof(Elf64_Shdr, sh_name));
    CHECK_THAT(refusal(with_section<std::uint32_t>(".comment", offsetof(Elf64_Shdr, sh_name), name)),
               Contains("'.note': wrong type 1"));
    CHECK_THAT(refusal(with_section<std::uint32_t>(".symtab", offsetof(Elf64_Shdr, sh_type), SHT_PROGBITS)),
               Contains("'.symtab': wrong type"));
    CHECK_THAT(refusal(with_section<std::uint32_t>(".comment", offsetof(Elf64_Shdr, sh_type), SHT_NULL)),
               Contains("null section"));
}

TEST_CASE("symbols outside their section, misplaced descriptors and duplicates are refused", "[elf_image]") {
    CHECK_THAT(refusal(with_symbol<std::uint32_t>("saxpy.kd", offsetof(Elf64_Sym, st_name), 1u << 20)),
               Contains("its name"));
    CHECK_THAT(refusal(with_symbol<std::uint16_t>("saxpy.kd", offsetof(Elf64_Sym, st_shndx), 900)),
               Contains("section index 900"));
    CHECK_THAT(refusal(with_symbol<std::uint16_t>("saxpy.kd", offsetof(Elf64_Sym, st_shndx), SHN_ABS)),
               Contains("section index"));
    CHECK_THAT(refusal(with_symbol<std::uint64_t>("saxpy.kd", offsetof(Elf64_Sym, st_value), 0)),
               Contains("is outside"));
    CHECK_THAT(refusal(with_symbol<std::uint64_t>("saxpy.kd", offsetof(Elf64_Sym, st_size), ~0ull)),
               Contains("is outside"));
    CHECK_THAT(refusal(with_symbol<std::uint64_t>("saxpy.kd", offsetof(Elf64_Sym, st_size), 32)),
               Contains("wanted 64"));
    CHECK_THAT(refusal(with_symbol<std::uint8_t>("saxpy", offsetof(Elf64_Sym, st_info), ELF64_ST_INFO(STB_GLOBAL, 10))),
               Contains("V2"));
    const Bytes& file = good();
    const auto other = peek<Elf64_Sym>(file, symbol(file, ".symtab", "reverse.kd")).st_name;
    CHECK_THAT(refusal(with_symbol<std::uint32_t>("saxpy.kd", offsetof(Elf64_Sym, st_name), other)),
               Contains("defined twice"));
    const auto value = peek<Elf64_Sym>(file, symbol(file, ".symtab", "saxpy.kd")).st_value;
    CHECK_THAT(refusal(with_symbol<std::uint64_t>("saxpy.kd", offsetof(Elf64_Sym, st_value), value + 8)),
               Contains("misaligned"));
}

TEST_CASE("a descriptor whose code is nowhere executable is refused", "[elf_image]") {
    Bytes file = good();
    const auto kd = peek<Elf64_Sym>(file, symbol(file, ".symtab", "saxpy.kd"));
    const auto rodata = peek<Elf64_Shdr>(file, section_header(file, ".rodata"));
    const std::size_t entry = rodata.sh_offset + (kd.st_value - rodata.sh_addr) + 16;
    for (const std::int64_t offset :
         {std::int64_t{0}, std::int64_t{1} << 40, std::int64_t{-1} << 62, peek<std::int64_t>(file, entry) + 4}) {
        CAPTURE(offset);
        patch(std::span(file), entry, offset);
        CHECK_THAT(refusal(file), Contains("'saxpy.kd'") && Contains("first instruction"));
    }
}

TEST_CASE("relocations that a loader could not apply are refused", "[elf_image]") {
    CHECK(refusal(relocated()).empty());
    const auto section = peek<Elf64_Shdr>(relocated(), section_header(relocated(), ".rela.dyn"));
    REQUIRE(section.sh_size == 2 * sizeof(Elf64_Rela));
    const auto with_relocation = [&](std::size_t field, std::uint64_t value) {
        Bytes file = relocated();
        patch(std::span(file), section.sh_offset + field, value);
        return refusal(file);
    };
    CHECK_THAT(with_relocation(offsetof(Elf64_Rela, r_offset), 1ull << 40), Contains("relocation 0: patches address"));
    CHECK_THAT(with_relocation(offsetof(Elf64_Rela, r_offset), ~0ull), Contains("in no segment"));
    CHECK_THAT(with_relocation(offsetof(Elf64_Rela, r_info), ELF64_R_INFO(1, 99)), Contains("type 99"));
    CHECK_THAT(with_relocation(offsetof(Elf64_Rela, r_info), ELF64_R_INFO(5000, 3)), Contains("symbol 5000 of"));

    Bytes file = relocated();
    const std::size_t header = section_header(file, ".rela.dyn");
    patch<std::uint32_t>(file, header + offsetof(Elf64_Shdr, sh_link), 1);
    CHECK_THAT(refusal(file), Contains("no symbol table"));
    file = relocated();
    patch<std::uint32_t>(file, header + offsetof(Elf64_Shdr, sh_info), 7);
    CHECK_THAT(refusal(file), Contains("--emit-relocs"));
    file = relocated();
    patch<std::uint64_t>(file, symbol(file, ".dynsym", "counter") + offsetof(Elf64_Sym, st_value), 1ull << 33);
    CHECK_FALSE(refusal(file).empty());
}

TEST_CASE("the metadata note must be there, once, and inside the file", "[elf_image]") {
    const std::size_t note = peek<Elf64_Phdr>(good(), program_header(good(), PT_NOTE)).p_offset;
    const auto with_note = [&](std::size_t field, std::uint32_t value) {
        Bytes file = good();
        patch(std::span(file), note + field, value);
        return file;
    };
    CHECK_THAT(refusal(with_note(offsetof(Elf64_Nhdr, n_type), 7)), Contains("no metadata note"));
    CHECK_THAT(refusal(with_note(offsetof(Elf64_Nhdr, n_namesz), 4)),
               Contains("no metadata note") || Contains("note at offset"));
    CHECK_THAT(refusal(with_note(offsetof(Elf64_Nhdr, n_namesz), ~0u)), Contains("note at offset"));
    CHECK_THAT(refusal(with_note(offsetof(Elf64_Nhdr, n_descsz), ~0u)), Contains("note at offset"));
    Bytes twice = good();  // an unused program header names the same note again
    const auto segment = peek<Elf64_Phdr>(twice, program_header(twice, PT_NOTE));
    patch(std::span(twice), program_header(twice, PT_GNU_STACK), segment);
    CHECK_THAT(refusal(twice), Contains("two metadata notes"));
}

TEST_CASE("without a .symtab the dynamic symbols are read", "[elf_image]") {
    Bytes file = with_section<std::uint32_t>(".symtab", offsetof(Elf64_Shdr, sh_type), SHT_PROGBITS);
    const auto comment = peek<std::uint32_t>(file, section_header(file, ".comment") + offsetof(Elf64_Shdr, sh_name));
    patch(std::span(file), section_header(file, ".symtab") + offsetof(Elf64_Shdr, sh_name), comment);
    const ElfImage elf = read_elf_image(file);
    CHECK_FALSE(elf.has_symbol_table);
    CHECK(elf.kernel_descriptors.size() == 10);
}

TEST_CASE("variables and functions are listed; a kernel is not a function, nor is its body", "[elf_image]") {
    const ElfImage elf = read_elf_image(relocated());
    const auto size_of = [&](const std::string& name) -> std::uint64_t {
        for (const VariableFacts& variable : elf.variables) {
            if (variable.name == name) return variable.size_bytes;
        }
        return 0;
    };
    CHECK(size_of("counter") == 4);
    CHECK(size_of("table") == 16);
    CHECK(size_of("pointers") == 16);
    CHECK(size_of("read_globals.kd") == 0);
    CHECK(elf.functions == std::vector<std::string>{"twice"});
    CHECK(elf.undefined.empty());
    const auto read_only = [&](const std::string& name) {
        return std::any_of(elf.variables.begin(), elf.variables.end(),
                           [&](const VariableFacts& v) { return v.name == name && v.read_only; });
    };
    CHECK(read_only("constants"));
    CHECK_FALSE(read_only("counter"));
}

TEST_CASE("undefined symbols of a code object are listed", "[elf_image]") {
    const Bytes file = test_code_object("uses.gfx90a.hsaco");
    std::vector<std::string> undefined = read_elf_image(file).undefined;
    std::sort(undefined.begin(), undefined.end());
    CHECK(undefined == std::vector<std::string>{"counter", "given", "table"});
}
