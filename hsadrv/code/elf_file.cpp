#include "hsadrv/code/elf_file.hpp"

#include <cstring>
#include <utility>

#include "hsadrv/base/text.hpp"
#include "hsadrv/code/file_range.hpp"
#include "hsadrv/error.hpp"

namespace hsadrv {
namespace {

constexpr std::uint64_t max_image_bytes = std::uint64_t{4} << 30;
constexpr std::uint32_t sht_relr = 19;

using detail::number;

/// One entry of a table that is known to be inside the file, which is little endian, as the host is.
template <class Entry>
Entry entry_at(std::span<const std::byte> bytes, std::uint64_t table, std::size_t index) {
    Entry entry;
    std::memcpy(&entry, bytes.data() + table + index * sizeof entry, sizeof entry);
    return entry;
}

/// A string of a table whose last byte is known to be NUL.
std::string_view string_at(const ElfSection& table, std::uint64_t offset) {
    return reinterpret_cast<const char*>(table.bytes.data()) + offset;
}

}  // namespace

ElfFile::ElfFile(std::span<const std::byte> bytes) : bytes_(bytes), header_(read_elf_header(bytes)) {
    read_segments();
    read_sections();
    name_sections();
    for (std::size_t i = 1; i < sections_.size(); ++i) check_mapping(i);
    for (std::size_t i = 1; i < sections_.size(); ++i) check_links(i);
}

const Elf64_Phdr* ElfFile::segment_of(std::uint64_t address, std::uint64_t size) const {
    for (const Elf64_Phdr& segment : loads_) {
        const std::uint64_t offset = address - segment.p_vaddr;
        if (address >= segment.p_vaddr && offset <= segment.p_memsz && size <= segment.p_memsz - offset)
            return &segment;
    }
    return nullptr;
}

std::string ElfFile::section_text(std::size_t index) const {
    const std::string_view name = sections_[index].name;
    return "section " + number(index) + (name.empty() ? "" : " '" + std::string(name) + "'");
}

void ElfFile::check_inside(const std::string& which, std::uint64_t offset, std::uint64_t size) const {
    file_range(bytes_, offset, size, "code object", which);
}

void ElfFile::read_segments() {
    for (unsigned i = 0; i < header_.program_headers; ++i) {
        const auto segment = entry_at<Elf64_Phdr>(bytes_, header_.program_headers_offset, i);
        const std::string which = "segment " + number(i);
        if (segment.p_filesz > 0) check_inside(which, segment.p_offset, segment.p_filesz);
        if (segment.p_type == PT_NOTE)
            notes_.push_back(bytes_.subspan(segment.p_filesz ? segment.p_offset : 0, segment.p_filesz));
        if (segment.p_type == PT_LOAD) check_load(which, segment);
    }
    if (loads_.empty()) refuse_elf("no loadable segment");
}

void ElfFile::check_load(const std::string& which, const Elf64_Phdr& segment) {
    if (segment.p_filesz > segment.p_memsz) {
        refuse_elf(which + ": " + number(segment.p_filesz) + " bytes in the file, only " + number(segment.p_memsz) +
                   " in memory");
    }
    check_inside(which, segment.p_offset, segment.p_filesz);
    if (segment.p_vaddr > max_image_bytes || segment.p_memsz > max_image_bytes - segment.p_vaddr) {
        refuse_elf(which + ": address " + number(segment.p_vaddr) + " + " + number(segment.p_memsz) +
                   " bytes is beyond the limit of " + number(max_image_bytes));
    }
    if (!loads_.empty() && segment.p_vaddr < loads_.back().p_vaddr + loads_.back().p_memsz) {
        refuse_elf(which + ": at address " + number(segment.p_vaddr) +
                   ", which overlaps or precedes the segment before it");
    }
    loads_.push_back(segment);
}

void ElfFile::read_sections() {
    sections_.resize(header_.sections);
    for (std::size_t i = 0; i < sections_.size(); ++i) {
        sections_[i].header = entry_at<Elf64_Shdr>(bytes_, header_.sections_offset, i);
        check_section_range(i);
    }
}

void ElfFile::check_section_range(std::size_t index) {
    ElfSection& section = sections_[index];
    const Elf64_Shdr& header = section.header;
    const std::string which = section_text(index);
    if ((header.sh_type == SHT_NULL) != (index == 0))
        refuse_elf(which + ": section 0, and no other, is the null section");
    if (index == 0) return;
    const bool in_file = header.sh_type != SHT_NOBITS;
    check_inside(which, header.sh_offset, in_file ? header.sh_size : 0);
    if (header.sh_addralign & (header.sh_addralign - 1))
        refuse_elf(which + ": alignment " + number(header.sh_addralign));
    if (in_file) section.bytes = bytes_.subspan(header.sh_offset, header.sh_size);
}

void ElfFile::check_string_table(std::size_t index, const std::string& user) const {
    if (index == 0 || index >= sections_.size() || sections_[index].header.sh_type != SHT_STRTAB) {
        refuse_elf(user + ": names are said to be in section " + number(index) + ", which is no string table");
    }
    const auto bytes = sections_[index].bytes;
    if (bytes.empty() || bytes.back() != std::byte{0})
        refuse_elf("string table in section " + number(index) + " does not end with NUL");
}

void ElfFile::name_sections() {
    check_string_table(header_.section_names, "section headers");
    const ElfSection& names = sections_[header_.section_names];
    for (std::size_t i = 0; i < sections_.size(); ++i) {
        if (sections_[i].header.sh_name >= names.bytes.size())
            refuse_elf(section_text(i) + ": its name is outside the string table");
        sections_[i].name = string_at(names, sections_[i].header.sh_name);
        check_name(i);
    }
}

/// ROCR finds these sections by name and does not ask for their type.
void ElfFile::check_name(std::size_t index) const {
    constexpr std::pair<std::string_view, std::uint32_t> known[] = {
        {".symtab", SHT_SYMTAB}, {".strtab", SHT_STRTAB}, {".note", SHT_NOTE}};
    for (const auto& [name, type] : known) {
        if (sections_[index].name != name) continue;
        if (sections_[index].header.sh_type != type)
            refuse_elf(section_text(index) + ": wrong type " + number(sections_[index].header.sh_type));
        for (std::size_t i = 0; i < index; ++i) {
            if (sections_[i].name == name) refuse_elf(section_text(index) + ": there are two of that name");
        }
    }
}

/// What is in memory at run time must be what the section shows: loaders read descriptors through sections,
/// the device through segments.
void ElfFile::check_mapping(std::size_t index) const {
    const Elf64_Shdr& header = sections_[index].header;
    if (!sections_[index].allocated() || header.sh_size == 0) return;
    const Elf64_Phdr* segment = segment_of(header.sh_addr, header.sh_size);
    if (!segment) {
        refuse_elf(section_text(index) + ": address " + number(header.sh_addr) + " + " + number(header.sh_size) +
                   " is in no segment");
    }
    if (header.sh_type == SHT_NOBITS) return;
    const std::uint64_t in_segment = header.sh_addr - segment->p_vaddr;
    if (in_segment + header.sh_size > segment->p_filesz || header.sh_offset != segment->p_offset + in_segment) {
        refuse_elf(section_text(index) + ": its file offset " + number(header.sh_offset) +
                   " disagrees with its segment");
    }
}

void ElfFile::check_links(std::size_t index) const {
    const ElfSection& section = sections_[index];
    const Elf64_Shdr& header = section.header;
    if (header.sh_type == SHT_REL || header.sh_type == sht_relr) {
        refuse_elf(section_text(index) +
                   ": relocations of a kind that HSA loaders do not apply (SHT_REL, SHT_RELR): link without "
                   "packing them");
    }
    if (!section.holds_symbols() && header.sh_type != SHT_RELA) return;
    const std::uint64_t entry = section.holds_symbols() ? sizeof(Elf64_Sym) : sizeof(Elf64_Rela);
    if (header.sh_entsize != entry || header.sh_size % entry != 0) {
        refuse_elf(section_text(index) + ": " + number(header.sh_size) + " bytes in entries of " +
                   number(header.sh_entsize) + ", wanted whole entries of " + number(entry));
    }
    if (section.holds_symbols()) return check_string_table(header.sh_link, section_text(index));
    if (header.sh_link >= sections_.size() || !sections_[header.sh_link].holds_symbols()) {
        refuse_elf(section_text(index) + ": relocates against section " + number(header.sh_link) +
                   ", which is no symbol table");
    }
}

std::size_t ElfFile::symbol_count(std::size_t section) const {
    return sections_[section].header.sh_size / sizeof(Elf64_Sym);
}

Elf64_Sym ElfFile::symbol(std::size_t section, std::size_t index) const {
    return entry_at<Elf64_Sym>(sections_[section].bytes, 0, index);
}

std::string_view ElfFile::symbol_name(std::size_t section, std::size_t index) const {
    const ElfSection& names = sections_[sections_[section].header.sh_link];
    const std::uint64_t offset = symbol(section, index).st_name;
    if (offset >= names.bytes.size()) refuse_elf("symbol " + number(index) + ": its name is outside the string table");
    return string_at(names, offset);
}

}  // namespace hsadrv
