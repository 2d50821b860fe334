// The Python literals used in .npy headers and type descriptions: strings, integers, True, False and None, tuples,
// lists and dictionaries.
//
//     PythonLiteral header = PythonLiteral::parse("{'shape': (3, 4), 'fortran_order': False}");
//     header.find("shape")->items().size();                   // 2
//     header.find("shape")->items()[0].integer();             // 3
//
// Values; no state. Anything else is refused: names, floating-point numbers, integers beyond 64 bits, operators, and
// nesting deeper than 32. Throws InvalidArgument, naming what was found and at which byte.
#pragma once

#include "shared/cpp20.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hsadrv {

class PythonLiteral {
  public:
    enum class Type : std::uint8_t { none, boolean, integer, string, tuple, list, dictionary };

    /// Parses the whole text; surrounding white space is ignored.
    static PythonLiteral parse(std::string_view text);

    Type type() const { return type_; }
    bool is(Type type) const { return type_ == type; }
    bool is_sequence() const { return is(Type::tuple) || is(Type::list); }

    // Each throws InvalidArgument if the literal has another type.
    bool boolean() const;
    std::int64_t integer() const;
    /// As UTF-8.
    const std::string& string() const;
    /// Elements of a tuple or list.
    const std::vector<PythonLiteral>& items() const;
    /// Looks up a dictionary's string key; null if it is absent.
    const PythonLiteral* find(std::string_view key) const;
    /// A dictionary's keys, in order.
    std::vector<std::string_view> keys() const;

    /// "a tuple", "True", "'<f4'", …, and its byte offset, for messages.
    std::string what() const;

  private:
    friend class PythonParser;
    void require(bool holds, const char* wanted) const;

    Type type_ = Type::none;
    std::int64_t integer_ = 0;
    std::string string_;
    std::vector<PythonLiteral> items_;  // for a dictionary: key, value, key, value, …
    std::size_t offset_ = 0;            // in the parsed text
};

/// As Python's repr() of UTF-8 text: in single quotes unless the text has some, with escapes for unprintable
/// characters. Bytes that are not valid UTF-8 are unchanged.
std::string python_quoted(std::string_view text);

}  // namespace hsadrv
