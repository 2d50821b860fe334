// Internal: finds a clang that compiles for amdgcn and has the tools that are needed.
//
//     const Clang clang = find_clang({.clang = options.clang, .option = "--clang", .targets = targets}, ask, log);
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
    std::string bundler;  ///< clang-offload-bundler; empty unless Request::bundles
    std::string unknown;  ///< "does not know gfx90f; it knows …": a target of the request; empty: it knows all
};

struct Answer {
    int status = 0;    ///< as in a shell
    std::string text;  ///< standard output and standard error
};

/// Runs a program without input.
using Ask = std::function<Answer(const std::vector<std::string>& command)>;
using Log = std::function<void(const std::string& line)>;

struct Request {
    std::string clang;                       ///< a file, or a name in $PATH; empty: any
    std::string option;                      ///< the option's name for messages: "--clang"
    std::span<const TargetId> targets = {};  ///< that it is to know. Borrows them until find_clang() returns
    bool bundles = false;                    ///< whether it needs its clang-offload-bundler
};

/// Only request.clang is tried; if that is empty, only $HSADRV_CLANG; if that is not set, llvm_places(): the first
/// suitable one that knows the targets, or the first suitable one if none knows them. `log` is called for each one that
/// is rejected. Throws NoCompiler.
Clang find_clang(const Request& request, const Ask& ask, const Log& log);

/// "19.1.7" from "Debian clang version 19.1.7 (3)" or "Debian LLD 19.1.7 (compatible …)"; empty if no version follows
/// `word`.
std::string version_after(std::string_view text, std::string_view word);

}  // namespace hsadrv::detail
