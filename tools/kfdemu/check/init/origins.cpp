#include "tools/kfdemu/check/init/origins.hpp"

#include <fmt/format.h>

#include "tools/kfdemu/check/flow/register_use.hpp"

namespace kfdemu::check {

void Origins::clear() {
    all_.clear();
    numbers_.clear();
}

Origin Origins::add(const NeverWritten& never) {
    const bool is_register = never.source == Source::Register;
    const std::uint64_t kind = static_cast<std::uint64_t>(never.source) << 32 | (is_register ? never.where : 0);
    const auto [entry, is_new] = numbers_.try_emplace({never.inst.pc, kind}, 0);
    if (is_new) {
        all_.push_back(never);
        entry->second = static_cast<Origin>(all_.size());
    }
    return entry->second;
}

std::string to_string(isa::Target target, const NeverWritten& never) {
    switch (never.source) {
        case Source::Register:
            return register_name(target, static_cast<isa::Operand>(never.where), 1);
        case Source::Scc:
            return "scc";
        case Source::Lds:
            return fmt::format("LDS at offset {}", never.where);
        case Source::Scratch:
            return fmt::format("scratch at offset {}", never.where);
        case Source::Memory:
            return fmt::format("memory at {:#x}", never.where);
    }
    return {};
}

}  // namespace kfdemu::check
