// A program with the defects that its arguments name, for tests of `kfdemu run --check` from a user's view.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>

#include "tests/kfdemu/hsa/kernel.hpp"

using namespace hsa_test;

namespace {

class Program {
  public:
    /// The kernel uses a register before its load has arrived.
    void late() { launch("late.O0", "late"); }
    /// 12 bytes past the end of 100.
    void outside() { launch("bounds.O0", "read_word", 28); }
    void inside() { launch("bounds.O0", "read_word", 9); }
    /// A child that does nothing, and exits.
    void child() {
        std::fflush(stdout);
        const pid_t child = fork();
        if (child == 0) std::exit(0);
        int status = 0;
        waitpid(child, &status, 0);
        std::printf("the child's status is %d\n", WEXITSTATUS(status));
    }
    /// Reads memory that was freed.
    void freed() {
        Executable code{machine_.gpu(), "../check/bounds.O0"};
        Memory out{machine_.cpu().fine, 4096, machine_.agents()};
        Queue queue{machine_.gpu()};
        void* in = allocate(100);
        hsa_amd_memory_pool_free(in);
        run(machine_, queue, code.kernel("read_word"), line(1), in, out.data(), 9);
    }

    /// Two allocations of 100 bytes at one place, and one of another size.
    void lose_memory() {
        for (int n = 0; n < 2; ++n) allocate(100);
        allocate(5000);
    }
    void lose_signals() {
        hsa_signal_t signal{};
        for (int n = 0; n < 3; ++n) HSA_CHECK(hsa_signal_create(1, 0, nullptr, &signal));
        HSA_CHECK(hsa_amd_signal_create(1, 0, nullptr, 0, &signal));
    }
    void lose_queue() {
        hsa_queue_t* queue = nullptr;
        HSA_CHECK(hsa_queue_create(machine_.gpu().agent, 64, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, UINT32_MAX,
                                   UINT32_MAX, &queue));
    }
    void lose_executable() {
        hsa_executable_t executable{};
        HSA_CHECK(
            hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &executable));
        hsa_code_object_reader_t reader{};
        HSA_CHECK(hsa_code_object_reader_create_from_memory("", 1, &reader));
    }

  private:
    [[gnu::noinline]] void* allocate(std::size_t bytes) {
        void* memory = nullptr;
        HSA_CHECK(hsa_amd_memory_pool_allocate(machine_.gpu().coarse, bytes, 0, &memory));
        HSA_CHECK(hsa_amd_agents_allow_access(1, &machine_.gpu().agent, nullptr, memory));
        return memory;
    }

    template <class... More>
    void launch(const std::string& code_object, const char* name, More... more) {
        Executable code{machine_.gpu(), "../check/" + code_object};
        Memory in{machine_.gpu().coarse, sizeof...(more) == 0 ? 4096 : 100, machine_.agents()};
        Memory out{machine_.cpu().fine, 4096, machine_.agents()};
        Queue queue{machine_.gpu()};
        run(machine_, queue, code.kernel(name), line(sizeof...(more) == 0 ? 64 : 1), in.data(), out.data(), more...);
    }

    Machine machine_;
};

}  // namespace

int main(int argc, char** argv) {
    const std::map<std::string, std::function<void(Program&)>> defects = {
        {"late", &Program::late},          {"outside", &Program::outside},
        {"inside", &Program::inside},      {"freed", &Program::freed},
        {"memory", &Program::lose_memory}, {"signals", &Program::lose_signals},
        {"queue", &Program::lose_queue},   {"executable", &Program::lose_executable},
        {"fork", &Program::child},         {"exit", [](Program&) { std::exit(0); }},
    };
    if (argc > 1 && std::strcmp(argv[1], "--no-tools") == 0) {
        unsetenv("HSA_TOOLS_LIB");
        --argc, ++argv;
    }
    Program program;
    for (int n = 1; n < argc; ++n) {
        std::printf("%s\n", argv[n]);
        defects.at(argv[n])(program);
    }
    std::puts("done");
}
