// compile(): turns the source of kernels, in memory, into a code object, in memory.
//
//     hsadrv::Compiled made = hsadrv::compile(gpu, source);                     // C++; throws CompileError
//     auto code = hsadrv::Executable::load(gpu, made.code_object);
//     hsadrv::compile(text, {.language = hsadrv::Language::opencl, .target = hsadrv::TargetId::parse("gfx90a")});
//
// Runs the clang that hsadrv-cc runs (docs/guide/compile.md), as a child process on memory files: no file and no child
// remains, however the call or this process ends (a compiler that hangs may use twice the deadline of processor time
// after this process was killed). What was compiled before is taken from a cache, in
// memory and on disk, if nothing that it depends on has changed: $HSADRV_CACHE is its folder, or "off" (default:
// $XDG_CACHE_HOME/hsadrv or ~/.cache/hsadrv), $HSADRV_CACHE_SIZE its limit (256M). Thread safety: any thread; calls run
// in parallel. The caller's signal mask and handlers are unchanged; the child blocks no signal, leads a process group
// of its own and inherits no descriptors but the standard ones. A program that ignores SIGCHLD, or reaps every child,
// is served as well.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hsadrv/agent.hpp"
#include "hsadrv/deadline.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/target_id.hpp"

namespace hsadrv {

enum class Language : std::uint8_t {
    cpp,      ///< freestanding C++20 without exceptions: #include <shared/device/device.hpp>
    opencl,   ///< OpenCL C 2.0: #include <shared/device/opencl.h>
    llvm_ir,  ///< LLVM IR, as text or bitcode, for the triple amdgcn-amd-amdhsa
    assembly  ///< with its .amdhsa_kernel descriptors and .amdgpu_metadata
};
std::string_view to_string(Language language);  ///< "C++", "OpenCL C", "LLVM IR", "assembly"

struct CompileOptions {
    Language language = Language::cpp;
    std::optional<TargetId> target = {};          ///< Required, except by compile(gpu, …): that GPU's.
    std::string name = "<source>";                ///< the source's name in diagnostics and in line numbers
    std::string level = "2";                      ///< optimisation: 0 to 3, s or z
    bool line_numbers = false;                    ///< for debuggers, profilers and checkers
    unsigned code_object_version = 5;             ///< 4 to 6
    std::vector<std::string> defines = {};        ///< "NAME" or "NAME=VALUE"
    std::vector<std::string> folders = {};        ///< of headers; searched in this order, before the others
    std::vector<std::string> clang_options = {};  ///< others, one word each: "-ffast-math"; "-Wl,…" goes to the linker
    std::string clang = {};                       ///< a file, or a name in $PATH; empty: the one that hsadrv-cc finds
    bool cache = true;                            ///< false: compiles, and keeps nothing
};

/// One message of the compiler or its linker.
struct Diagnostic {
    enum class Kind : std::uint8_t { note, remark, warning, error };
    Kind kind = Kind::error;
    std::string file;          ///< CompileOptions::name, or a header; empty: no place is known
    std::uint32_t line = 0;    ///< from 1; 0: no place is known
    std::uint32_t column = 0;  ///< from 1, in bytes; 0: no place is known
    std::string message;
};
std::string_view to_string(Diagnostic::Kind kind);  ///< "note", "remark", "warning", "error"

/// The source is not accepted. what(): the call, and all that the compiler printed, with source lines.
class CompileError : public Error {
  public:
    CompileError(const std::string& message, std::vector<Diagnostic> diagnostics)
        : Error(message), diagnostics_(std::move(diagnostics)) {}
    /// In the order printed.
    const std::vector<Diagnostic>& diagnostics() const noexcept { return diagnostics_; }

  private:
    std::vector<Diagnostic> diagnostics_;
};

/// No suitable compiler. what() lists each one found, why it is not suitable, and what to install.
class NoCompiler : public Error {
    using Error::Error;
};

struct Compiled {
    enum class From : std::uint8_t { compiler, disk, memory };

    std::vector<std::byte> code_object;  ///< an ELF file, for Executable::load
    std::vector<Diagnostic> warnings;    ///< and remarks and notes; the same if it comes from the cache
    std::string printed;                 ///< what the compiler printed, with source lines; empty if nothing
    std::string clang;                   ///< the program that compiled it, and its version: "/usr/bin/clang-19 19.1.7"
    From from = From::compiler;
};

/// Compiles for options.target. Throws CompileError; InvalidArgument for options that contradict each other or have no
/// target; NoCompiler; Timeout; InvalidCodeObject if the result is not one that hsadrv loads; Error if the child cannot
/// be started or was killed. Nothing is kept then. At the deadline the child is killed.
Compiled compile(std::string_view source, const CompileOptions& options, Deadline deadline = std::chrono::minutes(2));

/// Compiles for a GPU: for its processor with its settings of xnack and sramecc, unless options.target is set.
Compiled compile(AgentRef gpu, std::string_view source, const CompileOptions& options = {},
                 Deadline deadline = std::chrono::minutes(2));

}  // namespace hsadrv
