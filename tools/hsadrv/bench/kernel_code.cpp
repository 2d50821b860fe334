#include "tools/hsadrv/bench/kernel_code.hpp"

#include <fmt/format.h>

#include "hsadrv/error.hpp"
#include "tools/hsadrv/exit_status.hpp"

namespace hsadrv_bench {

extern const unsigned char bench_kernels_bundle[];
extern const unsigned long bench_kernels_bundle_size;

namespace {

namespace exit_status = hsadrv_tool::exit_status;

[[noreturn]] void no_kernels(hsadrv::AgentRef gpu, const std::string& why) {
    throw tools::Failure(
        exit_status::no_device,
        fmt::format("hsadrv bench has no kernels for {}: it was built {}. Compile {} for it with `hsadrv-cc "
                    "--target {} -o FILE`, and pass --code-object FILE{}",
                    gpu.label(),
                    bench_kernels_bundle_size == 0 ? "without clang" : "with a clang that does not support it",
                    BENCH_SOURCE, gpu.name(), why.empty() ? "" : "\n" + why));
}

}  // namespace

hsadrv::Executable load_kernels(hsadrv::AgentRef gpu, const std::string& file) {
    if (!file.empty()) try {
            return hsadrv::Executable::load(gpu, file);
        } catch (const hsadrv::Error& error) {
            throw tools::Failure(exit_status::files, fmt::format("--code-object {}: {}", file, error.what()));
        }
    if (bench_kernels_bundle_size == 0) no_kernels(gpu, "");
    try {
        return hsadrv::Executable::load(gpu, std::as_bytes(std::span(bench_kernels_bundle, bench_kernels_bundle_size)),
                                        "hsadrv's own kernels");
    } catch (const hsadrv::InvalidCodeObject& error) {
        no_kernels(gpu, error.what());
    }
}

hsadrv::Kernel kernel_of(const hsadrv::Executable& code, const char* name, const std::string& file) try {
    return code.kernel(name);
} catch (const hsadrv::InvalidArgument& error) {
    throw tools::Failure(exit_status::files, fmt::format("--code-object {}: {}", file, error.what()));
}

}  // namespace hsadrv_bench
