#include "hsadrv/code/elf_header.hpp"

#include <elf.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "hsadrv/error.hpp"

namespace hsadrv {
namespace {

constexpr std::uint8_t osabi_amdgpu_hsa = 64;
constexpr unsigned max_program_headers = 256;  // linkers write about ten

std::string first_bytes(std::span<const std::byte> file) {
    std::string text;
    for (std::size_t i = 0; i < 4 && i < file.size(); ++i) {
        char hex[4];
        std::snprintf(hex, sizeof hex, i ? " %02x" : "%02x", static_cast<unsigned>(file[i]));
        text += hex;
    }
    return text;
}

Elf64_Ehdr copy_header(std::span<const std::byte> file) {
    if (file.empty()) refuse_elf("the file is empty");
    if (file.size() >= SELFMAG && std::memcmp(file.data(), ELFMAG, SELFMAG) != 0) {
        refuse_elf("not an ELF file: it begins with " + first_bytes(file) + ", not with 7f 45 4c 46");
    }
    Elf64_Ehdr header;
    if (file.size() < sizeof header) {
        refuse_elf("truncated: an ELF header has " + std::to_string(sizeof header) + " bytes, the file " +
                   std::to_string(file.size()));
    }
    std::memcpy(&header, file.data(), sizeof header);
    return header;
}

std::string machine_name(std::uint16_t machine) {
    if (machine == EM_X86_64) return "x86-64";
    if (machine == EM_AARCH64) return "AArch64";
    if (machine == EM_PPC64) return "POWER";
    return "ELF machine " + std::to_string(machine);
}

void check_identity(const Elf64_Ehdr& header) {
    if (header.e_ident[EI_CLASS] != ELFCLASS64) refuse_elf("not a 64-bit ELF file; AMDGPU HSA code objects are");
    if (header.e_ident[EI_DATA] != ELFDATA2LSB) refuse_elf("not a little-endian ELF file; AMDGPU code objects are");
    if (header.e_ident[EI_VERSION] != EV_CURRENT || header.e_version != EV_CURRENT) {
        refuse_elf("ELF version " + std::to_string(header.e_version) + ", wanted 1");
    }
    if (header.e_machine != machine_amdgpu) {
        refuse_elf("holds code for " + machine_name(header.e_machine) + ", not for AMDGPU (ELF machine 224)");
    }
    if (header.e_ident[EI_OSABI] != osabi_amdgpu_hsa) {
        refuse_elf("OS ABI " + std::to_string(header.e_ident[EI_OSABI]) +
                   ", wanted 64 (AMDGPU HSA): compile with --target=amdgcn-amd-amdhsa");
    }
    if (header.e_type == ET_REL) refuse_elf("not linked: compile without -c, or link it with ld.lld -shared");
    if (header.e_type != ET_DYN) refuse_elf("ELF type " + std::to_string(header.e_type) + ", wanted 3 (shared object)");
}

unsigned code_object_version(std::uint8_t abi_version) {
    if (abi_version == 0) {
        refuse_elf("code object V2, which has no typed metadata: rebuild with -mcode-object-version=5");
    }
    if (abi_version > 4) {
        refuse_elf("ABI version " + std::to_string(abi_version) +
                   " is newer than code object V6, the newest known: rebuild with -mcode-object-version=5");
    }
    return abi_version + 2u;
}

void check_table(const char* what, std::uint64_t offset, std::uint64_t entries, std::uint64_t entry_bytes,
                 std::uint64_t wanted_entry_bytes, std::uint64_t file_bytes) {
    if (entry_bytes != wanted_entry_bytes) {
        refuse_elf(std::string(what) + ": entries of " + std::to_string(entry_bytes) + " bytes, wanted " +
                   std::to_string(wanted_entry_bytes));
    }
    if (offset % alignof(Elf64_Shdr) != 0)
        refuse_elf(std::string(what) + ": misaligned offset " + std::to_string(offset));
    if (offset > file_bytes || entries * entry_bytes > file_bytes - offset) {
        refuse_elf(std::string(what) + ": bytes " + std::to_string(offset) + " + " +
                   std::to_string(entries * entry_bytes) + " are past the end of the file, which has " +
                   std::to_string(file_bytes) + " bytes; is it truncated?");
    }
}

}  // namespace

void refuse_elf(const std::string& why) { throw InvalidCodeObject("code object: " + why); }

ElfHeader read_elf_header(std::span<const std::byte> file) {
    const Elf64_Ehdr header = copy_header(file);
    check_identity(header);

    ElfHeader facts;
    facts.code_object_version = code_object_version(header.e_ident[EI_ABIVERSION]);
    const auto target = TargetId::from_elf_flags(header.e_ident[EI_ABIVERSION], header.e_flags);
    if (!target) refuse_elf("unknown processor number " + std::to_string(header.e_flags & 0xff) + " in the ELF flags");
    facts.target = *target;

    if (header.e_ehsize != sizeof header)
        refuse_elf("ELF header size " + std::to_string(header.e_ehsize) + ", wanted 64");
    if (header.e_phnum == 0) refuse_elf("no program headers: nothing to load");
    if (header.e_phnum > max_program_headers) refuse_elf(std::to_string(header.e_phnum) + " program headers");
    if (header.e_shnum == 0) refuse_elf("no section headers; ROCR's loader finds symbols through them");
    check_table("program header table", header.e_phoff, header.e_phnum, header.e_phentsize, sizeof(Elf64_Phdr),
                file.size());
    check_table("section header table", header.e_shoff, header.e_shnum, header.e_shentsize, sizeof(Elf64_Shdr),
                file.size());
    if (header.e_shstrndx == SHN_UNDEF || header.e_shstrndx >= header.e_shnum) {
        refuse_elf("section names are said to be in section " + std::to_string(header.e_shstrndx) + " of " +
                   std::to_string(header.e_shnum));
    }
    facts.program_headers = header.e_phnum;
    facts.sections = header.e_shnum;
    facts.section_names = header.e_shstrndx;
    facts.program_headers_offset = header.e_phoff;
    facts.sections_offset = header.e_shoff;
    return facts;
}

}  // namespace hsadrv
