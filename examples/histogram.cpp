// Counts bytes on four streams at once: each work-group counts in LDS, all of them add to the same bins in
// global memory.
#include <devicearray/devicearray.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <span>
#include <vector>

#include "stopwatch.hpp"

using namespace hsadrv;

namespace {

/// Bytes with a non-uniform distribution: the mean of two random bytes.
std::vector<std::uint8_t> some_bytes(std::size_t count) {
    std::vector<std::uint8_t> bytes(count);
    std::uint32_t seed = 12345;
    for (auto& byte : bytes) {
        seed = seed * 1664525u + 1013904223u;
        byte = static_cast<std::uint8_t>(((seed >> 24) + (seed >> 16 & 255)) / 2);
    }
    return bytes;
}

}  // namespace

int main() try {
    Driver driver;
    Context gpu{driver.default_gpu()};
    std::vector<Stream> streams;
    for (int i = 0; i < 4; ++i) streams.push_back(gpu.stream());

    const std::vector<std::uint8_t> bytes = some_bytes(4 << 20);
    std::vector<std::uint32_t> expected(256);
    for (const std::uint8_t byte : bytes) ++expected[byte];

    const auto kernel = Executable::load(gpu, "histogram.hsaco").kernel("histogram");
    auto bins = to_device(std::vector<std::uint32_t>(256), streams[0]);
    streams[0].synchronize();  // the other streams add to the bins too

    const Stopwatch time;
    const std::size_t share = bytes.size() / streams.size();
    for (std::size_t i = 0; i < streams.size(); ++i) {
        const auto part = to_device(std::span(bytes).subspan(i * share, share), streams[i]);
        kernel.launch(streams[i], {.grid = 64 * 256, .workgroup = 256}, part, static_cast<std::uint32_t>(share), bins);
    }  // each part's memory is kept until its stream has completed
    for (Stream& stream : streams) stream.synchronize();
    const double ms = time.ms();

    const bool right = bins.copy_to_host<std::uint32_t>(streams[0]) == expected;
    std::printf("%s: %zu bytes counted into 256 bins on %zu streams in %.2f ms: %s\n", gpu.agent().label().c_str(),
                bytes.size(), streams.size(), ms, right ? "equal to the CPU's" : "WRONG");
    return right ? 0 : 1;
} catch (const std::exception& error) {
    std::fprintf(stderr, "histogram: %s\n", error.what());
    return 1;
}
