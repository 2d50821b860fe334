#include "devicearray/dtype_buffer.hpp"

#include <algorithm>
#include <vector>

#include "hsadrv/error.hpp"

namespace hsadrv {
namespace {

constexpr int deepest_format = 32;
constexpr std::size_t most_repeats = 0x7fffffff;

struct Letter {
    char letter;
    DType standard, native;
};
// The struct module's letters; `l` and `L` have the machine's size in '@' and '^'.
constexpr Letter letters[] = {
    {'?', dtypes::boolean, dtypes::boolean}, {'b', dtypes::int8, dtypes::int8},
    {'B', dtypes::uint8, dtypes::uint8},     {'c', dtypes::uint8, dtypes::uint8},
    {'h', dtypes::int16, dtypes::int16},     {'H', dtypes::uint16, dtypes::uint16},
    {'i', dtypes::int32, dtypes::int32},     {'I', dtypes::uint32, dtypes::uint32},
    {'l', dtypes::int32, dtype_of<long>()},  {'L', dtypes::uint32, dtype_of<unsigned long>()},
    {'q', dtypes::int64, dtypes::int64},     {'Q', dtypes::uint64, dtypes::uint64},
    {'n', dtypes::int64, dtypes::int64},     {'N', dtypes::uint64, dtypes::uint64},
    {'e', dtypes::float16, dtypes::float16}, {'f', dtypes::float32, dtypes::float32},
    {'d', dtypes::float64, dtypes::float64},
};

class FormatParser {
  public:
    explicit FormatParser(std::string_view format) : format_(format) {}

    DType whole() {
        Members all = members('\0', 0);
        if (at_ != format_.size()) fail("'}' without '{'");
        if (all.fields.empty()) return DType::raw(all.end);  // only padding
        const bool alone = all.fields.size() == 1 && all.named == 0 && all.end == all.fields[0].type.itemsize();
        if (alone) return all.fields[0].type;
        return record(all);
    }

    [[noreturn]] void fail(const std::string& why) const {
        throw InvalidArgument("dtype_from_buffer(\"" + std::string(format_) + "\"): " + why + ", at letter " +
                              std::to_string(at_));
    }

  private:
    struct Members {
        std::vector<FieldSpec> fields{};
        std::size_t end = 0, named = 0;
        std::size_t alignment = 1;  // of the members that '@' aligns
    };
    struct Element {
        DType type;
        std::size_t alignment;
    };

    char peek() const { return at_ < format_.size() ? format_[at_] : '\0'; }
    bool take(char c) {
        if (peek() != c || at_ == format_.size()) return false;
        ++at_;
        return true;
    }
    static std::size_t rounded_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

    static DType record(const Members& all) { return DType::record(all.fields, {.itemsize = all.end}); }

    Members members(char close, int depth) {
        if (depth > deepest_format) fail("nested deeper than " + std::to_string(deepest_format));
        Members all;
        for (;;) {
            take_order();
            if (at_ == format_.size() || peek() == '}') break;
            member(all, depth);
        }
        if (close != '\0' && !take(close)) fail("'}' is missing");
        // Padded as a C struct, which is also how NumPy reads it.
        if (order_ == '@') all.end = rounded_up(all.end, all.alignment);
        return all;
    }

    void take_order() {
        for (; at_ < format_.size(); ++at_) {
            if (std::string_view("@=<>!^").find(peek()) != std::string_view::npos) {
                order_ = peek();
            } else if (peek() != ' ' && peek() != '\n' && peek() != '\t') {
                return;
            }
        }
    }

    void member(Members& all, int depth) {
        std::vector<std::int64_t> shape = take_shape();
        take_order();  // "(3,2)<f" equals "<(3,2)f"
        const std::optional<std::size_t> repeat = take_number();
        const bool bytes = take('x');
        if (bytes && shape.empty() && peek() != ':') {
            all.end += repeat.value_or(1);
            if (all.end > most_repeats) fail("an element of more than 2 GiB");
            return;
        }
        if (repeat && !bytes) shape.push_back(static_cast<std::int64_t>(*repeat));
        // Bytes with a name or a shape are a field, not padding.
        const Element element = bytes ? Element{DType::raw(repeat.value_or(1)), 1} : take_element(depth);
        FieldSpec field{{}, DType::subarray(element.type, Dims(std::span<const std::int64_t>(shape)))};
        if (order_ == '@') {
            all.end = rounded_up(all.end, element.alignment);
            all.alignment = std::max(all.alignment, element.alignment);
        }
        field.offset = all.end;
        all.end += field.type.itemsize();
        if (all.end > most_repeats) fail("an element of more than 2 GiB");
        if (take(':')) {
            field.name = take_name();
            ++all.named;
        } else {
            field.name = "f" + std::to_string(all.fields.size());
        }
        all.fields.push_back(std::move(field));
    }

    Element take_element(int depth) {
        if (take('T')) {
            if (!take('{')) fail("'{' is missing");
            // A byte order set inside the braces ends with them.
            const char order = order_;
            const Members inner = members('}', depth + 1);
            order_ = order;
            return {record(inner), inner.alignment};
        }
        const bool complex = take('Z');
        const char c = peek();
        const auto found =
            std::find_if(std::begin(letters), std::end(letters), [&](const Letter& l) { return l.letter == c; });
        if (complex && c != 'f' && c != 'd') fail("complex formats are Zf and Zd");
        if (c == '\0' || found == std::end(letters)) fail(unknown(c));
        ++at_;
        const bool native = order_ == '@' || order_ == '^';
        if ((c == 'n' || c == 'N') && !native) fail("n and N exist only in '@' and '^'");
        const DType part = native ? found->native : found->standard;
        if ((order_ == '>' || order_ == '!') && (part.itemsize() > 1)) {
            fail(
                "the byte order of a number is not the device's; convert it first, in NumPy "
                "by "
                "a.astype(a.dtype.newbyteorder('='))");
        }
        if (!complex) return {part, part.itemsize()};
        return {c == 'f' ? dtypes::complex64 : dtypes::complex128, part.itemsize()};
    }

    static std::string unknown(char c) {
        switch (c) {
            case '\0':
                return "a type's letter is missing";
            case 'O':
            case 'P':
            case '&':
            case 'X':
                return "pointers and objects cannot be elements on a device";
            case 's':
            case 'p':
            case 'u':
            case 'w':
                return "text has no element type here; view it as bytes";
            case 'g':
                return "long double has no element type here";
        }
        return std::string("unknown letter '") + c + "'";
    }

    std::optional<std::size_t> take_number() {
        std::optional<std::size_t> number;
        for (; peek() >= '0' && peek() <= '9'; ++at_) {
            number = number.value_or(0) * 10 + static_cast<std::size_t>(peek() - '0');
            if (*number > most_repeats) fail("a number above " + std::to_string(most_repeats));
        }
        return number;
    }

    std::vector<std::int64_t> take_shape() {
        std::vector<std::int64_t> shape;
        if (!take('(')) return shape;
        do {
            const auto extent = take_number();
            if (!extent) fail("an extent is missing");
            shape.push_back(static_cast<std::int64_t>(*extent));
        } while (take(','));
        if (!take(')')) fail("')' is missing");
        return shape;
    }

    std::string take_name() {
        const std::size_t end = format_.find(':', at_);
        if (end == format_.npos) fail("':' is missing after a name");
        std::string name(format_.substr(at_, end - at_));
        if (name.empty()) fail("an empty name");
        at_ = end + 1;
        return name;
    }

    std::string_view format_;
    std::size_t at_ = 0;
    char order_ = '@';
};

std::string element_format(const DType& type);

std::string record_format(const DType& record) {
    std::string text = "T{=";
    std::size_t offset = 0;
    const auto pad_to = [&](std::size_t next) {
        if (next == offset) return;
        text += (next - offset > 1 ? std::to_string(next - offset) : "") + "x";
    };
    for (const Field& field : record.fields()) {
        if (field.offset < offset) {
            throw InvalidArgument("buffer_format: field '" + std::string(field.name) + "' of " + record.name() +
                                  " starts before the end of the previous field");
        }
        if (field.name.find(':') != field.name.npos) {
            throw InvalidArgument("buffer_format: field '" + std::string(field.name) +
                                  "' has a ':' in its name, which ends names in a format");
        }
        pad_to(field.offset);
        text += element_format(field.type) + ":" + std::string(field.name) + ":";
        offset = field.offset + field.type.itemsize();
    }
    pad_to(record.itemsize());
    return text + "}";
}

std::string element_format(const DType& type) {
    if (type.is_subarray()) {
        std::string shape;
        for (const std::int64_t extent : type.subarray_shape())
            shape += (shape.empty() ? "(" : ",") + std::to_string(extent);
        return shape + ")" + element_format(type.base());
    }
    if (type.is_record()) return record_format(type);
    if (type.kind() == Kind::raw) return std::to_string(type.itemsize()) + "x";
    if (type.kind() == Kind::complex) return type == dtypes::complex64 ? "Zf" : "Zd";
    for (const Letter& row : letters) {
        if (row.standard == type && row.letter != 'l' && row.letter != 'L') return std::string(1, row.letter);
    }
    throw InvalidArgument("buffer_format: the buffer protocol has no letter for " + type.name() +
                          "; view the elements as uint16");
}

}  // namespace

DType dtype_from_buffer(std::string_view format, std::optional<std::size_t> itemsize) {
    const DType type = FormatParser(format).whole();
    if (itemsize && *itemsize != type.itemsize()) {
        throw InvalidArgument("dtype_from_buffer(\"" + std::string(format) + "\"): that is " + type.name() + " of " +
                              std::to_string(type.itemsize()) + " B; the buffer's items have " +
                              std::to_string(*itemsize) + " B");
    }
    return type;
}

std::string buffer_format(const DType& type) { return element_format(type); }

}  // namespace hsadrv
