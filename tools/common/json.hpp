// Json: a JSON value.
//
//     Json report = {{"schema", "hsadrv.info"}, {"schema_version", 1}};
//     report["agents"] = Json::array();
//     report["agents"].push_back({{"label", "gpu0"}});
//     print_or_fail(report.dump(2) + "\n");
//     const std::string label = Json::parse(text).at("agents")[0].at("label");
//
// Objects keep their keys in insertion order. A braced list is an object if all its elements are pairs that begin with
// a string, otherwise an array. Only json.cpp includes the JSON library. Thread safety: values. Source: RFC 8259.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace tools {

/// Invalid JSON text, a value of another type, or a missing key.
struct JsonError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Json;

template <class T>
concept JsonText = !std::same_as<T, Json> && std::convertible_to<const T&, std::string_view>;
template <class T>
concept JsonNumber = std::is_arithmetic_v<T> && !std::same_as<T, bool> && !std::same_as<T, char>;

class Json {
  public:
    struct Member;
    using Array = std::vector<Json>;
    using Object = std::vector<Member>;

    Json(std::nullptr_t = nullptr) noexcept;
    Json(const Json& other);
    Json(Json&& other) noexcept;
    Json& operator=(const Json& other);
    Json& operator=(Json&& other) noexcept;
    ~Json();

    template <std::same_as<bool> T>
    Json(T value) : Json(Value(value)) {}
    template <JsonNumber T>
    Json(T value) : Json(value_of(value)) {}
    template <JsonText T>
    Json(const T& text) : Json(Value(std::string(std::string_view(text)))) {}
    template <class T>
    Json(const std::vector<T>& values) : Json(array_of(values)) {}
    template <class T, std::size_t count>
    Json(const std::array<T, count>& values) : Json(array_of(values)) {}
    Json(std::initializer_list<Json> values);

    static Json array(std::initializer_list<Json> values = {});
    static Json object();

    /// Throws JsonError.
    static Json parse(std::string_view text);
    /// Null if the text is not valid JSON.
    static std::optional<Json> try_parse(std::string_view text);

    /// On one line, or with `indent` spaces per level. Invalid UTF-8 becomes U+FFFD.
    std::string dump(int indent = -1) const;

    bool is_null() const;
    bool is_string() const;
    bool is_array() const;
    bool is_object() const;

    /// The number of elements or members; 0 for null, 1 for other values.
    std::size_t size() const;
    bool empty() const { return size() == 0; }

    /// The elements of an array; empty for any other value.
    const Json* begin() const;
    const Json* end() const;
    /// An array's elements. Throws JsonError for any other value.
    const Json& operator[](std::size_t index) const;
    Json& back();
    /// Null becomes an array.
    void push_back(Json value);

    /// The members of an object. Throws JsonError for any other value.
    const Object& members() const;
    bool contains(std::string_view key) const { return find(key) != nullptr; }
    /// Null if there is none.
    const Json* find(std::string_view key) const;
    /// Throws JsonError if there is none.
    const Json& at(std::string_view key) const;
    template <JsonText T>
    const Json& operator[](const T& key) const {
        return at(key);
    }
    /// Appends a missing key; null becomes an object.
    template <JsonText T>
    Json& operator[](const T& key) {
        return member(key);
    }
    /// Sets every member of `other`.
    void update(const Json& other);

    /// Throws JsonError if the value is of another type.
    template <class T>
    T get() const {
        if constexpr (std::floating_point<T>)
            return static_cast<T>(as_double());
        else if constexpr (std::unsigned_integral<T>)
            return static_cast<T>(as_unsigned());
        else if constexpr (std::integral<T>)
            return static_cast<T>(as_signed());
        else if constexpr (std::same_as<T, std::string>)
            return text();
        else
            return list<typename T::value_type>();
    }
    template <class T>
        requires(JsonNumber<T> || std::same_as<T, std::string>)
    operator T() const {
        return get<T>();
    }

    /// Numbers compare by value, regardless of type.
    friend bool operator==(const Json& a, const Json& b) { return equal(a, b); }
    template <class T>
        requires(!std::same_as<T, Json> && std::convertible_to<const T&, Json>)
    friend bool operator==(const Json& a, const T& b) {
        return equal(a, Json(b));
    }

  private:
    using Value = std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, Array, Object>;

    explicit Json(Value value);

    template <class T>
    static Value value_of(T number) {
        if constexpr (std::floating_point<T>)
            return Value(static_cast<double>(number));
        else if constexpr (std::signed_integral<T>)
            return Value(static_cast<std::int64_t>(number));
        else
            return Value(static_cast<std::uint64_t>(number));
    }
    template <class Values>
    static Json array_of(const Values& values) {
        Json json = array();
        for (const auto& value : values) json.push_back(value);
        return json;
    }
    template <class T>
    std::vector<T> list() const {
        std::vector<T> values;
        for (const Json& element : elements()) values.push_back(element.get<T>());
        return values;
    }
    static bool equal(const Json& a, const Json& b);
    const Array& elements() const;
    const std::string& text() const;
    Json& member(std::string_view key);
    std::int64_t as_signed() const;
    std::uint64_t as_unsigned() const;
    double as_double() const;

    Value value_;

    friend struct JsonLibrary;
};

struct Json::Member {
    std::string key;
    Json value;

    bool operator==(const Member&) const = default;
};

}  // namespace tools
