#include "tests/kfdemu/random/generate.hpp"

#include "tests/kfdemu/random/expressions.hpp"
#include "tests/kfdemu/random/random.hpp"

namespace random_programs {
namespace {

using enum Type;

class Generator {
  public:
    Generator(std::uint64_t seed, std::uint64_t number)
        : random_{seed * 0x1'0000'0001 + number * 0x9e37'79b9}, expressions_{random_, program_.variables} {
        program_.seed = seed;
        program_.number = number;
    }

    Program take() {
        static const std::vector<unsigned> groups = {64, 64, 64, 100, 128, 192};
        program_.group = random_.of(groups);
        functions();
        const unsigned variables = 5 + random_.below(6);
        for (unsigned n = 0; n < variables; ++n) {
            // The first are exchanged by lanes, and end loops.
            const Type type = n < 2 ? u32 : expressions_.any_type();
            program_.variables.push_back(initial(type));
        }
        expressions_.functions = &program_.functions;
        if (program_.number % 3 == 0)
            straight_line();
        else
            structured();
        if (program_.number % 5 == 0) apart();
        return std::move(program_);
    }

  private:
    Expression initial(Type type) {
        const std::vector<Expression> none;
        return Expressions{random_, none}.make(type, 0);
    }
    void functions() {
        if (!random_.one_in(3)) return;
        Function f;
        for (unsigned n = 0; n < 3; ++n) f.parameters.push_back(expressions_.any_type());
        Expressions inside{random_, program_.variables};
        inside.parameters = &f.parameters;
        f.result = inside.make(random_.one_in(2) ? f.parameters[0] : expressions_.any_type(), 3);
        program_.functions.push_back(std::move(f));
    }

    Expression value(Type type, unsigned depth) { return expressions_.make(type, depth); }
    std::string some_variable(Type& type) {
        const unsigned n = random_.below(program_.variables.size());
        type = program_.variables[n].type;
        return "S.v" + std::to_string(n);
    }
    Statement assignment(unsigned depth) {
        Type type;
        const std::string name = some_variable(type);
        return {name + " = $0;", {value(type, depth)}};
    }

    void straight_line() {
        Block block;
        const unsigned count = 3 + random_.below(5);
        for (unsigned n = 0; n < count; ++n) block.push_back(assignment(2 + random_.below(2)));
        program_.body.push_back({"EACH {@0}", {}, {std::move(block)}});
    }
    void structured() {
        const unsigned phases = 1 + random_.below(3);
        for (unsigned n = 0; n < phases; ++n) switch (random_.below(6)) {
                case 0:
                    uniform();
                    break;
                case 1:
                    exchange();
                    break;
                case 2:
                    shared();
                    break;
                case 3:
                    shared_atomics();
                    break;
                default:
                    program_.body.push_back({"EACH {@0}", {}, {block(0)}});
            }
    }

    Block block(unsigned nesting) {
        Block made;
        const unsigned count = nesting == 0 ? 1 + random_.below(3) : 1 + random_.below(2);
        for (unsigned n = 0; n < count; ++n) made.push_back(statement(nesting));
        return made;
    }
    Statement statement(unsigned nesting) {
        if (nesting < 3) switch (random_.below(nesting == 0 ? 7 : 12)) {
                case 0:
                    return {"if ($0) {@0}", {value(b, 2)}, {block(nesting + 1)}};
                case 1:
                    return {"if ($0) {@0} else {@1}", {value(b, 2)}, {block(nesting + 1), block(nesting + 1)}};
                case 2:
                case 3:
                    return loop(nesting);
                case 4:
                    return choice(nesting);
                default:
                    break;
            }
        switch (random_.below(12)) {
            case 0:
                return {"S.few[$0 & 15] = $1;", {value(u32, 1), value(u32, 2)}};
            case 1:
                return sum();
            case 2:
                return own_atomic();
            case 3:
                return own_memory();
            default:
                return assignment(1 + random_.below(3));
        }
    }
    /// Goes round seven times at most.
    Statement loop(unsigned nesting) {
        const std::string i = "i" + std::to_string(nesting);
        const Expression limit = random_.one_in(3) ? expressions_.make_uniform(u32, 1) : value(u32, 1);
        expressions_.counters.push_back(i);
        Block inside = block(nesting + 1);
        if (random_.one_in(2)) {
            const auto at = static_cast<std::ptrdiff_t>(random_.below(inside.size() + 1));
            inside.insert(inside.begin() + at,
                          {random_.one_in(2) ? "if ($0) break;" : "if ($0) continue;", {value(b, 2)}});
        }
        expressions_.counters.pop_back();
        const std::string head = "u32 " + i + " = 0; " + i + " < ($0 & 7); ++" + i;
        return {"for (" + head + ") {@0}", {limit}, {std::move(inside)}};
    }
    Statement choice(unsigned nesting) {
        Statement made{"part(S); switch ($0 & 7) {", {value(u32, 1)}};
        const unsigned cases = 2 + random_.below(3);
        for (unsigned n = 0; n < cases; ++n) {
            made.text += " case " + std::to_string(n * 2 % 7) + ": {@" + std::to_string(n) + "} part(S);";
            made.text += random_.one_in(4) ? " [[fallthrough]];" : " break;";
            made.blocks.push_back(block(nesting + 1));
        }
        made.text += " default: {@" + std::to_string(cases) + "} part(S); }";
        made.blocks.push_back(block(nesting + 1));
        return made;
    }

    /// Words that all work-items add to, in any order.
    Statement sum() {
        struct Place {
            const char* text;
            Type type;
        };
        static const std::vector<Place> places = {
            {"ATOMIC(sums->add[$0 & 3], add, $1);", u32},
            {"ATOMIC(sums->exclusive_or[$0 & 3], xor, $1);", u32},
            {"ATOMIC(sums->all[$0 & 3], and, ($1 | 0x80000001u));", u32},
            {"ATOMIC(sums->any[$0 & 3], or, $1);", u32},
            {"ATOMIC(sums->least[$0 & 3], min, $1);", u32},
            {"ATOMIC(sums->most[$0 & 3], max, $1);", u32},
            {"ATOMIC(sums->signed_least[$0 & 3], min, $1);", i32},
            {"ATOMIC(sums->signed_most[$0 & 3], max, $1);", i32},
            {"ATOMIC(sums->add_64[$0 & 3], add, $1);", u64},
            {"ATOMIC(sums->most_64[$0 & 3], max, $1);", u64},
            {"ATOMIC(sums->add_float[$0 & 3], add, f32($1 & 15));", u32},
            {"ATOMIC(sums->add_double[$0 & 3], add, f64($1 & 15));", u32},
        };
        const Place& p = random_.of(places);
        return {p.text, {value(u32, 1), value(p.type, 2)}};
    }
    /// Words of a single work-item, so that the old value is known, too.
    Statement own_atomic() {
        static const std::vector<const char*> operations = {"add", "xor", "and", "or", "min", "max"};
        const std::string t = random_.one_in(3) ? "u64" : "u32";
        const Type type = t == "u64" ? u64 : u32;
        unsigned to = 0;
        for (unsigned n = 0; n < program_.variables.size(); ++n)
            if (program_.variables[n].type == type && random_.one_in(2)) to = n;
        const std::string place = "((" + t + "*)cells)[$0 & 7]";
        const std::string result = "S.v" + std::to_string(to) + " = u32(";
        const std::string head = program_.variables[to].type == u64 ? "S.v" + std::to_string(to) + " = u64(" : result;
        if (random_.one_in(6)) return {head + "ATOMIC_SWAP(" + place + ", $1));", {value(u32, 1), value(type, 2)}};
        return {head + "ATOMIC_OLD(" + place + ", " + random_.of(operations) + ", $1));",
                {value(u32, 1), value(type, 2)}};
    }
    /// Loads and stores of every width.
    Statement own_memory() {
        static const std::vector<Type> types = {u8, i8, u16, i16, u32, u64, f32, f64, f16, u32x4, u32x2, u16x2};
        Type type = random_.of(types);
        if (is_float(type)) {  // bits(): no NaN but one
            const std::string t = "u" + std::to_string(width(type));
            return {"((" + t + "*)cells)[$0 & 3] = bits($1);", {value(u32, 1), value(type, 2)}};
        }
        if (random_.one_in(2))
            return {"((" + std::string{name(type)} + "*)cells)[$0 & 3] = $1;", {value(u32, 1), value(type, 2)}};
        for (unsigned n = 0; n < program_.variables.size(); ++n) {
            type = program_.variables[n].type;
            if (is_float(type) || type == f32x2 || type == f16x2 || random_.one_in(2)) continue;  // no signalling NaN
            return {"S.v" + std::to_string(n) + " = ((" + name(type) + "*)cells)[$0 & 3];", {value(u32, 1)}};
        }
        return {"S.v0 += ((u16*)cells)[$0 & 31];", {value(u32, 1)}};
    }

    /// The same in every work-item: for the scalar unit.
    void uniform() {
        Block inside;
        const unsigned count = 1 + random_.below(4);
        for (unsigned n = 0; n < count; ++n) {
            Type type;
            const std::string name = some_variable(type);
            inside.push_back({name + " = $0;", {expressions_.make_uniform(type, 4)}});
        }
        if (random_.one_in(2)) inside.push_back({"if ($0) {@0}", {expressions_.make_uniform(b, 2)}, {block(1)}});
        program_.body.push_back({"EACH {@0}", {}, {std::move(inside)}});
    }
    std::string pattern() { return pattern_of("$0"); }
    /// `from`: the text of the lane that a permute reads.
    std::string pattern_of(const std::string& from) {
        static const std::vector<const char*> controls = {"0x130", "0x134", "0x138", "0x13c",
                                                          "0x140", "0x141", "0x142", "0x143"};
        const auto hex = [](unsigned n) { return std::to_string(n); };
        switch (random_.below(8)) {
            case 0:
                return "swizzle<" + hex(random_.one_in(3) ? 0x8000 + random_.below(256) : random_.below(0x8000)) +
                       ">()";
            case 1:
                return "from(" + from + " & 63)";
            case 2:
                return "first()";
            case 3:
                return "votes()";
            case 4:
                return "before()";
            default:
                break;
        }
        std::string control = random_.of(controls);
        const unsigned kind = random_.below(5);
        if (kind == 0) control = hex(random_.below(256));
        if (kind > 1) control = hex((kind - 1) * 16 + 0xf0 + 1 + random_.below(15));
        const bool whole = random_.one_in(2);
        return "dpp<" + control + ", " + hex(whole ? 15 : random_.below(16)) + ", " +
               hex(whole ? 15 : random_.below(16)) + (random_.one_in(2) ? ", true>()" : ", false>()");
    }
    void exchange() {
        const std::string to = random_.one_in(2) ? "v0" : "v1", what = random_.one_in(2) ? "v0" : "v1";
        program_.body.push_back({"EACH { S." + what + " = $0; }", {value(u32, 2)}});
        const std::string where = random_.one_in(2) ? "true" : "($1)";
        program_.body.push_back(
            {"EXCHANGE(" + to + ", " + what + ", " + where + ", " + pattern() + ")", {value(u32, 1), value(b, 1)}});
    }
    /// Through the work-group's memory: everybody writes one place, then reads any.
    void shared() {
        static const std::vector<Type> types = {u8, u16, u32, u32, i32, f32, u64, f64, u32x2, u32x4};
        const Type type = random_.of(types);
        const std::string t = name(type), lds = "lds" + std::to_string(shared_++),
                          odd = std::to_string(random_.below(128) * 2 + 1);
        const std::string step = std::to_string(program_.group), first = std::to_string(random_.below(256));
        Block reads;
        const unsigned count = 1 + random_.below(3);
        for (unsigned n = 0; n < count; ++n) {
            const Expression element{type, lds + "[$0 & 255]", {value(u32, 2)}};
            if (is_integer(type))
                reads.push_back({"S.v1 += u32($0);", {element}});
            else
                reads.push_back({"put((u64*)cells + 2 * ($0 & 3), $1);", {value(u32, 1), element}});
        }
        program_.body.push_back(
            {"SHARED(" + t + ", " + lds + ", 256);\n    EACH { for (u32 n = lid; n < 256; n += " + step + ") " + lds +
                 "[(n * " + odd + " + " + first + ") & 255] = $0; }\n    MEET\n    EACH {@0}\n    MEET",
             {value(type, 2)},
             {std::move(reads)}});
    }
    /// Some write and, after a barrier, the same ones read: no operation between the two may run once for each.
    void apart() {
        const std::string lds = "lds" + std::to_string(shared_++), step = std::to_string(program_.group);
        program_.body.push_back(
            {"SHARED(u32, " + lds + ", 256);\n    EACH { for (u32 n = lid; n < 256; n += " + step + ") " + lds +
                 "[n] = n; S.apart = u32($0); }\n    MEET\n    EACH { if (S.apart & 1) { " + lds +
                 "[lid] = $1; } }\n    MEET\n    EACH { if (S.apart & 1) { S.v1 += " + lds +
                 "[$2 & 255]; } }\n    MEET\n    EACH { if (S.apart & 1) {@0} }\n    EXCHANGE(v0, v1, "
                 "true, " +
                 pattern_of("$3") + ")\n    EACH { if (S.apart & 1) {@1} }",
             {value(b, 2), value(u32, 2), value(u32, 2), value(u32, 1)},
             {block(1), block(1)}});
    }
    void shared_atomics() {
        static const std::vector<const char*> operations = {"add", "xor", "and", "or", "min", "max"};
        static const std::vector<Type> types = {u32, i32, u64, i64};
        const Type type = random_.of(types);
        const std::string t = name(type), lds = "lds" + std::to_string(shared_++), operation = random_.of(operations);
        const auto atomic = [&] {
            return Statement{"ATOMIC(" + lds + "[$0 & 15], " + operation + ", $1);", {value(u32, 1), value(type, 2)}};
        };
        Block inside{atomic()};
        if (random_.one_in(2)) inside.push_back({"if ($0) {@0}", {value(b, 2)}, {{atomic()}}});
        if (random_.one_in(2))
            inside.push_back(
                {"for (u32 i0 = 0; i0 < ($0 & 7); ++i0) {@0}", {value(u32, 1)}, {{atomic(), assignment(2)}}});
        const std::string begin = "SHARED(" + t + ", " + lds + ", 16);\n    EACH { if (lid < 16) " + lds +
                                  "[lid] = " + t +
                                  "(K[lid + $0 % 64]); }\n    MEET\n    EACH {@0}\n    MEET\n    EACH ";
        program_.body.push_back({begin + "{ S.v0 ^= u32(" + lds + "[$1 & 15]); S.few[$2 & 15] ^= u32(u64(" + lds +
                                     "[lid & 15]) >> 16); }\n    MEET",
                                 {expressions_.make_uniform(u32, 1), value(u32, 1), value(u32, 1)},
                                 {std::move(inside)}});
    }

    Random random_;
    Program program_;
    Expressions expressions_;
    unsigned shared_ = 0;
};

}  // namespace

Program generate(std::uint64_t seed, std::uint64_t number) { return Generator{seed, number}.take(); }

}  // namespace random_programs
