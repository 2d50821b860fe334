// Which function of an ELF file an address is in.
#include "tools/kfdemu/check/report/elf_symbols.hpp"

#include <elf.h>

#include <cstring>

#include "tests/kfdemu/check/checked.hpp"

using namespace kfdemu::check;

namespace {

/// A stripped library: it has the symbols that it imports and exports, and code without.
class Library {
  public:
    Library() {
        Elf64_Ehdr header{};
        std::memcpy(header.e_ident, ELFMAG, SELFMAG);
        header.e_ident[EI_CLASS] = ELFCLASS64;
        header.e_shoff = kSections;
        header.e_shnum = 3;
        put(0, header);
        put_section(0, SHT_DYNSYM, 0, kSymbols, 3 * sizeof(Elf64_Sym));
        put_section(1, SHT_STRTAB, 0, kNames, 64);
        put_section(2, SHT_PROGBITS, 0x1000, 0, 0x2100);
        put(kSymbols, symbol(1, SHN_UNDEF, 0, 0));
        put(kSymbols + sizeof(Elf64_Sym), symbol(10, 2, 0x1000, 0x20));
        put(kSymbols + 2 * sizeof(Elf64_Sym), symbol(19, 2, 0x3000, 0));  // assembly without .size
        static constexpr char kText[] = "\0imported\0exported\0assembly";
        std::memcpy(bytes_.data() + kNames, kText, sizeof kText);
    }
    std::string at(std::uint64_t address) const { return function_at(bytes_, address); }

  private:
    static constexpr std::size_t kSections = 64, kSymbols = 256, kNames = 512;

    static Elf64_Sym symbol(Elf64_Word name, Elf64_Half section, Elf64_Addr value, Elf64_Xword size) {
        return {name, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, section, value, size};
    }
    /// Its names, if it has any, are in section 1.
    void put_section(unsigned number, Elf64_Word type, Elf64_Addr address, Elf64_Off offset, Elf64_Xword bytes) {
        Elf64_Shdr section{};
        section.sh_type = type, section.sh_addr = address, section.sh_offset = offset, section.sh_size = bytes;
        section.sh_link = 1;
        put(kSections + number * sizeof section, section);
    }
    template <class T>
    void put(std::size_t at, const T& value) {
        std::memcpy(bytes_.data() + at, &value, sizeof value);
    }
    std::array<std::byte, 1024> bytes_{};
};

}  // namespace

TEST_CASE("the function of an address is one of the library itself", "[check][symbols]") {
    const Library library;
    CHECK(library.at(0x1000) == "exported");
    CHECK(library.at(0x101f) == "exported");
    CHECK(library.at(0x3010) == "assembly");
    CHECK(library.at(0x3100).empty());  // beyond its section
    CHECK(library.at(0x1020).empty());  // of a function that is not exported
    CHECK(library.at(0x800).empty());
}
