// Offload bundles: several code objects in one file, one for each target, as clang-offload-bundler and hipcc
// write them.
//
//     if (is_offload_bundle(file))
//         for (const BundleEntry& entry : parse_offload_bundle(file)) use(entry.id, entry.bytes);
//     std::vector<std::byte> mine = extract_code_object(file, agent_targets);   // any bundle, or a bare ELF
//
// Pure functions of bytes. Entries and what is selected point into the bytes given: Borrows them for as long as
// it is used. Thread safety: no state. Source: clang documentation, "Clang Offload Bundler", Bundled Binary File
// Layout; compressed_bundle.hpp for compressed ones.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "hsadrv/target_id.hpp"

namespace hsadrv {

struct BundleEntry {
    std::string_view id;  ///< "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-", "host-x86_64-unknown-linux-gnu--"
    std::span<const std::byte> bytes;
};

/// Begins with the magic of a plain bundle, `__CLANG_OFFLOAD_BUNDLE__`.
bool is_offload_bundle(std::span<const std::byte> file);

/// The entries in file order, every offset and size checked. Throws InvalidCodeObject saying which entry is
/// wrong and how.
std::vector<BundleEntry> parse_offload_bundle(std::span<const std::byte> file);

/// The code object for an agent that runs `agent` targets: the file itself unless it is a bundle, else the
/// entry that matches, preferring one that states more features. Throws InvalidCodeObject listing what the
/// bundle holds when none matches, and for compressed bundles, which must be unpacked before.
std::span<const std::byte> select_code_object(std::span<const std::byte> file, std::span<const TargetId> agent);

/// The same for compressed bundles, too, and as a copy. Throws InvalidCodeObject.
std::vector<std::byte> extract_code_object(std::span<const std::byte> file, std::span<const TargetId> agent);

}  // namespace hsadrv
