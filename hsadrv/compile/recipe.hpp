// Internal: the options that clang needs for each language and target, and those that callers may not pass.
//
//     Command command = target_words(clang, target, {.level = "3"});
//     append(command, language_words(Language::opencl, clang.major));
//
// Pure. Shared by hsadrv::compile and hsadrv-cc. Source: clang's manual; LLVM AMDGPUUsage.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hsadrv/compile.hpp"
#include "hsadrv/compile/clang.hpp"
#include "hsadrv/target_id.hpp"

namespace hsadrv::detail {

using Command = std::vector<std::string>;

inline void append(Command& command, const Command& words) {
    command.insert(command.end(), words.begin(), words.end());
}

/// The program and the options that its compile and link steps agree on.
Command target_words(const Clang& clang, const TargetId& target, unsigned code_object_version,
                     const std::string& level);

/// "-x …" and what goes with it.
Command language_words(Language language, unsigned clang_major);

/// A line before a source that makes messages name it so. Empty for LLVM IR, which has none.
std::string line_marker(Language language, std::string_view name);

/// What states the types of the kernels' arguments in the code object: for a source that is `preprocessed` to this.
/// `headers`: the folder that shared/device/ is in. Nothing for more types than a command's word holds.
Command types_words(std::string_view preprocessed, const std::string& headers);

/// If `word` is an option of clang that changes what is produced: what hsadrv-cc has instead.
std::optional<std::string_view> instead_of(std::string_view word);

}  // namespace hsadrv::detail
