// Code objects that pass validation and reach the HSA runtime's own loader, on the emulated device: each
// is loaded or refused.
#include "hsadrv/context.hpp"
#include "hsadrv/driver.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/executable.hpp"
#include "tests/fuzz/code_object_seeds.hpp"

namespace {

struct World {
    hsadrv::Driver driver;
    hsadrv::AgentRef gpu = driver.gpus().front();
};

World& world() {
    static World* made = [] {
        setenv("KFDEMU", "on,gpu=" FUZZ_TARGET ",workers=1", 1);
        return new World;  // leaked on purpose: the runtime is not shut down from a static destructor
    }();
    return *made;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const std::span file{reinterpret_cast<const std::byte*>(data), size};
        const auto code = hsadrv::Executable::load(world().gpu, file, "fuzzed");
        for (const auto& kernel : code.code_object().kernels) code.kernel(kernel.name);
    } catch (const hsadrv::InvalidCodeObject&) {
    } catch (const hsadrv::OutOfMemory&) {  // segments as large as the device
    }
    return 0;
}

std::vector<fuzz::Bytes> fuzz::seeds() { return code_objects(FUZZ_TARGET); }
