#include "devicearray/dtype_numpy.hpp"

#include <algorithm>
#include <bit>
#include <charconv>

#include "hsadrv/error.hpp"

namespace hsadrv {
namespace {

static_assert(std::endian::native == std::endian::little, "type descriptions begin with '<'");

using Literal = PythonLiteral;

[[noreturn]] void refuse(const std::string& description, const std::string& why) {
    throw InvalidArgument("dtype_from_numpy(" + description + "): " + why);
}

/// NumPy's one-letter names, on 64-bit Linux.
const DType* letter_type(char letter) {
    switch (letter) {
        case '?':
            return &dtypes::boolean;
        case 'b':
            return &dtypes::int8;
        case 'B':
            return &dtypes::uint8;
        case 'h':
            return &dtypes::int16;
        case 'H':
            return &dtypes::uint16;
        case 'i':
            return &dtypes::int32;
        case 'I':
            return &dtypes::uint32;
        case 'l':
        case 'q':
        case 'p':
            return &dtypes::int64;
        case 'L':
        case 'Q':
        case 'P':
            return &dtypes::uint64;
        case 'e':
            return &dtypes::float16;
        case 'f':
            return &dtypes::float32;
        case 'd':
            return &dtypes::float64;
        case 'F':
            return &dtypes::complex64;
        case 'D':
            return &dtypes::complex128;
    }
    return nullptr;
}

const char* unsupported_kind(char kind) {
    switch (kind) {
        case 'O':
            return "Python objects cannot be elements on a device";
        case 'S':
        case 'U':
            return "text has no element type here; view it as bytes ('|V…', or 'u1')";
        case 'M':
        case 'm':
            return "dates and times have no element type here; view them as '<i8'";
    }
    return nullptr;
}

/// The type of a kind and a size, or null.
const DType* scalar_type(char kind, std::size_t bytes) {
    for (const DType& type : dtypes::all) {
        if (!type.is_extension() && static_cast<char>(type.kind()) == kind && type.itemsize() == bytes) return &type;
    }
    return nullptr;
}

DType from_typestr(const std::string& text) {
    const std::string quoted = python_quoted(text);
    std::string_view rest = text;
    char order = '\0';
    if (!rest.empty() && std::string_view("<>=|").find(rest[0]) != std::string_view::npos) {
        order = rest[0];
        rest.remove_prefix(1);
    }
    if (rest.empty()) refuse(quoted, "no type is given");
    if (const char* why = unsupported_kind(rest[0]); why && (rest.size() == 1 || rest[1] < 'a')) refuse(quoted, why);
    const DType* type = letter_type(rest[0]);
    if (rest.size() > 1) {
        std::size_t bytes = 0;
        const char* const end = rest.data() + rest.size();
        const auto [parsed, error] = std::from_chars(rest.data() + 1, end, bytes);
        if (error != std::errc() || parsed != end) {
            if (order == '\0') return DType::from_name(text);
            refuse(quoted, "expected a kind and a number of bytes, as in '<f4'");
        }
        if (rest[0] == 'V') return DType::raw(bytes);
        type = scalar_type(rest[0], bytes);
    }
    if (rest == "V") return DType::raw(0);
    if (!type)
        refuse(quoted, "no such type; known are b1, i1 i2 i4 i8, u1 u2 u4 u8, f2 f4 f8, c8 c16 and V with any size");
    if (order == '>' && type->itemsize() > 1) {
        refuse(quoted,
               "the byte order of a number is not the device's; convert it first, in NumPy "
               "by a.astype(a.dtype.newbyteorder('='))");
    }
    return *type;
}

Dims shape_from(const Literal& literal) {
    if (literal.is(Literal::Type::integer)) return Dims{literal.integer()};
    std::vector<std::int64_t> extents;
    for (const Literal& extent : literal.items()) extents.push_back(extent.integer());
    return Dims(std::span<const std::int64_t>(extents));
}

std::size_t size_from(const Literal& literal) {
    if (literal.integer() < 0) refuse(literal.what(), "a size or an offset must not be negative");
    return static_cast<std::size_t>(literal.integer());
}

/// 'name' or ('title', 'name').
void set_name(FieldSpec& field, const Literal& literal) {
    if (!literal.is_sequence()) {
        field.name = literal.string();
        return;
    }
    if (literal.items().size() != 2) refuse(literal.what(), "a field's name is a string or (title, name)");
    field.title = literal.items()[0].string();
    field.name = literal.items()[1].string();
}

/// [('x', '<f4'), ('v', '<f4', (3,)), ('', '|V4')]
DType from_list(const Literal& list) {
    std::vector<FieldSpec> fields;
    std::size_t offset = 0, number = 0;
    for (const Literal& item : list.items()) {
        const auto& parts = item.items();
        if (parts.size() != 2 && parts.size() != 3)
            refuse(item.what(), "a field is (name, type) or (name, type, shape)");
        DType type = dtype_from_numpy(parts[1]);
        if (parts.size() == 3) type = DType::subarray(type, shape_from(parts[2]));
        FieldSpec field{{}, type, offset, {}};
        set_name(field, parts[0]);
        // Padding, as numpy.lib.format writes gaps.
        const bool padding = field.name.empty() && field.title.empty() && type == DType::raw(type.itemsize());
        if (field.name.empty()) field.name = "f" + std::to_string(number);
        if (!padding) fields.push_back(std::move(field));
        ++number;
        offset += type.itemsize();
    }
    return DType::record(fields, {.itemsize = offset});
}

/// {'names': […], 'formats': […], 'offsets': […], 'titles': […], 'itemsize': n, 'aligned': False}
DType from_dictionary(const Literal& literal) {
    constexpr std::string_view known[] = {"names", "formats", "offsets", "titles", "itemsize", "aligned"};
    for (const std::string_view key : literal.keys()) {
        if (std::find(std::begin(known), std::end(known), key) == std::end(known))
            refuse(literal.what(), "unknown key " + python_quoted(key));
    }
    const Literal *names = literal.find("names"), *formats = literal.find("formats"),
                  *offsets = literal.find("offsets"), *titles = literal.find("titles");
    if (!names || !formats) refuse(literal.what(), "'names' or 'formats' is missing");
    const std::size_t count = names->items().size();
    for (const Literal* other : {formats, offsets, titles}) {
        if (other && other->items().size() != count)
            refuse(other->what(), std::to_string(count) + " of them are needed, one for each name");
    }
    std::vector<FieldSpec> fields;
    for (std::size_t i = 0; i < count; ++i) {
        FieldSpec field{names->items()[i].string(), dtype_from_numpy(formats->items()[i])};
        if (offsets) field.offset = size_from(offsets->items()[i]);
        if (titles && !titles->items()[i].is(Literal::Type::none)) field.title = titles->items()[i].string();
        fields.push_back(std::move(field));
    }
    RecordOptions options;
    if (const Literal* itemsize = literal.find("itemsize")) options.itemsize = size_from(*itemsize);
    if (const Literal* aligned = literal.find("aligned")) options.aligned = aligned->boolean();
    return DType::record(fields, options);
}

// ---- and back ----

/// As in the constructor's arguments: '?' and 'i1' instead of the typestrs '|b1' and '|i1'.
std::string short_text(const DType& type) {
    if (type.is_record() || type.is_subarray()) return numpy_text(type);
    if (type == dtypes::boolean) return "'?'";
    if (type.is_extension()) return "'" + type.name() + "'";
    const std::string text = typestr(type);
    return "'" + (text[0] == '|' ? text.substr(1) : text) + "'";
}

std::string name_text(const Field& field) {
    if (field.title.empty()) return python_quoted(field.name);
    return "(" + python_quoted(field.title) + ", " + python_quoted(field.name) + ")";
}

/// True if the only gaps between fields are those that alignment requires.
bool is_packed(const DType& record) {
    const bool aligned = record.is_aligned_record();
    const auto up = [&](std::size_t bytes, std::size_t to) { return aligned ? (bytes + to - 1) / to * to : bytes; };
    std::size_t offset = 0;
    for (const Field& field : record.fields()) {
        offset = up(offset, field.type.alignment());
        if (field.offset != offset) return false;
        offset += field.type.itemsize();
    }
    return up(offset, record.alignment()) == record.itemsize();
}

std::string list_text(const DType& record) {
    std::string text;
    for (const Field& field : record.fields()) {
        text += (text.empty() ? "(" : ", (") + name_text(field) + ", " + short_text(field.type.base());
        text += (field.type.is_subarray() ? ", " + field.type.subarray_shape().to_string() : "") + ")";
    }
    return "[" + text + "]";
}

std::string dictionary_text(const DType& record, bool say_aligned) {
    std::string names, formats, offsets, titles;
    bool has_titles = false;
    for (const Field& field : record.fields()) {
        const char* const comma = names.empty() ? "" : ", ";
        names += comma + python_quoted(field.name);
        formats += comma + short_text(field.type);
        offsets += comma + std::to_string(field.offset);
        titles += comma + (field.title.empty() ? "None" : python_quoted(field.title));
        has_titles = has_titles || !field.title.empty();
    }
    std::string text = "{'names': [" + names + "], 'formats': [" + formats + "], 'offsets': [" + offsets + "]";
    if (has_titles) text += ", 'titles': [" + titles + "]";
    text += ", 'itemsize': " + std::to_string(record.itemsize());
    return text + (say_aligned && record.is_aligned_record() ? ", 'aligned': True}" : "}");
}

std::string record_descr(const DType& record) {
    std::string text;
    std::size_t offset = 0;
    const auto begin = [&] { text += text.empty() ? "(" : ", ("; };
    const auto pad_to = [&](std::size_t next) {
        if (next == offset) return;
        begin();
        text += "'', '|V" + std::to_string(next - offset) + "')";
    };
    for (const Field& field : record.fields()) {
        if (field.offset < offset) {
            throw InvalidArgument(
                "descr: field " + python_quoted(field.name) + " of " + record.name() +
                " starts before the end of the previous field, which NumPy cannot describe; "
                "declare the fields in the order of their offsets, or view the elements as raw bytes");
        }
        pad_to(field.offset);
        begin();
        text += name_text(field) + ", " + descr(field.type.base());
        text += (field.type.is_subarray() ? ", " + field.type.subarray_shape().to_string() : "") + ")";
        offset = field.offset + field.type.itemsize();
    }
    pad_to(record.itemsize());
    return "[" + text + "]";
}

}  // namespace

DType dtype_from_numpy(std::string_view description) {
    const std::size_t first = description.find_first_not_of(" \n\t\r");
    const bool literal =
        first != description.npos && std::string_view("[({'\"").find(description[first]) != std::string_view::npos;
    return literal ? dtype_from_numpy(Literal::parse(description)) : from_typestr(std::string(description));
}

DType dtype_from_numpy(const PythonLiteral& description) {
    switch (description.type()) {
        case Literal::Type::string:
            return from_typestr(description.string());
        case Literal::Type::list:
            return from_list(description);
        case Literal::Type::dictionary:
            return from_dictionary(description);
        case Literal::Type::tuple:
            if (description.items().size() != 2) refuse(description.what(), "a subarray is (type, shape)");
            return DType::subarray(dtype_from_numpy(description.items()[0]), shape_from(description.items()[1]));
        default:
            refuse(description.what(), "a type is a string, a list of fields, a dictionary or (type, shape)");
    }
}

std::string typestr(const DType& type) {
    const std::string bytes = std::to_string(type.itemsize());
    if (type.kind() == Kind::raw) return "|V" + bytes;
    const char kind = type.is_extension() ? 'V' : static_cast<char>(type.kind());
    return std::string(1, type.itemsize() == 1 ? '|' : '<') + kind + bytes;
}

std::string descr(const DType& type) {
    if (type.is_record()) return record_descr(type);
    if (type.is_subarray()) return "(" + descr(type.base()) + ", " + type.subarray_shape().to_string() + ")";
    return "'" + typestr(type) + "'";
}

std::string numpy_text(const DType& type) {
    if (type.is_subarray()) return "(" + short_text(type.base()) + ", " + type.subarray_shape().to_string() + ")";
    if (!type.is_record()) return typestr(type);
    // An outermost aligned record is described as such; a nested one by its offsets.
    if (type.is_aligned_record() || !is_packed(type)) return dictionary_text(type, true);
    return list_text(type);
}

}  // namespace hsadrv
