#include "tools/kfdemu/dispatch/fault.hpp"

#include <cstdio>

#include "tools/kfdemu/base/address_space.hpp"

namespace kfdemu {
namespace {

const char* access_name(std::uint32_t access) {
    switch (access) {
        case kRead:
            return "read of";
        case kWrite:
            return "write to";
        case kExecute:
            return "instruction fetch from";
        default:
            return "atomic on";
    }
}

std::string what_happened(const KernelFault& f) {
    char text[160], lane[32] = "";
    if (f.lane != isa::kUnknownLane) std::snprintf(lane, sizeof lane, " by lane %u", f.lane);
    const auto at = static_cast<unsigned long long>(f.address);
    switch (f.what) {
        case isa::Stop::MemoryFault:
            std::snprintf(text, sizeof text, "memory fault: %s 0x%llx%s", access_name(f.access), at, lane);
            break;
        case isa::Stop::FetchFault:
            std::snprintf(text, sizeof text, "memory fault: instruction fetch from 0x%llx", at);
            break;
        case isa::Stop::Aperture:
            std::snprintf(text, sizeof text, "%s 0x%llx%s is outside its segment", access_name(f.access), at, lane);
            break;
        case isa::Stop::Misaligned:
            std::snprintf(text, sizeof text, "misaligned atomic on 0x%llx%s", at, lane);
            break;
        case isa::Stop::Illegal:
            return "illegal instruction";
        case isa::Stop::Trap:
            std::snprintf(text, sizeof text, "trap %u", f.argument);
            break;
        case isa::Stop::Halt:
            return "the wave halted itself";
        default:
            std::snprintf(text, sizeof text, "stop %u", static_cast<unsigned>(f.what));
            break;
    }
    return text;
}

}  // namespace

std::string describe(const KernelFault& f) {
    char place[160];
    std::snprintf(place, sizeof place, "; wave %u of work-group (%u, %u, %u)", f.wave, f.group[0], f.group[1],
                  f.group[2]);
    char pc[64];
    std::snprintf(pc, sizeof pc, " at pc 0x%llx", static_cast<unsigned long long>(f.pc));
    return what_happened(f) + pc + (f.instruction.empty() ? "" : ": " + f.instruction) + place;
}

}  // namespace kfdemu
