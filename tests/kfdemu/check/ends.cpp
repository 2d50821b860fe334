// A program that ends, forks, waits and loads plugins as its arguments say, for tests of `kfdemu run --check` from a
// user's view.
//
//     check_ends late fork        # a kernel with a defect, then a child that exits
#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <thread>

#include "tests/kfdemu/hsa/kernel.hpp"
#include "tools/kfdemu/kfdemu.h"

using namespace hsa_test;

namespace {

/// A GPU, its queue and a kernel's memory; made when they are first needed.
struct Device {
    Machine machine;
    Executable code{machine.gpu(), "../check/late.O0"}, quick{machine.gpu(), "../check/late.O3"};
    Memory in{machine.cpu().fine, 4096, machine.agents()}, out{machine.cpu().fine, 4096, machine.agents()};
    Queue queue{machine.gpu()};

    void run(const char* kernel) { run(code.kernel(kernel)); }
    void run(const Kernel& kernel) { hsa_test::run(machine, queue, kernel, line(64), in.data(), out.data()); }
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

/// Loads the plugin, whose constructor launches a kernel with a defect and waits for it, under the dynamic linker's
/// lock.
bool in_constructor = false;
void run_in_constructor() {
    in_constructor = true;
    device();
    plugin();
}

void start_plugin() { reinterpret_cast<void (*)()>(dlsym(plugin(), "plugin_start"))(); }

/// On the second of two queues.
void run_on_second_gpu() {
    Machine machine;
    const Gpu& gpu = machine.gpu(1);
    Executable code{gpu, "../check/late.O0"};
    Memory in{machine.cpu().fine, 4096, machine.agents()}, out{machine.cpu().fine, 4096, machine.agents()};
    Queue first{gpu}, second{gpu};
    hsa_test::run(machine, first, code.kernel("in_time"), line(64), in.data(), out.data());
    hsa_test::run(machine, second, code.kernel("late"), line(64), in.data(), out.data());
    std::printf("expected: GPU 1, queue %d, dispatch 1\n", static_cast<int>(second.get()->id));
}

/// A thread that holds the lock of stdin.
void wait_for_input() {
    std::thread{[] { std::getchar(); }}.detach();
    std::this_thread::sleep_for(200ms);
}

/// Whether the child ended in time.
bool ended(pid_t child, int& status) {
    for (int tries = 0; tries < 1000; ++tries) {
        if (waitpid(child, &status, WNOHANG) == child) return true;
        std::this_thread::sleep_for(10ms);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return false;
}

/// A child that calls `body` and exits with 7.
void fork_child(const std::function<void()>& body = nullptr) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        if (body) body();
        std::exit(7);
    }
    int status = 0;
    if (!ended(child, status)) return void(std::puts("a child hangs"));
    if (WEXITSTATUS(status) != 7 && !body) std::printf("a child's status is %d\n", WEXITSTATUS(status));
}

/// Children while kernels report findings.
void fork_often() {
    device().run("in_time");
    std::atomic<bool> done{false};
    std::thread kernels{[&] {
        while (!done) device().run(device().quick.kernel("late_often"));
    }};
    for (int n = 0; n < 60; ++n) fork_child();
    done = true;
    kernels.join();
}

const std::map<std::string, std::function<void()>> kActions = {
    {"late", [] { device().run("late"); }},
    {"fine", [] { device().run("in_time"); }},
    {"plugin", start_plugin},
    {"input", wait_for_input},
    {"constructor", run_in_constructor},
    {"fork", [] { fork_child(); }},
    {"forks", fork_often},
    {"fork-late", [] { fork_child([] { execl("/proc/self/exe", "check_ends", "late", nullptr); }); }},
    {"abort", [] { std::abort(); }},
    {"_exit", [] { _exit(0); }},
    {"quick_exit", [] { std::quick_exit(0); }},
    {"exec", [] { execl("/bin/true", "true", nullptr); }},
    {"switch-on", [] { kfdemu_find_control()->check(KFDEMU_CHECK_MEMORY); }},
    {"other-gpu", run_on_second_gpu},
    {"count", [] { std::printf("%d findings\n", static_cast<int>(kfdemu_find_control()->findings())); }},
    {"leave", [] { std::exit(chdir("/proc") == 0 ? 0 : 1); }},
};

}  // namespace

/// Called by the plugin's constructor.
extern "C" void plugin_is_loaded() {
    if (!in_constructor) return;
    device().run("late");
    const kfdemu_control* control = kfdemu_find_control();
    std::printf("%d findings in the constructor\n", static_cast<int>(control->findings()));
}

int main(int argc, char** argv) {
    for (int n = 1; n < argc; ++n) kActions.at(argv[n])();
    std::puts("done");
}
