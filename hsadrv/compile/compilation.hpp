// Internal: one run of clang and its linker, in memory.
//
//     Output made = Compilation(source, options, target, clang, headers).run(deadline);
//
// Thread safety: separate objects. Throws as hsadrv::compile.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "hsadrv/compile.hpp"
#include "hsadrv/compile/recipe.hpp"

namespace hsadrv::detail {

struct Output {
    std::vector<std::byte> code_object;
    std::string printed;
    std::vector<std::string> files;  ///< that the compiler read, besides the source
};

/// Borrows all that it is made of.
class Compilation {
  public:
    Compilation(std::string_view source, const CompileOptions& options, const TargetId& target, const Clang& clang,
                const std::string& headers)
        : source_(source), options_(options), target_(target), clang_(clang), headers_(headers) {}

    Output run(const Deadline& deadline) const;

    /// "hsadrv::compile(<source>, C++, gfx90a)", for messages.
    std::string call() const;

    Command preprocess_command() const;
    /// `types`: of types_words().
    Command compile_command(const Command& types) const;
    Command link_command() const;

  private:
    Command front_end_command() const;
    std::string marked_source() const;
    Command types_of_arguments(const Deadline& deadline) const;
    [[noreturn]] void fail(const std::string& program, std::optional<int> status, const std::string& printed) const;
    void require_target(const std::vector<std::byte>& code_object) const;
    bool is_preprocessed() const { return options_.language == Language::cpp || options_.language == Language::opencl; }

    std::string_view source_;
    const CompileOptions& options_;
    const TargetId& target_;
    const Clang& clang_;
    const std::string& headers_;
};

}  // namespace hsadrv::detail
