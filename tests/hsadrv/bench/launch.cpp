// The cost of a launch compared with hand-written AQL, and with HIP if libamdhip64 is installed: in time, and in
// instructions of the calling thread.
//
//   bench_hsadrv_launch FOLDER                   time: launch and wait, and batches of a hundred launches
//   bench_hsadrv_launch FOLDER MODE COUNT        does MODE COUNT times within measured(), for callgrind
//
// MODE: aql, stream, described, c, graph (per packet), wait, hip, hip_wait. `instructions` runs them all
// under callgrind.
#include <cstdlib>
#include <functional>
#include <string>

#include "hsadrv/hsadrv.h"
#include "hsadrv/hsadrv.hpp"
#include "tests/hsadrv/bench/hand_written.hpp"
#include "tests/hsadrv/bench/hip.hpp"
#include "tests/hsadrv/bench/measure.hpp"

using namespace hsadrv;

namespace {

struct Bench {
    explicit Bench(const std::string& folder)
        : file(folder + "/seven." + gpu.name() + ".o"), hip_file(folder + "/seven." + gpu.name() + ".v4.hsaco") {}

    Driver driver;
    AgentRef gpu = driver.gpus().front();
    std::string file, hip_file;  // for HIP: one target and V4, because it does not load every other
    Executable code = Executable::load(gpu, file);
    Kernel kernel = code.kernel("seven");
    Stream stream{gpu}, other{gpu};
    Allocation memory = Allocation::from_pool(host_pool(), 4096);
    std::uint32_t* out = static_cast<std::uint32_t*>(memory.data());
    std::uint64_t values[6] = {0, 2, 3, 4, 5, 6};
    std::uint32_t grid = 64;
    bench::HandWritten aql{gpu, kernel.kernel_object()};

    [[gnu::noinline]] void launch() {
        kernel.launch(stream, {.grid = grid, .workgroup = 64}, out, values[0], values[1], values[2], values[3],
                      values[4], values[5]);
    }
    Graph record(int count) {
        stream.begin_capture();
        for (int i = 0; i < count; ++i) launch();
        return stream.end_capture();
    }
};

}  // namespace

/// The function that callgrind counts.
extern "C" [[gnu::noinline]] void measured(const std::function<void()>& work) {
    work();
    asm volatile("" ::: "memory");
}

namespace {

using Repeat = std::function<void(const std::function<void()>&)>;

/// The same launch with arguments described at run time.
void count_described(Bench& bench, const Repeat& repeat) {
    std::vector<LaunchArgument> arguments = {LaunchArgument::of(bench.out)};
    for (const std::uint64_t& value : bench.values) arguments.push_back(LaunchArgument::of(value));
    const auto launch = [&] { bench.kernel.launch(bench.stream, {.grid = bench.grid, .workgroup = 64}, arguments); };
    launch();
    bench.stream.synchronize();
    repeat(launch);
}

/// Through the C interface, with handles and structures.
void count_c(Bench& bench, const Repeat& repeat) {
    hsadrv_driver driver;
    hsadrv_device gpu;
    hsadrv_stream stream;
    hsadrv_executable code;
    hsadrv_kernel kernel;
    if (hsadrv_driver_create(&driver) || hsadrv_driver_device(driver, 0, &gpu) ||
        hsadrv_stream_create(gpu, nullptr, &stream) || hsadrv_executable_load_file(gpu, bench.file.c_str(), &code) ||
        hsadrv_executable_kernel(code, "seven", &kernel))
        throw std::runtime_error(hsadrv_last_error_message());
    hsadrv_launch_config config{};
    config.struct_size = sizeof config;
    config.grid[0] = config.workgroup[0] = 64;
    std::vector<hsadrv_argument> arguments = {hsadrv_argument_pointer(bench.out, HSADRV_ARGUMENT_UNKNOWN, 0)};
    for (const std::uint64_t& value : bench.values)
        arguments.push_back(hsadrv_argument_value(HSADRV_ARGUMENT_INTEGER, &value, sizeof value));
    const auto launch = [&] {
        if (hsadrv_kernel_launch(kernel, stream, &config, arguments.data(), arguments.size(), HSADRV_FOREVER))
            throw std::runtime_error(hsadrv_last_error_message());
    };
    launch();
    hsadrv_stream_synchronize(stream, HSADRV_FOREVER);
    repeat(launch);
    hsadrv_stream_destroy(stream, HSADRV_FOREVER);
}

void count_instructions(Bench& bench, const std::string& mode, int count) {
    void (*volatile as_it_is)(const std::function<void()>&) = measured;  // no copy of it under another name
    const auto repeat = [&](const auto& each) {
        as_it_is([&] {
            for (int i = 0; i < count; ++i) each();
        });
    };
    if (mode == "aql") {
        bench.aql.launch(bench.out, bench.values);
        bench.aql.wait();
        repeat([&] { bench.aql.launch(bench.out, bench.values); });
    } else if (mode == "stream") {
        bench.launch();
        bench.stream.synchronize();
        repeat([&] { bench.launch(); });
    } else if (mode == "described") {
        count_described(bench, repeat);
    } else if (mode == "c") {
        count_c(bench, repeat);
    } else if (mode == "graph") {
        const Graph graph = bench.record(count);
        for (int i = 0; i < 3; ++i) {
            graph.launch(bench.stream);
            bench.stream.synchronize();
        }
        measured([&] { graph.launch(bench.stream); });
    } else if (mode == "wait") {
        // The event waits for the host, so that the wait is real. The first iteration is a warm-up.
        for (const bool warm : {false, true}) {
            const Signal go = Signal::create(1);
            bench.stream.wait(go, Condition::less, 1);
            const Event event = bench.stream.record();
            if (warm)
                repeat([&] { bench.other.wait(event); });
            else
                for (int i = 0; i < count; ++i) bench.other.wait(event);
            go.store(0);
            bench.other.synchronize();
        }
    } else if (mode == "hip" || mode == "hip_wait") {
        bench::Hip hip(bench.hip_file, "seven");
        if (!hip) throw std::runtime_error("libamdhip64 is not installed");
        hip.launch(bench.out, bench.values);
        hip.record();
        hip.wait_other();
        hip.synchronize();
        if (mode == "hip") return repeat([&] { hip.launch(bench.out, bench.values); });
        hip.launch(bench.out, bench.values);
        hip.record();
        repeat([&] { hip.wait_other(); });
    } else {
        throw std::runtime_error("unknown mode " + mode);
    }
}

void measure_time(Bench& bench) {
    constexpr int batch = 500;
    const auto aql_one = [&] {
        bench.aql.launch(bench.out, bench.values);
        bench.aql.wait();
    };
    const auto ours_one = [&] {
        bench.launch();
        bench.stream.synchronize();
    };
    const auto aql_many = [&] {
        for (int i = 0; i < batch; ++i) bench.aql.launch(bench.out, bench.values);
        bench.aql.wait();
    };
    const auto ours_many = [&] {
        for (int i = 0; i < batch; ++i) bench.launch();
        bench.stream.synchronize();
    };
    const Graph graph = bench.record(batch);
    const auto graph_many = [&] {
        graph.launch(bench.stream);
        bench.stream.synchronize();
    };
    bench::Ratio ratio = bench::compare(aql_one, ours_one, 500);
    bench::print("launch + wait / hand-written AQL", ratio, ratio.time(), "goal <= 1.1");
    ratio = bench::compare(aql_many, ours_many, 50);
    bench::print("500 launches + wait / hand-written AQL", ratio, ratio.time(), "");
    ratio = bench::compare(aql_many, graph_many, 50);
    bench::print("500 packets of a graph / hand-written AQL", ratio, ratio.time(), "");
    if (bench::Hip hip(bench.hip_file, "seven"); hip) {
        const auto hip_one = [&] {
            hip.launch(bench.out, bench.values);
            hip.synchronize();
        };
        ratio = bench::compare(hip_one, ours_one, 200);
        bench::print("launch + wait / HIP", ratio, ratio.time(), "");
    }
    bench.values[0] = 1;
    bench.launch();
    bench.stream.synchronize();
    if (bench.out[0] != 21) throw std::runtime_error("the kernel did not run");
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc != 2 && argc != 4) throw std::runtime_error("usage: bench_hsadrv_launch FOLDER [MODE COUNT]");
    Bench bench(argv[1]);
    if (argc == 4)
        count_instructions(bench, argv[2], std::atoi(argv[3]));
    else
        measure_time(bench);
} catch (const std::exception& error) {
    std::fprintf(stderr, "bench_hsadrv_launch: %s\n", error.what());
    return 1;
}
