// Random expressions, which have no side effect and no undefined behaviour.
//
//     Expressions expressions{random, variables};
//     Expression e = expressions.make(Type::i32, 3);      // three operations deep
//
// Borrows: both arguments, for its lifetime. Thread safety: one thread at a time.
#pragma once

#include "tests/kfdemu/random/program.hpp"
#include "tests/kfdemu/random/random.hpp"

namespace random_programs {

class Expressions {
  public:
    Expressions(Random& random, const std::vector<Expression>& variables) : random_{random}, variables_{variables} {}

    Expression make(Type type, unsigned depth);
    /// The same in every work-item.
    Expression make_uniform(Type type, unsigned depth);
    Expression constant(Type type);
    Type any_type();

    /// Names in scope beside the state's variables, all of them u32: counters of loops.
    std::vector<std::string> counters;
    /// Functions that may be called.
    const std::vector<Function>* functions = nullptr;
    /// Parameters of the function whose result this is: its leaves, in place of the variables.
    const std::vector<Type>* parameters = nullptr;

  private:
    Expression leaf(Type type, unsigned depth);
    Expression uniform_leaf(Type type);
    Expression word(const std::string& text, Type type);
    bool variable(Type type, Expression& found);
    bool call(Type type, unsigned depth, Expression& made);

    Random& random_;
    const std::vector<Expression>& variables_;
    bool uniform_ = false;
};

}  // namespace random_programs
