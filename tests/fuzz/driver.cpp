// Feeds a fuzz target: a fixed number of inputs from a fixed seed, or files.
//
//     fuzz_sdma [INPUTS [SEED]]       that many mutations of the target's seeds; default 20000
//     fuzz_sdma --seeds FOLDER        writes the seeds as files, for libFuzzer to start from
//     fuzz_sdma FILE…                 only these inputs, such as one that crashed
//
// An input that crashes, hangs or violates an invariant is written to crash-PROGRAM in the current folder.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/fuzz/mutate.hpp"

extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());

namespace {

constexpr unsigned kSecondsForOne = 20;
constexpr std::uint64_t usual_inputs = 20000;

const fuzz::Bytes* current = nullptr;
std::string crash_file;  // NOLINT: read in a signal handler, written before it is installed

/// Async-signal-safe.
void keep_input() {
    if (!current) return;
    const int fd = open(crash_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0) return;
    const bool whole = write(fd, current->data(), current->size()) == static_cast<ssize_t>(current->size());
    close(fd);
    const char said[] = "fuzz: the input is in crash-* in this folder\n";
    if (whole && write(STDERR_FILENO, said, sizeof said - 1) < 0) return;
}

void on_signal(int number) {
    keep_input();
    signal(number, SIG_DFL);
    raise(number);
}

void watch() {
    for (int number : {SIGABRT, SIGALRM}) signal(number, on_signal);
    if (__sanitizer_set_death_callback) {
        __sanitizer_set_death_callback(keep_input);  // the sanitizer handles the other signals
        return;
    }
    for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) signal(number, on_signal);
}

void feed(const fuzz::Bytes& bytes) {
    current = &bytes;
    alarm(kSecondsForOne);
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    alarm(0);
    current = nullptr;
}

int feed_mutations(std::uint64_t inputs, std::uint64_t seed) {
    const std::vector<fuzz::Bytes> seeds = fuzz::seeds();
    for (const fuzz::Bytes& bytes : seeds) feed(bytes);
    fuzz::Mutator mutator{seed};
    for (std::uint64_t n = 0; n < inputs; ++n) feed(mutator.next(seeds));
    std::printf("%zu seeds and %llu mutations came back\n", seeds.size(), static_cast<unsigned long long>(inputs));
    return 0;
}

int write_seeds(const std::string& folder) {
    if (mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) return std::perror(folder.c_str()), 1;
    std::size_t n = 0;
    for (const fuzz::Bytes& bytes : fuzz::seeds()) {
        std::ofstream file{folder + "/seed-" + std::to_string(n++), std::ios::binary};
        file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        if (!file.flush()) return std::perror(folder.c_str()), 1;
    }
    return 0;
}

bool is_number(const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

int main(int count, char** arguments) {
    const std::string program = arguments[0];
    crash_file = "crash-" + program.substr(program.rfind('/') + 1);
    watch();
    if (count == 3 && std::string{arguments[1]} == "--seeds") return write_seeds(arguments[2]);
    if (count == 1 || is_number(arguments[1])) {
        return feed_mutations(count > 1 ? std::strtoull(arguments[1], nullptr, 10) : usual_inputs,
                              count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 1);
    }
    for (int n = 1; n < count; ++n) {
        std::ifstream file{arguments[n], std::ios::binary};
        if (!file) return std::perror(arguments[n]), 1;
        feed(fuzz::Bytes{std::istreambuf_iterator<char>{file}, {}});
    }
    return 0;
}
