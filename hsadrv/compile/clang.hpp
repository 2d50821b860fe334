// Internal: finds a clang that compiles for amdgcn and has a linker.
//
//     const Clang clang = find_clang({options.clang, "--clang"}, ask, log);
//
// Throws NoCompiler: what to install, and why each candidate was rejected.
//
// For hsadrv::compile and hsadrv-cc, which run programs differently: `ask` does. Thread safety: as `ask`.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hsadrv/target_id.hpp"

namespace hsadrv::detail {

inline constexpr unsigned oldest_clang = 16;

struct Clang {
    std::string path;
    unsigned major = 0;
    std::string version;  ///< "19.1.7"
    std::string linker;   ///< ld.lld
};

struct Answer {
    int status = 0;    ///< as in a shell
    std::string text;  ///< standard output and standard error
};

/// Runs a program without input.
using Ask = std::function<Answer(const std::vector<std::string>& command)>;
using Log = std::function<void(const std::string& line)>;

struct Request {
    std::string clang;   ///< a file, or a name in $PATH; empty: any
    std::string option;  ///< the option's name for messages: "--clang"
};

/// Only request.clang is tried; if that is empty, only $HSADRV_CLANG; if that is not set, the first suitable one of
/// llvm_places(). `log` is called for each unsuitable one. Throws NoCompiler.
Clang find_clang(const Request& request, const Ask& ask, const Log& log);

/// "TARGET: … does not know …; it knows …" if a target's processor is not among those that this clang supports; else
/// empty.
std::string why_unknown(const Clang& clang, std::span<const TargetId> targets, const Ask& ask);

/// A program that belongs to this clang. Throws NoCompiler naming the package if there is none.
std::string tool_beside(const Clang& clang, const std::string& name, const Ask& ask);

/// "19.1.7" from "Debian clang version 19.1.7 (3)" or "Debian LLD 19.1.7 (compatible …)"; empty if no version follows
/// `word`.
std::string version_after(std::string_view text, std::string_view word);

}  // namespace hsadrv::detail
