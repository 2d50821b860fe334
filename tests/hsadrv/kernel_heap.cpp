// malloc and free in kernels.
#include <algorithm>
#include <future>
#include <set>

#include "hsadrv/error.hpp"
#include "hsadrv/kernel_output.hpp"
#include "tests/hsadrv/launch_device.hpp"

using namespace hsadrv;
using namespace test_support;
using namespace std::chrono_literals;

namespace {

struct Heap : Device {
    explicit Heap(const std::string& variant = "")
        : code(Executable::load(gpu, variant.empty()
                                         ? test_file("services.hsaco")
                                         : test_file("services_" + variant + "." + gpu.agent().name() + ".hsaco"))) {}

    std::vector<std::uint64_t> allocate(std::uint32_t count, std::uint64_t size_bytes) {
        Shared<std::uint64_t> addresses(gpu, count);
        code.kernel("allocate")
            .launch(stream, {.grid = count, .workgroup = std::min(count, 256u)}, addresses.data(), size_bytes);
        stream.synchronize(patience);
        return {addresses.data(), addresses.data() + count};
    }
    void free(const std::vector<std::uint64_t>& blocks) {
        Shared<std::uint64_t> addresses(gpu, blocks.size());
        std::copy(blocks.begin(), blocks.end(), addresses.data());
        const auto count = static_cast<std::uint32_t>(blocks.size());
        code.kernel("release").launch(stream, {.grid = count, .workgroup = std::min(count, 256u)},
                                      static_cast<const std::uint64_t*>(addresses.data()));
        stream.synchronize(patience);
    }

    Executable code;
};

/// Blocks of that size do not overlap.
bool are_separate(std::vector<std::uint64_t> blocks, std::uint64_t size_bytes) {
    std::sort(blocks.begin(), blocks.end());
    for (std::size_t i = 1; i < blocks.size(); ++i)
        if (blocks[i] < blocks[i - 1] + size_bytes) return false;
    return true;
}

}  // namespace

TEST_CASE("blocks are aligned, separate, and device memory", "[kernel_heap][device]") {
    NEEDS_DEVICE();
    Heap heap;
    NEEDS_LAUNCH_KERNELS(heap.gpu.agent());
    const std::uint64_t size = GENERATE(1, 32, 33, 500, 2048, 2049, 100000);
    CAPTURE(size);
    const std::uint32_t count = size > 2048 ? 20 : 3000;
    const auto blocks = heap.allocate(count, size);
    CHECK(std::count(blocks.begin(), blocks.end(), 0) == 0);
    CHECK(std::all_of(blocks.begin(), blocks.end(), [](std::uint64_t block) { return block % 16 == 0; }));
    CHECK(are_separate(blocks, size));
    const PointerInfo info = pointer_info(reinterpret_cast<const void*>(blocks[0]));
    CHECK(info.owner == heap.gpu.agent());
    heap.free(blocks);
}

TEST_CASE("blocks that were freed are used again", "[kernel_heap][device]") {
    NEEDS_DEVICE();
    Heap heap;
    NEEDS_LAUNCH_KERNELS(heap.gpu.agent());
    const auto first = heap.allocate(500, 64);
    heap.free(first);
    const auto second = heap.allocate(500, 60);
    CHECK(std::set(first.begin(), first.end()) == std::set(second.begin(), second.end()));
    heap.free(second);
    const auto large = heap.allocate(1, std::uint64_t{64} << 20);
    heap.free(large);
    CHECK(pointer_info(reinterpret_cast<const void*>(large[0])).kind == PointerInfo::Kind::pageable);
}

TEST_CASE("a heap without memory returns null", "[kernel_heap][device]") {
    NEEDS_DEVICE();
    Heap heap;
    NEEDS_LAUNCH_KERNELS(heap.gpu.agent());
    CHECK(heap.allocate(3, std::uint64_t{1} << 50) == std::vector<std::uint64_t>(3, 0));
    CHECK(heap.allocate(3, ~std::uint64_t{0}) == std::vector<std::uint64_t>(3, 0));
    CHECK(heap.allocate(3, 0) == std::vector<std::uint64_t>(3, 0));
    const auto next = heap.allocate(3, 64);
    CHECK(std::count(next.begin(), next.end(), 0) == 0);
    heap.free(next);
}

TEST_CASE("a kernel that ends while it waits for memory does not keep others from it", "[kernel_heap][device]") {
    NEEDS_DEVICE();
    Heap heap;
    NEEDS_LAUNCH_KERNELS(heap.gpu.agent());
    std::promise<void> released;
    const std::shared_future<void> release = released.get_future().share();
    std::promise<void> printing;
    on_kernel_output([release, &printing](AgentRef, KernelOutput, std::string_view) {
        printing.set_value();
        release.wait();
    });
    Stream prints = heap.gpu.stream();
    heap.code.kernel("hello").launch(prints, {.grid = 1, .workgroup = 1}, static_cast<int*>(nullptr));
    REQUIRE(printing.get_future().wait_for(60s) == std::future_status::ready);
    Shared<std::uint64_t> addresses(heap.gpu, 64);
    {
        Stream given_up = heap.gpu.stream();
        heap.code.kernel("allocate")
            .launch(given_up, {.grid = 64, .workgroup = 64}, addresses.data(), std::uint64_t{100});
        CHECK_FALSE(given_up.close(300ms));  // its request is not answered before
    }
    released.set_value();
    prints.synchronize(patience);
    on_kernel_output(nullptr);
    heap.code.kernel("allocate")
        .launch(heap.stream, {.grid = 64, .workgroup = 64}, addresses.data(), std::uint64_t{100});
    heap.stream.synchronize(patience);
    CHECK(std::count(addresses.data(), addresses.data() + 64, 0) == 0);
}

TEST_CASE("lists outlive the kernel that grew them, and hold what was written", "[kernel_heap][device]") {
    NEEDS_DEVICE();
    const std::string variant = GENERATE("", "O0", "v4");
    CAPTURE(variant);
    Heap heap(variant);
    NEEDS_LAUNCH_KERNELS(heap.gpu.agent());
    constexpr std::uint32_t items = 700, nodes = 12;
    Shared<void*> lists(heap.gpu, items);
    Shared<std::uint32_t> counters(heap.gpu, 3);
    for (int round = 0; round < 3; ++round) {
        heap.code.kernel("grow_lists")
            .launch(heap.stream, {.grid = items, .workgroup = 128}, static_cast<void*>(lists.data()), nodes, 600u,
                    &counters[0]);
        heap.code.kernel("free_lists")
            .launch(heap.stream, {.grid = items, .workgroup = 128}, static_cast<void*>(lists.data()), &counters[1],
                    &counters[2]);
        heap.stream.synchronize(patience);
    }
    CHECK(counters[0] == 0);
    CHECK(counters[1] == 0);
    CHECK(counters[2] == 3 * items * nodes);
}
