// The C interface's own parts, without a device: results of exceptions, handles, structures.
#include <new>
#include <stdexcept>

#include "hsadrv/c/call.hpp"
#include "hsadrv/c/handle_table.hpp"
#include "hsadrv/c/objects.hpp"
#include "hsadrv/hsadrv.h"
#include "tests/support/catch.hpp"

using namespace hsadrv;
using namespace hsadrv::c;

namespace {

template <class E, class... Args>
hsadrv_result result_of(Args&&... args) {
    return call("function", [&](const char*) { throw E(std::forward<Args>(args)...); });
}

}  // namespace

TEST_CASE("each exception has its result, and its text is the message", "[c]") {
    CHECK(result_of<InvalidHandle>("a") == HSADRV_ERROR_INVALID_HANDLE);
    CHECK(result_of<InvalidArgument>("a") == HSADRV_ERROR_INVALID_ARGUMENT);
    CHECK(result_of<OutOfMemory>("a") == HSADRV_ERROR_OUT_OF_MEMORY);
    CHECK(result_of<InvalidCodeObject>("a") == HSADRV_ERROR_INVALID_CODE_OBJECT);
    CHECK(result_of<QueueError>("a") == HSADRV_ERROR_QUEUE);
    CHECK(result_of<DeviceLost>("a") == HSADRV_ERROR_DEVICE_LOST);
    CHECK(result_of<StreamEnded>("a") == HSADRV_ERROR_STREAM_ENDED);
    CHECK(result_of<Timeout>("a") == HSADRV_ERROR_TIMEOUT);
    CHECK(result_of<NoDevice>("a") == HSADRV_ERROR_NO_DEVICE);
    CHECK(result_of<NotOffered>("a") == HSADRV_ERROR_NOT_OFFERED);
    CHECK(result_of<ForkedChild>("a") == HSADRV_ERROR_FORKED_CHILD);
    CHECK(result_of<HostFunctionFailed>("a") == HSADRV_ERROR_HOST_FUNCTION);
    CHECK(result_of<std::logic_error>("a logic error") == HSADRV_ERROR_UNKNOWN);
    CHECK(std::string(hsadrv_last_error_message()) == "a logic error");
    CHECK(result_of<int>(7) == HSADRV_ERROR_UNKNOWN);
    CHECK(std::string(hsadrv_last_error_message()) == "an exception that is no std::exception");
    CHECK(result_of<std::bad_alloc>() == HSADRV_ERROR_OUT_OF_HOST_MEMORY);
    CHECK(std::string(hsadrv_last_error_message()) == "the process is out of memory (std::bad_alloc)");
    CHECK(result_of<Error>("of the runtime", HSA_STATUS_ERROR_OUT_OF_RESOURCES) == HSADRV_ERROR);
    CHECK(std::string(hsadrv_last_error_message()) == "of the runtime");
    CHECK(hsadrv_last_error_status() == HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    CHECK(result_of<MemoryFault>("a fault", std::uint64_t{0x1000}) == HSADRV_ERROR_MEMORY_FAULT);
    CHECK(hsadrv_last_error_address() == 0x1000);
    CHECK(hsadrv_last_error_status() == HSA_STATUS_ERROR_MEMORY_FAULT);
}

TEST_CASE("results have their names", "[c]") {
    CHECK(std::string(hsadrv_result_name(HSADRV_SUCCESS)) == "HSADRV_SUCCESS");
    CHECK(std::string(hsadrv_result_name(HSADRV_ERROR_UNKNOWN)) == "HSADRV_ERROR_UNKNOWN");
    CHECK(std::string(hsadrv_result_name(19)) == "unknown result");
    CHECK(std::string(hsadrv_result_name(-1)) == "unknown result");
}

TEST_CASE("a handle is found by its kind until it is taken", "[c]") {
    HandleTable table;
    const auto object = std::make_shared<int>(7);
    void* const handle = table.put(HandleKind::event, object);
    CHECK(handle != nullptr);
    CHECK(table.find(handle, HandleKind::event) == object);
    CHECK(table.find(handle, HandleKind::stream) == nullptr);
    CHECK(table.kind_of(handle) == HandleKind::event);
    CHECK(table.size() == 1);
    CHECK(table.take(handle, HandleKind::stream) == nullptr);
    CHECK(table.take(handle, HandleKind::event) == object);
    CHECK(table.take(handle, HandleKind::event) == nullptr);
    CHECK(table.find(handle, HandleKind::event) == nullptr);
    CHECK(table.kind_of(handle) == HandleKind::event);  // it was one
    CHECK(table.size() == 0);
    CHECK(object.use_count() == 1);
}

TEST_CASE("a slot's next handle differs from all before, until the slot is used up", "[c]") {
    HandleTable table;
    const auto object = std::make_shared<int>(7);
    void* const first = table.put(HandleKind::event, object);
    void* last = first;
    for (std::uint32_t i = 0; i < 0xffffff; ++i) {
        if (!table.take(last, HandleKind::event)) FAIL("handle " << i);
        last = table.put(HandleKind::event, object);
    }
    CHECK(last != first);
    CHECK(table.find(first, HandleKind::event) == nullptr);
    CHECK(table.take(last, HandleKind::event) == object);
    void* const beyond = table.put(HandleKind::event, object);  // in another slot: this one's generations are used up
    CHECK(static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(beyond)) == 1);
    CHECK(table.find(first, HandleKind::event) == nullptr);
    CHECK(table.find(last, HandleKind::event) == nullptr);
}

TEST_CASE("timeouts of more than 292 years are none", "[c]") {
    CHECK(deadline_of(HSADRV_FOREVER).is_never());
    CHECK(deadline_of(std::uint64_t{1} << 63).is_never());
    CHECK_FALSE(deadline_of(1'000'000'000).is_never());
    CHECK(deadline_of(0).passed());
}
