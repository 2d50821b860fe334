// The header of .npy files: magic, version, length, and a Python dictionary.
#include <algorithm>

#include "devicearray/dtype_numpy.hpp"
#include "devicearray/npy.hpp"
#include "devicearray/python_literal.hpp"
#include "devicearray/utf8.hpp"
#include "hsadrv/error.hpp"

namespace hsadrv {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t data_alignment = 64;  // of the data, so that a file can be mapped

[[noreturn]] void refuse(std::string_view name, const std::string& why) {
    throw InvalidArgument("npy " + std::string(name) + ": " + why);
}

std::size_t little_endian(std::span<const std::byte> bytes) {
    std::size_t value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | std::to_integer<std::size_t>(bytes[i]);
    return value;
}

std::string utf8_of_latin1(std::string_view text) {
    std::string result;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x80) result += static_cast<char>(0xc0 | byte >> 6);
        result += byte >= 0x80 ? static_cast<char>(0x80 | (byte & 0x3f)) : c;
    }
    return result;
}

/// Throws for invalid UTF-8. Returns false for a character outside Latin-1, else true and the Latin-1 text.
bool to_latin1(std::string_view text, std::string& latin1) {
    bool fits = true;
    for (std::size_t at = 0, length = 0; at < text.size(); at += length) {
        const detail::Utf8Character next = detail::first_of(text.substr(at));
        length = next.bytes;
        if (length == 0) throw InvalidArgument("invalid UTF-8 at byte " + std::to_string(at) + " of the header");
        if (next.code < 0x100) {
            latin1 += static_cast<char>(next.code);
        } else {
            fits = false;
        }
    }
    return fits;
}

Dims shape_of(const PythonLiteral& shape) {
    if (!shape.is(PythonLiteral::Type::tuple)) throw InvalidArgument("'shape' is " + shape.what() + ", not a tuple");
    std::vector<std::int64_t> extents;
    for (const PythonLiteral& extent : shape.items()) extents.push_back(extent.integer());
    return Dims(std::span<const std::int64_t>(extents));
}

void fill_from(NpyHeader& header, std::string_view text) {
    const PythonLiteral all = PythonLiteral::parse(text);
    const auto required = [&](const char* key) -> const PythonLiteral& {
        const PythonLiteral* value = all.find(key);
        if (!value) throw InvalidArgument("'" + std::string(key) + "' is missing");
        return *value;
    };
    const PythonLiteral &descr = required("descr"), &fortran_order = required("fortran_order"),
                        &shape = required("shape");
    for (const std::string_view key : all.keys()) {
        if (key != "descr" && key != "fortran_order" && key != "shape")
            throw InvalidArgument("unknown key " + python_quoted(key));
    }
    header.dtype = dtype_from_numpy(descr);
    if (header.dtype.is_subarray()) throw InvalidArgument("elements are " + header.dtype.name() + ", a subarray");
    header.layout = Layout::contiguous(shape_of(shape), static_cast<std::int64_t>(header.dtype.itemsize()),
                                       fortran_order.boolean() ? Order::F : Order::C);
}

/// Pads as NumPy does: the growing axis gets room for 21 digits, then spaces up to the alignment.
std::string padded(std::string text, const Dims& shape, Order order, std::size_t before) {
    if (shape.rank() > 0) {
        const std::size_t digits = std::to_string(shape[order == Order::F ? shape.rank() - 1 : 0]).size();
        text.append(21 - digits, ' ');
    }
    text.append(data_alignment - (before + text.size() + 1) % data_alignment, ' ');
    return text + '\n';
}

}  // namespace

NpyHeader read_npy_header(std::span<const std::byte> file, std::string_view name) {
    const std::string_view text{reinterpret_cast<const char*>(file.data()), file.size()};
    const std::string has = "; the file has " + std::to_string(file.size()) + " bytes";
    if (text.substr(0, magic.size()) != magic.substr(0, text.size()))
        refuse(name, "does not begin with \\x93NUMPY: not a .npy file" + has);
    if (file.size() < 8) refuse(name, "truncated at byte " + std::to_string(file.size()) + ", in magic and version");
    const int major = std::to_integer<int>(file[6]), minor = std::to_integer<int>(file[7]);
    if (major < 1 || major > 3 || minor != 0) {
        refuse(name, "byte 6: version " + std::to_string(major) + "." + std::to_string(minor) +
                         "; supported are 1.0, 2.0 and 3.0");
    }
    const std::size_t begin = major == 1 ? 10 : 12;
    if (file.size() < begin)
        refuse(name, "truncated at byte " + std::to_string(file.size()) + ", in the header's length");
    const std::size_t length = little_endian(file.subspan(8, begin - 8));
    if (length > file.size() - begin) {
        refuse(name, "byte 8: the header has " + std::to_string(length) + " bytes from byte " + std::to_string(begin) +
                         " on" + has);
    }
    NpyHeader header{dtypes::uint8, {}, major, begin + length};
    const std::string_view given = text.substr(begin, length);
    try {
        std::string unused;
        if (major == 3) to_latin1(given, unused);
        fill_from(header, major == 3 ? std::string(given) : utf8_of_latin1(given));
    } catch (const InvalidArgument& error) {
        refuse(name, "header at byte " + std::to_string(begin) + ": " + error.what());
    }
    return header;
}

std::string npy_header(const DType& dtype, const Dims& shape, Order order, int version) {
    if (version < 0 || version > 3) {
        throw InvalidArgument("npy_header: version " + std::to_string(version) +
                              "; supported are 1, 2 and 3, and 0 for the lowest possible");
    }
    if (dtype.is_subarray()) {
        throw InvalidArgument("npy_header: elements of " + dtype.name() + ": write an array of " + dtype.base().name() +
                              " with the axes " + dtype.subarray_shape().to_string() + " after its own");
    }
    const Layout checked = Layout::contiguous(shape, static_cast<std::int64_t>(dtype.itemsize()), order);
    std::string text = "{'descr': " + descr(dtype) + ", 'fortran_order': " + (order == Order::F ? "True" : "False") +
                       ", 'shape': " + checked.shape().to_string() + ", }";
    std::string latin1;
    const bool is_latin1 = to_latin1(text, latin1);
    const auto fits_first = [&] { return padded(latin1, shape, order, 10).size() <= 0xffff; };
    const int lowest = !is_latin1 ? 3 : fits_first() ? 1 : 2;
    if (version == 0) version = lowest;
    if (version < lowest) {
        throw InvalidArgument("npy_header: version " + std::to_string(version) + " cannot hold this header of " +
                              std::to_string(text.size()) + " bytes" +
                              (is_latin1 ? "" : ", with names that Latin-1 cannot encode") + "; version " +
                              std::to_string(lowest) + " can");
    }
    const std::size_t before = version == 1 ? 10 : 12;
    const std::string body = padded(version == 3 ? text : latin1, shape, order, before);
    std::string header(magic);
    header += static_cast<char>(version);
    header += '\0';
    for (std::size_t i = 0; i < before - 8; ++i) header += static_cast<char>(body.size() >> 8 * i & 0xff);
    return header + body;
}

}  // namespace hsadrv
