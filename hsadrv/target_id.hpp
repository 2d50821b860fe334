// TargetId: which processor, with which features, a code object was compiled for or an agent runs.
//
//     auto target = TargetId::parse("amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-");
//     if (auto why = mismatch(target, agent_targets)) throw InvalidCodeObject(*why);
//     std::puts(target.isa_name().c_str());
//
// Thread safety: plain values. Source: LLVM "User Guide for AMDGPU Backend", Target Triples, Processors,
// Target ID and ELF Code Object (e_flags).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hsadrv {

/// A target feature that changes what code may run: `any` is "not stated", code that runs with either setting.
enum class TargetFeature : std::uint8_t { any, off, on };

struct TargetId {
    std::string processor;  ///< "gfx90a"
    TargetFeature sramecc = TargetFeature::any;
    TargetFeature xnack = TargetFeature::any;

    /// Understands `gfx90a:xnack-`, `amdgcn-amd-amdhsa--gfx90a`, the same with an environment (`-unknown-`),
    /// and either behind the offload kind of a bundle's entry (`hipv4-`). Throws InvalidArgument saying what
    /// is wrong where.
    static TargetId parse(std::string_view text);

    /// From an ELF header: `abi_version` is e_ident[EI_ABIVERSION] (1 is code object V3 … 4 is V6). Nothing
    /// if the processor number is not one we know.
    static std::optional<TargetId> from_elf_flags(std::uint8_t abi_version, std::uint32_t e_flags);

    std::string name() const;      ///< "gfx90a:sramecc+:xnack-"
    std::string isa_name() const;  ///< "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", as HSA spells it

    friend bool operator==(const TargetId&, const TargetId&) = default;
};

/// Why code for `code` cannot run on an agent that supports `agent`, with the remedy; nothing if it can. It
/// can when the processors are equal and each feature is equal or not stated by the code.
std::optional<std::string> mismatch(const TargetId& code, const TargetId& agent);

/// The same for an agent with several ISAs: nothing if one matches, else why the first (its native one) does not.
std::optional<std::string> mismatch(const TargetId& code, std::span<const TargetId> agent);

}  // namespace hsadrv
