#include "hsadrv/elf_image.hpp"

#include <elf.h>
#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "hsadrv/elf_header.hpp"
#include "hsadrv/error.hpp"

namespace hsadrv {
namespace {

constexpr std::uint32_t note_type_metadata = 32;  // NT_AMDGPU_METADATA
constexpr std::uint64_t descriptor_bytes = 64;    // LLVM AMDGPUUsage, Kernel Descriptor
constexpr std::uint64_t code_align_bytes = 256;   // of a kernel's first instruction
constexpr std::uint64_t max_image_bytes = std::uint64_t{4} << 30;
constexpr std::uint32_t sht_relr = 19;
constexpr unsigned stt_amdgpu_hsa_kernel = 10;  // the kernel symbols of V2

// AMDGPU relocations that loaders apply to a linked object: ABS32_LO, ABS32_HI, ABS64, RELATIVE64.
constexpr std::uint32_t relocation_abs32_lo = 1, relocation_abs32_hi = 2, relocation_abs64 = 3,
                        relocation_relative64 = 13;

[[noreturn]] void refuse(const std::string& why) { throw InvalidCodeObject("code object: " + why); }

std::string number(std::uint64_t value) { return std::to_string(value); }

struct EndElf {
    void operator()(Elf* elf) const { elf_end(elf); }
};

struct Section {
    GElf_Shdr header;
    std::string_view name;
    std::span<const std::byte> bytes;  // empty where the file holds none

    bool allocated() const { return header.sh_flags & SHF_ALLOC; }
};

/// One pass over the file, each step relying on what the steps before it have checked.
class Reader {
  public:
    explicit Reader(std::span<const std::byte> file) : file_(file), header_(read_elf_header(file)) {
        static const unsigned version = elf_version(EV_CURRENT);
        (void)version;
        // libelf does not write to the memory unless it is asked to update it.
        elf_.reset(elf_memory(reinterpret_cast<char*>(const_cast<std::byte*>(file.data())), file.size()));
        if (!elf_) refuse(std::string("libelf: ") + elf_errmsg(-1));
    }

    ElfImage read() {
        read_segments();
        read_sections();
        name_sections();
        for (std::size_t i = 1; i < sections_.size(); ++i) check_mapping(i);
        for (std::size_t i = 1; i < sections_.size(); ++i) check_links(i);

        ElfImage image;
        image.code_object_version = header_.code_object_version;
        image.target = header_.target;
        read_symbols(image);
        for (std::size_t i = 1; i < sections_.size(); ++i) check_relocations(i);
        image.metadata_note = find_metadata();
        return image;
    }

  private:
    std::string section_text(std::size_t index) const {
        const std::string_view name = sections_[index].name;
        return "section " + number(index) + (name.empty() ? "" : " '" + std::string(name) + "'");
    }

    bool inside_file(std::uint64_t offset, std::uint64_t size) const {
        return offset <= file_.size() && size <= file_.size() - offset;
    }

    std::string past_the_end(std::uint64_t offset, std::uint64_t size) const {
        return "bytes " + number(offset) + " + " + number(size) +
               " are past the end of the file, which has " + number(file_.size()) +
               " bytes; is it truncated?";
    }

    /// The loadable segment that holds all of [address, address + size), or null.
    const GElf_Phdr* segment_of(std::uint64_t address, std::uint64_t size) const {
        for (const GElf_Phdr& segment : loads_) {
            const std::uint64_t offset = address - segment.p_vaddr;
            if (address >= segment.p_vaddr && offset <= segment.p_memsz && size <= segment.p_memsz - offset)
                return &segment;
        }
        return nullptr;
    }

    void read_segments() {
        for (unsigned i = 0; i < header_.program_headers; ++i) {
            GElf_Phdr segment;
            if (!gelf_getphdr(elf_.get(), static_cast<int>(i), &segment))
                refuse("program header " + number(i) + ": " + elf_errmsg(-1));
            const std::string which = "segment " + number(i);
            if (segment.p_filesz > 0 && !inside_file(segment.p_offset, segment.p_filesz)) {
                refuse(which + ": " + past_the_end(segment.p_offset, segment.p_filesz));
            }
            if (segment.p_type == PT_NOTE)
                notes_.push_back(file_.subspan(segment.p_filesz ? segment.p_offset : 0, segment.p_filesz));
            if (segment.p_type == PT_LOAD) check_load(which, segment);
        }
        if (loads_.empty()) refuse("no loadable segment");
    }

    void check_load(const std::string& which, const GElf_Phdr& segment) {
        if (segment.p_filesz > segment.p_memsz) {
            refuse(which + ": " + number(segment.p_filesz) + " bytes in the file, only " +
                   number(segment.p_memsz) + " in memory");
        }
        if (!inside_file(segment.p_offset, segment.p_filesz))
            refuse(which + ": " + past_the_end(segment.p_offset, segment.p_filesz));
        if (segment.p_vaddr > max_image_bytes || segment.p_memsz > max_image_bytes - segment.p_vaddr) {
            refuse(which + ": address " + number(segment.p_vaddr) + " + " + number(segment.p_memsz) +
                   " bytes is beyond the limit of " + number(max_image_bytes));
        }
        if (!loads_.empty() && segment.p_vaddr < loads_.back().p_vaddr + loads_.back().p_memsz) {
            refuse(which + ": at address " + number(segment.p_vaddr) +
                   ", which overlaps or precedes the segment before it");
        }
        loads_.push_back(segment);
    }

    void read_sections() {
        sections_.resize(header_.sections);
        for (std::size_t i = 0; i < sections_.size(); ++i) {
            Section& section = sections_[i];
            Elf_Scn* handle = elf_getscn(elf_.get(), i);
            if (!handle || !gelf_getshdr(handle, &section.header))
                refuse(section_text(i) + ": " + elf_errmsg(-1));
            const GElf_Shdr& header = section.header;
            if ((header.sh_type == SHT_NULL) != (i == 0)) {
                refuse(section_text(i) + ": section 0, and no other, is the null section");
            }
            if (i == 0) continue;
            const bool in_file = header.sh_type != SHT_NOBITS;
            if (!inside_file(header.sh_offset, in_file ? header.sh_size : 0)) {
                refuse(section_text(i) + ": " + past_the_end(header.sh_offset, header.sh_size));
            }
            if (header.sh_addralign & (header.sh_addralign - 1))
                refuse(section_text(i) + ": alignment " + number(header.sh_addralign));
            if (in_file) section.bytes = file_.subspan(header.sh_offset, header.sh_size);
        }
    }

    /// A string of a table whose last byte is known to be NUL.
    static std::string_view string_at(const Section& table, std::uint64_t offset) {
        return reinterpret_cast<const char*>(table.bytes.data()) + offset;
    }

    void check_string_table(std::size_t index, const std::string& user) const {
        if (index == 0 || index >= sections_.size() || sections_[index].header.sh_type != SHT_STRTAB) {
            refuse(user + ": names are said to be in section " + number(index) +
                   ", which is no string table");
        }
        const auto bytes = sections_[index].bytes;
        if (bytes.empty() || bytes.back() != std::byte{0})
            refuse("string table in section " + number(index) + " does not end with NUL");
    }

    void name_sections() {
        check_string_table(header_.section_names, "section headers");
        const Section& names = sections_[header_.section_names];
        for (std::size_t i = 0; i < sections_.size(); ++i) {
            if (sections_[i].header.sh_name >= names.bytes.size())
                refuse(section_text(i) + ": its name is outside the string table");
            sections_[i].name = string_at(names, sections_[i].header.sh_name);
            check_name(i);
        }
    }

    /// ROCR finds these sections by name and does not ask for their type.
    void check_name(std::size_t index) const {
        constexpr std::pair<std::string_view, std::uint32_t> known[] = {
            {".symtab", SHT_SYMTAB}, {".strtab", SHT_STRTAB}, {".note", SHT_NOTE}};
        for (const auto& [name, type] : known) {
            if (sections_[index].name != name) continue;
            if (sections_[index].header.sh_type != type)
                refuse(section_text(index) + ": wrong type " + number(sections_[index].header.sh_type));
            for (std::size_t i = 0; i < index; ++i) {
                if (sections_[i].name == name) refuse(section_text(index) + ": there are two of that name");
            }
        }
    }

    /// What is in memory at run time must be what the section shows: loaders read descriptors through
    /// sections, the device through segments.
    void check_mapping(std::size_t index) const {
        const GElf_Shdr& header = sections_[index].header;
        if (!sections_[index].allocated() || header.sh_size == 0) return;
        const GElf_Phdr* segment = segment_of(header.sh_addr, header.sh_size);
        if (!segment)
            refuse(section_text(index) + ": address " + number(header.sh_addr) + " + " +
                   number(header.sh_size) + " is in no segment");
        if (header.sh_type == SHT_NOBITS) return;
        const std::uint64_t in_segment = header.sh_addr - segment->p_vaddr;
        if (in_segment + header.sh_size > segment->p_filesz ||
            header.sh_offset != segment->p_offset + in_segment) {
            refuse(section_text(index) + ": its file offset " + number(header.sh_offset) +
                   " disagrees with its segment");
        }
    }

    void check_links(std::size_t index) const {
        const GElf_Shdr& header = sections_[index].header;
        const bool symbols = header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM;
        if (header.sh_type == SHT_REL || header.sh_type == sht_relr) {
            refuse(section_text(index) +
                   ": relocations of a kind that HSA loaders do not apply (SHT_REL, SHT_RELR): link without "
                   "packing them");
        }
        if (!symbols && header.sh_type != SHT_RELA) return;
        const std::uint64_t entry = symbols ? sizeof(Elf64_Sym) : sizeof(Elf64_Rela);
        if (header.sh_entsize != entry || header.sh_size % entry != 0) {
            refuse(section_text(index) + ": " + number(header.sh_size) + " bytes in entries of " +
                   number(header.sh_entsize) + ", wanted whole entries of " + number(entry));
        }
        if (symbols) return check_string_table(header.sh_link, section_text(index));
        const bool linked =
            header.sh_link < sections_.size() && (sections_[header.sh_link].header.sh_type == SHT_SYMTAB ||
                                                  sections_[header.sh_link].header.sh_type == SHT_DYNSYM);
        if (!linked)
            refuse(section_text(index) + ": relocates against section " + number(header.sh_link) +
                   ", which is no symbol table");
    }

    GElf_Sym symbol_at(std::size_t section, std::uint64_t index) const {
        Elf64_Sym symbol;  // the file is little endian, as the host is
        std::memcpy(&symbol, sections_[section].bytes.data() + index * sizeof symbol, sizeof symbol);
        return symbol;
    }

    std::uint64_t symbol_count(std::size_t section) const {
        return sections_[section].header.sh_size / sizeof(Elf64_Sym);
    }

    /// ROCR reads the table named `.symtab`. Without it only the dynamic symbols tell what there is.
    std::size_t symbol_table() const {
        std::size_t dynamic = 0;
        for (std::size_t i = 1; i < sections_.size(); ++i) {
            if (sections_[i].header.sh_type == SHT_SYMTAB && sections_[i].name == ".symtab") return i;
            if (sections_[i].header.sh_type == SHT_DYNSYM && !dynamic) dynamic = i;
        }
        if (!dynamic) refuse("no symbol table");
        return dynamic;
    }

    void read_symbols(ElfImage& image) const {
        for (std::size_t i = 1; i < sections_.size(); ++i) {
            const std::uint32_t type = sections_[i].header.sh_type;
            if (type == SHT_SYMTAB || type == SHT_DYNSYM) check_symbols(i);
        }
        const std::size_t table = symbol_table();
        image.has_symbol_table = sections_[table].header.sh_type == SHT_SYMTAB;
        const Section& names = sections_[sections_[table].header.sh_link];
        for (std::uint64_t i = 1; i < symbol_count(table); ++i) {
            const GElf_Sym symbol = symbol_at(table, i);
            const std::string_view name = string_at(names, symbol.st_name);
            if (GELF_ST_TYPE(symbol.st_info) == STT_OBJECT && name.ends_with(".kd") &&
                symbol.st_shndx != SHN_UNDEF) {
                image.kernel_descriptors.push_back(read_descriptor(name, symbol));
            }
            if (name.starts_with("__ockl_hostcall")) image.calls_hostcall = true;
            if (name.starts_with("__ockl_dm_alloc")) image.calls_device_malloc = true;
        }
    }

    void check_symbols(std::size_t table) const {
        const Section& names = sections_[sections_[table].header.sh_link];
        std::unordered_set<std::string_view> seen;
        for (std::uint64_t i = 0; i < symbol_count(table); ++i) {
            const GElf_Sym symbol = symbol_at(table, i);
            if (symbol.st_name >= names.bytes.size())
                refuse("symbol " + number(i) + ": its name is outside the string table");
            const std::string_view name = string_at(names, symbol.st_name);
            const std::string which = "symbol " + number(i) + " '" + std::string(name) + "'";
            const unsigned type = GELF_ST_TYPE(symbol.st_info);
            if (type == stt_amdgpu_hsa_kernel) refuse(which + ": a kernel symbol of code object V2");
            const bool loaded =
                (type == STT_OBJECT || type == STT_COMMON) && GELF_ST_BIND(symbol.st_info) != STB_LOCAL;
            if (loaded && !seen.insert(name).second) refuse(which + ": defined twice");
            if (loaded || (type == STT_OBJECT && name.ends_with(".kd"))) check_object(which, symbol);
        }
    }

    /// Data symbols become part of the executable: they must lie in the section they name.
    void check_object(const std::string& which, const GElf_Sym& symbol) const {
        if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= sections_.size()) {
            refuse(which + ": section index " + number(symbol.st_shndx) + ", not a section of this file");
        }
        const Section& section = sections_[symbol.st_shndx];
        const std::uint64_t offset = symbol.st_value - section.header.sh_addr;
        if (!section.allocated() || symbol.st_value < section.header.sh_addr ||
            offset > section.header.sh_size || symbol.st_size > section.header.sh_size - offset) {
            refuse(which + ": address " + number(symbol.st_value) + " + " + number(symbol.st_size) +
                   " is outside " + section_text(symbol.st_shndx));
        }
    }

    KernelDescriptor read_descriptor(std::string_view name, const GElf_Sym& symbol) const {
        const std::string which = "kernel descriptor '" + std::string(name) + "'";
        const Section& section = sections_[symbol.st_shndx];
        if (symbol.st_size != descriptor_bytes)
            refuse(which + ": " + number(symbol.st_size) + " bytes, wanted 64");
        if (symbol.st_value % descriptor_bytes != 0)
            refuse(which + ": misaligned address " + number(symbol.st_value));
        if (section.bytes.empty()) refuse(which + ": its section holds no bytes in the file");

        struct {
            std::uint32_t group_bytes, private_bytes, kernarg_bytes, reserved;
            std::int64_t entry_offset;
        } fields;
        static_assert(sizeof fields == 24);
        std::memcpy(&fields, section.bytes.data() + (symbol.st_value - section.header.sh_addr),
                    sizeof fields);
        const std::uint64_t entry = symbol.st_value + static_cast<std::uint64_t>(fields.entry_offset);
        const GElf_Phdr* code = segment_of(entry, sizeof(std::uint32_t));
        if (!code || !(code->p_flags & PF_X) || entry % code_align_bytes != 0) {
            refuse(which + ": its first instruction would be at address " + number(entry) +
                   ", which is not 256-byte aligned in an executable segment");
        }
        return {std::string(name), fields.group_bytes, fields.private_bytes, fields.kernarg_bytes};
    }

    void check_relocations(std::size_t index) const {
        const Section& section = sections_[index];
        if (section.header.sh_type != SHT_RELA) return;
        if (section.header.sh_info != 0) {
            refuse(section_text(index) +
                   ": relocations of one section in a linked file: link without --emit-relocs");
        }
        for (std::uint64_t i = 0; i < section.header.sh_size / sizeof(Elf64_Rela); ++i) {
            Elf64_Rela relocation;
            std::memcpy(&relocation, section.bytes.data() + i * sizeof relocation, sizeof relocation);
            check_relocation(section_text(index) + ", relocation " + number(i), section.header.sh_link,
                             relocation);
        }
    }

    void check_relocation(const std::string& which, std::size_t symbols, const Elf64_Rela& relocation) const {
        const std::uint64_t type = ELF64_R_TYPE(relocation.r_info);
        const bool half = type == relocation_abs32_lo || type == relocation_abs32_hi;
        if (!half && type != relocation_abs64 && type != relocation_relative64) {
            refuse(which + ": type " + number(type) + ", which HSA loaders do not apply");
        }
        if (!segment_of(relocation.r_offset, half ? 4 : 8)) {
            refuse(which + ": patches address " + number(relocation.r_offset) + ", which is in no segment");
        }
        const std::uint64_t index = ELF64_R_SYM(relocation.r_info);
        if (index >= symbol_count(symbols))
            refuse(which + ": symbol " + number(index) + " of " + number(symbol_count(symbols)));
        const GElf_Sym symbol = symbol_at(symbols, index);
        const unsigned kind = GELF_ST_TYPE(symbol.st_info);
        if (kind == STT_NOTYPE) return;  // to be found by name, or no symbol at all
        if (kind != STT_OBJECT && kind != STT_FUNC)
            refuse(which + ": against a symbol of type " + number(kind));
        if (!segment_of(symbol.st_value, 1)) {
            refuse(which + ": refers to address " + number(symbol.st_value) + ", which is in no segment");
        }
    }

    /// The metadata is where loaders look for it, in a note segment; older linkers wrote only the section.
    std::span<const std::byte> find_metadata() {
        if (notes_.empty()) {
            for (const Section& section : sections_) {
                if (section.header.sh_type == SHT_NOTE) notes_.push_back(section.bytes);
            }
        }
        std::span<const std::byte> found;
        for (const auto notes : notes_) find_metadata_in(notes, found);
        if (!found.data())
            refuse("no metadata note (NT_AMDGPU_METADATA): nothing is known of its kernels' arguments");
        return found;
    }

    void find_metadata_in(std::span<const std::byte> notes, std::span<const std::byte>& found) const {
        const auto padded = [](std::uint64_t bytes) { return (bytes + 3) & ~std::uint64_t{3}; };
        while (!notes.empty()) {
            const std::uint64_t at = static_cast<std::uint64_t>(notes.data() - file_.data());
            Elf64_Nhdr note;
            if (notes.size() < sizeof note) refuse("note at offset " + number(at) + ": truncated");
            std::memcpy(&note, notes.data(), sizeof note);
            const std::uint64_t name_bytes = padded(note.n_namesz);
            if (name_bytes > notes.size() - sizeof note ||
                note.n_descsz > notes.size() - sizeof note - name_bytes) {
                refuse("note at offset " + number(at) + ": a name of " + number(note.n_namesz) +
                       " and a descriptor of " + number(note.n_descsz) + " bytes do not fit into " +
                       number(notes.size()));
            }
            const std::string_view name(reinterpret_cast<const char*>(notes.data() + sizeof note),
                                        note.n_namesz);
            const auto descriptor = notes.subspan(sizeof note + name_bytes, note.n_descsz);
            if (note.n_type == note_type_metadata && name == std::string_view("AMDGPU\0", 7)) {
                if (found.data())
                    refuse("two metadata notes (NT_AMDGPU_METADATA), the second at offset " + number(at));
                found = descriptor;
            }
            notes = notes.subspan(
                std::min<std::uint64_t>(notes.size(), sizeof note + name_bytes + padded(note.n_descsz)));
        }
    }

    std::span<const std::byte> file_;
    ElfHeader header_;
    std::unique_ptr<Elf, EndElf> elf_;
    std::vector<GElf_Phdr> loads_;  // ascending, not overlapping
    std::vector<std::span<const std::byte>> notes_;
    std::vector<Section> sections_;
};

}  // namespace

ElfImage read_elf_image(std::span<const std::byte> file) { return Reader(file).read(); }

}  // namespace hsadrv
