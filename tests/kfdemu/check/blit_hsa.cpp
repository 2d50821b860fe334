// Mutation: removes one instruction at a time from the kernels with which the HSA runtime itself copies and fills, and
// counts what is caught: s_waitcnt by `wait`, the mask of the lanes beyond the end by `memory`.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <span>

#include "tests/kfdemu/control/control.hpp"
#include "tests/kfdemu/hsa/kernel.hpp"

using namespace hsa_test;

namespace {

constexpr std::size_t kPage = 4096, kHeader = 256;
constexpr std::uint32_t kNop = 0xbf800000;  // s_nop 0

/// s_waitcnt, s_and_b64 exec, exec, vcc and s_endpgm.
struct Words {
    std::uint32_t wait, mask, end;
};
Words words_of(const std::string& gpu) {
    if (gpu.starts_with("gfx11") || gpu.starts_with("gfx12")) return {0xbf89, 0x8bfe6a7e, 0xbfb00000};
    return {0xbf8c, gpu.starts_with("gfx10") ? 0x87fe6a7e : 0x86fe6a7e, 0xbf810000};
}
bool is_wait(const Words& words, std::uint32_t dword) { return dword >> 16 == words.wait; }
bool is_mask(const Words& words, std::uint32_t dword) { return dword == words.mask; }

/// A page of this process, or empty.
std::vector<std::uint32_t> read_page(std::uintptr_t at) {
    static const int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    std::vector<std::uint32_t> words(kPage / 4);
    const ssize_t read = pread(memory, words.data(), kPage, static_cast<off_t>(at));
    return read == static_cast<ssize_t>(kPage) ? words : std::vector<std::uint32_t>{};
}

/// The runtime begins a page with a header whose entry offset is its own size, and then the code.
bool is_kernel(const std::vector<std::uint32_t>& page) {
    return !page.empty() && page[4] == kHeader && page[5] == 0 && page[0] == 0 && page[12] != 0 &&
           (page[kHeader / 4] >> 26 == 0x30 ||
            page[kHeader / 4] >> 26 == 0x3d);  // SMEM of GFX9, of GFX10: its arguments
}

/// Not a copy of one that the emulator holds.
bool is_the_runtimes(std::uintptr_t page) {
    hsa_amd_pointer_info_t info{};
    info.size = sizeof info;
    HSA_CHECK(hsa_amd_pointer_info(reinterpret_cast<void*>(page), &info, nullptr, nullptr, nullptr));
    return info.type == HSA_EXT_POINTER_TYPE_HSA;
}

/// The instructions of each such kernel.
std::vector<std::span<std::uint32_t>> blit_kernels() {
    std::vector<std::span<std::uint32_t>> found;
    std::ifstream maps{"/proc/self/maps"};
    for (std::string line; std::getline(maps, line);) {
        std::uintptr_t begin = 0, end = 0;
        char access[5] = {};
        if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, access) != 3) continue;
        if (access[0] != 'r' || access[1] != 'w' || end - begin > (1u << 20)) continue;
        for (std::uintptr_t page = begin; page < end; page += kPage)
            if (is_kernel(read_page(page)) && is_the_runtimes(page))
                found.emplace_back(reinterpret_cast<std::uint32_t*>(page + kHeader), (kPage - kHeader) / 4);
    }
    return found;
}

/// Copies of both kinds and a fill, by kernels of the runtime, between allocations that end where the copies do.
class Blits {
  public:
    void run() const {
        copy(1, 1, kSize - 1);
        copy(1, 2, kSize - 2);
        HSA_CHECK(hsa_amd_memory_fill(to_.data(), 7, kFilled));
    }

    const std::string& gpu_name() const { return machine_.gpu().name; }

  private:
    static constexpr std::size_t kSize = (2 << 20) + 4 * 37 + 3, kFilled = 1000;

    void copy(std::size_t to, std::size_t from, std::size_t size) const {
        const Signal done;
        HSA_CHECK(hsa_amd_memory_async_copy(to_.as<char>() + to, machine_.gpu().agent, from_.as<char>() + from,
                                            machine_.gpu().agent, size, 0, nullptr, done));
        REQUIRE(done.completed());
    }

    Machine machine_;
    Memory from_{machine_.gpu().coarse, kSize, {}}, to_{machine_.gpu().coarse, kSize, {}};
};

struct Tally {
    unsigned removed = 0, caught = 0;
};

Tally mutate(const test_support::Control& control, bool (*is_removed)(const Words&, std::uint32_t), const char* what) {
    const Blits blits;
    blits.run();
    REQUIRE(control->findings() == 0);
    const Words words = words_of(blits.gpu_name());
    const auto kernels = blit_kernels();
    REQUIRE(kernels.size() >= 3);
    Tally tally;
    for (const auto& code : kernels)
        for (std::size_t at = 0; at < code.size() && code[at] != words.end; ++at) {
            if (!is_removed(words, code[at])) continue;
            control->forget_findings();
            const std::uint32_t original = std::exchange(code[at], kNop);
            blits.run();
            code[at] = original;
            const bool caught = control->findings() != 0;
            ++tally.removed;
            tally.caught += caught;
            std::printf("mutation: %s at dword %zu: %s\n", what, at, caught ? "caught" : "not caught");
        }
    std::printf("mutation: %u %s, %u caught\n", tally.removed, what, tally.caught);
    control->forget_findings();
    return tally;
}

bool copies_by_kernels() {
    const char* engines = std::getenv("HSA_ENABLE_SDMA");
    return engines != nullptr && *engines == '0';
}

}  // namespace

TEST_CASE("one s_waitcnt at a time is removed from the runtime's kernels", "[check][blit]") {
    NEEDS_CONTROL(control);
    if (!copies_by_kernels()) SKIP_BECAUSE("copies are made by engines, unless HSA_ENABLE_SDMA=0");
    REQUIRE(control->check(KFDEMU_CHECK_WAIT) == 0);
    const Tally tally = mutate(control, is_wait, "waits");
    CHECK(tally.removed != 0);
    CHECK(tally.caught == tally.removed);
    control->check(0);
}

TEST_CASE("one mask of lanes at a time is removed from the runtime's kernels", "[check][blit]") {
    NEEDS_CONTROL(control);
    if (!copies_by_kernels()) SKIP_BECAUSE("copies are made by engines, unless HSA_ENABLE_SDMA=0");
    REQUIRE(control->check(KFDEMU_CHECK_MEMORY) == 0);
    const Tally tally = mutate(control, is_mask, "masks");
    // Not caught: those of the parts that copy up to the first aligned address. What they copy too much, the next part
    // copies again.
    CHECK(tally.caught >= 3);
    control->check(0);
}
