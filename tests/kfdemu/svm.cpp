// Attributes of the program's own pages, without a device: resources/svm.hpp.
#include "resources/svm.hpp"

#include <sys/mman.h>

#include <cerrno>

#include "base/page.hpp"
#include "support/catch.hpp"

using namespace kfdemu;

TEST_CASE("attributes that change no access leave the mapping as it is: a kernel may be using it", "[svm]") {
    Topology topology;
    topology.gpus.resize(1);
    topology.gpus[0].gpu_id = 7;
    AddressSpace space;
    SmiEvents smi;
    Svm svm{topology, {&space}, smi};
    void* page = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(page != MAP_FAILED);
    const auto set = [&](std::uint32_t type) {
        abi::Svm request{};
        request.start = reinterpret_cast<std::uint64_t>(page);
        request.size = kPage;
        request.operation = abi::kSvmSet;
        abi::SvmAttribute attribute{type, topology.gpus[0].gpu_id};
        return svm.run(request, {&attribute, 1});
    };
    REQUIRE(set(abi::kSvmAccessInPlace) == 0);
    const std::uint64_t mapped = space.generation();
    CHECK(set(abi::kSvmAccessInPlace) == 0);
    CHECK(set(abi::kSvmAccess) == 0);
    CHECK(set(abi::kSvmPrefetchLocation) == 0);
    CHECK(set(abi::kSvmPreferredLocation) == 0);
    CHECK(space.generation() == mapped);
    CHECK(set(abi::kSvmNoAccess) == 0);
    CHECK(space.generation() != mapped);
    munmap(page, kPage);
}

TEST_CASE("a GPU that may write pages from now on can read them meanwhile", "[svm]") {
    Topology topology;
    topology.gpus.resize(1);
    topology.gpus[0].gpu_id = 7;
    AddressSpace space;
    SmiEvents smi;
    Svm svm{topology, {&space}, smi};
    void* page = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(page != MAP_FAILED);
    const auto at = reinterpret_cast<std::uint64_t>(page);
    const auto set = [&](std::uint32_t type, std::uint32_t value) {
        abi::Svm request{};
        request.start = at;
        request.size = kPage;
        request.operation = abi::kSvmSet;
        abi::SvmAttribute attribute{type, value};
        return svm.run(request, {&attribute, 1});
    };
    REQUIRE(set(abi::kSvmSetFlags, abi::kSvmGpuReadOnly) == 0);
    REQUIRE(set(abi::kSvmAccess, 7) == 0);
    CHECK_FALSE(space.find(at)->allows(kWrite));
    const std::uint64_t mapped = space.generation();
    REQUIRE(set(abi::kSvmClearFlags, abi::kSvmGpuReadOnly) == 0);
    CHECK(space.find(at)->allows(kWrite));
    CHECK(space.generation() == mapped + 1);  // one change: never unmapped
    munmap(page, kPage);
}

TEST_CASE("memory that the driver allocated has no attributes, and a refused range keeps those that it has", "[svm]") {
    Topology topology;
    topology.gpus.resize(1);
    topology.gpus[0].gpu_id = 7;
    AddressSpace space;
    SmiEvents smi;
    Svm svm{topology, {&space}, smi};
    void* pages = mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(pages != MAP_FAILED);
    const auto at = reinterpret_cast<std::uint64_t>(pages);
    const auto run = [&](std::uint32_t operation, std::uint64_t size, abi::SvmAttribute& attribute) {
        abi::Svm request{};
        request.start = at;
        request.size = size;
        request.operation = operation;
        return svm.run(request, {&attribute, 1});
    };
    constexpr std::uint64_t allocation = 5;
    REQUIRE(space.map({at + kPage, at + 2 * kPage, static_cast<std::byte*>(pages) + kPage, kRead, allocation}));
    for (const std::uint32_t type : {abi::kSvmAccess, abi::kSvmPreferredLocation, abi::kSvmPrefetchLocation}) {
        abi::SvmAttribute attribute{type, 7};
        CHECK(run(abi::kSvmSet, 2 * kPage, attribute) == EADDRINUSE);
    }
    abi::SvmAttribute asked{abi::kSvmAccess, 7}, granularity{abi::kSvmGranularity, 64};
    CHECK(run(abi::kSvmGet, 2 * kPage, asked) == EADDRINUSE);
    CHECK(run(abi::kSvmGet, kPage, asked) == 0);
    CHECK(asked.type == abi::kSvmNoAccess);
    CHECK(space.find(at) == nullptr);
    CHECK(run(abi::kSvmSet, kPage, granularity) == 0);
    CHECK(run(abi::kSvmGet, kPage, granularity) == 0);
    CHECK(granularity.value == 63);  // the most
    munmap(pages, 2 * kPage);
}
