// Signals, IPC and dma-bufs of the C interface. Two processes: c/sharing.c.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "hsadrv/memory.hpp"
#include "hsadrv/optional_api.hpp"
#include "tests/hsadrv/c_machine.hpp"
#include "tests/support/descriptor.hpp"

using namespace hsadrv;
using namespace test_support;
using test_support::Contains;

namespace {

constexpr std::size_t shared_bytes = 8192;

struct DeviceMemory {
    hsadrv_memory memory = nullptr;
    void* address = nullptr;

    DeviceMemory(const CMachine& m, std::uint32_t value) {
        REQUIRE(hsadrv_memory_create(m.gpu, HSADRV_MEMORY_DEVICE, shared_bytes, &memory) == HSADRV_SUCCESS);
        REQUIRE(hsadrv_memory_address(memory, &address) == HSADRV_SUCCESS);
        REQUIRE(hsadrv_stream_fill(m.stream, address, shared_bytes, &value, 4, patience_ns) == HSADRV_SUCCESS);
        REQUIRE(hsadrv_stream_synchronize(m.stream, patience_ns) == HSADRV_SUCCESS);
    }
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;
    ~DeviceMemory() { hsadrv_memory_destroy(memory); }
};

std::vector<std::uint32_t> words_of(const CMachine& m, hsadrv_memory memory, std::size_t offset_bytes, std::size_t n) {
    void* address = nullptr;
    std::vector<std::uint32_t> words(n);
    CHECK(hsadrv_memory_address(memory, &address) == HSADRV_SUCCESS);
    CHECK(hsadrv_stream_copy_and_wait(m.stream, words.data(), static_cast<std::byte*>(address) + offset_bytes, 4 * n,
                                      patience_ns) == HSADRV_SUCCESS);
    return words;
}

}  // namespace

TEST_CASE("C: streams and threads wait for a signal and change it", "[c][device]") {
    NEEDS_C_MACHINE();
    for (const std::uint32_t flags : {HSADRV_SIGNAL_PLAIN, HSADRV_SIGNAL_SHARED}) {
        hsadrv_signal go = nullptr, done = nullptr;
        std::int64_t value = -1;
        int complete = 1;
        REQUIRE(hsadrv_signal_create(m.driver, 5, flags, &go) == HSADRV_SUCCESS);
        REQUIRE(hsadrv_signal_create(m.driver, 1, flags, &done) == HSADRV_SUCCESS);
        CHECK(hsadrv_stream_wait_signal(m.stream, go, HSADRV_EQUAL, 3, patience_ns) == HSADRV_SUCCESS);
        CHECK(hsadrv_stream_decrement(m.stream, done, patience_ns) == HSADRV_SUCCESS);
        CHECK(hsadrv_signal_add(go, -1) == HSADRV_SUCCESS);
        CHECK(hsadrv_stream_query(m.stream, &complete) == HSADRV_SUCCESS);
        CHECK(complete == 0);
        CHECK(hsadrv_signal_load(done, &value) == HSADRV_SUCCESS);
        CHECK(value == 1);
        CHECK_THAT(failure(HSADRV_ERROR_TIMEOUT, hsadrv_signal_wait(done, HSADRV_LESS, 1, 1'000'000, &value)),
                   Contains("1 ms"));
        CHECK(value == 0);  // what it would have returned
        std::thread waiter(
            [&] { CHECK(hsadrv_signal_wait(done, HSADRV_NOT_EQUAL, 1, patience_ns, &value) == HSADRV_SUCCESS); });
        CHECK(hsadrv_signal_store(go, 3) == HSADRV_SUCCESS);
        waiter.join();
        CHECK(value == 0);
        CHECK(hsadrv_signal_wait(done, HSADRV_GREATER_EQUAL, 0, 0, nullptr) == HSADRV_SUCCESS);
        CHECK(hsadrv_signal_destroy(go) == HSADRV_SUCCESS);
        CHECK(hsadrv_signal_destroy(done) == HSADRV_SUCCESS);
        CHECK(hsadrv_stream_synchronize(m.stream, patience_ns) == HSADRV_SUCCESS);
    }
}

TEST_CASE("C: a stream keeps the signal that it waits for", "[c][device]") {
    NEEDS_C_MACHINE();
    hsadrv_signal shared = nullptr, again = nullptr;
    hsadrv_ipc_signal exported{};
    REQUIRE(hsadrv_signal_create(m.driver, 1, HSADRV_SIGNAL_SHARED, &shared) == HSADRV_SUCCESS);
    REQUIRE(hsadrv_signal_export_ipc(shared, &exported) == HSADRV_SUCCESS);
    REQUIRE(hsadrv_signal_attach_ipc(m.driver, &exported, &again) == HSADRV_SUCCESS);
    CHECK(hsadrv_stream_wait_signal(m.stream, shared, HSADRV_LESS, 1, patience_ns) == HSADRV_SUCCESS);
    CHECK(hsadrv_signal_destroy(shared) == HSADRV_SUCCESS);
    CHECK(hsadrv_signal_store(again, 0) == HSADRV_SUCCESS);
    CHECK(hsadrv_stream_synchronize(m.stream, patience_ns) == HSADRV_SUCCESS);
    CHECK(hsadrv_signal_destroy(again) == HSADRV_SUCCESS);
}

TEST_CASE("C: signals refuse other conditions and flags, and sharing of others", "[c][device]") {
    NEEDS_C_MACHINE();
    hsadrv_signal signal = nullptr, other = nullptr;
    hsadrv_ipc_signal exported{};
    CHECK_THAT(failure(bad_argument, hsadrv_signal_create(m.driver, 1, 2, &signal)), Contains("unknown flags 2"));
    REQUIRE(hsadrv_signal_create(m.driver, 1, HSADRV_SIGNAL_PLAIN, &signal) == HSADRV_SUCCESS);
    CHECK_THAT(failure(bad_argument, hsadrv_signal_wait(signal, 4, 0, 0, nullptr)), Contains("no condition 4"));
    CHECK(failure(bad_argument, hsadrv_stream_wait_signal(m.stream, signal, 4, 0, 0)) != "");
    CHECK_THAT(failure(bad_argument, hsadrv_signal_export_ipc(signal, &exported)), Contains("ipc_signal"));
    CHECK_THAT(failure(bad_argument, hsadrv_signal_attach_ipc(m.driver, &exported, &other)), Contains("checksum"));
    CHECK(hsadrv_signal_destroy(signal) == HSADRV_SUCCESS);
}

TEST_CASE("C: exported memory is attached, for kernels and copies", "[c][ipc][device]") {
    NEEDS_C_MACHINE();
    const DeviceMemory memory(m, 7);
    hsadrv_ipc_memory exported{};
    hsadrv_memory attached = nullptr;
    std::size_t bytes = 0;
    REQUIRE(hsadrv_memory_export_ipc(memory.memory, 4096, 256, &exported) == HSADRV_SUCCESS);
    REQUIRE(hsadrv_memory_attach_ipc(&m.gpu, 1, &exported, &attached) == HSADRV_SUCCESS);
    CHECK(hsadrv_memory_size(attached, &bytes) == HSADRV_SUCCESS);
    CHECK(bytes == 256);
    CHECK(words_of(m, attached, 0, 64) == std::vector<std::uint32_t>(64, 7));
    auto arguments = m.arguments();
    arguments[0] = hsadrv_argument_memory(attached, HSADRV_ARGUMENT_FLOATING, 4);
    CHECK(m.launch(arguments) == HSADRV_SUCCESS);
    CHECK(hsadrv_memory_destroy(attached) == HSADRV_SUCCESS);  // the launch holds it
    CHECK(hsadrv_stream_synchronize(m.stream, patience_ns) == HSADRV_SUCCESS);
    CHECK_THAT(failure(bad_handle, hsadrv_memory_size(attached, &bytes)), Contains("destroyed"));
}

TEST_CASE("C: what cannot be exported or attached is refused", "[c][ipc][device]") {
    NEEDS_C_MACHINE();
    const DeviceMemory memory(m, 7);
    hsadrv_ipc_memory exported{};
    hsadrv_memory attached = nullptr;
    const auto refused = [&](hsadrv_memory of, std::size_t offset, std::size_t bytes) {
        return failure(bad_argument, hsadrv_memory_export_ipc(of, offset, bytes, &exported));
    };
    CHECK_THAT(refused(memory.memory, 4096, 4097), Contains("4097 B at 4096 of memory of 8192 B"));
    CHECK(refused(memory.memory, SIZE_MAX, 2) != "");
    CHECK(refused(memory.memory, 0, 0) != "");
    CHECK_THAT(refused(m.x, 0, 16), Contains("not device memory"));
    REQUIRE(hsadrv_memory_export_ipc(memory.memory, 0, shared_bytes, &exported) == HSADRV_SUCCESS);
    CHECK_THAT(failure(bad_argument, hsadrv_memory_attach_ipc(&m.gpu, 0, &exported, &attached)),
               Contains("a list of 0 devices"));
    CHECK(failure(bad_argument, hsadrv_memory_attach_ipc(&m.gpu, SIZE_MAX, &exported, &attached)) != "");
    const hsadrv_device twice[] = {m.gpu, m.gpu};
    CHECK_THAT(failure(bad_argument, hsadrv_memory_attach_ipc(twice, 2, &exported, &attached)),
               Contains("'devices[1]'") && Contains("given twice"));
    const hsadrv_device wrong = reinterpret_cast<hsadrv_device>(m.x);
    CHECK_THAT(failure(bad_handle, hsadrv_memory_attach_ipc(&wrong, 1, &exported, &attached)),
               Contains("'devices[0]' is 0x") && Contains("memory, not a device"));
    REQUIRE(hsadrv_memory_attach_ipc(&m.gpu, 1, &exported, &attached) == HSADRV_SUCCESS);
    CHECK_THAT(refused(attached, 0, 16), Contains("was attached"));
    CHECK(failure(bad_argument, hsadrv_memory_allow_access(attached, m.gpu)) != "");
    CHECK(hsadrv_memory_destroy(attached) == HSADRV_SUCCESS);
    for (std::uint64_t& word : exported.words) {
        word ^= 1;
        CHECK_THAT(failure(bad_argument, hsadrv_memory_attach_ipc(&m.gpu, 1, &exported, &attached)),
                   Contains("checksum"));
        word ^= 1;
    }
}

TEST_CASE("C: a dma-buf is exported and imported as the same memory, where the runtime can", "[c][dmabuf][device]") {
    NEEDS_C_MACHINE();
    const DeviceMemory memory(m, 9);
    int descriptor = 0;
    std::uint64_t offset = 1;
    hsadrv_memory imported = nullptr;
    const hsadrv_result result = hsadrv_memory_export_dmabuf(memory.memory, 4096, 256, &descriptor, &offset);
    if (!optional_api().portable_export_dmabuf) {
        CHECK_THAT(failure(HSADRV_ERROR_NOT_OFFERED, result), Contains("5.6"));
        CHECK(descriptor == -1);
        return;
    }
    REQUIRE(result == HSADRV_SUCCESS);
    {
        const Descriptor held(descriptor);
        REQUIRE(hsadrv_memory_import_dmabuf(&m.gpu, 1, descriptor, &imported) == HSADRV_SUCCESS);
    }
    CHECK(words_of(m, imported, offset, 64) == std::vector<std::uint32_t>(64, 9));
    CHECK(hsadrv_memory_destroy(imported) == HSADRV_SUCCESS);
    CHECK(failure(bad_argument, hsadrv_memory_export_dmabuf(memory.memory, 8000, 256, &descriptor, &offset)) != "");
    CHECK(descriptor == -1);
}

TEST_CASE("C: a descriptor of anything else is not imported", "[c][dmabuf][device]") {
    NEEDS_C_MACHINE();
    hsadrv_memory imported = nullptr;
    const Descriptor null(::open("/dev/null", O_RDWR));
    for (const int wrong : {int(null), -1, 1 << 20})
        CHECK(failure(bad_argument, hsadrv_memory_import_dmabuf(&m.gpu, 1, wrong, &imported)) != "");
    CHECK(imported == nullptr);
}
