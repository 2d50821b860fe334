// The cost of a block of a caching allocator compared with malloc: allocation and release, for many sizes.
#include "hsadrv/allocator.hpp"

#include <cstdlib>
#include <string>

#include "hsadrv/hsadrv.hpp"
#include "tests/hsadrv/bench/measure.hpp"

using namespace hsadrv;

namespace {

constexpr int times = 1000;

void run(Allocator& allocator, Stream& stream, std::size_t size) {
    const auto theirs = [&] {
        for (int i = 0; i < times; ++i) {
            void* volatile memory = std::malloc(size);
            std::free(memory);
        }
    };
    const auto ours = [&] {
        for (int i = 0; i < times; ++i) {
            const Block block = allocator.allocate(size, stream);
            if (block.data() == nullptr) std::abort();
        }
    };
    const bench::Ratio ratio = bench::compare(theirs, ours, 50);
    const std::string what = "pool hit / malloc, " + std::to_string(size) + " B, a thousand";
    bench::print(what.c_str(), ratio, ratio.time(), "goal <= 2");
}

}  // namespace

int main() try {
    const Driver driver;
    const AgentRef gpu = driver.gpus().front();
    Stream stream(gpu);
    Allocator allocator(device_pool(gpu));
    for (const std::size_t size : {256u, 4096u, 65536u, 1u << 20, 16u << 20}) run(allocator, stream, size);
    return 0;
} catch (const NoDevice& error) {
    std::printf("skipped: %s\n", error.what());
    return 77;
}
