// Which function of an ELF file an address is in.
#include "check/elf_symbols.hpp"

#include <elf.h>

#include <cstring>

#include "checked.hpp"

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
        put(kSections,
            Elf64_Shdr{.sh_type = SHT_DYNSYM, .sh_offset = kSymbols, .sh_size = 3 * sizeof(Elf64_Sym), .sh_link = 1});
        put(kSections + sizeof(Elf64_Shdr), Elf64_Shdr{.sh_type = SHT_STRTAB, .sh_offset = kNames, .sh_size = 64});
        put(kSections + 2 * sizeof(Elf64_Shdr),
            Elf64_Shdr{.sh_type = SHT_PROGBITS, .sh_addr = 0x1000, .sh_size = 0x2100});
        put(kSymbols, symbol(1, SHN_UNDEF, 0, 0));
        put(kSymbols + sizeof(Elf64_Sym), symbol(10, 2, 0x1000, 0x20));
        put(kSymbols + 2 * sizeof(Elf64_Sym), symbol(19, 2, 0x3000, 0));  // assembly without .size
        std::memcpy(bytes_.data() + kNames, "\0imported\0exported\0assembly", 29);
    }
    std::string at(std::uint64_t address) const { return function_at(bytes_, address); }

  private:
    static constexpr std::size_t kSections = 64, kSymbols = 256, kNames = 512;

    static Elf64_Sym symbol(Elf64_Word name, Elf64_Half section, Elf64_Addr value, Elf64_Xword size) {
        return {name, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, section, value, size};
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
