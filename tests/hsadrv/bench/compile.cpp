// The cost of a code object: compiled, taken from the caches, and loaded.
#include "hsadrv/compile.hpp"

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "hsadrv/compile/cache_memory.hpp"
#include "hsadrv/hsadrv.hpp"
#include "tests/hsadrv/bench/measure.hpp"

using namespace hsadrv;

namespace {

constexpr const char* source = R"(#include <shared/device/device.hpp>
HSADRV_KERNEL void saxpy(float* y, const float* x, float a, uint32_t n) {
    const uint32_t i = hsadrv::get_global_id(0);
    if (i < n) y[i] += a * x[i];
}
)";

template <class Function>
void print(const char* what, int times, Function&& function) {
    bench::Samples samples;
    for (int i = 0; i < times; ++i) samples.ns.push_back(bench::time_ns(function));
    std::printf("%-44s %10.3f ms (%.3f-%.3f)\n", what, samples.median() / 1e6, samples.percentile(0.05) / 1e6,
                samples.percentile(0.95) / 1e6);
}

void expect(Compiled::From from, const Compiled& made) {
    if (made.from != from) std::abort();
}

}  // namespace

int main() try {
    char folder[] = "/tmp/hsadrv-bench-XXXXXX";
    if (!mkdtemp(folder)) return 1;
    ::setenv("HSADRV_CACHE", folder, 1);
    const Driver driver;
    const AgentRef gpu = driver.gpus().front();
    using From = Compiled::From;
    CompileOptions uncached;
    uncached.cache = false;
    print("compile, first: looks for a clang", 1, [&] { expect(From::compiler, compile(gpu, source, uncached)); });
    print("compile", 20, [&] { expect(From::compiler, compile(gpu, source, uncached)); });
    const Compiled made = compile(gpu, source);
    print("compile, from the cache on disk", 200, [&] {
        detail::compile_memory().clear();
        expect(From::disk, compile(gpu, source));
    });
    print("compile, from the cache in memory", 200, [&] { expect(From::memory, compile(gpu, source)); });
    print("Executable::load", 100, [&] { Executable::load(gpu, made.code_object); });
    ExecutableCache cache;
    cache.load(gpu, made.code_object);
    print("ExecutableCache::load", 1000, [&] { cache.load(gpu, made.code_object); });
    std::filesystem::remove_all(folder);
    return 0;
} catch (const NoDevice& error) {
    std::printf("skipped: %s\n", error.what());
    return 77;
}
