#include "hsadrv/code/elf_symbols.hpp"

#include <cstring>
#include <unordered_set>

#include "hsadrv/base/text.hpp"
#include "hsadrv/error.hpp"

namespace hsadrv {
namespace {

constexpr std::uint64_t descriptor_bytes = 64;   // LLVM AMDGPUUsage, Kernel Descriptor
constexpr std::uint64_t code_align_bytes = 256;  // of a kernel's first instruction
constexpr unsigned stt_amdgpu_hsa_kernel = 10;   // the kernel symbols of V2

using detail::number;

bool is_descriptor(const Elf64_Sym& symbol, std::string_view name) {
    return ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && name.ends_with(".kd");
}

bool is_local(const Elf64_Sym& symbol) { return ELF64_ST_BIND(symbol.st_info) == STB_LOCAL; }

/// What ROCR puts into its table of symbols.
bool is_loaded(const Elf64_Sym& symbol) {
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    return (type == STT_OBJECT || type == STT_COMMON) && !is_local(symbol);
}

/// Data symbols become part of the executable: they must lie in the section they name.
void check_object(const ElfFile& file, const std::string& which, const Elf64_Sym& symbol) {
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= file.sections().size()) {
        refuse_elf(which + ": section index " + number(symbol.st_shndx) + ", not a section of this file");
    }
    const ElfSection& section = file.sections()[symbol.st_shndx];
    const std::uint64_t offset = symbol.st_value - section.header.sh_addr;
    if (!section.allocated() || symbol.st_value < section.header.sh_addr || offset > section.header.sh_size ||
        symbol.st_size > section.header.sh_size - offset) {
        refuse_elf(which + ": address " + number(symbol.st_value) + " + " + number(symbol.st_size) + " is outside " +
                   file.section_text(symbol.st_shndx));
    }
}

void check_symbols(const ElfFile& file, std::size_t table) {
    std::unordered_set<std::string_view> seen;
    for (std::size_t i = 0; i < file.symbol_count(table); ++i) {
        const Elf64_Sym symbol = file.symbol(table, i);
        const std::string_view name = file.symbol_name(table, i);
        const std::string which = "symbol " + number(i) + " '" + std::string(name) + "'";
        if (ELF64_ST_TYPE(symbol.st_info) == stt_amdgpu_hsa_kernel)
            refuse_elf(which + ": a kernel symbol of code object V2");
        if (is_loaded(symbol) && !seen.insert(name).second) refuse_elf(which + ": defined twice");
        if (is_loaded(symbol) || is_descriptor(symbol, name)) check_object(file, which, symbol);
    }
}

/// ROCR reads the table named `.symtab`. Without it only the dynamic symbols tell what there is.
std::size_t symbol_table(const ElfFile& file) {
    std::size_t dynamic = 0;
    for (std::size_t i = 1; i < file.sections().size(); ++i) {
        const ElfSection& section = file.sections()[i];
        if (section.header.sh_type == SHT_SYMTAB && section.name == ".symtab") return i;
        if (section.header.sh_type == SHT_DYNSYM && !dynamic) dynamic = i;
    }
    if (!dynamic) refuse_elf("no symbol table");
    return dynamic;
}

KernelDescriptor read_descriptor(const ElfFile& file, std::string_view name, const Elf64_Sym& symbol) {
    const std::string which = "kernel descriptor '" + std::string(name) + "'";
    const ElfSection& section = file.sections()[symbol.st_shndx];
    if (symbol.st_size != descriptor_bytes) refuse_elf(which + ": " + number(symbol.st_size) + " bytes, wanted 64");
    if (symbol.st_value % descriptor_bytes != 0) refuse_elf(which + ": misaligned address " + number(symbol.st_value));
    if (section.bytes.empty()) refuse_elf(which + ": its section holds no bytes in the file");

    struct {
        std::uint32_t group_bytes, private_bytes, kernarg_bytes, reserved;
        std::int64_t entry_offset;
    } fields;
    static_assert(sizeof fields == 24);
    const std::byte* const bytes = section.bytes.data() + (symbol.st_value - section.header.sh_addr);
    std::memcpy(&fields, bytes, sizeof fields);
    std::uint32_t compute_pgm_rsrc1 = 0;
    std::memcpy(&compute_pgm_rsrc1, bytes + 48, sizeof compute_pgm_rsrc1);
    const std::uint64_t entry = symbol.st_value + static_cast<std::uint64_t>(fields.entry_offset);
    const Elf64_Phdr* code = file.segment_of(entry, sizeof(std::uint32_t));
    if (!code || !(code->p_flags & PF_X) || entry % code_align_bytes != 0) {
        refuse_elf(which + ": its first instruction would be at address " + number(entry) +
                   ", which is not 256-byte aligned in an executable segment");
    }
    return {std::string(name), fields.group_bytes, fields.private_bytes, fields.kernarg_bytes, compute_pgm_rsrc1};
}

void sort_in(ElfSymbols& symbols, const ElfFile& file, std::string_view name, const Elf64_Sym& symbol) {
    if (name.starts_with("__ockl_hostcall")) symbols.calls_hostcall = true;
    if (name.starts_with("__ockl_dm_alloc")) symbols.calls_device_malloc = true;
    if (symbol.st_shndx == SHN_UNDEF) {
        if (!is_local(symbol) && !name.empty()) symbols.undefined.emplace_back(name);
        return;
    }
    if (is_descriptor(symbol, name)) {
        symbols.kernel_descriptors.push_back(read_descriptor(file, name, symbol));
    } else if (is_loaded(symbol)) {
        const ElfSection& section = file.sections()[symbol.st_shndx];
        symbols.variables.push_back({std::string(name), symbol.st_size, !(section.header.sh_flags & SHF_WRITE)});
    } else if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && !is_local(symbol)) {
        symbols.functions.emplace_back(name);
    }
}

/// A kernel has a function symbol, too: its first instruction. An OpenCL kernel's body is a function of its own for
/// clang 21 and later, which other kernels call in its place.
void remove_kernels_from_functions(ElfSymbols& symbols) {
    std::unordered_set<std::string_view> kernels;
    for (const KernelDescriptor& descriptor : symbols.kernel_descriptors) {
        const std::string_view name = descriptor.symbol;
        kernels.insert(name.substr(0, name.size() - 3));
    }
    constexpr std::string_view body = "__clang_ocl_kern_imp_";
    std::erase_if(symbols.functions, [&](std::string_view name) {
        if (name.starts_with(body)) name.remove_prefix(body.size());
        return kernels.contains(name);
    });
}

}  // namespace

ElfSymbols read_elf_symbols(const ElfFile& file) {
    for (std::size_t i = 1; i < file.sections().size(); ++i) {
        if (file.sections()[i].holds_symbols()) check_symbols(file, i);
    }
    const std::size_t table = symbol_table(file);
    ElfSymbols symbols;
    symbols.has_symbol_table = file.sections()[table].header.sh_type == SHT_SYMTAB;
    for (std::size_t i = 1; i < file.symbol_count(table); ++i)
        sort_in(symbols, file, file.symbol_name(table, i), file.symbol(table, i));
    remove_kernels_from_functions(symbols);
    return symbols;
}

}  // namespace hsadrv
