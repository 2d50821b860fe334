// A random program as a tree that can be written down as C++ and made smaller.
//
//     Program program = generate(seed, 7);
//     std::string source = program.text(0);       // PROGRAM(0, …) … END of kernels/program.hpp
//     for (Program& smaller : program.smaller()) …
//
// Texts hold $0 … $9 for their expressions, @0 … @9 for their blocks and ` for the program's number in its file.
//
// Thread safety: values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/kfdemu/random/type.hpp"

namespace random_programs {

struct Expression {
    Type type{};
    std::string text{};
    std::vector<Expression> operands{};
};

struct Statement;
using Block = std::vector<Statement>;

struct Statement {
    std::string text;
    std::vector<Expression> values{};
    std::vector<Block> blocks{};
};

struct Function {
    std::vector<Type> parameters;  ///< p0, p1, …
    Expression result;
};

struct Program {
    std::uint64_t seed = 0, number = 0;
    unsigned group = 64;                ///< work-items
    std::vector<Function> functions;    ///< f`_0, f`_1, …
    std::vector<Expression> variables;  ///< S.v0, S.v1, …: their initial values
    Block body;                         ///< at the top level, executed by all work-items

    std::string text(unsigned number_in_file) const;
    std::size_t size() const;  ///< nodes of the tree
    /// Every program that is this one with something left out.
    std::vector<Program> smaller() const;
};

}  // namespace random_programs
