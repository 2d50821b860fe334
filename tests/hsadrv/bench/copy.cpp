// Speed of copies compared with the CPU's memcpy of as many bytes: pinned and pageable, up and down, large and small.
#include "hsadrv/copy.hpp"

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "hsadrv/hsadrv.hpp"
#include "tests/hsadrv/bench/measure.hpp"

using namespace hsadrv;

namespace {

void verify(bool right, const char* what) {
    if (right) return;
    std::fprintf(stderr, "%s: wrong bytes\n", what);
    std::exit(1);
}

struct Bench {
    Driver driver;
    AgentRef gpu = driver.gpus().front();
    Stream stream{gpu};
    std::size_t size;
    std::vector<char> source, other;  // pageable
    Allocation device, pinned;

    explicit Bench(std::size_t size_bytes)
        : size(size_bytes),
          source(size, 1),
          other(size),
          device(Allocation::from_pool(device_pool(gpu), size)),
          pinned(Allocation::from_pool(host_pool(), size)) {
        std::memcpy(pinned.data(), source.data(), size);
    }

    template <class Copy>
    void row(const char* what, const char* goal, Copy&& one) {
        char stamp = 2;
        const auto ours = [&] {
            // Every sample copies different bytes; the last ones are verified.
            ++stamp;
            source[0] = source[size - 1] = stamp;
            static_cast<char*>(pinned.data())[0] = static_cast<char*>(pinned.data())[size - 1] = stamp;
            one();
        };
        const auto theirs = [&] { std::memcpy(other.data(), source.data(), size); };
        const bench::Ratio ratio = bench::compare(theirs, ours);
        const std::string name =
            std::string(what) + " / memcpy, " +
            (size >> 20 ? std::to_string(size >> 20) + " MiB" : std::to_string(size >> 10) + " KiB");
        bench::print(name.c_str(), ratio, ratio.speed(), goal);
    }

    void run(const char* pinned_goal, const char* pageable_goal) {
        void* const d = device.data();
        void* const p = pinned.data();
        row("pinned to device", pinned_goal, [&] { copy(stream, d, p, size); });
        copy(stream, other.data(), d, size);
        verify(other[0] == static_cast<char*>(p)[0] && other[size - 1] == static_cast<char*>(p)[size - 1], "upload");
        row("device to pinned", pinned_goal, [&] { copy(stream, p, d, size); });
        row("pageable to device", pageable_goal, [&] { copy(stream, d, source.data(), size); });
        copy(stream, p, d, size);
        verify(std::memcmp(p, source.data(), size) == 0, "pageable upload");
        std::vector<char> back(size);
        row("device to pageable", pageable_goal, [&] { copy(stream, back.data(), d, size); });
        copy(stream, p, d, size);
        verify(std::memcmp(p, back.data(), size) == 0, "pageable download");
        row("pinned to pageable", "", [&] { copy(stream, other.data(), p, size); });
    }
};

}  // namespace

int main() try {
    Bench(16u << 20).run("goal >= 0.9", "goal >= 0.45");
    Bench(64u << 20).run("goal >= 0.9", "goal >= 0.45");
    Bench(4u << 10).run("", "");
    return 0;
} catch (const NoDevice& error) {
    std::printf("skipped: %s\n", error.what());
    return 77;
}
