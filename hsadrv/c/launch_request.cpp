#include "hsadrv/c/launch_request.hpp"

#include "hsadrv/c/call.hpp"
#include "hsadrv/c/objects.hpp"
#include "hsadrv/c/structures.hpp"

namespace hsadrv::c {
namespace {

constexpr std::size_t most_arguments = 4096;  // more than fit a kernarg segment that any compiler makes
constexpr std::size_t most_value_bytes = 1u << 20;

struct Place {
    const char* call;
    std::size_t index, count;

    [[noreturn]] void refuse(const std::string& why) const {
        throw InvalidArgument(std::string(call) + ": argument " + std::to_string(index + 1) + " of " +
                              std::to_string(count) + ": " + why);
    }
};

ArgumentClass class_of(const Place& place, const char* field, uint32_t kind) {
    switch (kind) {
        case HSADRV_ARGUMENT_UNKNOWN:
            return ArgumentClass::any_value | ArgumentClass::pointer;
        case HSADRV_ARGUMENT_POINTER:
            return ArgumentClass::pointer;
        case HSADRV_ARGUMENT_INTEGER:
            return ArgumentClass::integer;
        case HSADRV_ARGUMENT_FLOATING:
            return ArgumentClass::floating;
        case HSADRV_ARGUMENT_OBJECT:
            return ArgumentClass::object;
        case HSADRV_ARGUMENT_VALUE:
            return ArgumentClass::any_value;
        default:
            place.refuse(std::string(field) + " " + std::to_string(kind) + " is no hsadrv_argument_kind");
    }
}

ElementType element_of(const Place& place, const hsadrv_argument& given) {
    if (given.element_kind == HSADRV_ARGUMENT_UNKNOWN) return {};
    if (given.element_kind == HSADRV_ARGUMENT_POINTER) place.refuse("element_kind cannot be a pointer");
    return {class_of(place, "element_kind", given.element_kind), given.element_bytes};
}

LaunchArgument in_memory(const Place& place, const hsadrv_argument& given) {
    if (given.value) place.refuse("'value' is not null, and 'memory' is given as well");
    const auto memory = object<MemoryObject>(place.call, "memory", given.memory);
    if (given.offset_bytes > memory->size_bytes)
        place.refuse("offset_bytes is " + std::to_string(given.offset_bytes) + ", and the memory has " +
                     std::to_string(memory->size_bytes) + " bytes");
    auto* const first = static_cast<std::byte*>(memory->data);
    void* const address = first ? first + given.offset_bytes : nullptr;
    return LaunchArgument::pointer({address, memory, memory->agent, element_of(place, given)});
}

LaunchArgument argument_of(const Place& place, const hsadrv_argument& given) {
    if (given.reserved) place.refuse("'reserved' must be 0");
    if (given.kind == HSADRV_ARGUMENT_POINTER) {
        if (given.size_bytes != 0 && given.size_bytes != sizeof(void*))
            place.refuse("a pointer of " + std::to_string(given.size_bytes) + " bytes; it has 8");
        if (given.memory) return in_memory(place, given);
        if (given.offset_bytes) place.refuse("offset_bytes needs 'memory'");
        return LaunchArgument::pointer({given.value, {}, 0, element_of(place, given)});
    }
    if (given.memory) place.refuse("'memory' is given, but kind is not HSADRV_ARGUMENT_POINTER");
    if (!given.value) place.refuse("'value' is null; it must be the address of the value");
    if (given.size_bytes > most_value_bytes)
        place.refuse("a value of " + std::to_string(given.size_bytes) + " bytes, the limit is 1 MiB");
    const std::span bytes(static_cast<const std::byte*>(given.value), given.size_bytes);
    return LaunchArgument::value(bytes, class_of(place, "kind", given.kind));
}

/// Trailing zeros count as one; {0} is none.
Dim3 dim_of(const uint32_t (&extents)[3]) {
    if (!extents[0] && !extents[1] && !extents[2]) return {0, 0, 0};
    return {extents[0], extents[1] ? extents[1] : 1, extents[2] ? extents[2] : 1};
}

shared::LdsDemand lds_of(const char* call, const hsadrv_launch_config& config) {
    shared::LdsDemand lds;
    if (config.lds_bytes == 0 && config.lds_count == 0) return lds;
    lds = shared::LdsDemand(config.lds_bytes);
    if (config.lds_align_bytes) lds.align_bytes = config.lds_align_bytes;
    const auto refuse = [&](const std::string& why) { throw InvalidArgument(std::string(call) + ": " + why); };
    if (lds.align_bytes & (lds.align_bytes - 1))
        refuse("lds_align_bytes is " + std::to_string(lds.align_bytes) + ", not a power of two");
    if (config.lds_count > shared::max_lds_arrays)
        refuse("lds_count is " + std::to_string(config.lds_count) + ", the limit is " +
               std::to_string(shared::max_lds_arrays));
    if (config.lds_count > 1 && !config.lds_offsets_bytes) refuse_null(call, "config.lds_offsets_bytes");
    if (config.lds_count) lds.count = config.lds_count;
    uint32_t end = 0;
    for (uint32_t i = 0; config.lds_offsets_bytes && i < config.lds_count; ++i) {
        const uint32_t offset = config.lds_offsets_bytes[i];
        if (offset < end || offset > config.lds_bytes)
            refuse("lds_offsets_bytes[" + std::to_string(i) + "] is " + std::to_string(offset) +
                   "; offsets ascend, up to lds_bytes, " + std::to_string(config.lds_bytes));
        lds.offsets_bytes[i] = end = offset;
    }
    return lds;
}

}  // namespace

LaunchRequest::LaunchRequest(const char* call, const hsadrv_launch_config* config, const hsadrv_argument* arguments,
                             std::size_t argument_count, Deadline deadline) {
    constexpr std::size_t first_bytes = offsetof(hsadrv_launch_config, cooperative);
    const auto given = read_structure(call, "config", required(call, "config", config), first_bytes);
    config_.grid = dim_of(given.grid);
    config_.groups = dim_of(given.groups);
    config_.workgroup = given.workgroup[0] ? dim_of(given.workgroup) : Dim3(0, 0, 0);
    config_.lds = lds_of(call, given);
    config_.stack_bytes = given.stack_bytes;
    config_.cooperative = given.cooperative != 0;
    config_.deadline = deadline;
    if (argument_count > most_arguments)
        throw InvalidArgument(std::string(call) + ": " + std::to_string(argument_count) + " arguments, the limit is " +
                              std::to_string(most_arguments));
    if (argument_count) required(call, "arguments", arguments);
    arguments_.reserve(argument_count);
    for (std::size_t i = 0; i < argument_count; ++i)
        arguments_.push_back(argument_of({call, i, argument_count}, arguments[i]));
}

}  // namespace hsadrv::c
