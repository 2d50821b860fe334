// Metadata notes as bytes: each is read, or refused as InvalidCodeObject; what is read can be made into
// launch plans or is refused as InvalidCodeObject, too.
#include "hsadrv/metadata.hpp"

#include "hsadrv/code_object.hpp"
#include "hsadrv/elf_image.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/launch_plan.hpp"
#include "tests/fuzz/code_object_seeds.hpp"

namespace {

const hsadrv::LaunchLimits limits{1024, hsadrv::Dim3(1024, 1024, 1024), 0xffffffff,
                                  hsadrv::Dim3(0xffffffff, 0xffffffff, 0xffffffff), 65536};

/// The launch path for a kernel with such metadata.
void plan(const hsadrv::KernelMetadata& kernel) {
    if (hsadrv::cannot_launch(kernel)) return;
    const hsadrv::LaunchPlan plan(kernel, limits);
    try {
        const hsadrv::LaunchConfig config{.grid = 256, .workgroup = 64, .lds = 1024};
        std::vector<std::byte> kernarg(plan.kernarg_bytes());
        plan.fill_implicit(kernarg.data(), plan.shape(config), {});
    } catch (const hsadrv::InvalidArgument&) {  // these sizes are refused
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const auto metadata = hsadrv::read_metadata({reinterpret_cast<const std::byte*>(data), size});
        for (const auto& kernel : metadata.kernels) plan(kernel);
    } catch (const hsadrv::InvalidCodeObject& error) {
        if (std::string_view{error.what()}.empty()) fuzz::broken("refused without a reason");
    }
    return 0;
}

std::vector<fuzz::Bytes> fuzz::seeds() {
    std::vector<Bytes> files = code_objects(FUZZ_TARGET), all;
    for (const char* name : {"uses", "circle_first", "stripped"})  // short ones
        files.push_back(kernel_file(std::string{name} + "." FUZZ_TARGET ".hsaco"));
    for (const Bytes& file : files) {
        const auto note =
            hsadrv::read_elf_image({reinterpret_cast<const std::byte*>(file.data()), file.size()}).metadata_note;
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(note.data());
        all.emplace_back(bytes, bytes + note.size());
    }
    return all;
}
