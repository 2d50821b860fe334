// TargetId: the processor and target features of a code object or an agent.
//
//     auto target = TargetId::parse("amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-");
//     if (auto why = mismatch(target, agent_targets)) throw InvalidCodeObject(*why);
//     std::puts(target.isa_name().c_str());
//
// Thread safety: plain values. Source: LLVM "User Guide for AMDGPU Backend", Target Triples, Processors,
// Target ID and ELF Code Object (e_flags).
#pragma once

#include "shared/cpp20.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hsadrv {

/// A target feature's setting. `any`: not stated, so the code runs with either setting.
enum class TargetFeature : std::uint8_t { any, off, on };

struct TargetId {
    std::string processor;  ///< "gfx90a"
    TargetFeature sramecc = TargetFeature::any;
    TargetFeature xnack = TargetFeature::any;

    /// Accepts `gfx90a:xnack-`, `amdgcn-amd-amdhsa--gfx90a`, the same with an environment (`-unknown-`),
    /// and any of these after the offload kind of a bundle entry (`hipv4-`). Throws InvalidArgument with the error
    /// and its place.
    static TargetId parse(std::string_view text);
    /// std::nullopt instead of an exception; `why`: its message.
    static std::optional<TargetId> try_parse(std::string_view text, std::string* why = nullptr);

    /// From an ELF header: `abi_version` is e_ident[EI_ABIVERSION] (1 is code object V3 … 4 is V6). std::nullopt
    /// for an unknown processor number.
    static std::optional<TargetId> from_elf_flags(std::uint8_t abi_version, std::uint32_t e_flags);

    std::string name() const;      ///< "gfx90a:sramecc+:xnack-"
    std::string isa_name() const;  ///< "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", as HSA spells it

    friend bool operator==(const TargetId&, const TargetId&) = default;
};

/// Why code for `code` cannot run on an agent that supports `agent`, with the remedy; std::nullopt if it can: the
/// processors are equal, and each feature is equal or not stated by the code.
std::optional<std::string> mismatch(const TargetId& code, const TargetId& agent);

/// The same for an agent with several ISAs: std::nullopt if one matches, otherwise why the first (the native one) does
/// not.
std::optional<std::string> mismatch(const TargetId& code, std::span<const TargetId> agent);

}  // namespace hsadrv
