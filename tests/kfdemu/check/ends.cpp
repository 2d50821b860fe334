// A program that ends, forks, waits and loads plugins as its arguments say, for tests of `kfdemu run --check` from a
// user's view.
//
//     check_ends late fork        # a kernel with a defect, then a child that exits
#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <thread>

#include "hsa/kernel.hpp"

using namespace hsa_test;

namespace {

/// A GPU, its queue and a kernel's memory; made when they are first needed.
struct Device {
    Machine machine;
    Executable code{machine.gpu(), "../check/late.O0"};
    Memory in{machine.cpu().fine, 4096, machine.agents()}, out{machine.cpu().fine, 4096, machine.agents()};
    Queue queue{machine.gpu()};

    void run(const char* kernel) {
        hsa_test::run(machine, queue, code.kernel(kernel), line(64), in.data(), out.data());
    }
};

Device& device() {
    static auto* const instance = new Device;  // alive at exit, as in many programs
    return *instance;
}

void* plugin() {
    void* opened = dlopen(CHECK_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) std::printf("%s\n", dlerror());
    return opened;
}

void start_plugin() { reinterpret_cast<void (*)()>(dlsym(plugin(), "plugin_start"))(); }

/// A thread that holds the lock of stdin.
void wait_for_input() {
    std::thread{[] { std::getchar(); }}.detach();
    std::this_thread::sleep_for(200ms);
}

const std::map<std::string, std::function<void()>> kActions = {
    {"late", [] { device().run("late"); }},
    {"fine", [] { device().run("in_time"); }},
    {"plugin", start_plugin},
    {"input", wait_for_input},
};

}  // namespace

int main(int argc, char** argv) {
    for (int n = 1; n < argc; ++n) kActions.at(argv[n])();
    std::puts("done");
}
