// Findings that are not reported: `kfdemu run --check --suppress FILE`.
//
//     wait:copy_aligned*          # CHECK:PATTERN; the rest of a line after # is a comment
//     *:*/vendor/*.h              # any check
//
// A finding is suppressed if PATTERN (of fnmatch(3)) matches a function or a source file of its instruction, including
// those that it is inlined into, or, if it has no instruction, a function, source file or library on the host's stack.
//
//     Suppressions list;
//     for (const std::string& error : list.add_lines(text, "file")) warn(error);      // "file:3: 'speed' is not …"
//     if (list.match(finding)) …
//
// Pure: text in, values or error texts out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/kfdemu/check/report/finding.hpp"

namespace kfdemu::check {

class Suppressions {
  public:
    /// Adds one line. Returns "" or an error text. Empty lines and comments add nothing.
    std::string add(std::string_view line);
    /// Adds those lines that are right. Returns an error text, beginning with the file and the line, for each other.
    std::vector<std::string> add_lines(std::string_view text, const std::string& file);

    bool match(const Finding& finding) const;
    /// False: no finding of this check matches.
    bool may_match(Check check) const;

  private:
    struct Suppression {
        Checks checks;
        std::string pattern;
    };
    std::vector<Suppression> all_;
};

}  // namespace kfdemu::check
