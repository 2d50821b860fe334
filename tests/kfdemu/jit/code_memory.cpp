// Memory for translated code.
#include "tools/kfdemu/jit/code_memory.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "tests/support/catch.hpp"

using kfdemu::jit::CodeMemory;

namespace {

/// mov eax, number; ret
std::vector<std::uint8_t> returns(std::uint8_t number) { return {0xb8, number, 0, 0, 0, 0xc3}; }

#if defined(__clang__)
[[clang::no_sanitize("function")]]
#endif
int call(const CodeMemory::Block& block) {
    return reinterpret_cast<int (*)()>(reinterpret_cast<std::uintptr_t>(block.entry()))();
}

}  // namespace

TEST_CASE("stored code runs, and stays as it is", "[jit]") {
    CodeMemory memory;
    std::vector<std::unique_ptr<CodeMemory::Block>> blocks;
    for (unsigned n = 0; n < 200; ++n) {
        std::vector<std::uint8_t> code = returns(static_cast<std::uint8_t>(n));
        code.resize(3000, 0xcc);  // several chunks
        blocks.push_back(memory.store(code));
        REQUIRE(blocks.back());
    }
    std::rotate(blocks.begin(), blocks.begin() + 77, blocks.end());
    blocks.resize(100);
    for (unsigned n = 0; n < 100; ++n) CHECK(call(*blocks[n]) == static_cast<int>((n + 77) % 256));
}

TEST_CASE("a process that is forked while another thread stores code can store", "[jit]") {
    CodeMemory memory;
    std::atomic<bool> stop{false};
    std::thread busy([&] {
        std::vector<std::unique_ptr<CodeMemory::Block>> kept;
        while (!stop) {
            kept.push_back(memory.store(std::vector<std::uint8_t>(2000, 0xcc)));
            if (kept.size() == 100) kept.clear();
        }
    });
    unsigned good = 0;
    for (unsigned n = 0; n < 30; ++n) {
        memory.before_fork();
        const pid_t child = fork();
        memory.after_fork();
        if (child == 0) {
            alarm(10);
            const auto own = memory.store(returns(7));
            _exit(own && call(*own) == 7 ? 0 : 1);
        }
        int status = 0;
        good += waitpid(child, &status, 0) == child && status == 0;
    }
    stop = true;
    busy.join();
    CHECK(good == 30);
}

TEST_CASE("a forked process does not write into its parent's code", "[jit]") {
    CodeMemory memory;
    const auto before = memory.store(returns(1));
    REQUIRE(before);
    int go[2];
    REQUIRE(pipe(go) == 0);
    const pid_t child = fork();
    if (child == 0) {
        char byte = 0;
        if (read(go[0], &byte, 1) != 1) _exit(2);
        const auto own = memory.store(returns(2));  // its place would be that of the parent's
        _exit(own && call(*own) == 2 && call(*before) == 1 ? 0 : 1);
    }
    const auto after = memory.store(returns(3));
    REQUIRE(after);
    REQUIRE(write(go[1], "", 1) == 1);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    close(go[0]);
    close(go[1]);
    CHECK(status == 0);
    CHECK(call(*after) == 3);
    CHECK(call(*before) == 1);
}
