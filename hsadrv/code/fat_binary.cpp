#include "hsadrv/code/fat_binary.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "hsadrv/base/text.hpp"
#include "hsadrv/code/compressed_bundle.hpp"
#include "hsadrv/code/elf_header.hpp"
#include "hsadrv/code/file_range.hpp"
#include "hsadrv/code/offload_binary.hpp"
#include "hsadrv/code/offload_bundle.hpp"
#include "hsadrv/error.hpp"

namespace hsadrv {
namespace {

[[noreturn]] void refuse_fat_binary(const std::string& why) { throw InvalidCodeObject("fat binary: " + why); }

using detail::number;

bool is_elf(std::span<const std::byte> file) {
    return file.size() >= EI_NIDENT && std::memcmp(file.data(), ELFMAG, SELFMAG) == 0;
}

std::span<const std::byte> range(std::span<const std::byte> file, std::uint64_t offset, std::uint64_t size,
                                 const std::string& what) {
    return file_range(file, offset, size, "fat binary", what);
}

template <class T>
T read(std::span<const std::byte> file, std::uint64_t offset, const std::string& what) {
    T value;
    std::memcpy(&value, range(file, offset, sizeof value, what).data(), sizeof value);
    return value;
}

Elf64_Ehdr read_header(std::span<const std::byte> file) {
    const auto header = read<Elf64_Ehdr>(file, 0, "ELF header");
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
        refuse_fat_binary("not a 64-bit little-endian ELF file, as the hosts of ROCm have them");
    if (header.e_shoff != 0 && header.e_shentsize != sizeof(Elf64_Shdr))
        refuse_fat_binary("section header table: entries of " + number(header.e_shentsize) + " bytes, wanted 64");
    return header;
}

/// The table of sections, and which of them has their names. Large numbers are in the first one (System V ABI, ELF
/// Header).
struct Sections {
    Sections(std::span<const std::byte> bytes, const Elf64_Ehdr& header) : file(bytes), offset(header.e_shoff) {
        if (offset == 0) return;
        const Elf64_Shdr first = at(0);
        count = header.e_shnum ? header.e_shnum : first.sh_size;
        const std::uint64_t names_index = header.e_shstrndx == SHN_XINDEX ? first.sh_link : header.e_shstrndx;
        if (count > (file.size() - offset) / sizeof(Elf64_Shdr))
            refuse_fat_binary(number(count) + " section headers are past the end of the file, which has " +
                              number(file.size()) + " bytes; is it truncated?");
        if (names_index >= count) refuse_fat_binary("section names are said to be in section " + number(names_index));
        const Elf64_Shdr table = at(names_index);
        names = range(file, table.sh_offset, table.sh_size, "section names");
    }

    Elf64_Shdr at(std::uint64_t index) const {
        return read<Elf64_Shdr>(file, offset + index * sizeof(Elf64_Shdr), "section header table");
    }

    std::string_view name(const Elf64_Shdr& section) const {
        if (section.sh_name >= names.size()) return {};
        const auto rest = names.subspan(section.sh_name);
        const auto end = std::find(rest.begin(), rest.end(), std::byte{0});
        return {reinterpret_cast<const char*>(rest.data()), static_cast<std::size_t>(end - rest.begin())};
    }

    std::span<const std::byte> file, names;
    std::uint64_t offset, count = 0;
};

bool holds_device_code(std::string_view section) {
    const auto is = [&](std::string_view name) {
        return section == name || (section.starts_with(name) && section[name.size()] == '.');
    };
    return is(".hip_fatbin") || is(".llvm.offloading");
}

/// Where what `bytes` begins with ends; 0: it is none of the kinds.
std::uint64_t extent(std::span<const std::byte> bytes) {
    if (is_compressed_offload_bundle(bytes)) return compressed_bundle_extent(bytes);
    if (is_offload_binary(bytes)) return offload_binary_bytes(bytes);
    if (!is_offload_bundle(bytes)) return 0;
    const auto entries = parse_offload_bundle(bytes);
    const std::byte* end = bytes.data() + (entries.empty() ? 32 : 0);  // the magic and the number of entries
    for (const BundleEntry& entry : entries) {
        const auto* id = reinterpret_cast<const std::byte*>(entry.id.data());
        end = std::max({end, entry.bytes.data() + entry.bytes.size(), id + entry.id.size()});
    }
    return static_cast<std::uint64_t>(end - bytes.data());
}

/// One after the other, with zeros between them, as linkers align them.
void split(std::span<const std::byte> section, std::string_view name, std::uint64_t offset,
           std::vector<EmbeddedCode>& found) {
    for (std::uint64_t at = 0;;) {
        const auto begin = std::find_if(section.begin() + static_cast<std::ptrdiff_t>(at), section.end(),
                                        [](std::byte byte) { return byte != std::byte{0}; });
        if (begin == section.end()) return;
        at = static_cast<std::uint64_t>(begin - section.begin());
        const std::uint64_t size = extent(section.subspan(at));
        if (size == 0) {
            refuse_fat_binary("section " + std::string(name) + " holds no offload bundle at offset " +
                              number(offset + at) + " of the file");
        }
        found.push_back({name, offset + at, section.subspan(at, size)});
        at += size;
    }
}

const char* machine_text(std::uint16_t machine) {
    switch (machine) {
        case EM_X86_64:
            return "x86-64";
        case EM_AARCH64:
            return "AArch64";
        case EM_PPC64:
            return "POWER";
        case EM_RISCV:
            return "RISC-V";
        case EM_CUDA:
            return "NVIDIA GPUs";
        default:
            return nullptr;
    }
}

}  // namespace

bool is_host_elf(std::span<const std::byte> file) {
    if (!is_elf(file)) return false;
    // A truncated header is for the reader of code objects to refuse.
    if (file.size() < sizeof(Elf64_Ehdr)) return false;
    std::uint16_t machine;
    std::memcpy(&machine, file.data() + offsetof(Elf64_Ehdr, e_machine), sizeof machine);
    return machine != machine_amdgpu;
}

std::string host_elf_text(std::span<const std::byte> file) {
    Elf64_Ehdr header;
    if (file.size() < sizeof header) return "ELF file";
    std::memcpy(&header, file.data(), sizeof header);
    const char* const kind = header.e_type == ET_REL    ? "object"
                             : header.e_type == ET_CORE ? "core file"
                                                        : "program or library";
    const char* const machine = machine_text(header.e_machine);
    return std::string("ELF ") + kind + " for " + (machine ? machine : "ELF machine " + number(header.e_machine));
}

std::vector<EmbeddedCode> find_embedded_code(std::span<const std::byte> file) {
    const Sections sections(file, read_header(file));
    std::vector<EmbeddedCode> found;
    for (std::uint64_t i = 1; i < sections.count; ++i) {
        const Elf64_Shdr section = sections.at(i);
        const std::string_view name = sections.name(section);
        if (section.sh_type == SHT_NOBITS || !holds_device_code(name)) continue;
        split(range(file, section.sh_offset, section.sh_size, "section " + std::string(name)), name, section.sh_offset,
              found);
    }
    return found;
}

}  // namespace hsadrv
