// Managed memory: pages that the CPU and the GPU use in place, advice, prefetches in a stream's order.
#include "hsadrv/managed_memory.hpp"

#include <hsa/hsa_ext_amd.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>

#include "tests/hsadrv/stream_fixture.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;
using Reach = ManagedFacts::Access;

namespace {

constexpr std::size_t size = 4 * page;

struct Managed : Kernels {
    Stream stream{gpu};
    AgentRef cpu = driver.cpus().front();

    bool supported() const {
        if (driver.system().svm_supported) return true;
        CHECK_THROWS_AS(ManagedMemory::create(size, gpu), NotOffered);
        return false;
    }
};

/// Far from what the system chooses, so that nothing else is mapped there after they are unmapped.
void* new_pages() {
    void* const far = reinterpret_cast<void*>(std::uintptr_t{0x3000'0000'0000});
    void* const pages = ::mmap(far, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(pages != MAP_FAILED);
    return pages;
}

/// Keeps the runtime's thread busy that runs prefetches.
struct RuntimeThread {
    std::atomic<bool> go{false}, ended{false};
    RuntimeThread() {
        REQUIRE(hsa_amd_async_function(
                    [](void* self) {
                        auto& thread = *static_cast<RuntimeThread*>(self);
                        while (!thread.go) let_time_pass();
                        thread.ended = true;
                    },
                    this) == HSA_STATUS_SUCCESS);
    }
    ~RuntimeThread() {
        go = true;
        while (!ended) let_time_pass();
    }
};

}  // namespace

TEST_CASE("the CPU and a kernel use managed memory at the same address", "[managed]") {
    NEEDS_DEVICE();
    Managed f;
    if (!f.supported()) return;
    const ManagedMemory memory = ManagedMemory::create(size, f.gpu);
    REQUIRE(memory.size_bytes() == size);
    auto* const words = memory.as<std::uint32_t>();
    CHECK(std::count(words, words + size / 4, 0u) == size / 4);
    std::fill_n(words, size / 4, 5u);
    f.scale_add.launch(f.stream, {.grid = size / 4, .workgroup = 64}, memory, 3u, 1u, std::uint32_t(size / 4));
    f.stream.synchronize(patience);
    CHECK(std::count(words, words + size / 4, 16u) == size / 4);
}

TEST_CASE("an empty managed memory has no address", "[managed]") {
    NEEDS_DEVICE();
    Managed f;
    if (!f.supported()) return;
    const ManagedMemory memory = ManagedMemory::create(0, f.gpu);
    CHECK(memory.data() == nullptr);
    CHECK(memory.size_bytes() == 0);
    CHECK_THROWS_AS(ManagedMemory::create(std::size_t{1} << 60, f.gpu), OutOfMemory);
}

TEST_CASE("advice is reported page by page", "[managed]") {
    NEEDS_DEVICE();
    Managed f;
    if (!f.supported()) return;
    const ManagedMemory memory = ManagedMemory::create(size, f.gpu);
    std::byte* const begin = memory.as<std::byte>();
    const auto facts = [&](std::size_t at, std::size_t bytes) { return managed_facts(begin + at, bytes, f.gpu); };
    CHECK(facts(0, size).access == Reach::migrating);
    CHECK_FALSE(facts(0, size).read_mostly);
    CHECK_FALSE(facts(0, size).preferred_location);

    advise(begin, page, Advice::accessible_in_place_by, f.gpu);
    CHECK(facts(0, page).access == Reach::in_place);
    advise(begin, size, Advice::not_accessible_by, f.gpu);
    CHECK(facts(0, size).access == Reach::none);
    advise(begin, size, Advice::accessible_by, f.gpu);
    CHECK(facts(0, size).access == Reach::migrating);

    advise(begin + page, page, Advice::read_mostly);
    CHECK(facts(page, page).read_mostly);
    CHECK_FALSE(facts(0, size).read_mostly);
    advise(begin + page, page, Advice::not_read_mostly);
    CHECK_FALSE(facts(page, page).read_mostly);

    advise(begin, size, Advice::preferred_location, f.gpu);
    CHECK(facts(0, size).preferred_location == f.gpu);
    advise(begin, page, Advice::preferred_location, f.cpu);
    CHECK(facts(0, page).preferred_location == f.cpu);
    CHECK_FALSE(facts(0, size).preferred_location);
    advise(begin, size, Advice::no_preferred_location);
    CHECK_FALSE(facts(page, page).preferred_location);
}

TEST_CASE("a prefetch takes its turn in the stream", "[managed]") {
    NEEDS_DEVICE();
    Managed f;
    if (!f.supported()) return;
    auto memory = std::make_shared<ManagedMemory>(ManagedMemory::create(size, f.gpu));
    void* const data = memory->data();
    {
        const test_support::Gate gate(f.stream);
        prefetch(f.stream, data, size, f.gpu);
        let_time_pass();
        CHECK_FALSE(managed_facts(data, size, f.gpu).prefetched);
    }
    f.stream.synchronize(patience);
    CHECK(managed_facts(data, size, f.gpu).prefetched == f.gpu);
    prefetch(f.stream, data, size, f.cpu);
    f.stream.keep_alive(memory);
    f.stream.synchronize(patience);
    CHECK(managed_facts(data, size, f.gpu).prefetched == f.cpu);
}

TEST_CASE("a prefetch that is captured moves the pages at each launch of the graph", "[managed]") {
    NEEDS_DEVICE();
    Managed f;
    if (!f.supported()) return;
    const ManagedMemory memory = ManagedMemory::create(size, f.gpu);
    f.stream.begin_capture();
    prefetch(f.stream, memory.data(), size, f.gpu);
    Graph graph = f.stream.end_capture();
    for (int i = 0; i < 2; ++i) {
        prefetch(f.stream, memory.data(), size, f.cpu);
        f.stream.synchronize(patience);
        CHECK(managed_facts(memory.data(), size, f.gpu).prefetched == f.cpu);
        graph.launch(f.stream);
        f.stream.synchronize(patience);
        CHECK(managed_facts(memory.data(), size, f.gpu).prefetched == f.gpu);
    }
}

TEST_CASE("host functions run while the runtime has not begun a prefetch", "[managed]") {
    NEEDS_DEVICE();
    Managed f;
    if (!f.supported()) return;
    const ManagedMemory memory = ManagedMemory::create(size, f.gpu);
    Stream other(f.gpu);
    std::atomic<bool> ran{false};
    RuntimeThread thread;
    prefetch(f.stream, memory.data(), size, f.gpu);
    other.call([&] { ran = true; });
    CHECK_NOTHROW(other.synchronize(patience));
    CHECK(ran);
    CHECK_FALSE(f.stream.query());
    thread.go = true;
    f.stream.synchronize(patience);
    other.synchronize(patience);
    CHECK(managed_facts(memory.data(), size, f.gpu).prefetched == f.gpu);
}

TEST_CASE("a stream that ends before the runtime begins its prefetch leaves the pages mapped until then", "[managed]") {
    NEEDS_DEVICE();
    Managed f;
    if (!f.supported()) return;
    auto memory = std::make_shared<ManagedMemory>(ManagedMemory::create(size, f.gpu));
    void* const data = memory->data();
    const auto mapped = [&] { return ::msync(data, size, MS_ASYNC) == 0; };
    RuntimeThread thread;
    Stream ends(f.gpu);
    prefetch(ends, data, size, f.gpu);
    let_time_pass();  // the host function has handed it over
    ends.keep_alive(std::move(memory));
    auto closed =
        std::async(std::launch::async, [&] { return ends.close(100ms); });  // the runtime's thread ends queues
    std::this_thread::sleep_for(6s);                                        // longer than it waits for copies
    CHECK(mapped());
    thread.go = true;
    CHECK_FALSE(closed.get());
    CHECK(eventually([&] { return !mapped(); }));
}

TEST_CASE("pages that were unmapped before their prefetch fail the stream", "[managed]") {
    NEEDS_DEVICE();
    Managed f;
    if (!f.supported()) return;
    void* const pages = new_pages();
    const Signal shut = Signal::create(1);
    f.stream.wait(shut, Condition::less, 1);
    prefetch(f.stream, pages, size, f.gpu);
    ::munmap(pages, size);
    shut.store(0);
    CHECK_THROWS_WITH(f.stream.synchronize(patience), Contains("not all of the pages are mapped"));
}

TEST_CASE("pages that are not there, and advice without its agent, are refused", "[managed]") {
    NEEDS_DEVICE();
    Managed f;
    if (!f.supported()) return;
    void* const gone = new_pages();
    ::munmap(gone, size);
    CHECK_THROWS_WITH(advise(gone, size, Advice::accessible_by, f.gpu), Contains("not all of the pages are mapped"));
    CHECK_THROWS_AS(prefetch(f.stream, gone, size, f.gpu), Error);
    CHECK_THROWS_AS(prefetch(f.stream, nullptr, 0, f.gpu), Error);
    CHECK_THROWS_AS(managed_facts(gone, size, f.gpu), InvalidArgument);
    CHECK_THROWS_AS(advise(gone, SIZE_MAX, Advice::read_mostly), InvalidArgument);
    f.stream.synchronize(patience);
    const ManagedMemory memory = ManagedMemory::create(size, f.gpu);
    CHECK_THROWS_AS(advise(memory.data(), size, Advice::preferred_location), InvalidArgument);
    CHECK_THROWS_AS(advise(memory.data(), size, Advice(99), f.gpu), InvalidArgument);
    CHECK_THROWS_AS(ManagedMemory::create(size, AgentRef(hsa_agent_t{1})), InvalidArgument);
}

TEST_CASE("memory of the driver is not managed memory", "[managed]") {
    NEEDS_DEVICE();
    Managed f;
    if (!f.supported()) return;
    const Allocation memory = Allocation::from_pool(device_pool(f.gpu), size),
                     pinned = Allocation::from_pool(host_pool(HostMemory::fine_grained), size);
    for (void* const data : {memory.data(), pinned.data()}) {
        CHECK_THROWS_AS(prefetch(f.stream, data, size, f.gpu), InvalidArgument);
        CHECK_THROWS_AS(managed_facts(data, size, f.gpu), InvalidArgument);
        CHECK_THROWS_WITH(advise(data, size, Advice::preferred_location, f.gpu), Contains("private to the process"));
    }
    f.stream.synchronize(patience);
}
