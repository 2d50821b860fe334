// Commands: the programs that a compilation runs, as lists of words.
//
//     run(compile_command(recipe, target, "k.cl", Product::code, "/tmp/0.hsaco", ""));
//
// Pure. A single source becomes a code object in one step. Several sources are compiled to bitcode and linked with LTO:
// a linker concatenates the metadata notes of finished objects, and loaders only read the first.
// Source: clang's manual; LLVM AMDGPUUsage, Code Object Metadata; ClangOffloadBundler.
#pragma once

#include <span>
#include <string>

#include "hsadrv/compile/clang.hpp"
#include "hsadrv/target_id.hpp"
#include "tools/common/process.hpp"
#include "tools/hsadrv-cc/options.hpp"

namespace hsadrv_cc {

using hsadrv::detail::Clang;
using tools::Command;

struct Recipe {
    const Options& options;
    const Clang& clang;
    std::string headers;   ///< the folder that shared/device/ is in
    bool colours = false;  ///< in the messages of clang and its linker
};

struct Source {
    std::string name;  ///< as in the command line; "-": standard input
    std::string file;  ///< with its contents
};

enum class Product { code, assembly, bitcode, preprocessed };

/// `depfile`: the file for clang's depfile; empty: none. `types`: of hsadrv::detail::types_words().
Command compile_command(const Recipe& recipe, const hsadrv::TargetId& target, const Source& source, Product product,
                        const std::string& output, const std::string& depfile, const Command& types = {});

Command link_command(const Recipe& recipe, const hsadrv::TargetId& target, std::span<const std::string> bitcodes,
                     const std::string& output);

Command bundle_command(const std::string& bundler, bool compress, std::span<const hsadrv::TargetId> targets,
                       std::span<const std::string> code_objects, const std::string& output);

}  // namespace hsadrv_cc
