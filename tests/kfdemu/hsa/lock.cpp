// Host memory that a GPU accesses in place: hsa_amd_memory_lock and _unlock, hsa_memory_register.
#include <sys/mman.h>

#include "tests/kfdemu/hsa/child.hpp"
#include "tests/kfdemu/hsa/kernel.hpp"
#include "tests/support/catch.hpp"

using namespace hsa_test;

namespace {

/// Anonymous pages of the program's own.
class Pages {
  public:
    explicit Pages(std::size_t count) : bytes_{count * kPage} {
        data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (data_ == MAP_FAILED) throw std::runtime_error{"no pages"};
        std::memset(data_, 0, bytes_);
    }
    ~Pages() { munmap(data_, bytes_); }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;

    void* at(std::size_t offset) const { return static_cast<std::byte*>(data_) + offset; }
    std::size_t size_bytes() const { return bytes_; }

  private:
    void* data_ = nullptr;
    std::size_t bytes_;
};

struct LockBench {
    Machine machine;
    Queue queue{machine.gpu()};
    Executable code{machine.gpu(), "work"};

    hsa_status_t lock(void* at, std::size_t size, void** agent_pointer) {
        hsa_agent_t agent = machine.gpu().agent;
        return hsa_amd_memory_lock(at, size, &agent, 1, agent_pointer);
    }
    /// A kernel writes n words through the GPU's address; whether the host sees them at its own.
    bool reaches(void* host, void* gpu, std::uint32_t n, std::uint32_t value) {
        run(machine, queue, code.kernel("fill"), line(n), gpu, value, n);
        for (std::uint32_t i = 0; i < n; ++i) {
            std::uint32_t word = 0;
            std::memcpy(&word, static_cast<std::byte*>(host) + 4 * i, 4);
            if (word != value + i) return false;
        }
        return true;
    }
};

}  // namespace

TEST_CASE("locked memory is the same to host and GPU, wherever it begins", "[device][lock]") {
    NEEDS_GPUS(1);
    LockBench bench;
    const Pages pages{40};
    struct Row {
        std::size_t offset, size;
    };
    for (const Row& row : {Row{0, kPage}, Row{0, 40 * kPage}, Row{4, 64}, Row{1000, 100}, Row{kPage - 4, 8},
                           Row{3 * kPage + 12, 20 * kPage}}) {
        CAPTURE(row.offset, row.size);
        void* gpu = nullptr;
        HSA_CHECK(bench.lock(pages.at(row.offset), row.size, &gpu));
        CHECK(bench.reaches(pages.at(row.offset), gpu, static_cast<std::uint32_t>(row.size / 4), 7));
        HSA_STATUS(hsa_amd_memory_unlock(pages.at(row.offset)), HSA_STATUS_SUCCESS);
    }
}

TEST_CASE("the same range may be locked twice, and stays until it is unlocked as often", "[device][lock]") {
    NEEDS_GPUS(1);
    LockBench bench;
    const Pages pages{4};
    void *first = nullptr, *second = nullptr;
    HSA_CHECK(bench.lock(pages.at(0), 4 * kPage, &first));
    HSA_CHECK(bench.lock(pages.at(0), 4 * kPage, &second));
    CHECK(bench.reaches(pages.at(0), first, 100, 1));
    CHECK(bench.reaches(pages.at(0), second, 100, 2));
    HSA_STATUS(hsa_amd_memory_unlock(pages.at(0)), HSA_STATUS_SUCCESS);
    CHECK(bench.reaches(pages.at(0), second, 100, 3));
    HSA_STATUS(hsa_amd_memory_unlock(pages.at(0)), HSA_STATUS_SUCCESS);
}

TEST_CASE("overlapping ranges are locked side by side", "[device][lock]") {
    NEEDS_GPUS(1);
    LockBench bench;
    const Pages pages{8};
    void *low = nullptr, *high = nullptr;
    HSA_CHECK(bench.lock(pages.at(0), 5 * kPage, &low));
    HSA_CHECK(bench.lock(pages.at(3 * kPage), 5 * kPage, &high));
    CHECK(bench.reaches(pages.at(0), low, 5 * kPage / 4, 10));
    CHECK(bench.reaches(pages.at(3 * kPage), high, 5 * kPage / 4, 20));
    HSA_STATUS(hsa_amd_memory_unlock(pages.at(0)), HSA_STATUS_SUCCESS);
    CHECK(bench.reaches(pages.at(3 * kPage), high, 5 * kPage / 4, 30));
    HSA_STATUS(hsa_amd_memory_unlock(pages.at(3 * kPage)), HSA_STATUS_SUCCESS);
}

TEST_CASE("copies reach locked memory", "[device][lock]") {
    NEEDS_GPUS(1);
    LockBench bench;
    const Pages pages{300};
    const Memory device{bench.machine.gpu().coarse, pages.size_bytes(), {}};
    std::memset(pages.at(0), 0x5a, pages.size_bytes());
    void* gpu = nullptr;
    HSA_CHECK(bench.lock(pages.at(0), pages.size_bytes(), &gpu));
    const auto agent = bench.machine.gpu().agent, cpu = bench.machine.cpu().agent;
    const Signal up, down;
    HSA_CHECK(hsa_amd_memory_async_copy(device.data(), agent, gpu, cpu, pages.size_bytes(), 0, nullptr, up));
    REQUIRE(up.completed());
    std::memset(pages.at(0), 0, pages.size_bytes());
    HSA_CHECK(hsa_amd_memory_async_copy(gpu, cpu, device.data(), agent, pages.size_bytes(), 0, nullptr, down));
    REQUIRE(down.completed());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < pages.size_bytes(); ++i) wrong += *static_cast<std::uint8_t*>(pages.at(i)) != 0x5a;
    CHECK(wrong == 0);
    HSA_STATUS(hsa_amd_memory_unlock(pages.at(0)), HSA_STATUS_SUCCESS);
}

TEST_CASE("a pointer into locked memory is reported as locked", "[device][lock]") {
    NEEDS_GPUS(1);
    LockBench bench;
    const Pages pages{4};
    void* gpu = nullptr;
    HSA_CHECK(bench.lock(pages.at(0), 4 * kPage, &gpu));
    hsa_amd_pointer_info_t info{};
    info.size = sizeof info;
    HSA_CHECK(hsa_amd_pointer_info(gpu, &info, nullptr, nullptr, nullptr));
    CHECK(info.type == HSA_EXT_POINTER_TYPE_LOCKED);
    CHECK(info.hostBaseAddress == pages.at(0));
    CHECK(info.agentBaseAddress == gpu);
    CHECK(info.sizeInBytes == 4 * kPage);
    HSA_STATUS(hsa_amd_memory_unlock(pages.at(0)), HSA_STATUS_SUCCESS);
    HSA_CHECK(hsa_amd_pointer_info(pages.at(0), &info, nullptr, nullptr, nullptr));
    CHECK(info.type == HSA_EXT_POINTER_TYPE_UNKNOWN);
}

TEST_CASE("unmapped and empty ranges cannot be locked", "[device][lock]") {
    NEEDS_GPUS(1);
    LockBench bench;
    void* gpu = nullptr;
    int own = 0;
    HSA_STATUS(bench.lock(&own, 0, &gpu), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    HSA_STATUS(bench.lock(nullptr, 64, &gpu), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    HSA_STATUS(bench.lock(&own, 64, nullptr), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    // Pages that are not mapped, or not all: the kernel's driver pins them when they are registered, and cannot.
    void* hole = mmap(nullptr, 4 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(munmap(static_cast<std::byte*>(hole) + 2 * kPage, 2 * kPage) == 0);
    CHECK(bench.lock(static_cast<std::byte*>(hole) + 2 * kPage, 2 * kPage, &gpu) != HSA_STATUS_SUCCESS);
    CHECK(bench.lock(hole, 4 * kPage, &gpu) != HSA_STATUS_SUCCESS);
    HSA_STATUS(bench.lock(hole, 2 * kPage, &gpu), HSA_STATUS_SUCCESS);
    CHECK(bench.reaches(hole, gpu, 100, 4));
    HSA_STATUS(hsa_amd_memory_unlock(hole), HSA_STATUS_SUCCESS);
    munmap(hole, 2 * kPage);
}

TEST_CASE("unlocking unlocked memory changes nothing", "[device][lock]") {
    NEEDS_GPUS(1);
    LockBench bench;
    const Pages pages{2};
    int own = 0;
    hsa_amd_memory_unlock(&own);
    hsa_amd_memory_unlock(pages.at(0));
    void* gpu = nullptr;
    HSA_CHECK(bench.lock(pages.at(0), 2 * kPage, &gpu));
    hsa_amd_memory_unlock(&own);
    CHECK(bench.reaches(pages.at(0), gpu, 100, 4));
    HSA_STATUS(hsa_amd_memory_unlock(pages.at(0)), HSA_STATUS_SUCCESS);
}

TEST_CASE("child: memory unmapped while it is locked", "[.child]") {
    LockBench bench;
    void* hole = mmap(nullptr, 4 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memset(hole, 0, 4 * kPage);
    void* gpu = nullptr;
    HSA_CHECK(bench.lock(hole, 4 * kPage, &gpu));
    REQUIRE(munmap(hole, 4 * kPage) == 0);
    Queue other{bench.machine.gpu()};
    if (row() == "touched")
        launch(bench.machine, bench.queue, bench.code.kernel("fill"), line(64), gpu, 1u, 64u).completed(5s);
    CHECK(other.drains());
    HSA_STATUS(hsa_amd_memory_unlock(hole), HSA_STATUS_SUCCESS);
}

TEST_CASE("memory that is unmapped while it is locked can be unlocked", "[device][lock]") {
    NEEDS_GPUS(1);
    const ChildResult child = run_child("child: memory unmapped while it is locked", "untouched");
    INFO(child.output);
    CHECK(child.passed());
}

TEST_CASE("a GPU access to unmapped locked memory is a memory fault", "[device][lock]") {
    NEEDS_GPUS(1);
    const ChildResult child = run_child("child: memory unmapped while it is locked", "touched");
    INFO(child.output);
    CHECK(child.output.find("Memory access fault by GPU") != std::string::npos);
    CHECK_FALSE(child.timed_out);
}

TEST_CASE("registered memory is registered and deregistered", "[device][lock]") {
    NEEDS_GPUS(1);
    LockBench bench;
    const Pages pages{4};
    HSA_STATUS(hsa_memory_register(pages.at(100), 5000), HSA_STATUS_SUCCESS);
    HSA_STATUS(hsa_memory_register(pages.at(100), 5000), HSA_STATUS_SUCCESS);
    HSA_STATUS(hsa_memory_deregister(pages.at(100), 5000), HSA_STATUS_SUCCESS);
    HSA_STATUS(hsa_memory_deregister(pages.at(100), 5000), HSA_STATUS_SUCCESS);
    HSA_STATUS(hsa_memory_register(pages.at(0), 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}
