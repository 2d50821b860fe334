#include "tools/kfdemu/queues/queue_exception.hpp"

#include "tools/kfdemu/base/log.hpp"
#include "tools/kfdemu/base/user_memory.hpp"
#include "tools/kfdemu/queues/packet.hpp"

namespace kfdemu {
namespace {

struct SaveAreaHeader {
    std::uint32_t control_stack_offset, control_stack_size, wave_state_offset, wave_state_size;
    std::uint32_t debug_offset, debug_size;
    std::uint64_t error_payload;  // the address of a word of exception bits
    std::uint32_t error_event, reserved;
};
static_assert(sizeof(SaveAreaHeader) == 40);

/// Exception codes count from 1, bits from 0.
std::uint64_t exception_bit(std::uint64_t error) {
    enum Code {
        trap = 2,
        illegal_instruction = 4,
        aperture = 6,
        dimensions = 16,
        group_segment = 17,
        code = 18,
        packet = 20,
        workgroup = 21,
        registers = 22,
        vendor_packet = 23
    };
    const auto bit = [](Code what) { return std::uint64_t{1} << (what - 1); };
    switch (error) {
        case aql::kInvalidDimensions:
            return bit(dimensions);
        case aql::kInvalidGroupSegment:
            return bit(group_segment);
        case aql::kInvalidCode:
            return bit(code);
        case aql::kInvalidPacket:
            return bit(packet);
        case aql::kInvalidWorkgroup:
            return bit(workgroup);
        case aql::kInvalidRegisters:
            return bit(registers);
        case aql::kInvalidVendorPacket:
            return bit(vendor_packet);
        case aql::kApertureViolation:
            return bit(aperture);
        case aql::kIllegalInstruction:
            return bit(illegal_instruction);
        default:
            return bit(trap);
    }
}

}  // namespace

void raise_exception(Events& events, std::uint64_t save_area, std::uint64_t error) {
    SaveAreaHeader header;
    if (save_area == 0 || user::read(header, save_area) != 0 || header.error_event == 0) return;
    std::uint64_t reasons = 0;
    if (user::read(reasons, header.error_payload) != 0 ||
        user::write(header.error_payload, reasons | exception_bit(error)) != 0)
        log(LogLevel::warning, "the word for a queue's exceptions at {:#x} is not mapped", header.error_payload);
    events.set(header.error_event);
}

}  // namespace kfdemu
