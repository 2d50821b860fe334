#include "tools/common/json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace tools {

/// Conversion to and from nlohmann's type.
struct JsonLibrary {
    using Theirs = nlohmann::ordered_json;

    static Theirs to(const Json& json) {
        return std::visit([](const auto& value) { return to_value(value); }, json.value_);
    }

    template <class T>
    static Theirs to_value(const T& value) {
        return value;
    }
    static Theirs to_value(const Json::Array& elements) {
        Theirs array = Theirs::array();
        for (const Json& element : elements) array.push_back(to(element));
        return array;
    }
    static Theirs to_value(const Json::Object& members) {
        Theirs object = Theirs::object();
        for (const Json::Member& member : members) object[member.key] = to(member.value);
        return object;
    }

    static Json from(const Theirs& theirs) {
        switch (theirs.type()) {
            case Theirs::value_t::boolean:
                return theirs.get<bool>();
            case Theirs::value_t::number_integer:
                return theirs.get<std::int64_t>();
            case Theirs::value_t::number_unsigned:
                return theirs.get<std::uint64_t>();
            case Theirs::value_t::number_float:
                return theirs.get<double>();
            case Theirs::value_t::string:
                return theirs.get_ref<const std::string&>();
            case Theirs::value_t::array: {
                Json array = Json::array();
                for (const Theirs& element : theirs) array.push_back(from(element));
                return array;
            }
            case Theirs::value_t::object: {
                Json object = Json::object();
                for (const auto& [key, value] : theirs.items()) object[key] = from(value);
                return object;
            }
            default:
                return nullptr;
        }
    }
};

namespace {

[[noreturn]] void refuse(const char* wanted) { throw JsonError(std::string("this JSON value is no ") + wanted); }

bool is_pair_with_key(const Json& json) {
    return json.is_array() && json.size() == 2 && std::as_const(json)[std::size_t{0}].is_string();
}

}  // namespace

Json::Json(std::nullptr_t) noexcept : value_(nullptr) {}
Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;
Json::Json(Value value) : value_(std::move(value)) {}

Json::Json(std::initializer_list<Json> values) : value_(Array(values)) {
    if (!std::all_of(values.begin(), values.end(), is_pair_with_key)) return;
    Json made = object();
    for (const Json& pair : values) made.member(pair[std::size_t{0}].text()) = pair[std::size_t{1}];
    *this = std::move(made);
}

Json Json::array(std::initializer_list<Json> values) { return Json(Value(Array(values))); }
Json Json::object() { return Json(Value(Object())); }

Json Json::parse(std::string_view text) try {
    return JsonLibrary::from(JsonLibrary::Theirs::parse(text));
} catch (const JsonLibrary::Theirs::exception& error) {
    throw JsonError(error.what());
}

std::optional<Json> Json::try_parse(std::string_view text) {
    const auto parsed = JsonLibrary::Theirs::parse(text, nullptr, false);
    if (parsed.is_discarded()) return std::nullopt;
    return JsonLibrary::from(parsed);
}

std::string Json::dump(int indent) const {
    return JsonLibrary::to(*this).dump(indent, ' ', false, JsonLibrary::Theirs::error_handler_t::replace);
}

bool Json::is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
bool Json::is_string() const { return std::holds_alternative<std::string>(value_); }
bool Json::is_array() const { return std::holds_alternative<Array>(value_); }
bool Json::is_object() const { return std::holds_alternative<Object>(value_); }

std::size_t Json::size() const {
    if (const auto* array = std::get_if<Array>(&value_)) return array->size();
    if (const auto* object = std::get_if<Object>(&value_)) return object->size();
    return is_null() ? 0 : 1;
}

const Json* Json::begin() const {
    const auto* array = std::get_if<Array>(&value_);
    return array ? array->data() : nullptr;
}

const Json* Json::end() const { return begin() + (is_array() ? size() : 0); }

const Json& Json::operator[](std::size_t index) const {
    const Array& array = elements();
    if (index >= array.size()) throw JsonError("this JSON array has no element " + std::to_string(index));
    return array[index];
}

Json& Json::back() {
    if (auto* array = std::get_if<Array>(&value_); array && !array->empty()) return array->back();
    refuse("array with elements");
}

void Json::push_back(Json value) {
    if (is_null()) value_ = Array();
    if (auto* array = std::get_if<Array>(&value_)) return array->push_back(std::move(value));
    refuse("array");
}

const Json::Object& Json::members() const {
    if (const auto* object = std::get_if<Object>(&value_)) return *object;
    refuse("object");
}

const Json* Json::find(std::string_view key) const {
    const auto* object = std::get_if<Object>(&value_);
    if (!object) return nullptr;
    const auto found = std::find_if(object->begin(), object->end(), [&](const Member& one) { return one.key == key; });
    return found == object->end() ? nullptr : &found->value;
}

const Json& Json::at(std::string_view key) const {
    members();
    if (const Json* found = find(key)) return *found;
    throw JsonError("this JSON object has no key '" + std::string(key) + "'");
}

Json& Json::member(std::string_view key) {
    if (is_null()) value_ = Object();
    if (const Json* found = find(key)) return const_cast<Json&>(*found);
    auto* object = std::get_if<Object>(&value_);
    if (!object) refuse("object");
    object->push_back({std::string(key), nullptr});
    return object->back().value;
}

void Json::update(const Json& other) {
    for (const Member& one : other.members()) member(one.key) = one.value;
}

const Json::Array& Json::elements() const {
    if (const auto* array = std::get_if<Array>(&value_)) return *array;
    refuse("array");
}

const std::string& Json::text() const {
    if (const auto* text = std::get_if<std::string>(&value_)) return *text;
    refuse("text");
}

namespace {

template <class T, class Value>
T number(const Value& value) {
    return std::visit(
        [](const auto& held) -> T {
            if constexpr (std::is_arithmetic_v<std::decay_t<decltype(held)>>) return static_cast<T>(held);
            refuse("number");
        },
        value);
}

}  // namespace

std::int64_t Json::as_signed() const { return number<std::int64_t>(value_); }
std::uint64_t Json::as_unsigned() const { return number<std::uint64_t>(value_); }
double Json::as_double() const { return number<double>(value_); }

bool Json::equal(const Json& a, const Json& b) {
    return std::visit(
        []<class A, class B>(const A& one, const B& other) {
            constexpr bool whole =
                JsonNumber<A> && JsonNumber<B> && !std::same_as<A, double> && !std::same_as<B, double>;
            if constexpr (whole)
                return std::cmp_equal(one, other);
            else if constexpr (JsonNumber<A> && JsonNumber<B>)
                return static_cast<double>(one) == static_cast<double>(other);
            else if constexpr (std::same_as<A, B>)
                return one == other;
            else
                return false;
        },
        a.value_, b.value_);
}

}  // namespace tools
