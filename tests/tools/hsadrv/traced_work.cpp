// A program whose GPU's work is known, for hsadrv trace: dispatches and copies of 64 KiB each way, as many as it is
// told, then it ends as it is told. Usage: traced_work FILL.hsaco DISPATCHES COPIES [exit STATUS | kill | wait |
// quick].
#include <signal.h>
#include <unistd.h>

#include <devicearray/devicearray.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr std::size_t bytes = 65536;

/// `ends`: the process ends without destructors, so the trace's thread gets time to read the last signals.
void work(const char* file, int dispatches, int copies, bool ends) {
    const hsadrv::Driver driver;
    const hsadrv::Context gpu{driver.default_gpu()};
    hsadrv::Stream stream = gpu.stream();
    const hsadrv::Executable code = hsadrv::Executable::load(gpu, file);
    const hsadrv::Kernel fill = code.kernel("fill");
    const hsadrv::Allocation device = hsadrv::Allocation::from_pool(hsadrv::device_pool(gpu.agent()), bytes);
    const hsadrv::Allocation host = hsadrv::Allocation::from_pool(hsadrv::host_pool(), bytes);
    for (int n = 0; n < copies; ++n) stream.copy_async(device.data(), host.data(), bytes);
    for (int n = 0; n < dispatches; ++n) fill.launch(stream, {.grid = 1024, .workgroup = 256}, device.data(), n);
    for (int n = 0; n < copies; ++n) stream.copy_async(host.data(), device.data(), bytes);
    stream.synchronize();
    if (copies > 0 && dispatches > 0 && *static_cast<int*>(host.data()) != dispatches - 1) std::abort();
    if (ends) usleep(300'000);
    std::printf("%d dispatches, %d copies\n", dispatches, 2 * copies);
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc < 4) return 2;
    const std::string end = argc > 4 ? argv[4] : "";
    if (end == "kill" || end == "wait" || end == "quick") {
        // In the middle: the runtime is still up.
        const hsadrv::Driver driver;
        work(argv[1], std::atoi(argv[2]), std::atoi(argv[3]), true);
        if (end == "kill") raise(SIGKILL);
        if (end == "quick") _exit(0);
        pause();
    }
    work(argv[1], std::atoi(argv[2]), std::atoi(argv[3]), false);
    return end == "exit" ? std::atoi(argv[5]) : 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "traced_work: %s\n", error.what());
    return 1;
}
