#include "hsadrv/error.hpp"

#include <cstdio>

namespace hsadrv {

namespace {

// Not hsa_status_string: it returns an explanation, and fails before hsa_init.
const char* known_name(int status) {
#define HSADRV_STATUS(name) \
    case name:              \
        return #name
    switch (status) {
        HSADRV_STATUS(HSA_STATUS_SUCCESS);
        HSADRV_STATUS(HSA_STATUS_INFO_BREAK);
        HSADRV_STATUS(HSA_STATUS_ERROR);
        HSADRV_STATUS(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        HSADRV_STATUS(HSA_STATUS_ERROR_INVALID_QUEUE_CREATION);
        HSADRV_STATUS(HSA_STATUS_ERROR_INVALID_ALLOCATION);
        HSADRV_STATUS(HSA_STATUS_ERROR_INVALID_AGENT);
        HSADRV_STATUS(HSA_STATUS_ERROR_INVALID_REGION);
        HSADRV_STATUS(HSA_STATUS_ERROR_INVALID_SIGNAL);
        HSADRV_STATUS(HSA_STATUS_ERROR_INVALID_QUEUE);
        HSADRV_STATUS(HSA_STATUS_ERROR_OUT_OF_RESOURCES);
        HSADRV_STATUS(HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
        HSADRV_STATUS(HSA_STATUS_ERROR_RESOURCE_FREE);
        HSADRV_STATUS(HSA_STATUS_ERROR_NOT_INITIALIZED);
        HSADRV_STATUS(HSA_STATUS_ERROR_REFCOUNT_OVERFLOW);
        HSADRV_STATUS(HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
        HSADRV_STATUS(HSA_STATUS_ERROR_INVALID_INDEX);
        HSADRV_STATUS(HSA_STATUS_ERROR_INVALID_ISA);
        HSADRV_STATUS(HSA_STATUS_ERROR_INVALID_ISA_NAME);
        HSADRV_STATUS(HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
        HSADRV_STATUS(HSA_STATUS_ERROR_INVALID_EXECUTABLE);
        HSADRV_STATUS(HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
        HSADRV_STATUS(HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
        HSADRV_STATUS(HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED);
        HSADRV_STATUS(HSA_STATUS_ERROR_VARIABLE_UNDEFINED);
        HSADRV_STATUS(HSA_STATUS_ERROR_EXCEPTION);
        HSADRV_STATUS(HSA_STATUS_ERROR_INVALID_CODE_SYMBOL);
        HSADRV_STATUS(HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL);
        HSADRV_STATUS(HSA_STATUS_ERROR_INVALID_FILE);
        HSADRV_STATUS(HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER);
        HSADRV_STATUS(HSA_STATUS_ERROR_INVALID_CACHE);
        HSADRV_STATUS(HSA_STATUS_ERROR_INVALID_WAVEFRONT);
        HSADRV_STATUS(HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP);
        HSADRV_STATUS(HSA_STATUS_ERROR_INVALID_RUNTIME_STATE);
        HSADRV_STATUS(HSA_STATUS_ERROR_FATAL);
        HSADRV_STATUS(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
        HSADRV_STATUS(HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION);
        HSADRV_STATUS(HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION);
        HSADRV_STATUS(HSA_STATUS_ERROR_MEMORY_FAULT);
        HSADRV_STATUS(HSA_STATUS_CU_MASK_REDUCED);
    }
#undef HSADRV_STATUS
    return nullptr;
}

std::string explanation(hsa_status_t status) {
    const char* text = nullptr;
    // May fail with HSA_STATUS_ERROR_NOT_INITIALIZED; then the message has only the name.
    if (hsa_status_string(status, &text) != HSA_STATUS_SUCCESS || text == nullptr) return {};
    return text;
}

}  // namespace

MemoryFault::MemoryFault(const std::string& message, std::uint64_t address, std::optional<NearestAllocation> nearest)
    : Error(message, static_cast<hsa_status_t>(HSA_STATUS_ERROR_MEMORY_FAULT)),
      address_(address),
      nearest_(std::move(nearest)) {}

std::string status_name(hsa_status_t status) {
    if (const char* name = known_name(status)) return name;
    char text[32];
    std::snprintf(text, sizeof text, "hsa_status_t 0x%x", static_cast<unsigned>(status));
    return text;
}

void throw_status(hsa_status_t status, std::string_view what, std::string_view remedy) {
    std::string message(what);
    message += ": " + status_name(status);
    if (const std::string text = explanation(status); !text.empty()) message += " (" + text + ")";
    if (!remedy.empty()) message.append("; ").append(remedy);
    switch (static_cast<int>(status)) {
        case HSA_STATUS_ERROR_OUT_OF_RESOURCES:
            throw OutOfMemory(message, status);
        case HSA_STATUS_ERROR_INVALID_ARGUMENT:
        case HSA_STATUS_ERROR_INVALID_ALLOCATION:
        case HSA_STATUS_ERROR_INVALID_AGENT:
        case HSA_STATUS_ERROR_INVALID_INDEX:
        case HSA_STATUS_ERROR_INVALID_SYMBOL_NAME:
        case HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS:
            throw InvalidArgument(message, status);
        case HSA_STATUS_ERROR_INVALID_CODE_OBJECT:
        case HSA_STATUS_ERROR_INVALID_ISA:
        case HSA_STATUS_ERROR_INVALID_ISA_NAME:
            throw InvalidCodeObject(message, status);
    }
    throw Error(message, status);
}

}  // namespace hsadrv
