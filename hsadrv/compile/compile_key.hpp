// Internal: what a compilation's result depends on, as text.
//
//     const std::string key = key_of(source, options, target, headers);
//     if (is_reproducible(source, options.language)) …   // else it is compiled every time
//
// The key holds what is known before anything runs: source, options, target, version, and the environment that clang
// reads. The files that the compiler read are dependencies of the entry (cache_entry.hpp). A header that appears later
// in a folder that is searched earlier is not noticed; neither is a newer clang, for what an older one has compiled.
// Thread safety: no state, but for the environment.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hsadrv/compile.hpp"
#include "hsadrv/compile/cache_entry.hpp"

namespace hsadrv::detail {

std::string key_of(std::string_view source, const CompileOptions& options, const TargetId& target,
                   const std::string& headers);

/// False if the result depends on the time, or on files that clang does not list.
bool is_reproducible(std::string_view source, Language language);

/// The files that options name: "-Xclang", "math.bc"; "-fsanitize-ignorelist=FILE".
std::vector<std::string> files_in(const std::vector<std::string>& clang_options);

}  // namespace hsadrv::detail
