// The cost of an array from a warm pool compared with malloc and free of as many bytes.
#include <cstdlib>
#include <string>

#include "devicearray/devicearray.hpp"
#include "tests/hsadrv/bench/measure.hpp"

using namespace hsadrv;

namespace {

constexpr int times = 1000;

std::string size_text(std::size_t bytes) {
    return bytes >> 20 ? std::to_string(bytes >> 20) + " MiB" : std::to_string(bytes) + " B";
}

void run(Stream& stream, std::size_t bytes) {
    const auto theirs = [&] {
        for (int i = 0; i < times; ++i) {
            void* volatile memory = std::malloc(bytes);
            std::free(memory);
        }
    };
    const auto ours = [&] {
        for (int i = 0; i < times; ++i) {
            const DeviceNDArray array = device_array<float>({bytes / sizeof(float)}, stream);
            if (array.data() == nullptr) std::abort();
        }
    };
    const bench::Ratio ratio = bench::compare(theirs, ours, 50);
    bench::print(("device_array / malloc, " + size_text(bytes) + ", a thousand").c_str(), ratio, ratio.time(), "");
}

}  // namespace

int main() try {
    const Driver driver;
    Stream stream(driver.gpus().front());
    for (const std::size_t bytes : {256u, 4096u, 65536u, 1u << 20, 64u << 20}) run(stream, bytes);
    return 0;
} catch (const NoDevice& error) {
    std::printf("skipped: %s\n", error.what());
    return 77;
}
