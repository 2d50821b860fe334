// Clang: finds a clang that compiles for amdgcn and has a linker.
//
//     const Clang clang = find_clang(options.clang, interruptions, log);   // throws Failure: what to install, and why
//                                                                          // each candidate was rejected
//     require_known(clang, targets, interruptions);
//
// Thread safety: no state.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "hsadrv/target_id.hpp"
#include "tools/common/process.hpp"

namespace hsadrv_cc {

using tools::Interruptions;

inline constexpr unsigned oldest_clang = 16;

struct Clang {
    std::string path;
    unsigned major = 0;
    std::string version;  ///< "19.1.7"
    std::string linker;   ///< ld.lld
};

using Log = std::function<void(const std::string& line)>;

/// Only `asked_for` (a file, or a name in $PATH) is tried; if that is empty, only $HSADRV_CLANG; if that is not set,
/// the first suitable one of clang_places(). `log` is called for each unsuitable one. Throws Failure.
Clang find_clang(const std::string& asked_for, const Interruptions& interruptions, const Log& log);

/// Throws Failure, listing the processors that this clang supports, if a target's is not among them.
void require_known(const Clang& clang, std::span<const hsadrv::TargetId> targets, const Interruptions& interruptions);

/// A program that belongs to this clang. Throws Failure naming the package if there is none.
std::string tool_beside(const Clang& clang, const std::string& name, const Interruptions& interruptions);

/// "19.1.7" from "Debian clang version 19.1.7 (3)" or "Debian LLD 19.1.7 (compatible …)"; empty if no version follows
/// `word`.
std::string version_after(std::string_view text, std::string_view word);

}  // namespace hsadrv_cc
