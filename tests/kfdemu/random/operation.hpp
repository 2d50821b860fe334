// The operations of random expressions: result type, operand types, and text.
//
//     for (const Operation& o : operations_giving(Type::u32)) …   // "funnel($0, $1, $2)", {u32, u32, u32}
//
// # stands for a random number below the operation's `below`. None of them has undefined behaviour, or a result that
// depends on the machine. Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "tests/kfdemu/random/type.hpp"

namespace random_programs {

struct Operation {
    Type result;
    std::string text;
    std::vector<Type> operands;
    unsigned below = 1;
    bool costly = false;  ///< long when compiled: seldom to be taken
};

const std::vector<Operation>& operations_giving(Type result);

}  // namespace random_programs
