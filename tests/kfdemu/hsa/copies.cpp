// Asynchronous copies and fills: hsa_amd_memory_async_copy, hsa_amd_memory_fill, hsa_memory_copy, in every
// direction, by the copy engines or, with HSA_ENABLE_SDMA=0, by the runtime's own kernels.
#include <sys/mman.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "tests/kfdemu/hsa/kernel.hpp"
#include "tests/support/catch.hpp"

using namespace hsa_test;

namespace {

constexpr std::size_t kMax = (5 << 20) + 4096;

void write_pattern(std::byte* to, std::size_t size, unsigned seed) {
    for (std::size_t i = 0; i < size; ++i) to[i] = static_cast<std::byte>(i * 7 + i / 251 + seed);
}

bool has_pattern(const std::byte* from, std::size_t size, unsigned seed) {
    for (std::size_t i = 0; i < size; ++i)
        if (from[i] != static_cast<std::byte>(i * 7 + i / 251 + seed)) return false;
    return true;
}

bool all_are(const std::byte* from, std::size_t size, std::byte value) {
    return std::all_of(from, from + size, [&](std::byte b) { return b == value; });
}

/// A buffer of one of the agents; its bytes are read and written by hsa_memory_copy.
struct Side {
    hsa_agent_t agent;
    Memory memory;

    std::byte* at(std::size_t offset) const { return memory.as<std::byte>() + offset; }
};

Side on_host(const Machine& machine, std::size_t size) {
    return {machine.cpu().agent, Memory{machine.cpu().fine, size, machine.agents()}};
}
Side on_gpu(const Machine& machine, std::size_t size) {
    return {machine.gpu().agent, Memory{machine.gpu().coarse, size, {}}};
}

hsa_status_t copy(const Side& to, std::size_t to_offset, const Side& from, std::size_t from_offset, std::size_t size,
                  const Signal& done, const std::vector<hsa_signal_t>& dependencies = {}) {
    return hsa_amd_memory_async_copy(to.at(to_offset), to.agent, from.at(from_offset), from.agent, size,
                                     static_cast<std::uint32_t>(dependencies.size()),
                                     dependencies.empty() ? nullptr : dependencies.data(), done);
}

}  // namespace

TEST_CASE("copies of every size and alignment are complete, and write no other byte", "[device][copies]") {
    NEEDS_GPUS(1);
    Machine machine;
    const Side host = on_host(machine, kMax), back = on_host(machine, kMax), gpu = on_gpu(machine, kMax),
               other = on_gpu(machine, kMax);
    struct Row {
        std::size_t size, from, to;
    };
    const Row rows[] = {{1, 0, 0},
                        {1, 3, 5},
                        {2, 1, 2},
                        {3, 0, 1},
                        {7, 9, 3},
                        {63, 1, 0},
                        {64, 64, 0},
                        {65, 0, 63},
                        {255, 2, 1},
                        {4095, 0, 1},
                        {4096, 4096, 8192},
                        {4097, 4095, 17},
                        {65537, 3, 1},
                        {1 << 20, 0, 0},
                        {(1 << 22) + 1, 0, 1},
                        {(5 << 20) - 3, 1, 2}};
    unsigned seed = 0;
    for (const Row& row : rows) {
        CAPTURE(row.size, row.from, row.to);
        ++seed;
        write_pattern(host.at(row.from), row.size, seed);
        std::memset(back.at(0), 0xee, kMax);
        HSA_CHECK(hsa_amd_memory_fill(gpu.at(0), 0xeeeeeeee, kMax / 4));
        HSA_CHECK(hsa_amd_memory_fill(other.at(0), 0xeeeeeeee, kMax / 4));
        const Signal up, across, down, whole;
        HSA_CHECK(copy(gpu, row.to, host, row.from, row.size, up));
        HSA_CHECK(copy(other, row.from, gpu, row.to, row.size, across, {up}));
        HSA_CHECK(copy(back, row.to, other, row.from, row.size, down, {across}));
        REQUIRE(down.completed());
        CHECK(has_pattern(back.at(row.to), row.size, seed));
        CHECK(all_are(back.at(0), row.to, std::byte{0xee}));
        CHECK(all_are(back.at(row.to + row.size), kMax - row.to - row.size, std::byte{0xee}));
        HSA_CHECK(copy(back, 0, gpu, 0, kMax, whole));
        REQUIRE(whole.completed());
        CHECK(all_are(back.at(0), row.to, std::byte{0xee}));
        CHECK(has_pattern(back.at(row.to), row.size, seed));
        CHECK(all_are(back.at(row.to + row.size), kMax - row.to - row.size, std::byte{0xee}));
    }
}

TEST_CASE("copies within the host's memory", "[device][copies]") {
    NEEDS_GPUS(1);
    Machine machine;
    const Side a = on_host(machine, kMax), b = on_host(machine, kMax);
    write_pattern(a.at(0), kMax, 9);
    const Signal done;
    HSA_CHECK(copy(b, 5, a, 0, kMax - 5, done));
    REQUIRE(done.completed());
    CHECK(has_pattern(b.at(5), kMax - 5, 9));
}

TEST_CASE("a copy waits for all of its dependencies", "[device][copies]") {
    NEEDS_GPUS(1);
    Machine machine;
    const Side host = on_host(machine, 4096), gpu = on_gpu(machine, 4096);
    write_pattern(host.at(0), 4096, 1);
    // ROCR 7.x writes what is beyond five over its stack.
    const bool many = interface_minor() <= 7;
    for (std::size_t count : {1u, 2u, 3u, 5u, 6u, 9u}) {
        if (count > 5 && !many) continue;
        CAPTURE(count);
        std::vector<Signal> signals(count);
        const Signal done;
        HSA_CHECK(copy(gpu, 0, host, 0, 4096, done, {signals.begin(), signals.end()}));
        for (std::size_t i = count; i-- > 0;) {
            CHECK_FALSE(done.completed(10ms));
            signals[i].store(0);
        }
        CHECK(done.completed());
        CHECK(done.load() == 0);
    }
}

TEST_CASE("a dependency is met by zero in all of its 64 bits", "[device][copies]") {
    NEEDS_GPUS(1);
    Machine machine;
    const Side host = on_host(machine, 4096), gpu = on_gpu(machine, 4096);
    const Signal dependency{hsa_signal_value_t{1} << 32}, done;
    HSA_CHECK(copy(gpu, 0, host, 0, 4096, done, {dependency}));
    CHECK_FALSE(done.completed(10ms));
    dependency.store((hsa_signal_value_t{1} << 32) + 1);
    CHECK_FALSE(done.completed(10ms));
    dependency.store(0);
    CHECK(done.completed());
}

TEST_CASE("a copy that waits does not hold up one in the other direction", "[device][copies]") {
    NEEDS_GPUS(1);
    Machine machine;
    const Side host = on_host(machine, 1 << 20), gpu = on_gpu(machine, 1 << 20), other = on_gpu(machine, 1 << 20);
    const Signal gate, up, down;
    HSA_CHECK(copy(gpu, 0, host, 0, 1 << 20, up, {gate}));
    HSA_CHECK(copy(host, 0, other, 0, 1 << 20, down));
    CHECK(down.completed());
    CHECK(up.load() == 1);
    gate.store(0);
    CHECK(up.completed());
}

TEST_CASE("a copy onto itself changes nothing", "[device][copies]") {
    NEEDS_GPUS(1);
    Machine machine;
    const Side gpu = on_gpu(machine, 1 << 20), host = on_host(machine, 1 << 20);
    write_pattern(host.at(0), 1 << 20, 4);
    const Signal up, same, down;
    HSA_CHECK(copy(gpu, 0, host, 0, 1 << 20, up));
    HSA_CHECK(copy(gpu, 0, gpu, 0, 1 << 20, same, {up}));
    HSA_CHECK(copy(host, 0, gpu, 0, 1 << 20, down, {same}));
    REQUIRE(down.completed());
    CHECK(has_pattern(host.at(0), 1 << 20, 4));
}

TEST_CASE("copies and kernels wait for each other", "[device][copies]") {
    NEEDS_GPUS(1);
    Machine machine;
    Queue queue{machine.gpu()};
    const Executable code{machine.gpu(), "work"};
    constexpr std::uint32_t n = 100'000;
    const Side host = on_host(machine, 4 * n), gpu = on_gpu(machine, 4 * n), result = on_gpu(machine, 4 * n);
    for (std::uint32_t i = 0; i < n; ++i) host.memory.as<std::uint32_t>()[i] = 3 * i;
    const Kernel increment = code.kernel("increment");
    const Memory given = arguments(machine, increment, result.at(0), gpu.at(0), n);
    const Signal up, ran, down;
    queue.submit(barrier_and({up}));
    Shape shape = line(n, 256);
    shape.barrier_bit = true;
    queue.submit(kernel_packet(increment, shape, given, ran));
    HSA_CHECK(copy(host, 0, result, 0, 4 * n, down, {ran}));
    HSA_CHECK(copy(gpu, 0, host, 0, 4 * n, up));
    REQUIRE(down.completed());
    for (std::uint32_t i = 0; i < n; ++i) REQUIRE(host.memory.as<std::uint32_t>()[i] == 3 * i + 1);
}

TEST_CASE("threads copy concurrently, each its own bytes", "[device][copies]") {
    NEEDS_GPUS(1);
    Machine machine;
    std::vector<std::thread> threads;
    std::vector<int> right(6, 0);
    for (unsigned t = 0; t < right.size(); ++t)
        threads.emplace_back([&, t] {
            try {
                const std::size_t size = 300'001 + t;
                const Side host = on_host(machine, size), gpu = on_gpu(machine, size), back = on_host(machine, size);
                for (unsigned round = 0; round < 10; ++round) {
                    write_pattern(host.at(0), size, t * 31 + round);
                    const Signal up, down;
                    HSA_CHECK(copy(gpu, 0, host, 0, size, up));
                    HSA_CHECK(copy(back, 0, gpu, 0, size, down, {up}));
                    if (down.completed() && has_pattern(back.at(0), size, t * 31 + round)) ++right[t];
                }
            } catch (const std::exception&) {
                right[t] = -1;
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(right == std::vector<int>(6, 10));
}

TEST_CASE("thousands of copies are in flight at once", "[device][copies]") {
    NEEDS_GPUS(1);
    Machine machine;
    const Side host = on_host(machine, 1 << 16), gpu = on_gpu(machine, 1 << 16), back = on_host(machine, 1 << 16);
    write_pattern(host.at(0), 1 << 16, 8);
    std::memset(back.at(0), 0, 1 << 16);
    const Signal up{1024}, down{1024};
    for (std::size_t i = 0; i < 1024; ++i) HSA_CHECK(copy(gpu, 64 * i, host, 64 * i, 64, up));
    REQUIRE(up.completed());
    for (std::size_t i = 1024; i-- > 0;) HSA_CHECK(copy(back, 64 * i, gpu, 64 * i, 64, down));
    REQUIRE(down.completed());
    CHECK(has_pattern(back.at(0), 1 << 16, 8));
}

TEST_CASE("a fill writes its words and no others", "[device][copies]") {
    NEEDS_GPUS(1);
    Machine machine;
    const Side gpu = on_gpu(machine, kMax), host = on_host(machine, kMax);
    for (std::size_t words : {1u, 3u, 1023u, 1025u, (1u << 20) + 1}) {
        CAPTURE(words);
        HSA_CHECK(hsa_amd_memory_fill(gpu.at(0), 0, kMax / 4));
        HSA_CHECK(hsa_amd_memory_fill(gpu.at(12), 0x89abcdef, words));
        HSA_CHECK(hsa_memory_copy(host.at(0), gpu.at(0), kMax));
        const auto* word = host.memory.as<std::uint32_t>();
        CHECK(std::all_of(word, word + 3, [](std::uint32_t w) { return w == 0; }));
        CHECK(std::all_of(word + 3, word + 3 + words, [](std::uint32_t w) { return w == 0x89abcdef; }));
        CHECK(std::all_of(word + 3 + words, word + kMax / 4, [](std::uint32_t w) { return w == 0; }));
    }
    HSA_STATUS(hsa_amd_memory_fill(gpu.at(1), 0, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    HSA_STATUS(hsa_amd_memory_fill(nullptr, 0, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    HSA_STATUS(hsa_amd_memory_fill(gpu.at(0), 0, 0), HSA_STATUS_SUCCESS);
    HSA_STATUS(hsa_amd_memory_fill(gpu.at(0), 0, (std::size_t{1} << 40)), HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

TEST_CASE("hsa_memory_copy takes pageable memory on either side", "[device][copies]") {
    NEEDS_GPUS(1);
    Machine machine;
    const Side gpu = on_gpu(machine, kMax);
    std::vector<std::byte> from(1 << 20), to(1 << 20);
    write_pattern(from.data(), from.size(), 77);
    HSA_CHECK(hsa_memory_copy(gpu.at(3), from.data(), from.size()));
    HSA_CHECK(hsa_memory_copy(to.data(), gpu.at(3), to.size()));
    CHECK(from == to);
}

TEST_CASE("copies with missing arguments are refused", "[device][copies]") {
    NEEDS_GPUS(1);
    Machine machine;
    const Side gpu = on_gpu(machine, 4096), host = on_host(machine, 4096);
    const Signal done;
    const hsa_signal_t dependency = done;
    const auto agent = machine.gpu().agent, cpu = machine.cpu().agent;
    HSA_STATUS(hsa_amd_memory_async_copy(nullptr, agent, host.at(0), cpu, 1, 0, nullptr, done),
               HSA_STATUS_ERROR_INVALID_ARGUMENT);
    HSA_STATUS(hsa_amd_memory_async_copy(gpu.at(0), agent, nullptr, cpu, 1, 0, nullptr, done),
               HSA_STATUS_ERROR_INVALID_ARGUMENT);
    HSA_STATUS(hsa_amd_memory_async_copy(gpu.at(0), agent, host.at(0), cpu, 1, 1, nullptr, done),
               HSA_STATUS_ERROR_INVALID_ARGUMENT);
    HSA_STATUS(hsa_amd_memory_async_copy(gpu.at(0), agent, host.at(0), cpu, 1, 0, &dependency, done),
               HSA_STATUS_ERROR_INVALID_ARGUMENT);
    HSA_STATUS(hsa_amd_memory_async_copy(gpu.at(0), hsa_agent_t{0}, host.at(0), cpu, 1, 0, nullptr, done),
               HSA_STATUS_ERROR_INVALID_AGENT);
    CHECK(done.load() == 1);
}

// Hidden, because it is slow: the build runs it once.
TEST_CASE("a copy of more than 4 GiB", "[.large]") {
    NEEDS_GPUS(1);
    Machine machine;
    constexpr std::size_t size = (std::size_t{4} << 30) + 4096;
    std::size_t vram = 0, available_kib = 0;
    HSA_CHECK(hsa_amd_memory_pool_get_info(machine.gpu().coarse, HSA_AMD_MEMORY_POOL_INFO_SIZE, &vram));
    std::ifstream info{"/proc/meminfo"};
    for (std::string key, unit; info >> key && key != "MemAvailable:";) std::getline(info, unit);
    info >> available_kib;
    // The bytes are made on the GPU and copied there, and both buffers may be the host's memory in the end.
    if (vram < 2 * size || available_kib / (1 << 20) < 12) SKIP_BECAUSE("there is not enough memory");
    const Side a = on_gpu(machine, size), b = on_gpu(machine, size), host = on_host(machine, 8192);
    const std::size_t ends[] = {0, (std::size_t{4} << 30) - 4096, std::size_t{4} << 30};
    for (std::size_t at : ends)
        HSA_CHECK(hsa_amd_memory_fill(a.at(at), 0x1000 + static_cast<std::uint32_t>(at >> 12), 1024));
    const Signal done;
    HSA_CHECK(copy(b, 0, a, 0, size, done));
    REQUIRE(done.completed(280s));
    for (std::size_t at : ends) {
        const Signal down;
        HSA_CHECK(copy(host, 0, b, at, 4096, down));
        REQUIRE(down.completed());
        CHECK(host.memory.as<std::uint32_t>()[1023] == 0x1000 + static_cast<std::uint32_t>(at >> 12));
    }
}
