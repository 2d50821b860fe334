#include "tests/kfdemu/random/program.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace random_programs {
namespace {

std::string written(const Expression& e);
std::string written(const Block& block, unsigned indent);

/// The text with its places filled.
std::string filled(const std::string& text, const std::vector<Expression>& values, const std::vector<Block>& blocks,
                   unsigned indent) {
    std::string result;
    for (std::size_t n = 0; n < text.size(); ++n) {
        if (text[n] == '$')
            result += written(values.at(text[++n] - '0'));
        else if (text[n] == '@')
            result += "\n" + written(blocks.at(text[++n] - '0'), indent + 4) + std::string(indent, ' ');
        else
            result += text[n];
    }
    return result;
}

std::string written(const Expression& e) { return filled(e.text, e.operands, {}, 0); }

std::string written(const Block& block, unsigned indent) {
    std::string result;
    for (const Statement& s : block)
        result += std::string(indent, ' ') + filled(s.text, s.values, s.blocks, indent) + "\n";
    return result;
}

std::string zero(Type type) { return std::string{name(type)} + "(0)"; }

std::size_t size_of(const Expression& e) {
    std::size_t size = 1;
    for (const Expression& o : e.operands) size += size_of(o);
    return size;
}
std::size_t size_of(const Block& block) {
    std::size_t size = 0;
    for (const Statement& s : block) {
        size += 2;
        for (const Expression& e : s.values) size += size_of(e);
        for (const Block& b : s.blocks) size += size_of(b);
    }
    return size;
}

/// Calls found() with a changed tree, then changes it back, for every way to leave something out.
class Shrinker {
  public:
    explicit Shrinker(std::function<void()> found) : found_{std::move(found)} {}

    void expression(Expression& e) {
        const Expression whole = e;
        if (!whole.operands.empty()) {
            try_with(e, Expression{whole.type, zero(whole.type), {}});
            for (const Expression& o : whole.operands)
                if (o.type == whole.type) try_with(e, o);
        }
        for (Expression& o : e.operands) expression(o);
    }
    void block(Block& b) {
        for (std::size_t count = b.size(); count > 1; count /= 2)
            for (std::size_t from = 0; from < b.size(); from += count) without(b, from, count);
        if (b.size() > 0)
            for (std::size_t n = 0; n < b.size(); ++n) without(b, n, 1);
        for (std::size_t n = 0; n < b.size(); ++n) {
            if (b[n].text.rfind("if (", 0) == 0)
                for (std::size_t inner = 0; inner < b[n].blocks.size(); ++inner) hoisted(b, n, inner);
            for (Expression& e : b[n].values) expression(e);
            for (Block& inner : b[n].blocks) block(inner);
        }
    }

  private:
    template <class T>
    void try_with(T& place, T value) {
        T kept = std::exchange(place, std::move(value));
        found_();
        place = std::move(kept);
    }
    void without(Block& b, std::size_t from, std::size_t count) {
        Block less = b;
        const auto first = less.begin() + static_cast<std::ptrdiff_t>(from);
        less.erase(first, first + static_cast<std::ptrdiff_t>(std::min(count, less.size() - from)));
        try_with(b, std::move(less));
    }
    /// A block in place of the statement that it belongs to.
    void hoisted(Block& b, std::size_t n, std::size_t inner) {
        Block more = b;
        const Block taken = more[n].blocks[inner];
        const auto at = more.erase(more.begin() + static_cast<std::ptrdiff_t>(n));
        more.insert(at, taken.begin(), taken.end());
        try_with(b, std::move(more));
    }

    std::function<void()> found_;
};

}  // namespace

std::string Program::text(unsigned number_in_file) const {
    std::string result = "// Program " + std::to_string(number) + " of seed " + std::to_string(seed) + ".\n";
    for (std::size_t f = 0; f < functions.size(); ++f) {
        result += "NOINLINE " + std::string{name(functions[f].result.type)} + " f`_" + std::to_string(f) + "(";
        for (std::size_t p = 0; p < functions[f].parameters.size(); ++p)
            result += (p ? ", " : "") + std::string{name(functions[f].parameters[p])} + " p" + std::to_string(p);
        result += ") { return " + written(functions[f].result) + "; }\n";
    }
    result += "struct S` {\n";
    for (std::size_t v = 0; v < variables.size(); ++v)
        result += "    " + std::string{name(variables[v].type)} + " v" + std::to_string(v) + ";\n";
    result += "    u32 few[16];\n    u32 apart;\n};\nFN void part(S`& s) {\n";
    for (std::size_t v = 0; v < variables.size(); ++v)
        result += "    s.v" + std::to_string(v) + " = parted(s.v" + std::to_string(v) + ");\n";
    result += "}\nPROGRAM(`, " + std::to_string(group) + ")\n    EACH {\n";
    result += "        for (u32 n = 0; n < 16; ++n) S.few[n] = K[(gid + n) & (kInputs - 1)];\n";
    result += "        S.apart = 0;\n";
    for (std::size_t v = 0; v < variables.size(); ++v)
        result += "        S.v" + std::to_string(v) + " = " + written(variables[v]) + ";\n";
    result += "    }\n";
    result += written(body, 4);
    result += "    EACH {\n";
    for (std::size_t v = 0; v < variables.size(); ++v)
        result += "        put(out + " + std::to_string(2 * v) + ", S.v" + std::to_string(v) + ");\n";
    result += "        for (u32 n = 0; n < 16; ++n) put(out + kOuts - 32 + 2 * n, S.few[n]);\n    }\nEND\n";

    const std::string number_text = std::to_string(number_in_file);
    std::string numbered;
    for (const char c : result)
        if (c == '`')
            numbered += number_text;
        else
            numbered += c;
    return numbered;
}

std::size_t Program::size() const {
    std::size_t size = size_of(body);
    for (const Function& f : functions) size += size_of(f.result);
    for (const Expression& v : variables) size += size_of(v);
    return size;
}

std::vector<Program> Program::smaller() const {
    std::vector<Program> result;
    Program work = *this;
    Shrinker shrinker{[&] { result.push_back(work); }};
    shrinker.block(work.body);
    for (Function& f : work.functions) shrinker.expression(f.result);
    for (Expression& v : work.variables) shrinker.expression(v);
    return result;
}

}  // namespace random_programs
