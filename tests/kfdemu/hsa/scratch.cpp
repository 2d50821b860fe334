// Scratch: private memory of each work-item, which the runtime provides when the queue requests it, in any
// amount up to what the hardware can address (ROCR: AqlQueue::DynamicScratchHandler, GpuAgent::AcquireQueueScratch).
#include "tests/kfdemu/hsa/kernel.hpp"
#include "tests/support/catch.hpp"

using namespace hsa_test;

namespace {

/// Sum of seed … seed + n − 1.
std::uint32_t sum_from(std::uint32_t seed, std::uint32_t n) {
    return static_cast<std::uint32_t>(std::uint64_t{n} * seed + std::uint64_t{n} * (n - 1) / 2);
}

struct ScratchBench {
    Machine machine;
    Queue queue{machine.gpu()};
    Executable code{machine.gpu(), "scratch"};
    Memory out{machine.cpu().fine, 1 << 20, machine.agents()};

    /// Runs a kernel that fills and adds `words` words; whether every work-item got its own sum.
    void check(const char* name, std::uint32_t words, const Shape& shape) {
        CAPTURE(name);
        const Kernel kernel = code.kernel(name);
        REQUIRE(kernel.private_bytes >= 4 * words);
        std::memset(out.data(), 0, out.size_bytes());
        run(machine, queue, kernel, shape, out.data());
        std::uint32_t wrong = 0;
        for (std::uint32_t i = 0; i < shape.grid[0]; ++i) wrong += out.as<std::uint32_t>()[i] != sum_from(i, words);
        CHECK(wrong == 0);
    }

    std::size_t vram_bytes() const {
        std::size_t bytes = 0;
        HSA_CHECK(hsa_amd_memory_pool_get_info(machine.gpu().coarse, HSA_AMD_MEMORY_POOL_INFO_SIZE, &bytes));
        return bytes;
    }
    /// False on small GPUs of gfx10 and newer: there the runtime takes scratch for 16 work-groups an engine, and no
    /// less.
    bool has_memory_for_large() const { return machine.gpu().wavefront_size == 64 || vram_bytes() > 512u << 20; }
};

}  // namespace

TEST_CASE("scratch grows for kernels that need more, and shrinks for those that need less", "[device][scratch]") {
    NEEDS_GPUS(1);
    ScratchBench bench;
    if (!bench.has_memory_for_large()) SKIP_BECAUSE("the GPU has too little memory");
    for (int round = 0; round < 2; ++round) {
        bench.check("small", 16, line(4096, 256));
        bench.check("medium", 1024, line(1024, 256));
        bench.check("small", 16, line(64));
        bench.check("large", 16384, line(64));
    }
    CHECK(bench.queue.errors().all().empty());
}

TEST_CASE("work-groups of sixteen waves each find scratch for all", "[device][scratch]") {
    NEEDS_GPUS(1);
    ScratchBench bench;
    bench.check("medium", 1024, line(2048, 1024));
    CHECK(bench.queue.errors().all().empty());
}

TEST_CASE("a kernel that needs scratch does not wait for earlier kernels, nor share their scratch",
          "[device][scratch]") {
    NEEDS_GPUS(1);
    ScratchBench bench;
    const Kernel small = bench.code.kernel("small"), medium = bench.code.kernel("medium");
    const Memory out{bench.machine.cpu().fine, 1 << 20, bench.machine.agents()};
    const Memory low = arguments(bench.machine, small, out.data());
    const Memory high = arguments(bench.machine, medium, out.as<std::byte>() + (1 << 16));
    const Signal done{40};
    for (int i = 0; i < 20; ++i) {
        bench.queue.submit(kernel_packet(small, line(1024), low, done));
        bench.queue.submit(kernel_packet(medium, line(128), high, done));
    }
    REQUIRE(done.completed());
    const auto* words = out.as<std::uint32_t>();
    for (std::uint32_t i = 0; i < 1024; ++i) REQUIRE(words[i] == sum_from(i, 16));
    for (std::uint32_t i = 0; i < 128; ++i) REQUIRE(words[(1 << 14) + i] == sum_from(i, 1024));
}

TEST_CASE("two queues have separate scratch at the same time", "[device][scratch]") {
    NEEDS_GPUS(1);
    ScratchBench bench;
    Queue second{bench.machine.gpu()};
    const Kernel medium = bench.code.kernel("medium");
    const Memory a{bench.machine.cpu().fine, 4096, bench.machine.agents()},
        b{bench.machine.cpu().fine, 4096, bench.machine.agents()};
    const Memory to_a = arguments(bench.machine, medium, a.data()), to_b = arguments(bench.machine, medium, b.data());
    const Signal done{20};
    for (int i = 0; i < 10; ++i) {
        bench.queue.submit(kernel_packet(medium, line(256), to_a, done));
        second.submit(kernel_packet(medium, line(256), to_b, done));
    }
    REQUIRE(done.completed());
    for (std::uint32_t i = 0; i < 256; ++i) {
        REQUIRE(a.as<std::uint32_t>()[i] == sum_from(i, 1024));
        REQUIRE(b.as<std::uint32_t>()[i] == sum_from(i, 1024));
    }
}

TEST_CASE("a stack of a depth known only to the host has the packet's size", "[device][scratch]") {
    NEEDS_GPUS(1);
    ScratchBench bench;
    const Kernel recurse = bench.code.kernel("recurse");
    for (std::uint32_t depth : {0u, 1u, 20u, 200u}) {
        CAPTURE(depth);
        Shape shape = line(128);
        shape.private_bytes = recurse.private_bytes + (depth + 2) * 128;
        run(bench.machine, bench.queue, recurse, shape, bench.out.data(), depth);
        for (std::uint32_t i = 0; i < 128; ++i) REQUIRE(bench.out.as<std::uint32_t>()[i] == depth * (depth + 1) / 2);
    }
}

TEST_CASE("waves of 32 lanes have scratch for twice as much a work-item as those of 64", "[device][scratch]") {
    NEEDS_GPUS(1);
    ScratchBench bench;
    if (!bench.has_memory_for_large()) SKIP_BECAUSE("the GPU has too little memory");
    if (bench.machine.gpu().wavefront_size != 32) SKIP_BECAUSE("the GPU's waves have 64 lanes");
    Shape shape = line(256);
    shape.private_bytes = 150'000;  // a wave addresses less than 8 MiB
    run(bench.machine, bench.queue, bench.code.kernel("small"), shape, bench.out.data());
    for (std::uint32_t i = 0; i < 256; ++i) REQUIRE(bench.out.as<std::uint32_t>()[i] == sum_from(i, 16));
}

TEST_CASE("scratch that no wave can address stops the queue for lack of resources, and no other", "[device][scratch]") {
    NEEDS_GPUS(1);
    ScratchBench bench;
    const Kernel small = bench.code.kernel("small");
    const Memory given = arguments(bench.machine, small, bench.out.data());
    Shape shape = line(64);
    shape.private_bytes = GENERATE(256u << 10, 1u << 30, 0xffffff00u);
    CAPTURE(shape.private_bytes);
    Queue other{bench.machine.gpu()};
    const Signal done;
    bench.queue.submit(kernel_packet(small, shape, given, done));
    CHECK(describe(bench.queue.wait_for_error()) == describe(HSA_STATUS_ERROR_OUT_OF_RESOURCES));
    CHECK(done.load() == 1);
    CHECK(other.drains());
    run(bench.machine, other, small, line(64), bench.out.data());
    CHECK(bench.out.as<std::uint32_t>()[1] == sum_from(1, 16));
}

TEST_CASE("scratch that the GPU has no memory for stops the queue for lack of resources, and no other",
          "[device][scratch]") {
    NEEDS_GPUS(1);
    ScratchBench bench;
    // One wave per compute unit takes 4 MiB each, of 32 lanes 2 MiB; with less the runtime does not try.
    const std::uint32_t lanes = bench.machine.gpu().wavefront_size;
    if (bench.vram_bytes() > (std::size_t{4} << 20) * lanes) SKIP_BECAUSE("the GPU has memory enough");
    const Kernel large = bench.code.kernel("large");
    const Memory given = arguments(bench.machine, large, bench.out.data());
    Queue other{bench.machine.gpu()};
    const Signal done;
    // One wave a work-group: with more, ROCR 5.2 counts waves per compute unit down past zero.
    const Shape shape = line(600 * lanes, lanes);
    bench.queue.submit(kernel_packet(large, shape, given, done));
    CHECK(describe(bench.queue.wait_for_error()) == describe(HSA_STATUS_ERROR_OUT_OF_RESOURCES));
    CHECK(done.load() == 1);
    const bool fits = bench.has_memory_for_large();
    run(bench.machine, other, fits ? large : bench.code.kernel("small"), line(64), bench.out.data());
    CHECK(bench.out.as<std::uint32_t>()[1] == sum_from(1, fits ? 16384 : 16));
}
