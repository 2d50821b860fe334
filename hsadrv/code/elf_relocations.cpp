#include "hsadrv/code/elf_relocations.hpp"

#include <cstring>

#include "hsadrv/base/text.hpp"
#include "hsadrv/error.hpp"

namespace hsadrv {
namespace {

// Those that loaders apply to a linked object: ABS32_LO, ABS32_HI, ABS64, RELATIVE64.
constexpr std::uint32_t abs32_lo = 1, abs32_hi = 2, abs64 = 3, relative64 = 13;

using detail::number;

void check_relocation(const ElfFile& file, const std::string& which, std::size_t symbols,
                      const Elf64_Rela& relocation) {
    const std::uint64_t type = ELF64_R_TYPE(relocation.r_info);
    const bool half = type == abs32_lo || type == abs32_hi;
    if (!half && type != abs64 && type != relative64)
        refuse_elf(which + ": type " + number(type) + ", which HSA loaders do not apply");
    if (!file.segment_of(relocation.r_offset, half ? 4 : 8))
        refuse_elf(which + ": patches address " + number(relocation.r_offset) + ", which is in no segment");
    const std::uint64_t index = ELF64_R_SYM(relocation.r_info);
    if (index >= file.symbol_count(symbols))
        refuse_elf(which + ": symbol " + number(index) + " of " + number(file.symbol_count(symbols)));
    const Elf64_Sym symbol = file.symbol(symbols, index);
    const unsigned kind = ELF64_ST_TYPE(symbol.st_info);
    if (kind == STT_NOTYPE) return;  // to be found by name, or no symbol at all
    if (kind != STT_OBJECT && kind != STT_FUNC) refuse_elf(which + ": against a symbol of type " + number(kind));
    if (!file.segment_of(symbol.st_value, 1))
        refuse_elf(which + ": refers to address " + number(symbol.st_value) + ", which is in no segment");
}

void check_section(const ElfFile& file, std::size_t index) {
    const ElfSection& section = file.sections()[index];
    if (section.header.sh_info != 0) {
        refuse_elf(file.section_text(index) +
                   ": relocations of one section in a linked file: link without --emit-relocs");
    }
    for (std::size_t i = 0; i < section.bytes.size() / sizeof(Elf64_Rela); ++i) {
        Elf64_Rela relocation;
        std::memcpy(&relocation, section.bytes.data() + i * sizeof relocation, sizeof relocation);
        check_relocation(file, file.section_text(index) + ", relocation " + number(i), section.header.sh_link,
                         relocation);
    }
}

}  // namespace

void check_elf_relocations(const ElfFile& file) {
    for (std::size_t i = 1; i < file.sections().size(); ++i) {
        if (file.sections()[i].header.sh_type == SHT_RELA) check_section(file, i);
    }
}

}  // namespace hsadrv
