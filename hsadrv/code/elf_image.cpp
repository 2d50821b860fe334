#include "hsadrv/elf_image.hpp"

#include "hsadrv/code/argument_types.hpp"
#include "hsadrv/code/elf_file.hpp"
#include "hsadrv/code/elf_note.hpp"
#include "hsadrv/code/elf_relocations.hpp"
#include "hsadrv/code/elf_symbols.hpp"

namespace hsadrv {

ElfImage read_elf_image(std::span<const std::byte> bytes) {
    const ElfFile file(bytes);
    ElfSymbols symbols = read_elf_symbols(file);
    check_elf_relocations(file);

    ElfImage image;
    image.code_object_version = file.header().code_object_version;
    image.target = file.header().target;
    image.metadata_note = find_metadata_note(file);
    for (const ElfSection& section : file.sections()) {
        if (section.name == detail::argument_types_section) image.argument_types = section.bytes;
    }
    image.kernel_descriptors = std::move(symbols.kernel_descriptors);
    image.variables = std::move(symbols.variables);
    image.functions = std::move(symbols.functions);
    image.undefined = std::move(symbols.undefined);
    image.has_symbol_table = symbols.has_symbol_table;
    image.calls_hostcall = symbols.calls_hostcall;
    image.calls_device_malloc = symbols.calls_device_malloc;
    return image;
}

}  // namespace hsadrv
