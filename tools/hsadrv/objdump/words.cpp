#include "tools/hsadrv/objdump/words.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>
#include <memory>

namespace hsadrv_tool::objdump {

using hsadrv::Access;
using hsadrv::AddressSpace;
using hsadrv::KernelKind;

std::string_view to_string(AddressSpace space) {
    switch (space) {
        case AddressSpace::none:
            return "";
        case AddressSpace::private_memory:
            return "private";
        case AddressSpace::global:
            return "global";
        case AddressSpace::constant:
            return "constant";
        case AddressSpace::local:
            return "local";
        case AddressSpace::generic:
            return "generic";
        case AddressSpace::region:
            return "region";
    }
    return "";
}

std::string_view to_string(Access access) {
    switch (access) {
        case Access::unstated:
            return "";
        case Access::read_only:
            return "read_only";
        case Access::write_only:
            return "write_only";
        case Access::read_write:
            return "read_write";
    }
    return "";
}

std::string_view to_string(KernelKind kind) {
    switch (kind) {
        case KernelKind::normal:
            return "normal";
        case KernelKind::init:
            return "init";
        case KernelKind::fini:
            return "fini";
    }
    return "";
}

std::string kind_text(const hsadrv::ArgumentMetadata& argument) {
    return argument.kind == hsadrv::ValueKind::unknown && !argument.kind_text.empty()
               ? argument.kind_text
               : std::string(hsadrv::to_string(argument.kind));
}

std::string demangled(const std::string& symbol) {
    if (!symbol.starts_with("_Z")) return "";
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 && text ? text.get() : "";
}

std::string printable(std::string_view text) {
    std::string shown;
    for (const char c : text) {
        if ((static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f)
            shown += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
        else
            shown += c;
    }
    return shown;
}

}  // namespace hsadrv_tool::objdump
