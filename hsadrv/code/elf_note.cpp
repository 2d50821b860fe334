#include "hsadrv/code/elf_note.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "hsadrv/base/text.hpp"
#include "hsadrv/error.hpp"

namespace hsadrv {
namespace {

constexpr std::uint32_t note_type_metadata = 32;  // NT_AMDGPU_METADATA
constexpr std::string_view note_owner{"AMDGPU\0", 7};

using detail::number;

constexpr std::uint64_t padded(std::uint64_t bytes) { return (bytes + 3) & ~std::uint64_t{3}; }

/// Takes the first note off `notes`; its descriptor if it is a metadata note, else null.
std::span<const std::byte> take_note(std::span<const std::byte>& notes, const std::string& where) {
    Elf64_Nhdr note;
    if (notes.size() < sizeof note) refuse_elf(where + ": truncated");
    std::memcpy(&note, notes.data(), sizeof note);
    const std::uint64_t name_bytes = padded(note.n_namesz);
    const std::uint64_t room = notes.size() - sizeof note;
    if (name_bytes > room || note.n_descsz > room - name_bytes) {
        refuse_elf(where + ": a name of " + number(note.n_namesz) + " and a descriptor of " + number(note.n_descsz) +
                   " bytes do not fit into " + number(notes.size()));
    }
    const std::string_view owner(reinterpret_cast<const char*>(notes.data() + sizeof note), note.n_namesz);
    const auto descriptor = notes.subspan(sizeof note + name_bytes, note.n_descsz);
    notes = notes.subspan(std::min<std::uint64_t>(notes.size(), sizeof note + name_bytes + padded(note.n_descsz)));
    return note.n_type == note_type_metadata && owner == note_owner ? descriptor : std::span<const std::byte>{};
}

/// Where notes may be: in note segments; older linkers wrote only the section.
std::vector<std::span<const std::byte>> note_ranges(const ElfFile& file) {
    if (!file.notes().empty()) return file.notes();
    std::vector<std::span<const std::byte>> ranges;
    for (const ElfSection& section : file.sections()) {
        if (section.header.sh_type == SHT_NOTE) ranges.push_back(section.bytes);
    }
    return ranges;
}

}  // namespace

std::span<const std::byte> find_metadata_note(const ElfFile& file) {
    std::span<const std::byte> found;
    for (std::span<const std::byte> notes : note_ranges(file)) {
        while (!notes.empty()) {
            const std::uint64_t at = static_cast<std::uint64_t>(notes.data() - file.bytes().data());
            const auto descriptor = take_note(notes, "note at offset " + number(at));
            if (!descriptor.data()) continue;
            if (found.data()) refuse_elf("two metadata notes (NT_AMDGPU_METADATA), the second at offset " + number(at));
            found = descriptor;
        }
    }
    if (!found.data()) refuse_elf("no metadata note (NT_AMDGPU_METADATA): nothing is known of its kernels' arguments");
    return found;
}

}  // namespace hsadrv
