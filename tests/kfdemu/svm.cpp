// Attributes of the program's own pages, without a device: resources/svm.hpp.
#include "resources/svm.hpp"

#include <sys/mman.h>

#include "base/page.hpp"
#include "support/catch.hpp"

using namespace kfdemu;

TEST_CASE("attributes that are set again leave the mapping as it is: a kernel may be using it", "[svm]") {
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
    CHECK(space.generation() == mapped);
    CHECK(set(abi::kSvmNoAccess) == 0);
    CHECK(space.generation() != mapped);
    munmap(page, kPage);
}
