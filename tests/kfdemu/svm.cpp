// Attributes of the program's own pages, without a device: resources/svm.hpp.
#include "tools/kfdemu/resources/svm.hpp"

#include <sys/mman.h>

#include <cerrno>

#include "tests/support/catch.hpp"
#include "tools/kfdemu/base/page.hpp"

using namespace kfdemu;

namespace {

constexpr std::uint32_t kGpu = 7;

/// Two pages of the program, on a machine with one GPU.
struct Pages {
    Pages() {
        topology.gpus.resize(1);
        topology.gpus[0].gpu_id = kGpu;
        REQUIRE(data != MAP_FAILED);
    }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
    ~Pages() { munmap(data, kBytes); }

    std::uint64_t begin() const { return reinterpret_cast<std::uint64_t>(data); }
    int run(std::uint32_t operation, std::uint64_t size, abi::SvmAttribute& attribute) {
        abi::Svm request{};
        request.start = begin();
        request.size = size;
        request.operation = operation;
        return svm.run(request, {&attribute, 1});
    }
    /// Of the first page.
    int set(std::uint32_t type, std::uint32_t value) {
        abi::SvmAttribute attribute{type, value};
        return run(abi::kSvmSet, kPage, attribute);
    }

    static constexpr std::size_t kBytes = 2 * kPage;
    Topology topology;
    AddressSpace space;
    SmiEvents smi;
    Svm svm{topology, {&space}, smi};
    void* data = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
};

}  // namespace

TEST_CASE("attributes that change no access leave the mapping as it is: a kernel may be using it", "[svm]") {
    Pages pages;
    AddressSpace& space = pages.space;
    const auto set = [&](std::uint32_t type) { return pages.set(type, kGpu); };
    REQUIRE(set(abi::kSvmAccessInPlace) == 0);
    const std::uint64_t mapped = space.generation();
    CHECK(set(abi::kSvmAccessInPlace) == 0);
    CHECK(set(abi::kSvmAccess) == 0);
    CHECK(set(abi::kSvmPrefetchLocation) == 0);
    CHECK(set(abi::kSvmPreferredLocation) == 0);
    CHECK(space.generation() == mapped);
    CHECK(set(abi::kSvmNoAccess) == 0);
    CHECK(space.generation() != mapped);
}

TEST_CASE("a GPU that may write pages from now on can read them meanwhile", "[svm]") {
    Pages pages;
    AddressSpace& space = pages.space;
    const std::uint64_t at = pages.begin();
    const auto set = [&](std::uint32_t type, std::uint32_t value) { return pages.set(type, value); };
    REQUIRE(set(abi::kSvmSetFlags, abi::kSvmGpuReadOnly) == 0);
    REQUIRE(set(abi::kSvmAccess, kGpu) == 0);
    CHECK_FALSE(space.find(at)->allows(kWrite));
    const std::uint64_t mapped = space.generation();
    REQUIRE(set(abi::kSvmClearFlags, abi::kSvmGpuReadOnly) == 0);
    CHECK(space.find(at)->allows(kWrite));
    CHECK(space.generation() == mapped + 1);  // one change: never unmapped
}

TEST_CASE("memory that the driver allocated has no attributes, and a refused range keeps those that it has", "[svm]") {
    Pages pages;
    AddressSpace& space = pages.space;
    const std::uint64_t at = pages.begin();
    const auto run = [&](std::uint32_t operation, std::uint64_t size, abi::SvmAttribute& attribute) {
        return pages.run(operation, size, attribute);
    };
    constexpr std::uint64_t allocation = 5;
    REQUIRE(space.map({at + kPage, at + 2 * kPage, static_cast<std::byte*>(pages.data) + kPage, kRead, allocation}));
    for (const std::uint32_t type : {abi::kSvmAccess, abi::kSvmPreferredLocation, abi::kSvmPrefetchLocation}) {
        abi::SvmAttribute attribute{type, kGpu};
        CHECK(run(abi::kSvmSet, 2 * kPage, attribute) == EADDRINUSE);
    }
    abi::SvmAttribute asked{abi::kSvmAccess, kGpu}, granularity{abi::kSvmGranularity, 64};
    CHECK(run(abi::kSvmGet, 2 * kPage, asked) == EADDRINUSE);
    CHECK(run(abi::kSvmGet, kPage, asked) == 0);
    CHECK(asked.type == abi::kSvmNoAccess);
    CHECK(space.find(at) == nullptr);
    CHECK(run(abi::kSvmSet, kPage, granularity) == 0);
    CHECK(run(abi::kSvmGet, kPage, granularity) == 0);
    CHECK(granularity.value == 63);  // the most
}
