#include "hsadrv/c/call.hpp"

#include <new>

#include "hsadrv/c/objects.hpp"

namespace hsadrv::c {
namespace {

struct LastError {
    hsadrv_result result = HSADRV_SUCCESS;
    std::uint32_t status = 0;
    std::uint64_t address = 0;
    std::string message;
    const char* text = "";  // the message, or a literal if it could not be stored

    ~LastError();
};

// Destructors of other thread-local objects may still call the interface; these are then used.
thread_local bool ended = false;
thread_local hsadrv_result last_result = HSADRV_SUCCESS;

LastError::~LastError() { ended = true; }

thread_local LastError last;

template <class T>
bool is(const std::exception& error) {
    return dynamic_cast<const T*>(&error) != nullptr;
}

hsadrv_result result_of(const std::exception& error) {
    if (is<InvalidHandle>(error)) return HSADRV_ERROR_INVALID_HANDLE;
    if (is<InvalidArgument>(error)) return HSADRV_ERROR_INVALID_ARGUMENT;
    if (is<OutOfMemory>(error)) return HSADRV_ERROR_OUT_OF_MEMORY;
    if (is<InvalidCodeObject>(error)) return HSADRV_ERROR_INVALID_CODE_OBJECT;
    if (is<QueueError>(error)) return HSADRV_ERROR_QUEUE;
    if (is<MemoryFault>(error)) return HSADRV_ERROR_MEMORY_FAULT;
    if (is<DeviceLost>(error)) return HSADRV_ERROR_DEVICE_LOST;
    if (is<StreamEnded>(error)) return HSADRV_ERROR_STREAM_ENDED;
    if (is<Timeout>(error)) return HSADRV_ERROR_TIMEOUT;
    if (is<NoDevice>(error)) return HSADRV_ERROR_NO_DEVICE;
    if (is<NotOffered>(error)) return HSADRV_ERROR_NOT_OFFERED;
    if (is<ForkedChild>(error)) return HSADRV_ERROR_FORKED_CHILD;
    if (is<HostFunctionFailed>(error)) return HSADRV_ERROR_HOST_FUNCTION;
    if (is<CompileError>(error)) return HSADRV_ERROR_COMPILE;
    if (is<NoCompiler>(error)) return HSADRV_ERROR_NO_COMPILER;
    if (is<Error>(error)) return HSADRV_ERROR;
    if (is<std::bad_alloc>(error)) return HSADRV_ERROR_OUT_OF_HOST_MEMORY;
    return HSADRV_ERROR_UNKNOWN;
}

void keep(hsadrv_result result, const char* literal) noexcept {
    last.result = result;
    last.status = 0;
    last.address = 0;
    last.text = literal;
}

void keep(const std::exception& error) noexcept {
    keep(result_of(error), "");
    if (const auto* ours = dynamic_cast<const Error*>(&error)) {
        // HSA_STATUS_ERROR also stands for errors without a call of the runtime.
        last.status = ours->status() == HSA_STATUS_ERROR ? 0 : static_cast<std::uint32_t>(ours->status());
    }
    if (const auto* fault = dynamic_cast<const MemoryFault*>(&error)) last.address = fault->address();
    try {
        last.message = error.what();
        last.text = last.message.c_str();
    } catch (...) {
        last.text = "the error's message did not fit into memory";
    }
}

}  // namespace

hsadrv_result keep_current_exception() noexcept {
    try {
        throw;
    } catch (const std::bad_alloc&) {
        last_result = HSADRV_ERROR_OUT_OF_HOST_MEMORY;
        if (!ended) keep(last_result, "the process is out of memory (std::bad_alloc)");
    } catch (const std::exception& error) {
        last_result = result_of(error);
        if (!ended) keep(error);
    } catch (...) {
        last_result = HSADRV_ERROR_UNKNOWN;
        if (!ended) keep(last_result, "an exception that is no std::exception");
    }
    return last_result;
}

Failure failure_of_current_exception() {
    try {
        throw;
    } catch (const std::exception& error) {
        return {result_of(error), error.what()};
    } catch (...) {
        return {HSADRV_ERROR_UNKNOWN, "an exception that is no std::exception"};
    }
}

void refuse_null(const char* call, const char* name) {
    throw InvalidArgument(std::string(call) + ": '" + name + "' is null");
}

}  // namespace hsadrv::c

using namespace hsadrv::c;

hsadrv_result hsadrv_last_error(void) noexcept { return last_result; }
const char* hsadrv_last_error_message(void) noexcept { return ended ? hsadrv_result_name(last_result) : last.text; }
uint32_t hsadrv_last_error_status(void) noexcept { return ended ? 0 : last.status; }
uint64_t hsadrv_last_error_address(void) noexcept { return ended ? 0 : last.address; }

uint32_t hsadrv_version(void) noexcept { return HSADRV_VERSION; }

const char* hsadrv_result_name(int result) noexcept {
    static constexpr const char* names[] = {
        "HSADRV_SUCCESS",
        "HSADRV_ERROR",
        "HSADRV_ERROR_INVALID_ARGUMENT",
        "HSADRV_ERROR_INVALID_HANDLE",
        "HSADRV_ERROR_OUT_OF_MEMORY",
        "HSADRV_ERROR_OUT_OF_HOST_MEMORY",
        "HSADRV_ERROR_INVALID_CODE_OBJECT",
        "HSADRV_ERROR_QUEUE",
        "HSADRV_ERROR_MEMORY_FAULT",
        "HSADRV_ERROR_DEVICE_LOST",
        "HSADRV_ERROR_STREAM_ENDED",
        "HSADRV_ERROR_TIMEOUT",
        "HSADRV_ERROR_NO_DEVICE",
        "HSADRV_ERROR_NOT_OFFERED",
        "HSADRV_ERROR_FORKED_CHILD",
        "HSADRV_ERROR_HOST_FUNCTION",
        "HSADRV_ERROR_UNKNOWN",
        "HSADRV_ERROR_COMPILE",
        "HSADRV_ERROR_NO_COMPILER",
    };
    const auto index = static_cast<std::size_t>(result);
    return index < std::size(names) ? names[index] : "unknown result";
}
