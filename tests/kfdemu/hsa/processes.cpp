// One device, several threads and processes: fork, exec, racing init and shut-down, exits of every kind, without leaks.
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <thread>

#include "tests/kfdemu/hsa/child.hpp"
#include "tests/kfdemu/hsa/kernel.hpp"
#include "tests/support/catch.hpp"

using namespace hsa_test;

namespace {

/// A kernel counts; whether it counted right.
bool device_works() {
    Machine machine;
    Queue queue{machine.gpu()};
    const Executable code{machine.gpu(), "work"};
    const Memory total{machine.cpu().fine, 4096, machine.agents()};
    *total.as<std::uint32_t>() = 0;
    run(machine, queue, code.kernel("count"), line(500), total.data());
    return *total.as<std::uint32_t>() == 500;
}

struct Busy {
    Machine machine;
    Executable code{machine.gpu(), "work"};
    Memory started{machine.cpu().fine, 4096, machine.agents()};
    std::optional<Launch> endless;
    Queue queue{machine.gpu()};  // destroyed before the memory of its kernel

    Busy() {
        *started.as<volatile std::uint32_t>() = 0;
        endless.emplace(launch(machine, queue, code.kernel("endless"), line(4096), started.data()));
        if (!eventually([&] { return *started.as<volatile std::uint32_t>() == 1; }))
            throw std::runtime_error{"nothing started"};
    }
};

}  // namespace

TEST_CASE("child: the device works", "[.child]") { CHECK(device_works()); }

TEST_CASE("the runtime starts and stops again and again", "[device][processes]") {
    NEEDS_GPUS(1);
    for (int i = 0; i < 5; ++i) CHECK(device_works());
}

TEST_CASE("threads start and stop the runtime at the same time", "[device][processes]") {
    NEEDS_GPUS(1);
    std::atomic<int> failures{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 6; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 100; ++i) {
                if (hsa_init() != HSA_STATUS_SUCCESS) ++failures;
                std::uint64_t now = 0;
                if (hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &now) != HSA_STATUS_SUCCESS || now == 0) ++failures;
                if (hsa_shut_down() != HSA_STATUS_SUCCESS) ++failures;
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(failures == 0);
    CHECK(device_works());
}

TEST_CASE("without a started runtime its functions return that error", "[device][processes]") {
    NEEDS_GPUS(1);
    HSA_STATUS(hsa_shut_down(), HSA_STATUS_ERROR_NOT_INITIALIZED);
    hsa_signal_t signal{};
    HSA_STATUS(hsa_signal_create(1, 0, nullptr, &signal), HSA_STATUS_ERROR_NOT_INITIALIZED);
}

TEST_CASE("each thread has its own queues and kernels", "[device][processes]") {
    NEEDS_GPUS(1);
    std::atomic<int> right{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
        threads.emplace_back([&] {
            try {
                for (int i = 0; i < 3; ++i) right += device_works();
            } catch (const std::exception&) {
                right -= 100;
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(right == 24);
}

TEST_CASE("two processes use the device at the same time, while a third keeps it busy", "[device][processes]") {
    NEEDS_GPUS(1);
    Busy busy;
    std::vector<ChildResult> results(2);
    std::vector<std::thread> threads;
    for (ChildResult& result : results) threads.emplace_back([&] { result = run_child("child: the device works"); });
    for (std::thread& thread : threads) thread.join();
    for (const ChildResult& result : results) {
        INFO(result.output);
        CHECK(result.passed());
    }
    CHECK(busy.endless->done.load() == 1);
}

TEST_CASE("a forked child that executes a program has the device, and so has its parent still", "[device][processes]") {
    NEEDS_GPUS(1);
    Machine machine;
    Queue queue{machine.gpu()};
    REQUIRE(queue.drains());
    const ChildResult child = run_child("child: the device works");
    INFO(child.output);
    CHECK(child.passed());
    CHECK(queue.drains());
}

TEST_CASE("a forked child that only exits does not affect its parent's work", "[device][processes]") {
    NEEDS_GPUS(1);
    Machine machine;
    Queue queue{machine.gpu()};
    const Executable code{machine.gpu(), "work"};
    const Memory words{machine.cpu().fine, 4096, machine.agents()};
    auto* word = words.as<volatile std::uint32_t>();
    std::memset(words.data(), 0, 8);
    const Launch lasting = launch(machine, queue, code.kernel("spin"), {}, &word[0], &word[1]);
    for (int i = 0; i < 5; ++i) {
        const pid_t process = fork();
        if (process == 0) _exit(7);
        int status = 0;
        REQUIRE(waitpid(process, &status, 0) == process);
        CHECK(WEXITSTATUS(status) == 7);
    }
    CHECK(lasting.done.load() == 1);
    word[0] = 1;
    CHECK(lasting.completed());
    CHECK(queue.drains());
}

TEST_CASE("a forked child that uses its parent's runtime is refused, and the parent continues", "[device][processes]") {
    NEEDS_GPUS(1);
    Machine machine;
    Queue queue{machine.gpu()};
    REQUIRE(queue.drains());
    const pid_t process = fork();
    if (process == 0) {
        alarm(20);
        hsa_queue_t* none = nullptr;
        void* memory = nullptr;
        const auto agent = machine.gpu().agent;
        const bool refused = hsa_queue_create(agent, 64, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, UINT32_MAX, UINT32_MAX,
                                              &none) == HSA_STATUS_ERROR_OUT_OF_RESOURCES &&
                             hsa_amd_memory_pool_allocate(machine.gpu().coarse, 8 << 20, 0, &memory) ==
                                 HSA_STATUS_ERROR_OUT_OF_RESOURCES;
        _exit(refused ? 0 : 9);
    }
    int status = 0;
    REQUIRE(waitpid(process, &status, 0) == process);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK(queue.drains());
}

TEST_CASE("child: forks and starts the runtime there", "[.child]") {
    {
        Machine machine;
        Queue queue{machine.gpu()};
        CHECK(queue.drains());
    }
    const pid_t process = fork();
    if (process == 0) {
        bool works = false;
        try {
            works = device_works();
        } catch (const std::exception&) {
        }
        _exit(works ? 0 : 9);
    }
    int status = 0;
    REQUIRE(waitpid(process, &status, 0) == process);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK(device_works());
}

TEST_CASE("a child forked after the runtime was shut down may start it again", "[device][processes]") {
    NEEDS_GPUS(1);
    const ChildResult child = run_child("child: forks and starts the runtime there");
    INFO(child.output);
    CHECK(child.passed());
}

TEST_CASE("child: ends with a kernel in flight", "[.child]") {
    auto* busy = new Busy;  // never destroyed: the process exits with it
    REQUIRE(busy->endless->done.load() == 1);
    if (row() == "exit") std::exit(23);
    if (row() == "_exit") _exit(23);
    if (row() == "exec") execl("/bin/sh", "sh", "-c", "exit 23", static_cast<char*>(nullptr));
    if (row() == "kill") raise(SIGKILL);
    if (row() == "shut down") {
        hsa_shut_down();
        std::exit(23);
    }
}

TEST_CASE("a process ends with a kernel in flight, however it ends", "[device][processes]") {
    NEEDS_GPUS(1);
    for (const char* how : {"exit", "_exit", "exec", "shut down"}) {
        const ChildResult child = run_child("child: ends with a kernel in flight", how);
        CAPTURE(how, child.output);
        CHECK(child.status == 23);
    }
    const ChildResult child = run_child("child: ends with a kernel in flight", "kill");
    CHECK(child.signal == SIGKILL);
}

TEST_CASE("child: few descriptors", "[.child]") {
    // Fewer and fewer descriptors are left, so that another call fails each time; none may crash.
    const int left = std::stoi(row());
    std::vector<int> taken;
    for (int fd = open("/dev/null", O_RDONLY); fd >= 0; fd = open("/dev/null", O_RDONLY)) taken.push_back(fd);
    for (int i = 0; i < left && !taken.empty(); ++i, taken.pop_back()) close(taken.back());
    const hsa_status_t status = hsa_init();
    if (status == HSA_STATUS_SUCCESS) hsa_shut_down();
    for (int fd : taken) close(fd);
    CHECK((status == HSA_STATUS_SUCCESS || status == HSA_STATUS_ERROR_OUT_OF_RESOURCES || status == HSA_STATUS_ERROR));
    if (left > 100) CHECK(status == HSA_STATUS_SUCCESS);
    if (left == 0) CHECK(status != HSA_STATUS_SUCCESS);
}

TEST_CASE("without descriptors the runtime does not start, with an error", "[device][processes]") {
    NEEDS_GPUS(1);
    if (kSanitized) SKIP_BECAUSE("a sanitizer needs descriptors itself");
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    const rlimit few{std::min<rlim_t>(256, before.rlim_cur), before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    std::vector<std::pair<int, ChildResult>> results;
    for (int left : {0, 1, 200}) results.emplace_back(left, run_child("child: few descriptors", std::to_string(left)));
    setrlimit(RLIMIT_NOFILE, &before);
    for (const auto& [left, child] : results) {
        CAPTURE(left, child.output);
        CHECK(child.passed());
    }
}

TEST_CASE("child: counts GPUs", "[.child]") {
    REQUIRE(getauxval(AT_SECURE) == 1);
    std::size_t gpus = 0;
    if (hsa_init() == HSA_STATUS_SUCCESS) {
        hsa_shut_down();
        gpus = Machine{}.gpus().size();
    }
    std::printf("GPUs: %zu\n", gpus);
}

// The environment is the caller's, and must not choose the device of a setuid program.
TEST_CASE("a setuid program finds the devices it finds without the caller's environment", "[device][processes]") {
    NEEDS_GPUS(1);
    if (geteuid() != 0) SKIP_BECAUSE("only root can make a setuid program");
    char folder[] = "/tmp/setuid-XXXXXX";
    REQUIRE(mkdtemp(folder));
    const std::string copy = std::string{folder} + "/program";
    REQUIRE(chmod(folder, 0755) == 0);
    const std::string self = std::filesystem::read_symlink("/proc/self/exe");
    std::filesystem::copy_file(self, copy);
    REQUIRE(chmod(copy.c_str(), 04755) == 0);
    const auto start = [&](const std::string& kfdemu) {
        return run_program({"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", copy, "child: counts GPUs",
                            "--rng-seed", "1"},  // which Catch2 3 prints
                           {{"KFDEMU", kfdemu}});
    };
    const ChildResult asked = start("on,gpus=2"), unasked = start("off");
    std::filesystem::remove_all(folder);
    CAPTURE(asked.output, unasked.output);
    CHECK(asked.passed());
    CHECK(asked.output.find("GPUs: ") != std::string::npos);
    CHECK(asked.output == unasked.output);
}
