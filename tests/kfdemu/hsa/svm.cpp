// Shared virtual memory: hsa_ext_amd.h, hsa_amd_svm_attributes_set, _get and hsa_amd_svm_prefetch_async, on a
// GPU that does not retry page faults: attributes, not faults, give it access to the program's own pages.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "tests/kfdemu/hsa/child.hpp"
#include "tests/kfdemu/hsa/exchange.hpp"
#include "tests/kfdemu/hsa/kernel.hpp"
#include "tests/support/catch.hpp"

using namespace hsa_test;

namespace {

constexpr std::size_t kSvmBytes = 256 << 10;

/// SvmPages of the program's own.
struct SvmPages {
    SvmPages() : data{mmap(nullptr, kSvmBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)} {
        if (data == MAP_FAILED) throw std::runtime_error{"no pages"};
    }
    ~SvmPages() { munmap(data, kSvmBytes); }
    SvmPages(const SvmPages&) = delete;
    SvmPages& operator=(const SvmPages&) = delete;
    std::byte* at(std::size_t offset) const { return static_cast<std::byte*>(data) + offset; }
    void* data;
};

/// `attribute` may be unknown.
hsa_status_t set(void* begin, std::size_t bytes, std::uint64_t attribute, std::uint64_t value) {
    hsa_amd_svm_attribute_pair_t pair{attribute, value};
    return hsa_amd_svm_attributes_set(begin, bytes, &pair, 1);
}

hsa_amd_svm_attribute_pair_t get(void* begin, std::size_t bytes, hsa_amd_svm_attribute_t attribute,
                                 std::uint64_t value = 0) {
    hsa_amd_svm_attribute_pair_t pair{attribute, value};
    HSA_CHECK(hsa_amd_svm_attributes_get(begin, bytes, &pair, 1));
    return pair;
}

std::uint64_t access_of(const Machine& machine, void* begin, std::size_t bytes) {
    return get(begin, bytes, HSA_AMD_SVM_ATTRIB_ACCESS_QUERY, machine.gpu().agent.handle).attribute;
}

}  // namespace

TEST_CASE("a GPU reaches pages that an attribute gives it", "[device][memory][svm]") {
    NEEDS_GPUS(1);
    Machine machine;
    const SvmPages pages;
    HSA_CHECK(set(pages.data, kSvmBytes, HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE, machine.gpu().agent.handle));
    CHECK(access_of(machine, pages.data, kSvmBytes) == HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE);
    const Executable code{machine.gpu(), "work"};
    Queue queue{machine.gpu()};
    auto* words = static_cast<std::uint32_t*>(pages.data);
    std::fill_n(words, kSvmBytes / sizeof *words, 7u);
    const Memory copy{machine.gpu().coarse, kSvmBytes, {}};
    const Signal done;
    HSA_CHECK(hsa_amd_memory_async_copy(copy.data(), machine.gpu().agent, pages.data, machine.gpu().agent, kSvmBytes, 0,
                                        nullptr, done));
    REQUIRE(done.completed());
    CHECK(done.load() == 0);
    CHECK(difference(read_back(machine, copy.data(), kSvmBytes), Words(kSvmBytes / sizeof *words, 7u)) == "");
}

TEST_CASE("a GPU reaches the pages around those that the heap has given back", "[device][memory][svm]") {
    NEEDS_GPUS(1);
    Machine machine;
    const SvmPages pages;
    HSA_CHECK(set(pages.data, kSvmBytes, HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE, machine.gpu().agent.handle));
    auto* in = reinterpret_cast<std::uint32_t*>(pages.at(0));
    auto* out = reinterpret_cast<std::uint32_t*>(pages.at(2 * kPage));
    std::fill_n(in, 64, 41u);
    // As brk() does for malloc: not through a function of the C library that a program calls.
    REQUIRE(syscall(SYS_munmap, pages.at(kPage), kPage) == 0);
    const Executable code{machine.gpu(), "work"};
    Queue queue{machine.gpu()};
    run(machine, queue, code.kernel("increment"), line(64), out, in, 64u);
    CHECK(std::count(out, out + 64, 42u) == 64);
}

TEST_CASE("attributes are reported as set, page by page", "[device][memory][svm]") {
    NEEDS_GPUS(1);
    Machine machine;
    const SvmPages pages;
    const auto gpu = machine.gpu().agent.handle;
    CHECK(access_of(machine, pages.data, kSvmBytes) == HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS);

    HSA_CHECK(set(pages.at(kPage), 2 * kPage, HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE, gpu));
    CHECK(access_of(machine, pages.at(kPage), 2 * kPage) == HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE);
    HSA_CHECK(set(pages.at(2 * kPage), kPage, HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS, gpu));
    CHECK(access_of(machine, pages.at(kPage), kPage) == HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE);
    CHECK(access_of(machine, pages.at(2 * kPage), kPage) == HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS);
    CHECK(access_of(machine, pages.at(kPage), 2 * kPage) == HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS);

    HSA_CHECK(set(pages.data, kSvmBytes, HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION, gpu));
    CHECK(get(pages.at(3 * kPage), kPage, HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION).value == gpu);
    HSA_CHECK(set(pages.data, kPage, HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION, machine.cpu().agent.handle));
    CHECK(get(pages.data, kSvmBytes, HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION).value == 0);
    HSA_CHECK(set(pages.data, kPage, HSA_AMD_SVM_ATTRIB_READ_ONLY, 1));
    CHECK(get(pages.data, kPage, HSA_AMD_SVM_ATTRIB_READ_ONLY).value != 0);
    CHECK(get(pages.at(kPage), kPage, HSA_AMD_SVM_ATTRIB_READ_ONLY).value == 0);
}

TEST_CASE("a prefetch completes its signal and is reported", "[device][memory][svm]") {
    NEEDS_GPUS(1);
    Machine machine;
    const SvmPages pages;
    const Signal done;
    HSA_CHECK(hsa_amd_svm_prefetch_async(pages.data, kSvmBytes, machine.gpu().agent, 0, nullptr, done));
    REQUIRE(done.completed());
    CHECK(get(pages.data, kSvmBytes, HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION).value == machine.gpu().agent.handle);
}

TEST_CASE("attributes of unmapped memory are refused", "[device][memory][svm]") {
    NEEDS_GPUS(1);
    Machine machine;
    void* gone = nullptr;
    {
        const SvmPages pages;
        gone = pages.data;
    }
    CHECK(set(gone, kSvmBytes, HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE, machine.gpu().agent.handle) != HSA_STATUS_SUCCESS);
    CHECK(set(nullptr, kSvmBytes, HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE, machine.gpu().agent.handle) !=
          HSA_STATUS_SUCCESS);
    const SvmPages pages;
    CHECK(set(pages.data, 0, HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE, machine.gpu().agent.handle) != HSA_STATUS_SUCCESS);
    CHECK(set(pages.data, kSvmBytes, 0x777, 1) != HSA_STATUS_SUCCESS);
}
