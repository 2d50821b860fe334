// Two processes share an array: one fills it, the other doubles it in place. Nothing is copied between them.
#include <devicearray/devicearray.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

using namespace hsadrv;

namespace {

/// The other process: doubles the array that arrives as a line on standard input.
int other_process() {
    std::string handle(4096, '\0');
    handle.resize(static_cast<std::size_t>(std::max(::read(STDIN_FILENO, handle.data(), handle.size()), ssize_t{0})));

    Driver driver;
    Context gpu{driver.default_gpu()};
    DeviceNDArray array = from_ipc(handle, gpu);
    auto values = array.copy_to_host<float>();
    for (float& value : values) value *= 2;
    array.copy_to_device(values);
    return 0;
}

/// A child that runs this program again: a process that has started the runtime must not only fork.
pid_t start_other(const char* program, int pipe_end) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    ::dup2(pipe_end, STDIN_FILENO);
    ::execl(program, program, "other", static_cast<char*>(nullptr));
    ::_exit(127);
}

int first_process() {
    Driver driver;
    Context gpu{driver.default_gpu()};
    std::vector<float> values(1 << 20);
    std::iota(values.begin(), values.end(), 0.0f);
    const auto array = to_device(values);
    const std::string handle = to_ipc(array);

    int ends[2];
    if (::pipe(ends) != 0 || ::write(ends[1], handle.data(), handle.size()) != ssize_t(handle.size())) return 1;
    const pid_t child = start_other("/proc/self/exe", ends[0]);
    int status = -1;
    ::waitpid(child, &status, 0);  // orders the processes; the array outlives the other's use

    const auto doubled = array.copy_to_host<float>();
    std::size_t right = 0;
    for (std::size_t i = 0; i < doubled.size(); ++i) right += doubled[i] == 2 * values[i];
    std::printf("%s: another process doubled %zu of %zu elements\n", gpu.agent().label().c_str(), right, values.size());
    return status == 0 && right == values.size() ? 0 : 1;
}

}  // namespace

int main(int argc, char**) try {
    return argc > 1 ? other_process() : first_process();
} catch (const std::exception& error) {
    std::fprintf(stderr, "two_processes: %s\n", error.what());
    return 1;
}
