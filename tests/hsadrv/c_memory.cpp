// Memory of the C interface that is not from a pool alone: managed, mapped, and from a program's allocator.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "hsadrv/memory.hpp"
#include "hsadrv/optional_api.hpp"
#include "tests/hsadrv/c_machine.hpp"

using namespace hsadrv;
using namespace test_support;
using test_support::Contains;

namespace {

constexpr std::size_t size = 4 * 4096;

void* address_of(hsadrv_memory memory) {
    void* address = nullptr;
    CHECK(hsadrv_memory_address(memory, &address) == HSADRV_SUCCESS);
    return address;
}

/// y = y + 2 x for 64 floats, and waits.
hsadrv_result saxpy(const CMachine& m, hsadrv_memory y) {
    auto arguments = m.arguments();
    arguments[0] = hsadrv_argument_memory(y, HSADRV_ARGUMENT_FLOATING, 4);
    std::fill_n(static_cast<float*>(address_of(m.x)), 64, 3.0f);
    const hsadrv_result result = m.launch(arguments);
    return result ? result : hsadrv_stream_synchronize(m.stream, patience_ns);
}

std::vector<float> floats_of(const CMachine& m, void* address) {
    std::vector<float> found(64);
    CHECK(hsadrv_stream_copy_and_wait(m.stream, found.data(), address, 256, patience_ns) == HSADRV_SUCCESS);
    return found;
}

/// A program's allocator: pinned memory of the interface itself, and what was asked of it.
struct Program {
    hsadrv_device gpu = nullptr;
    hsadrv_stream stream = nullptr;
    hsadrv_memory memory = nullptr;
    std::size_t offset_bytes = 0;
    std::atomic<int> allocations = 0, deallocations = 0, releases = 0, wrong = 0;
    bool empty = false;

    static void* allocate(std::size_t size_bytes, std::size_t alignment, hsadrv_stream stream, void* user) {
        auto& self = *static_cast<Program*>(user);
        ++self.allocations;
        self.wrong += stream != self.stream || alignment != 512;
        void* address = nullptr;
        if (self.empty || hsadrv_memory_create(self.gpu, HSADRV_MEMORY_HOST, size_bytes + 8, &self.memory) ||
            hsadrv_memory_address(self.memory, &address))
            return nullptr;
        return static_cast<std::byte*>(address) + self.offset_bytes;
    }
    static void deallocate(void* address, std::size_t size_bytes, std::size_t alignment, void* user) {
        auto& self = *static_cast<Program*>(user);
        void* given = nullptr;
        self.wrong += hsadrv_memory_address(self.memory, &given) != HSADRV_SUCCESS ||
                      static_cast<std::byte*>(given) + self.offset_bytes != address || size_bytes != size ||
                      alignment != 512 || hsadrv_memory_destroy(self.memory) != HSADRV_SUCCESS;
        ++self.deallocations;
    }
    static void release(void* user) { ++static_cast<Program*>(user)->releases; }

    hsadrv_memory_callbacks callbacks() {
        return {sizeof(hsadrv_memory_callbacks), allocate, deallocate, release, this};
    }
};

}  // namespace

TEST_CASE("C: agents, their pools, and memory of each", "[c][memory][device]") {
    NEEDS_C_MACHINE();
    std::size_t count = 0;
    REQUIRE(hsadrv_driver_agent_count(m.driver, &count) == HSADRV_SUCCESS);
    unsigned gpus = 0, allocations = 0;
    for (std::size_t agent = 0; agent < count; ++agent) {
        hsadrv_agent_facts facts{};
        facts.struct_size = sizeof facts;
        REQUIRE(hsadrv_driver_agent_info(m.driver, agent, &facts) == HSADRV_SUCCESS);
        gpus += facts.kind == HSADRV_AGENT_GPU;
        CHECK((facts.device == UINT32_MAX) == (facts.kind != HSADRV_AGENT_GPU));
        const std::size_t counts[] = {facts.pools, facts.regions};
        for (const std::uint32_t view : {HSADRV_VIEW_POOLS, HSADRV_VIEW_REGIONS}) {
            hsadrv_pool_facts pool{};
            pool.struct_size = sizeof pool;
            for (std::size_t i = 0; i < counts[view]; ++i) {
                REQUIRE(hsadrv_driver_pool_info(m.driver, agent, view, i, &pool) == HSADRV_SUCCESS);
                hsadrv_memory memory = nullptr;
                const hsadrv_result result = hsadrv_memory_create_in(m.driver, agent, view, i, 4096, &memory);
                CHECK((result == HSADRV_SUCCESS) == (pool.segment == HSADRV_SEGMENT_GLOBAL && pool.alloc_allowed));
                if (result != HSADRV_SUCCESS) continue;
                void* address = nullptr;
                CHECK(hsadrv_memory_address(memory, &address) == HSADRV_SUCCESS);
                if (pool.host_accessible) static_cast<char*>(address)[4095] = 1;
                CHECK(hsadrv_stream_fill(m.stream, address, 4096, "x", 1, patience_ns) == HSADRV_SUCCESS);
                CHECK(hsadrv_stream_synchronize(m.stream, patience_ns) == HSADRV_SUCCESS);
                CHECK(hsadrv_memory_destroy(memory) == HSADRV_SUCCESS);
                ++allocations;
            }
            CHECK_THAT(failure(bad_argument, hsadrv_driver_pool_info(m.driver, agent, view, counts[view], &pool)),
                       Contains("there are " + std::to_string(counts[view])));
        }
    }
    CHECK(gpus > 0);
    CHECK(allocations > 4);
    hsadrv_memory memory = nullptr;
    CHECK_THAT(failure(bad_argument, hsadrv_memory_create_in(m.driver, 0, 2, 0, 4096, &memory)), Contains("view 2"));
    CHECK_THAT(failure(bad_argument, hsadrv_memory_create_in(m.driver, count, 0, 0, 4096, &memory)), Contains("agent"));
}

TEST_CASE("C: the host and a kernel use managed memory in place", "[c][managed][device]") {
    NEEDS_C_MACHINE();
    hsadrv_memory memory = nullptr;
    const hsadrv_result made = hsadrv_memory_create_managed(&m.gpu, 1, size, &memory);
    if (!Driver().system().svm_supported) {
        CHECK_THAT(failure(HSADRV_ERROR_NOT_OFFERED, made), Contains("svm_supported"));
        return;
    }
    REQUIRE(made == HSADRV_SUCCESS);
    auto* const words = static_cast<float*>(address_of(memory));
    CHECK(std::count(words, words + size / 4, 0.0f) == size / 4);
    std::fill_n(words, 64, 1.0f);
    REQUIRE(saxpy(m, memory) == HSADRV_SUCCESS);
    CHECK(std::count(words, words + 64, 7.0f) == 64);
    CHECK(hsadrv_memory_destroy(memory) == HSADRV_SUCCESS);
    REQUIRE(hsadrv_memory_create_managed(&m.gpu, 1, 0, &memory) == HSADRV_SUCCESS);
    CHECK(address_of(memory) == nullptr);
    CHECK(hsadrv_memory_destroy(memory) == HSADRV_SUCCESS);
}

TEST_CASE("C: managed pages keep advice, and are prefetched in the stream's order", "[c][managed][device]") {
    NEEDS_C_MACHINE();
    if (!Driver().system().svm_supported) return;
    hsadrv_memory memory = nullptr;
    REQUIRE(hsadrv_memory_create_managed(&m.gpu, 1, size, &memory) == HSADRV_SUCCESS);
    void* const pages = address_of(memory);
    hsadrv_device_facts device{};
    hsadrv_managed_facts facts{};
    device.struct_size = sizeof device;
    facts.struct_size = sizeof facts;
    REQUIRE(hsadrv_device_info(m.gpu, &device) == HSADRV_SUCCESS);
    const auto ask = [&] { CHECK(hsadrv_managed_info(pages, size, m.gpu, &facts) == HSADRV_SUCCESS); };
    ask();
    CHECK(facts.read_mostly == 0);
    CHECK(facts.preferred_agent == 0);
    CHECK(facts.access != HSADRV_ACCESS_NONE);
    CHECK(hsadrv_managed_advise(pages, size, HSADRV_ADVICE_READ_MOSTLY, nullptr) == HSADRV_SUCCESS);
    CHECK(hsadrv_managed_advise(pages, size, HSADRV_ADVICE_PREFERRED_LOCATION, m.gpu) == HSADRV_SUCCESS);
    CHECK(hsadrv_managed_advise(pages, size, HSADRV_ADVICE_ACCESSIBLE_IN_PLACE_BY, m.gpu) == HSADRV_SUCCESS);
    CHECK(hsadrv_stream_prefetch(m.stream, pages, size, m.gpu, patience_ns) == HSADRV_SUCCESS);
    CHECK(hsadrv_stream_hold(m.stream, memory) == HSADRV_SUCCESS);
    CHECK(hsadrv_stream_synchronize(m.stream, patience_ns) == HSADRV_SUCCESS);
    ask();
    CHECK(facts.read_mostly == 1);
    CHECK(facts.preferred_agent == device.native_agent);
    CHECK(facts.prefetched_agent == device.native_agent);
    CHECK(facts.access == HSADRV_ACCESS_IN_PLACE);
    CHECK(hsadrv_managed_advise(pages, size, HSADRV_ADVICE_PREFERRED_LOCATION, nullptr) == HSADRV_SUCCESS);
    CHECK(hsadrv_stream_prefetch(m.stream, pages, size, nullptr, patience_ns) == HSADRV_SUCCESS);
    CHECK(hsadrv_stream_synchronize(m.stream, patience_ns) == HSADRV_SUCCESS);
    ask();
    const std::uint64_t host = Driver().cpus().front().native().handle;
    CHECK(facts.preferred_agent == host);
    CHECK(facts.prefetched_agent == host);
    CHECK(hsadrv_memory_destroy(memory) == HSADRV_SUCCESS);
}

TEST_CASE("C: advice that is none, and pages that are not there, are refused", "[c][managed][device]") {
    NEEDS_C_MACHINE();
    if (!Driver().system().svm_supported) return;
    hsadrv_managed_facts facts{};
    facts.struct_size = sizeof facts;
    int word = 0;
    auto* const absent = number<void*>(0x10000);
    CHECK_THAT(failure(bad_argument, hsadrv_managed_advise(&word, 4, 7, m.gpu)), Contains("no advice 7"));
    CHECK_THAT(failure(bad_handle, hsadrv_managed_advise(&word, 4, HSADRV_ADVICE_ACCESSIBLE_BY, nullptr)),
               Contains("'device' is null"));
    CHECK_THAT(failure(bad_argument, hsadrv_managed_advise(absent, 4, HSADRV_ADVICE_READ_MOSTLY, nullptr)),
               Contains("not all of the pages are mapped"));
    CHECK_THAT(failure(bad_argument, hsadrv_managed_advise(&word, SIZE_MAX, HSADRV_ADVICE_READ_MOSTLY, nullptr)),
               Contains("not all of the pages are mapped"));
    CHECK(failure(bad_argument, hsadrv_managed_info(absent, 4, m.gpu, &facts)) != "");
    CHECK(failure(bad_argument, hsadrv_stream_prefetch(m.stream, absent, 4, m.gpu, patience_ns)) != "");
    facts.struct_size = 8;
    CHECK_THAT(failure(bad_argument, hsadrv_managed_info(&word, 4, m.gpu, &facts)), Contains("struct_size of 8"));
}

TEST_CASE("C: physical memory is mapped to reserved addresses, where the runtime can", "[c][vmem][device]") {
    NEEDS_C_MACHINE();
    std::size_t granule = 0;
    hsadrv_virtual_range range = nullptr;
    hsadrv_physical_memory part = nullptr, same = nullptr;
    int descriptor = 0;
    REQUIRE(hsadrv_physical_memory_granule(m.gpu, HSADRV_MEMORY_DEVICE, &granule) == HSADRV_SUCCESS);
    CHECK(granule % 4096 == 0);
    const hsadrv_result reserved = hsadrv_virtual_range_create(m.driver, 2 * granule, &range);
    if (!optional_api().vmem_address_reserve) {
        CHECK_THAT(failure(HSADRV_ERROR_NOT_OFFERED, reserved), Contains("6.0"));
        CHECK(hsadrv_physical_memory_create(m.gpu, HSADRV_MEMORY_DEVICE, granule, &part) == HSADRV_ERROR_NOT_OFFERED);
        CHECK(hsadrv_physical_memory_import(m.driver, 0, granule, &part) == HSADRV_ERROR_NOT_OFFERED);
        return;
    }
    if (!Driver().system().virtual_memory_supported.value_or(false)) return;
    REQUIRE(reserved == HSADRV_SUCCESS);
    REQUIRE(hsadrv_physical_memory_create(m.gpu, HSADRV_MEMORY_DEVICE, granule, &part) == HSADRV_SUCCESS);
    REQUIRE(hsadrv_physical_memory_share(part, &descriptor) == HSADRV_SUCCESS);
    REQUIRE(hsadrv_physical_memory_import(m.driver, descriptor, granule, &same) == HSADRV_SUCCESS);
    CHECK(::close(descriptor) == 0);
    hsadrv_memory low = nullptr, high = nullptr, third = nullptr;
    void* first = nullptr;
    REQUIRE(hsadrv_virtual_range_map(range, 0, part, &m.gpu, 1, &low) == HSADRV_SUCCESS);
    REQUIRE(hsadrv_virtual_range_map(range, granule, same, &m.gpu, 1, &high) == HSADRV_SUCCESS);
    CHECK(hsadrv_virtual_range_address(range, &first) == HSADRV_SUCCESS);
    CHECK(address_of(low) == first);
    CHECK(address_of(high) == static_cast<std::byte*>(first) + granule);
    CHECK(hsadrv_virtual_range_map(range, 0, part, &m.gpu, 1, &third) != HSADRV_SUCCESS);
    CHECK(failure(bad_argument, hsadrv_virtual_range_map(range, 2 * granule, part, &m.gpu, 1, &third)) != "");
    CHECK(failure(bad_argument, hsadrv_virtual_range_map(range, SIZE_MAX - 4095, part, &m.gpu, 1, &third)) != "");
    CHECK(hsadrv_physical_memory_destroy(part) == HSADRV_SUCCESS);  // the mappings keep them
    CHECK(hsadrv_physical_memory_destroy(same) == HSADRV_SUCCESS);
    CHECK(hsadrv_virtual_range_destroy(range) == HSADRV_SUCCESS);
    const float one = 1.0f;
    CHECK(hsadrv_stream_fill(m.stream, address_of(low), 256, &one, 4, patience_ns) == HSADRV_SUCCESS);
    REQUIRE(saxpy(m, low) == HSADRV_SUCCESS);
    CHECK(floats_of(m, address_of(high)) == std::vector<float>(64, 7.0f));  // the same memory
    CHECK(hsadrv_memory_destroy(low) == HSADRV_SUCCESS);
    CHECK(hsadrv_memory_destroy_on(high, m.stream) == HSADRV_SUCCESS);
    CHECK(hsadrv_stream_synchronize(m.stream, patience_ns) == HSADRV_SUCCESS);
}

TEST_CASE("C: a program's allocator gives memory, and gets it back after the work", "[c][device]") {
    NEEDS_C_MACHINE();
    Program program{.gpu = m.gpu, .stream = m.stream};
    hsadrv_memory_resource resource = nullptr;
    hsadrv_memory memory = nullptr;
    const auto callbacks = program.callbacks();
    REQUIRE(hsadrv_memory_resource_create(m.driver, &callbacks, &resource) == HSADRV_SUCCESS);
    REQUIRE(hsadrv_memory_create_from(resource, m.stream, size, 512, &memory) == HSADRV_SUCCESS);
    CHECK(hsadrv_memory_resource_destroy(resource) == HSADRV_SUCCESS);  // the memory keeps it
    CHECK(program.releases == 0);
    std::fill_n(static_cast<float*>(address_of(memory)), 64, 1.0f);
    auto* const first = static_cast<float*>(address_of(memory));
    std::atomic<bool> go = false;
    const auto wait = [](void* flag) {
        static_cast<std::atomic<bool>*>(flag)->wait(false);
        return 0;
    };
    CHECK(hsadrv_stream_call(m.stream, wait, &go, nullptr, patience_ns) == HSADRV_SUCCESS);
    auto arguments = m.arguments();
    arguments[0] = hsadrv_argument_memory(memory, HSADRV_ARGUMENT_FLOATING, 4);
    std::fill_n(static_cast<float*>(address_of(m.x)), 64, 3.0f);
    CHECK(m.launch(arguments) == HSADRV_SUCCESS);
    CHECK(hsadrv_stream_copy(m.stream, address_of(m.y), first, 256, patience_ns) == HSADRV_SUCCESS);
    CHECK(hsadrv_memory_destroy_on(memory, m.stream) == HSADRV_SUCCESS);
    CHECK(program.deallocations == 0);
    go = true;
    go.notify_all();
    CHECK(hsadrv_stream_destroy(m.stream, patience_ns) == HSADRV_SUCCESS);
    CHECK(eventually([&] { return program.releases == 1; }));
    CHECK(program.allocations == 1);
    CHECK(program.deallocations == 1);
    CHECK(program.wrong == 0);
    CHECK(static_cast<float*>(address_of(m.y))[63] == 7.0f);
    CHECK(hsadrv_stream_create(m.gpu, nullptr, &m.stream) == HSADRV_SUCCESS);
}

TEST_CASE("C: what a program's allocator must not return is given back", "[c][device]") {
    NEEDS_C_MACHINE();
    Program program{.gpu = m.gpu, .stream = m.stream};
    hsadrv_memory_resource resource = nullptr;
    hsadrv_memory memory = nullptr;
    auto callbacks = program.callbacks();
    REQUIRE(hsadrv_memory_resource_create(m.driver, &callbacks, &resource) == HSADRV_SUCCESS);
    program.offset_bytes = 8;
    CHECK_THAT(failure(bad_argument, hsadrv_memory_create_from(resource, m.stream, size, 512, &memory)),
               Contains("16384 B, aligned to 512") && Contains("not aligned"));
    CHECK(program.deallocations == 1);
    program.empty = true;
    CHECK_THAT(failure(HSADRV_ERROR_OUT_OF_MEMORY, hsadrv_memory_create_from(resource, m.stream, size, 512, &memory)),
               Contains("returned null"));
    CHECK(memory == nullptr);
    CHECK_THAT(failure(bad_argument, hsadrv_memory_create_from(resource, m.stream, size, 48, &memory)),
               Contains("no power of two"));
    CHECK(program.allocations == 2);
    REQUIRE(hsadrv_memory_create_from(resource, m.stream, 0, 512, &memory) == HSADRV_SUCCESS);
    CHECK(address_of(memory) == nullptr);
    CHECK(program.allocations == 2);
    CHECK(hsadrv_memory_destroy(memory) == HSADRV_SUCCESS);
    CHECK(hsadrv_memory_resource_destroy(resource) == HSADRV_SUCCESS);
    CHECK(program.releases == 1);
    callbacks.deallocate = nullptr;
    CHECK_THAT(failure(bad_argument, hsadrv_memory_resource_create(m.driver, &callbacks, &resource)),
               Contains("'callbacks.deallocate' is null"));
    callbacks.struct_size = 3;
    CHECK(failure(bad_argument, hsadrv_memory_resource_create(m.driver, &callbacks, &resource)) != "");
    CHECK(program.releases == 1);
    CHECK(program.wrong == 0);
}

TEST_CASE("C: a cache gives out again what was freed, up to its limit", "[c][device]") {
    NEEDS_C_MACHINE();
    hsadrv_memory_resource cache = nullptr;
    hsadrv_memory first = nullptr, second = nullptr;
    REQUIRE(hsadrv_memory_resource_create_cache(m.gpu, HSADRV_MEMORY_DEVICE, 8 << 20, &cache) == HSADRV_SUCCESS);
    REQUIRE(hsadrv_memory_create_from(cache, m.stream, size, 0, &first) == HSADRV_SUCCESS);
    void* const address = address_of(first);
    const float one = 1.0f;
    CHECK(hsadrv_stream_fill(m.stream, address, 256, &one, 4, patience_ns) == HSADRV_SUCCESS);
    REQUIRE(saxpy(m, first) == HSADRV_SUCCESS);
    CHECK(floats_of(m, address) == std::vector<float>(64, 7.0f));
    CHECK(hsadrv_memory_destroy(first) == HSADRV_SUCCESS);
    CHECK(hsadrv_stream_synchronize(m.stream, patience_ns) == HSADRV_SUCCESS);
    REQUIRE(hsadrv_memory_create_from(cache, m.stream, size, 0, &second) == HSADRV_SUCCESS);
    CHECK(address_of(second) == address);
    CHECK(failure(HSADRV_ERROR_OUT_OF_MEMORY, hsadrv_memory_create_from(cache, m.stream, 64 << 20, 0, &first)) != "");
    CHECK(failure(bad_argument, hsadrv_memory_create_from(cache, m.stream, size, 1024, &first)) != "");
    hsadrv_memory_resource none = nullptr;
    CHECK(failure(bad_argument, hsadrv_memory_resource_create_cache(m.gpu, 9, 0, &none)) != "");
    CHECK(hsadrv_memory_destroy(second) == HSADRV_SUCCESS);
    CHECK(hsadrv_memory_resource_destroy(cache) == HSADRV_SUCCESS);
}
