#include "tools/kfdemu/check/report/elf_symbols.hpp"

#include <cxxabi.h>
#include <elf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <vector>

namespace kfdemu::check {
namespace {

using Elf = std::span<const std::byte>;

template <class T>
std::optional<T> read(Elf elf, std::uint64_t offset) {
    if (elf.size() < sizeof(T) || offset > elf.size() - sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, elf.data() + offset, sizeof value);
    return value;
}

std::optional<Elf64_Ehdr> header_of(Elf elf) {
    const auto header = read<Elf64_Ehdr>(elf, 0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64)
        return std::nullopt;
    return header;
}

/// Text at the offset, up to its terminating zero or the end of the file.
std::string text_at(Elf elf, std::uint64_t offset) {
    std::string text;
    for (; offset < elf.size() && elf[offset] != std::byte{0}; ++offset) text += static_cast<char>(elf[offset]);
    return text;
}

struct Best {
    std::uint64_t begin = 0;
    std::string name;
};

std::optional<Elf64_Shdr> section_of(Elf elf, unsigned number) {
    const auto header = header_of(elf);
    if (!header || number >= header->e_shnum) return std::nullopt;
    return read<Elf64_Shdr>(elf, header->e_shoff + number * sizeof(Elf64_Shdr));
}

/// Those whose headers are in the file.
std::vector<Elf64_Shdr> sections_of(Elf elf) {
    std::vector<Elf64_Shdr> sections;
    const auto header = header_of(elf);
    for (unsigned n = 0; header && n < header->e_shnum; ++n)
        if (const auto section = section_of(elf, n)) sections.push_back(*section);
    return sections;
}

bool is_in_section(Elf elf, unsigned number, std::uint64_t address) {
    const auto section = section_of(elf, number);
    return section && address >= section->sh_addr && address - section->sh_addr < section->sh_size;
}

/// Without a size, which assembly may leave out, it goes to the end of its section.
bool covers(Elf elf, const Elf64_Sym& symbol, std::uint64_t address) {
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_value > address) return false;
    return symbol.st_size != 0 ? address - symbol.st_value < symbol.st_size
                               : is_in_section(elf, symbol.st_shndx, address);
}

void search(Elf elf, const Elf64_Shdr& table, const Elf64_Shdr& names, std::uint64_t address, Best& best) {
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
        const auto symbol = read<Elf64_Sym>(elf, table.sh_offset + at);
        if (!symbol) return;
        if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || !covers(elf, *symbol, address)) continue;
        if (!best.name.empty() && symbol->st_value <= best.begin) continue;
        best = {symbol->st_value, text_at(elf, names.sh_offset + symbol->st_name)};
    }
}

}  // namespace

std::map<std::uint64_t, std::uint64_t> code_of(Elf elf) {
    std::map<std::uint64_t, std::uint64_t> code;
    const auto header = header_of(elf);
    if (!header) return code;
    for (unsigned n = 0; n < header->e_phnum; ++n) {
        const auto segment = read<Elf64_Phdr>(elf, header->e_phoff + n * sizeof(Elf64_Phdr));
        if (!segment) return code;
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0)
            code[segment->p_vaddr] = segment->p_vaddr + segment->p_memsz;
    }
    return code;
}

bool is_code_at(Elf elf, std::uint64_t address) {
    const auto code = code_of(elf);
    const auto after = code.upper_bound(address);
    return after != code.begin() && address < std::prev(after)->second;
}

std::string function_at(Elf elf, std::uint64_t address) {
    Best best;
    for (const Elf64_Shdr& section : sections_of(elf)) {
        if (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) continue;
        if (const auto names = section_of(elf, section.sh_link)) search(elf, section, *names, address, best);
    }
    return best.name;
}

bool is_by_gcc(Elf elf) {
    constexpr std::uint64_t kOfComments = SHF_MERGE | SHF_STRINGS, kMostCommentBytes = 4096;
    for (const Elf64_Shdr& section : sections_of(elf)) {
        if (section.sh_type != SHT_PROGBITS || section.sh_flags != kOfComments) continue;
        for (std::uint64_t at = 0; at < std::min(section.sh_size, kMostCommentBytes);) {
            const std::string text = text_at(elf, section.sh_offset + at);
            if (text.starts_with("GCC: (")) return true;
            at += text.size() + 1;
        }
    }
    return false;
}

std::string readable(const std::string& symbol) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text{abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                      std::free};
    return status == 0 && text ? text.get() : symbol;
}

}  // namespace kfdemu::check
