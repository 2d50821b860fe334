#include "tests/kfdemu/random/expressions.hpp"

#include "tests/kfdemu/random/operation.hpp"

namespace random_programs {
namespace {

/// At most a word.
bool is_narrow(Type type) {
    return width(type) <= 32 && type != Type::u32x2 && type != Type::u32x4 && type != Type::f32x2;
}

}  // namespace

Type Expressions::any_type() {
    using enum Type;
    static const std::vector<Type> often = {i32, u32, u32, f32, f32, i64,   u64,  f64,
                                            u16, i16, f16, u8,  i8,  u16x2, f16x2};
    return random_.one_in(4) ? static_cast<Type>(1 + random_.below(kTypes - 1)) : random_.of(often);
}

Expression Expressions::make(Type type, unsigned depth) {
    if (depth == 0 || random_.one_in(8)) return uniform_ ? uniform_leaf(type) : leaf(type, depth);
    Expression made;
    if (functions && random_.one_in(12) && call(type, depth, made)) return made;
    const auto& operations = operations_giving(type);
    const Operation* operation = &random_.of(operations);
    // There are many conversions; they serve the arithmetic of the type itself, which comes first.
    if (random_.one_in(2)) operation = &operations[random_.below(operations.size() / 2 + 1)];
    if (operation->costly && !random_.one_in(8)) return make(type, depth - 1);
    made.type = type;
    for (const char c : operation->text)
        if (c == '#')
            made.text += std::to_string(random_.below(operation->below));
        else
            made.text += c;
    for (const Type t : operation->operands) made.operands.push_back(make(t, depth - 1));
    return made;
}

Expression Expressions::make_uniform(Type type, unsigned depth) {
    uniform_ = true;
    Expression made = make(type, depth);
    uniform_ = false;
    return made;
}

/// A number of a type from the text of a word or, for wide types, of a u64.
Expression Expressions::word(const std::string& text, Type type) {
    using enum Type;
    switch (type) {
        case b:
            return {type, "((" + text + " & 1) != 0)", {}};
        case f16:
            return {type, "as_f16(u16(" + text + "))", {}};
        case f32:
            return {type, "as_f32(u32(" + text + "))", {}};
        case f64:
            return {type, "as_f64(" + text + ")", {}};
        case u8x4:
            return {type, "unpack_4(u32(" + text + "))", {}};
        case u16x2:
            return {type, "unpack_2(u32(" + text + "))", {}};
        case i16x2:
            return {type, "__builtin_convertvector(unpack_2(u32(" + text + ")), i16x2)", {}};
        case u32x2:
            return {type, "u32x2{u32(" + text + "), u32(" + text + " >> 32)}", {}};
        case u32x4:
            return {type,
                    "u32x4{u32(" + text + "), u32(" + text + " >> 32), u32(" + text + "), u32(" + text + " >> 16)}",
                    {}};
        case f16x2:
            return {type, "f16x2{as_f16(u16(" + text + ")), as_f16(u16(" + text + " >> 16))}", {}};
        case f32x2:
            return {type, "f32x2{as_f32(u32(" + text + ")), as_f32(u32(" + text + " >> 32))}", {}};
        default:
            return {type, std::string{name(type)} + "(" + text + ")", {}};
    }
}

Expression Expressions::constant(Type type) {
    std::uint64_t value = edge_or_noise(random_);
    if (is_narrow(type))
        value &= (std::uint64_t{2} << (width(type) < 16 || !is_integer(type) ? 31 : width(type) - 1)) - 1;
    return word(std::to_string(value) + (is_narrow(type) ? "u" : "ul"), type);
}

Expression Expressions::uniform_leaf(Type type) {
    switch (random_.below(4)) {
        case 0:
            return constant(type);
        case 1:
            return word("u64(group)", type);
        default: {
            const std::string at = std::to_string(random_.below(64) * 2);
            return is_narrow(type) ? word("K[" + at + "]", type) : word("wide(K, " + at + ")", type);
        }
    }
}

bool Expressions::variable(Type type, Expression& found) {
    std::vector<std::string> names;
    if (parameters) {
        for (std::size_t n = 0; n < parameters->size(); ++n)
            if ((*parameters)[n] == type) names.push_back("p" + std::to_string(n));
    } else {
        for (std::size_t n = 0; n < variables_.size(); ++n)
            if (variables_[n].type == type) names.push_back("S.v" + std::to_string(n));
        if (type == Type::u32) {
            names.insert(names.end(), counters.begin(), counters.end());
            names.push_back("lid");
            names.push_back("S.few[" + std::to_string(random_.below(16)) + "]");
        }
    }
    if (names.empty()) return false;
    found = {type, random_.of(names), {}};
    return true;
}

Expression Expressions::leaf(Type type, unsigned depth) {
    Expression made;
    if (!random_.one_in(4) && variable(type, made)) return made;
    // A variable of another type, by way of an operation.
    if (depth == 0 && type != Type::b && !random_.one_in(3)) {
        for (unsigned attempt = 0; attempt < 16; ++attempt) {
            const Operation& o = random_.of(operations_giving(type));
            Expression operand;
            if (o.costly || o.operands.size() != 1 || o.operands[0] == type || !variable(o.operands[0], operand))
                continue;
            std::string text;
            for (const char c : o.text) text += c == '#' ? std::to_string(random_.below(o.below)) : std::string(1, c);
            return {type, text, {operand}};
        }
    }
    if (parameters || random_.one_in(2)) return constant(type);
    if (type == Type::u32 && depth > 0 && random_.one_in(2)) return {type, "S.few[$0 & 15]", {make(type, depth - 1)}};
    if (random_.one_in(2)) return uniform_leaf(type);
    const std::string at = "gid * 5 + " + std::to_string(random_.below(1024));
    return is_narrow(type) ? word("K[(" + at + ") & (kInputs - 1)]", type) : word("wide(K, " + at + ")", type);
}

bool Expressions::call(Type type, unsigned depth, Expression& made) {
    for (std::size_t n = 0; n < functions->size(); ++n) {
        const Function& f = (*functions)[n];
        if (f.result.type != type) continue;
        made = {type, "f`_" + std::to_string(n) + "(", {}};
        for (std::size_t p = 0; p < f.parameters.size(); ++p) {
            made.text += (p ? ", $" : "$") + std::to_string(p);
            made.operands.push_back(make(f.parameters[p], depth - 1));
        }
        made.text += ")";
        return true;
    }
    return false;
}

}  // namespace random_programs
