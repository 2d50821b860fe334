// Handles of the C interface: whatever is given for one, the answer is a result.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <thread>

#include "hsadrv/c/handle_table.hpp"
#include "tests/hsadrv/c_machine.hpp"
#include "tests/support/allocations.hpp"

using namespace hsadrv;
using namespace test_support;
using test_support::Contains;

namespace {

/// Every function with this value for all its handles, and null for all its pointers.
std::vector<hsadrv_result> call_all(void* value) {
    const auto driver = static_cast<hsadrv_driver>(value);
    const auto device = static_cast<hsadrv_device>(value);
    const auto memory = static_cast<hsadrv_memory>(value);
    const auto registration = static_cast<hsadrv_registration>(value);
    const auto stream = static_cast<hsadrv_stream>(value);
    const auto event = static_cast<hsadrv_event>(value);
    const auto executable = static_cast<hsadrv_executable>(value);
    const auto kernel = static_cast<hsadrv_kernel>(value);
    const auto graph = static_cast<hsadrv_graph>(value);
    const auto signal = static_cast<hsadrv_signal>(value);
    const auto physical = static_cast<hsadrv_physical_memory>(value);
    const auto range = static_cast<hsadrv_virtual_range>(value);
    const auto resource = static_cast<hsadrv_memory_resource>(value);
    const auto builder = static_cast<hsadrv_graph_builder>(value);
    return {
        hsadrv_driver_create(nullptr),
        hsadrv_driver_destroy(driver),
        hsadrv_driver_device_count(driver, nullptr),
        hsadrv_driver_device(driver, 0, nullptr),
        hsadrv_driver_find_device(driver, nullptr, nullptr),
        hsadrv_device_info(device, nullptr),
        hsadrv_memory_create(device, 0, 4096, nullptr),
        hsadrv_memory_destroy(memory),
        hsadrv_memory_address(memory, nullptr),
        hsadrv_memory_size(memory, nullptr),
        hsadrv_memory_allow_access(memory, device),
        hsadrv_memory_destroy_on(memory, stream),
        hsadrv_registration_create(device, nullptr, 4096, HSADRV_MEMORY_HOST, nullptr),
        hsadrv_registration_destroy(registration),
        hsadrv_registration_address(registration, nullptr),
        hsadrv_stream_create(device, nullptr, nullptr),
        hsadrv_stream_destroy(stream, 0),
        hsadrv_stream_synchronize(stream, 0),
        hsadrv_stream_query(stream, nullptr),
        hsadrv_stream_copy(stream, nullptr, nullptr, 4096, 0),
        hsadrv_stream_copy_and_wait(stream, nullptr, nullptr, 4096, 0),
        hsadrv_stream_fill(stream, nullptr, 4096, nullptr, 4, 0),
        hsadrv_stream_hold(stream, memory),
        hsadrv_stream_call(stream, nullptr, nullptr, nullptr, 0),
        hsadrv_stream_on_complete(stream, nullptr, nullptr, 0),
        hsadrv_stream_record(stream, 0, 0, nullptr),
        hsadrv_stream_wait(stream, event, 0),
        hsadrv_event_destroy(event),
        hsadrv_event_synchronize(event, 0),
        hsadrv_event_query(event, nullptr),
        hsadrv_event_elapsed(event, event, nullptr),
        hsadrv_executable_load(device, nullptr, 4096, nullptr, nullptr),
        hsadrv_executable_load_file(device, nullptr, nullptr),
        hsadrv_executable_destroy(executable),
        hsadrv_executable_kernel_count(executable, nullptr),
        hsadrv_executable_kernel_name(executable, 0, nullptr),
        hsadrv_executable_kernel(executable, nullptr, nullptr),
        hsadrv_executable_global(executable, nullptr, nullptr, nullptr),
        hsadrv_kernel_destroy(kernel),
        hsadrv_kernel_info(kernel, nullptr),
        hsadrv_kernel_argument_info(kernel, 0, nullptr),
        hsadrv_kernel_launch(kernel, stream, nullptr, nullptr, 1, 0),
        hsadrv_stream_begin_capture(stream),
        hsadrv_stream_end_capture(stream, nullptr),
        hsadrv_graph_destroy(graph),
        hsadrv_graph_size(graph, nullptr, nullptr),
        hsadrv_graph_launch(graph, stream, 0),
        hsadrv_graph_update(graph, 0, kernel, nullptr, nullptr, 1, 0),
        hsadrv_graph_kernel_index(graph, nullptr, nullptr),
        hsadrv_graph_builder_create(device, nullptr),
        hsadrv_graph_builder_destroy(builder),
        hsadrv_graph_builder_add_kernel(builder, nullptr, 0, kernel, nullptr, nullptr, 1, nullptr),
        hsadrv_graph_builder_add_copy(builder, nullptr, 0, nullptr, nullptr, 4096, nullptr),
        hsadrv_graph_builder_add_fill(builder, nullptr, 0, nullptr, 4096, nullptr, 4, nullptr),
        hsadrv_graph_builder_add_call(builder, nullptr, 0, nullptr, nullptr, nullptr, nullptr),
        hsadrv_graph_builder_add_graph(builder, nullptr, 0, graph, nullptr),
        hsadrv_graph_builder_add_empty(builder, nullptr, 0, nullptr),
        hsadrv_graph_builder_hold(builder, memory),
        hsadrv_graph_builder_finish(builder, nullptr),
        hsadrv_signal_create(driver, 1, 0, nullptr),
        hsadrv_signal_destroy(signal),
        hsadrv_signal_load(signal, nullptr),
        hsadrv_signal_store(signal, 0),
        hsadrv_signal_add(signal, 0),
        hsadrv_signal_wait(signal, HSADRV_EQUAL, 0, 0, nullptr),
        hsadrv_stream_wait_signal(stream, signal, HSADRV_EQUAL, 0, 0),
        hsadrv_stream_decrement(stream, signal, 0),
        hsadrv_memory_export_ipc(memory, 0, 4096, nullptr),
        hsadrv_memory_attach_ipc(nullptr, 1, nullptr, nullptr),
        hsadrv_memory_attach_ipc(&device, 1, nullptr, nullptr),
        hsadrv_signal_export_ipc(signal, nullptr),
        hsadrv_signal_attach_ipc(driver, nullptr, nullptr),
        hsadrv_memory_export_dmabuf(memory, 0, 4096, nullptr, nullptr),
        hsadrv_memory_import_dmabuf(&device, 1, 0, nullptr),
        hsadrv_memory_create_managed(&device, 1, 4096, nullptr),
        hsadrv_managed_advise(nullptr, 4096, HSADRV_ADVICE_ACCESSIBLE_BY, device),
        hsadrv_managed_info(nullptr, 4096, device, nullptr),
        hsadrv_stream_prefetch(stream, nullptr, 4096, device, 0),
        hsadrv_physical_memory_granule(device, 0, nullptr),
        hsadrv_physical_memory_create(device, 0, 4096, nullptr),
        hsadrv_physical_memory_share(physical, nullptr),
        hsadrv_physical_memory_import(driver, 0, 4096, nullptr),
        hsadrv_physical_memory_destroy(physical),
        hsadrv_virtual_range_create(driver, 4096, nullptr),
        hsadrv_virtual_range_address(range, nullptr),
        hsadrv_virtual_range_map(range, 0, physical, &device, 1, nullptr),
        hsadrv_virtual_range_destroy(range),
        hsadrv_memory_resource_create(driver, nullptr, nullptr),
        hsadrv_memory_resource_create_cache(device, 0, 0, nullptr),
        hsadrv_memory_resource_destroy(resource),
        hsadrv_memory_create_from(resource, stream, 4096, 0, nullptr),
    };
}

}  // namespace

TEST_CASE("null, and numbers that are no handle, are refused by every function", "[c][device]") {
    NEEDS_C_MACHINE();
    const std::size_t before = c::HandleTable::process().size();
    for (const std::uintptr_t value : {std::uintptr_t{0}, std::uintptr_t{1}, std::uintptr_t{0x7fff00001000},
                                       ~std::uintptr_t{0}, std::uintptr_t{5} << 56 | 0xffffffff}) {
        CAPTURE(value);
        for (const hsadrv_result result : call_all(number<void*>(value)))
            CHECK((result == bad_handle || result == bad_argument));
    }
    CHECK(c::HandleTable::process().size() == before);
    CHECK(m.launch(m.arguments()) == HSADRV_SUCCESS);
    CHECK(hsadrv_stream_synchronize(m.stream, patience_ns) == HSADRV_SUCCESS);
}

TEST_CASE("a handle of another kind is refused, and says what it is", "[c][device]") {
    NEEDS_C_MACHINE();
    int done = 0;
    CHECK_THAT(failure(bad_handle, hsadrv_stream_query(reinterpret_cast<hsadrv_stream>(m.saxpy), &done)),
               Contains("hsadrv_stream_query: 'stream' is 0x") && Contains("a kernel, not a stream"));
    CHECK_THAT(failure(bad_handle, hsadrv_memory_destroy(reinterpret_cast<hsadrv_memory>(m.gpu))),
               Contains("a device, not memory"));
    CHECK_THAT(failure(bad_handle, hsadrv_stream_query(nullptr, &done)),
               Contains("'stream' is null; it must be a stream"));
    CHECK_THAT(failure(bad_handle, hsadrv_stream_query(number<hsadrv_stream>(16), &done)), Contains("is no handle"));
}

TEST_CASE("a destroyed handle is refused for good, though its slot is used again", "[c][device]") {
    NEEDS_C_MACHINE();
    hsadrv_event old = nullptr;
    REQUIRE(hsadrv_stream_record(m.stream, 0, patience_ns, &old) == HSADRV_SUCCESS);
    REQUIRE(hsadrv_event_destroy(old) == HSADRV_SUCCESS);
    std::vector<hsadrv_event> others(20);
    for (hsadrv_event& event : others)
        REQUIRE(hsadrv_stream_record(m.stream, 0, patience_ns, &event) == HSADRV_SUCCESS);
    int done = 1;
    CHECK_THAT(failure(bad_handle, hsadrv_event_query(old, &done)), Contains("an event that was destroyed"));
    CHECK(done == 0);
    CHECK(failure(bad_handle, hsadrv_event_destroy(old)).find("destroyed") != std::string::npos);
    for (hsadrv_event event : others) CHECK(hsadrv_event_destroy(event) == HSADRV_SUCCESS);
}

TEST_CASE("the devices' handles end with their driver; what was made on them remains", "[c][device]") {
    NEEDS_C_MACHINE();
    hsadrv_driver second = nullptr;
    hsadrv_device device = nullptr;
    hsadrv_memory memory = nullptr;
    void* address = nullptr;
    REQUIRE(hsadrv_driver_create(&second) == HSADRV_SUCCESS);
    REQUIRE(hsadrv_driver_device(second, 0, &device) == HSADRV_SUCCESS);
    CHECK(device != m.gpu);
    REQUIRE(hsadrv_memory_create(device, HSADRV_MEMORY_DEVICE, 4096, &memory) == HSADRV_SUCCESS);
    CHECK(hsadrv_driver_destroy(second) == HSADRV_SUCCESS);
    hsadrv_stream stream = m.stream;
    CHECK_THAT(failure(bad_handle, hsadrv_stream_create(device, nullptr, &stream)),
               Contains("a device that was destroyed"));
    CHECK(stream == nullptr);
    CHECK(hsadrv_memory_address(memory, &address) == HSADRV_SUCCESS);
    CHECK(hsadrv_memory_destroy(memory) == HSADRV_SUCCESS);
}

TEST_CASE("the last error is the thread's own, and success leaves it", "[c][device]") {
    NEEDS_C_MACHINE();
    int done = 0;
    const std::string mine = failure(bad_handle, hsadrv_stream_query(nullptr, &done));
    std::thread([] {
        CHECK(hsadrv_last_error() == HSADRV_SUCCESS);
        CHECK(std::strlen(hsadrv_last_error_message()) == 0);
        CHECK(hsadrv_event_destroy(nullptr) == bad_handle);
        CHECK_THAT(hsadrv_last_error_message(), Contains("hsadrv_event_destroy"));
    }).join();
    CHECK(hsadrv_stream_query(m.stream, &done) == HSADRV_SUCCESS);
    CHECK(hsadrv_last_error() == bad_handle);
    CHECK(hsadrv_last_error_message() == mine);
    CHECK(hsadrv_last_error_status() == 0);
    CHECK(hsadrv_last_error_address() == 0);
}

TEST_CASE("in a forked child every call that takes a handle says so", "[c][device]") {
    NEEDS_C_MACHINE();
    const pid_t child = fork();
    if (child == 0) {
        int done = 0;
        hsadrv_driver driver = nullptr;
        const bool refused = hsadrv_stream_query(m.stream, &done) == HSADRV_ERROR_FORKED_CHILD &&
                             hsadrv_driver_create(&driver) == HSADRV_ERROR_FORKED_CHILD &&
                             hsadrv_memory_destroy(m.x) == HSADRV_ERROR_FORKED_CHILD &&
                             std::strstr(hsadrv_last_error_message(), "hsadrv_memory_destroy: this process was forked");
        _exit(refused ? 0 : 1);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(m.launch(m.arguments()) == HSADRV_SUCCESS);
    CHECK(hsadrv_stream_synchronize(m.stream, patience_ns) == HSADRV_SUCCESS);
}

TEST_CASE("a call that runs out of host memory says so, and works when there is some", "[c][device]") {
    NEEDS_C_MACHINE();
    const auto arguments = m.arguments();
    const auto config = CMachine::sizes();
    std::array<hsadrv_result, 8> results;  // nothing of the test's own may need memory
    const auto try_all = [&] {
        hsadrv_event event = nullptr;
        hsadrv_memory memory = nullptr;
        hsadrv_kernel kernel = nullptr;
        results = {};
        results[0] = hsadrv_memory_create(m.gpu, HSADRV_MEMORY_HOST, 4096, &memory);
        results[1] = hsadrv_kernel_launch(m.saxpy, m.stream, &config, arguments.data(), arguments.size(), patience_ns);
        results[2] = hsadrv_stream_record(m.stream, 0, patience_ns, &event);
        results[3] = hsadrv_executable_kernel(m.code, "shape", &kernel);
        results[4] = hsadrv_stream_hold(m.stream, m.x);
        if (memory) results[5] = hsadrv_memory_destroy(memory);
        if (event) results[6] = hsadrv_event_destroy(event);
        if (kernel) results[7] = hsadrv_kernel_destroy(kernel);
    };
    try_all();
    const std::size_t before = c::HandleTable::process().size();
    int failed = 0;
    for (int nth = 1; nth <= 60; ++nth) {
        fail_allocation(nth, Whose::ours);
        try_all();
        fail_allocation(0);
        for (const hsadrv_result result : results) {
            // The runtime calls its own heap a resource.
            CHECK((result == HSADRV_SUCCESS || result == HSADRV_ERROR_OUT_OF_HOST_MEMORY ||
                   result == HSADRV_ERROR_OUT_OF_MEMORY));
            failed += result == HSADRV_ERROR_OUT_OF_HOST_MEMORY;
        }
        CHECK(hsadrv_stream_synchronize(m.stream, patience_ns) == HSADRV_SUCCESS);
    }
    CHECK(failed > 5);
    CHECK(c::HandleTable::process().size() == before);
    try_all();
    for (const hsadrv_result result : results) CHECK(result == HSADRV_SUCCESS);
}
