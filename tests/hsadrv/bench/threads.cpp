// The cost of a launch for the thread that makes it, by threads and by hardware queues: each thread has streams of its
// own, on queues that they share with the others'. The packet processor is stalled meanwhile.
//
//   bench_hsadrv_threads FOLDER
#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "hsadrv/hsadrv.hpp"
#include "tools/kfdemu/kfdemu.h"

using namespace hsadrv;

namespace {

constexpr unsigned most_queues = 16, samples = 41, launches = 448;  // eight threads' in one ring

struct Bench {
    explicit Bench(const std::string& folder)
        : code(Executable::load(gpu, folder + "/seven." + gpu.name() + ".o")), kernel(code.kernel("seven")) {}

    /// Streams for each of the threads, one on each queue. The others end.
    std::vector<std::vector<Stream>> make(unsigned threads, unsigned queues) {
        std::vector<Stream> all;
        for (unsigned i = 0; i < threads * most_queues; ++i) all.emplace_back(gpu);
        std::vector<hsa_queue_t*> known;
        std::vector<std::vector<Stream>> chosen(threads);
        for (Stream& stream : all) {
            hsa_queue_t* const native = stream.queue().native();
            if (std::find(known.begin(), known.end(), native) == known.end()) known.push_back(native);
            if (std::find(known.begin(), known.end(), native) - known.begin() >= std::ptrdiff_t{queues}) continue;
            const auto has_none = [&](const std::vector<Stream>& mine) {
                return std::none_of(mine.begin(), mine.end(),
                                    [&](const Stream& other) { return other.queue().native() == native; });
            };
            std::find_if(chosen.begin(), chosen.end(), has_none)->push_back(std::move(stream));
        }
        return chosen;
    }
    void launch(Stream& stream) {
        kernel.launch(stream, {.grid = 64, .workgroup = 64}, out, values[0], values[1], values[2], values[3], values[4],
                      values[5]);
    }

    Driver driver;
    AgentRef gpu = driver.gpus().front();
    Executable code;
    Kernel kernel;
    Allocation memory = Allocation::from_pool(host_pool(), 4096);
    std::uint32_t* out = static_cast<std::uint32_t*>(memory.data());
    std::uint64_t values[6] = {0, 2, 3, 4, 5, 6};
};

void stall(const std::vector<std::vector<Stream>>& chosen, bool stalled) {
    for (const auto& mine : chosen)
        for (const Stream& stream : mine)
            kfdemu_find_control()->stall_queue(stream.queue().native()->base_address, stalled);
}

/// Nanoseconds a launch, of the slowest thread.
double sample(Bench& bench, std::vector<std::vector<Stream>>& chosen) {
    stall(chosen, true);
    std::barrier start(static_cast<std::ptrdiff_t>(chosen.size()));
    std::vector<double> times(chosen.size());
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < chosen.size(); ++t)
        threads.emplace_back([&, t] {
            std::vector<Stream>& mine = chosen[t];
            start.arrive_and_wait();
            const auto begin = std::chrono::steady_clock::now();
            for (unsigned i = 0; i < launches; ++i) bench.launch(mine[i % mine.size()]);
            times[t] = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
        });
    for (std::thread& thread : threads) thread.join();
    stall(chosen, false);
    for (auto& mine : chosen)
        for (Stream& stream : mine) stream.synchronize(std::chrono::seconds(60));
    return *std::max_element(times.begin(), times.end()) / launches;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2 || kfdemu_find_control() == nullptr) {
        std::fprintf(stderr, "usage: bench_hsadrv_threads FOLDER, with the emulated GPU\n");
        return 2;
    }
    Bench bench(argv[1]);
    std::printf("ns a launch, of the slowest thread: median, p5 and p95 of %u samples of %u launches a thread\n",
                samples, launches);
    std::printf("threads  queues  median     p5    p95\n");
    for (const unsigned threads : {1u, 2u, 8u})
        for (const unsigned queues : {1u, 4u, 16u}) {
            auto chosen = bench.make(threads, queues);
            std::vector<double> times;
            for (unsigned i = 0; i < samples + 3; ++i)
                if (const double time = sample(bench, chosen); i >= 3) times.push_back(time);
            std::sort(times.begin(), times.end());
            std::printf("%7u  %6u  %6.0f %6.0f %6.0f\n", threads, queues, times[samples / 2], times[samples / 20],
                        times[samples - 1 - samples / 20]);
        }
    return 0;
}
