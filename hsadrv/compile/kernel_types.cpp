#include "hsadrv/compile/kernel_types.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <span>
#include <vector>

namespace hsadrv::detail {
namespace {

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || (c & 0x80); }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }
bool is_name(std::string_view token) { return !token.empty() && is_letter(token[0]) && !is_digit(token[0]); }

/// Names, numbers, literals, and other characters one by one. Without line markers and pragmas.
class Tokens {
  public:
    explicit Tokens(std::string_view text) : rest_(text) {}

    /// Empty at the end.
    std::string_view next() {
        skip_space();
        if (rest_.empty()) return {};
        if (is_digit(rest_[0])) return take(number_size());
        if (is_letter(rest_[0])) return take(name_size());
        if (rest_[0] == '"' || rest_[0] == '\'') return take(literal_size());
        return take(1);
    }

  private:
    std::string_view take(std::size_t size) {
        const std::string_view token = rest_.substr(0, size);
        rest_.remove_prefix(token.size());
        starts_line_ = false;
        return token;
    }

    void skip_space() {
        while (!rest_.empty()) {
            if (rest_[0] == '#' && starts_line_) {
                rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
            } else if (std::isspace(static_cast<unsigned char>(rest_[0]))) {
                starts_line_ = starts_line_ || rest_[0] == '\n';
                rest_.remove_prefix(1);
            } else {
                return;
            }
        }
    }

    std::size_t number_size() const {
        std::size_t size = 1;
        while (size < rest_.size() && (is_letter(rest_[size]) || rest_[size] == '.' || rest_[size] == '\'')) ++size;
        return size;
    }

    /// A raw string begins like a name, and holds what looks like code.
    std::size_t name_size() const {
        std::size_t size = 1;
        while (size < rest_.size() && is_letter(rest_[size])) ++size;
        if (rest_[size - 1] != 'R' || rest_.substr(size, 1) != "\"") return size;
        const std::size_t open = rest_.find('(', size);
        if (open == rest_.npos) return size;
        const std::string close = ")" + std::string(rest_.substr(size + 1, open - size - 1)) + "\"";
        const std::size_t end = rest_.find(close, open);
        return end == rest_.npos ? rest_.size() : end + close.size();
    }

    std::size_t literal_size() const {
        std::size_t end = 1;
        while (end < rest_.size() && rest_[end] != rest_[0]) end += rest_[end] == '\\' ? 2 : 1;
        return end + 1;
    }

    std::string_view rest_;
    bool starts_line_ = true;
};

using List = std::span<const std::string_view>;

struct Type {
    std::string base;  ///< as OpenCL C calls it; empty: another one, or not certain
    unsigned pointers = 0;
    friend bool operator==(const Type&, const Type&) = default;
};

/// Past the bracket that closes the first one.
std::size_t group_size(List tokens) {
    std::size_t at = 0;
    for (int depth = 0; at < tokens.size(); ++at) {
        const std::string_view token = tokens[at];
        if (token == "(" || token == "[" || token == "{") ++depth;
        if ((token == ")" || token == "]" || token == "}") && --depth == 0) return at + 1;
    }
    return at;
}

bool contains(List tokens, std::string_view word) {
    return std::find(tokens.begin(), tokens.end(), word) != tokens.end();
}

bool is_attribute(std::string_view token) {
    return token == "__attribute__" || token == "__attribute" || token == "alignas" || token == "decltype" ||
           token == "noexcept" || token == "__declspec";
}

bool is_qualifier(std::string_view token) {
    static constexpr std::string_view all[] = {"const", "volatile", "__restrict", "__restrict__", "typename"};
    return std::find(std::begin(all), std::end(all), token) != std::end(all);
}

/// The words of a fundamental type, in any order: "long unsigned int".
class Fundamental {
  public:
    bool take(std::string_view word) {
        if (word == "long") return ++longs_;
        if (word == "unsigned" || word == "signed") return any_ = true, is_unsigned_ = word == "unsigned", true;
        if (word == "int") return any_ = true;
        static constexpr std::string_view others[] = {"bool", "char", "short", "_Float16", "float", "double"};
        if (std::find(std::begin(others), std::end(others), word) == std::end(others)) return false;
        word_ = word;
        return true;
    }
    bool any() const { return any_ || longs_ || !word_.empty(); }
    std::string name() const {
        if (word_ == "double" && longs_) return {};
        if (word_ == "_Float16") return "half";
        if (word_ == "float" || word_ == "double" || word_ == "bool") return std::string(word_);
        return (is_unsigned_ ? "u" : "") + std::string(longs_ ? "long" : word_.empty() ? "int" : word_);
    }

  private:
    bool any_ = false, is_unsigned_ = false;
    unsigned longs_ = 0;
    std::string_view word_;
};

/// What a source calls types.
class TypeNames {
  public:
    /// Of a declaration, with or without the name that it declares.
    Type type_of(List tokens) const {
        Fundamental fundamental;
        Type type;
        bool is_named = false;
        for (std::size_t at = 0; at < tokens.size(); ++at) {
            const std::string_view token = tokens[at];
            const bool is_space = at + 1 < tokens.size() && tokens[at + 1] == ":";
            if (token == "=") break;
            if (token == "*") {
                ++type.pointers;
            } else if (is_attribute(token) || token == "[") {
                const List group = tokens.subspan(at, group_size(tokens.subspan(at)));
                if (is_attribute(token) && !contains(group, "address_space")) return {};
                if (token == "[" && group.size() > 1 && group[1] != "[") ++type.pointers;
                at += group.size() - 1;
            } else if (fundamental.take(token) || is_qualifier(token) || token == ":" || (is_name(token) && is_space)) {
                continue;
            } else if (is_name(token)) {
                if (fundamental.any() && token.starts_with('_')) return {};  // unsigned __int128, float _Complex
                if (is_named || fundamental.any()) continue;                 // the name that is declared
                const auto known = names_.find(token);
                if (known == names_.end() || known->second.base.empty()) return {};
                type.base = known->second.base;
                type.pointers += known->second.pointers;
                is_named = true;
            } else {
                return {};
            }
        }
        if (fundamental.any()) type.base = fundamental.name();
        return type;
    }

    /// A second meaning makes it uncertain.
    void add(std::string_view name, Type type) {
        const auto [known, is_new] = names_.try_emplace(name, type);
        if (!is_new && known->second != type) known->second = {};
    }

  private:
    std::map<std::string_view, Type> names_;
};

class Search {
  public:
    explicit Search(std::string_view source) {
        for (Tokens tokens(source); true;) {
            const std::string_view token = tokens.next();
            if (token.empty()) break;
            tokens_.push_back(token);
        }
    }

    std::string types() {
        for (at_ = 0; at_ < tokens_.size(); ++at_) {
            const std::string_view token = tokens_[at_];
            if (token == "{") {
                scopes_.push_back(opens_scope());
            } else if (token == "}") {
                if (!scopes_.empty()) scopes_.pop_back();
            } else if (token == "amdgpu_kernel" || token == "__amdgpu_kernel__") {
                add_kernel();
            } else if (token == "typedef" || token == "using") {
                add_name(token == "using");
            } else if (token == "struct" || token == "class" || token == "union" || token == "enum" ||
                       token == "typename") {
                if (is_name(word(at_ + 1))) names_.add(word(at_ + 1), {});
            }
            if (token == ";" || token == "{" || token == "}") declaration_ = at_ + 1;
        }
        return std::move(text_);
    }

  private:
    enum class Scope { open, linkage, closed };  ///< open: a namespace

    std::string_view word(std::size_t at) const { return at < tokens_.size() ? tokens_[at] : std::string_view(); }
    List list(std::size_t begin, std::size_t end) const { return List(tokens_).subspan(begin, end - begin); }
    std::size_t end_of_declaration(std::size_t at) const {
        while (at < tokens_.size() && tokens_[at] != ";" && tokens_[at] != "{") ++at;
        return at;
    }

    Scope opens_scope() const {
        const List head = list(declaration_, at_);
        if (contains(head, "namespace")) return Scope::open;
        const bool is_linkage = head.size() == 2 && head[0] == "extern" && head[1] == "\"C\"";
        return is_linkage ? Scope::linkage : Scope::closed;
    }

    /// typedef float real; using real = float;
    void add_name(bool is_using) {
        std::size_t end = at_;
        while (end < tokens_.size() && tokens_[end] != ";")
            end += tokens_[end] == "{" ? group_size(list(end, tokens_.size())) : 1;
        if (is_using) {
            if (word(at_ + 2) != "=") return;
            const bool is_template = contains(list(declaration_, at_), "template");
            names_.add(tokens_[at_ + 1], is_template ? Type{} : names_.type_of(list(at_ + 3, end)));
        } else if (word(end) == ";" && end > at_ + 2) {
            const List type = list(at_ + 1, end - 1);
            names_.add(tokens_[end - 1], names_.type_of(type));
        }
    }

    /// At the attribute.
    void add_kernel() {
        if (contains(scopes_, Scope::closed) || contains(list(declaration_, at_), "template")) return;
        const std::size_t name = declared_name();
        if (!name) return;
        bool is_c = contains(scopes_, Scope::linkage);
        for (std::size_t at = declaration_; at < name; ++at) is_c |= tokens_[at] == "extern" && word(at + 1) == "\"C\"";
        if (!is_c) return;
        const std::size_t begin = name + 1, size = group_size(list(begin, tokens_.size()));
        const std::string record =
            std::string(tokens_[name]) + "\\0" + types_of(list(begin + 1, begin + size - 1)) + "\\0";
        if (stated_.insert(record).second) text_ += record;
    }

    static bool contains(const std::vector<Scope>& scopes, Scope scope) {
        return std::find(scopes.begin(), scopes.end(), scope) != scopes.end();
    }
    static bool contains(List tokens, std::string_view word) { return detail::contains(tokens, word); }

    /// Where it is: the first name before a parenthesis that is no attribute's. 0: it has none, or a qualified one.
    std::size_t declared_name() const {
        const std::size_t end = end_of_declaration(at_);
        for (std::size_t at = declaration_; at < end; ++at) {
            if (word(at + 1) != "(" || !is_name(tokens_[at])) continue;
            if (!is_attribute(tokens_[at])) return at && tokens_[at - 1] != ":" ? at : 0;
            at += group_size(list(at + 1, tokens_.size()));
        }
        return 0;
    }

    /// Of parameters: "float*,,uint".
    std::string types_of(List parameters) const {
        if (parameters.empty() || (parameters.size() == 1 && parameters[0] == "void")) return {};
        std::string text;
        std::size_t begin = 0;
        int depth = 0;
        for (std::size_t at = 0; at <= parameters.size(); ++at) {
            const std::string_view token = at < parameters.size() ? parameters[at] : ",";
            if (token == "(" || token == "[" || token == "{" || token == "<") ++depth;
            if (token == ")" || token == "]" || token == "}" || token == ">") --depth;
            if (token != "," || (depth && at < parameters.size())) continue;
            const Type type = names_.type_of(parameters.subspan(begin, at - begin));
            if (begin) text += ',';
            if (!type.base.empty() && type.pointers < 2) text += type.base + (type.pointers ? "*" : "");
            begin = at + 1;
        }
        return text;
    }

    std::vector<std::string_view> tokens_;
    std::size_t at_ = 0;
    std::size_t declaration_ = 0;  // begins here
    std::vector<Scope> scopes_;
    TypeNames names_;
    std::set<std::string> stated_;
    std::string text_;
};

}  // namespace

std::string kernel_types(std::string_view preprocessed) { return Search(preprocessed).types(); }

}  // namespace hsadrv::detail
