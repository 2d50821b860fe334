// ElfFile: the segments and sections of an AMDGPU ELF file, after every offset, size and link in them has been checked.
//
//     ElfFile file(bytes);                                 // throws InvalidCodeObject: which one is wrong,
//     and how if (const Elf64_Phdr* code = file.segment_of(address, 4)) use(code->p_flags); for (std::size_t
//     i = 1; i < file.sections().size(); ++i) use(file.sections()[i].bytes);
//
// Internal to the ELF readers. Borrows the bytes for as long as it is used. Thread safety: const functions
// from any thread. Sources: System V ABI, ELF; LLVM AMDGPUUsage, Code Object; what ROCR's loader follows
// without asking.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hsadrv/code/elf_header.hpp"

namespace hsadrv {

struct ElfSection {
    Elf64_Shdr header = {};
    std::string_view name = {};
    std::span<const std::byte> bytes = {};  ///< empty where the file holds none

    bool allocated() const { return header.sh_flags & SHF_ALLOC; }
    bool holds_symbols() const { return header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM; }
};

class ElfFile {
  public:
    /// Throws InvalidCodeObject.
    explicit ElfFile(std::span<const std::byte> bytes);

    const ElfHeader& header() const { return header_; }
    std::span<const std::byte> bytes() const { return bytes_; }
    const std::vector<ElfSection>& sections() const { return sections_; }            ///< the null section first
    const std::vector<std::span<const std::byte>>& notes() const { return notes_; }  ///< the note segments

    /// The loadable segment that holds all of [address, address + size), or null.
    const Elf64_Phdr* segment_of(std::uint64_t address, std::uint64_t size) const;

    /// "section 7 '.rodata'", for messages.
    std::string section_text(std::size_t index) const;

    std::size_t symbol_count(std::size_t section) const;
    Elf64_Sym symbol(std::size_t section, std::size_t index) const;
    /// Throws InvalidCodeObject if the name is outside the string table.
    std::string_view symbol_name(std::size_t section, std::size_t index) const;

  private:
    void read_segments();
    void check_load(const std::string& which, const Elf64_Phdr& segment);
    void read_sections();
    void check_section_range(std::size_t index);
    void name_sections();
    void check_name(std::size_t index) const;
    void check_mapping(std::size_t index) const;
    void check_links(std::size_t index) const;
    void check_string_table(std::size_t index, const std::string& user) const;
    void check_inside(const std::string& which, std::uint64_t offset, std::uint64_t size) const;

    std::span<const std::byte> bytes_;
    ElfHeader header_;
    std::vector<Elf64_Phdr> loads_;  // ascending, not overlapping
    std::vector<std::span<const std::byte>> notes_;
    std::vector<ElfSection> sections_;
};

}  // namespace hsadrv
