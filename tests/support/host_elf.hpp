// Host programs as bytes: an ELF header, sections with the given contents, and their names.
//
//     Bytes file = host_elf({{".text", code}, {".hip_fatbin", bundle}});
#pragma once

#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

namespace test_support {

struct HostSection {
    std::string name;
    std::vector<std::byte> content;
};

inline std::vector<std::byte> host_elf(std::vector<HostSection> sections, std::uint16_t machine = EM_X86_64) {
    std::string names(1, '\0');
    sections.push_back({".shstrtab", {}});
    std::vector<Elf64_Shdr> table(1);
    for (const HostSection& section : sections) {
        Elf64_Shdr header{};
        header.sh_name = static_cast<Elf64_Word>(names.size());
        header.sh_type = SHT_PROGBITS;
        names += section.name + '\0';
        table.push_back(header);
    }
    const auto* text = reinterpret_cast<const std::byte*>(names.data());
    sections.back().content.assign(text, text + names.size());

    std::vector<std::byte> file(sizeof(Elf64_Ehdr));
    for (std::size_t i = 0; i < sections.size(); ++i) {
        file.resize((file.size() + 15) / 16 * 16);
        table[i + 1].sh_offset = file.size();
        table[i + 1].sh_size = sections[i].content.size();
        file.insert(file.end(), sections[i].content.begin(), sections[i].content.end());
    }
    file.resize((file.size() + 7) / 8 * 8);
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_DYN;
    header.e_machine = machine;
    header.e_version = EV_CURRENT;
    header.e_ehsize = sizeof header;
    header.e_shoff = file.size();
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<Elf64_Half>(table.size());
    header.e_shstrndx = static_cast<Elf64_Half>(table.size() - 1);
    std::memcpy(file.data(), &header, sizeof header);
    const auto* bytes = reinterpret_cast<const std::byte*>(table.data());
    file.insert(file.end(), bytes, bytes + table.size() * sizeof(Elf64_Shdr));
    return file;
}

}  // namespace test_support
