// ELF files as bytes: each is read, or refused as InvalidCodeObject; results are within the file.
#include "hsadrv/elf_image.hpp"
#include "hsadrv/error.hpp"
#include "tests/fuzz/code_object_seeds.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::span file{reinterpret_cast<const std::byte*>(data), size};
    try {
        const hsadrv::ElfImage elf = hsadrv::read_elf_image(file);
        const auto note = elf.metadata_note;
        if (note.data() < file.data() || note.data() + note.size() > file.data() + file.size())
            fuzz::broken("the metadata note is not in the file");
        for (const auto& kernel : elf.kernel_descriptors) {
            if (!kernel.symbol.ends_with(".kd")) fuzz::broken("a kernel descriptor without .kd");
        }
    } catch (const hsadrv::InvalidCodeObject& error) {
        if (std::string_view{error.what()}.empty()) fuzz::broken("refused without a reason");
    }
    return 0;
}

std::vector<fuzz::Bytes> fuzz::seeds() {
    std::vector<Bytes> all = code_objects(FUZZ_TARGET);
    for (const char* name : {"uses", "circle_first"})
        all.push_back(kernel_file(std::string{name} + "." FUZZ_TARGET ".hsaco"));
    all.push_back(code_object_in("globals.hsaco", FUZZ_TARGET));
    return all;
}
