// A case of numpy_cases.py, read and replayed on any kind of array.
//
//     const numpy::Case one(line);                              // a Python literal
//     Array to = one.view("to", base);                          // each view on the way checked against NumPy's
//     CHECK_THAT(numpy::difference(…), …)
//
// Throws std::runtime_error if a view differs from NumPy's.
#pragma once

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "devicearray/devicearray.hpp"
#include "devicearray/dtype_numpy.hpp"
#include "devicearray/python_literal.hpp"

namespace numpy {

using hsadrv::PythonLiteral;
using Bytes = std::vector<std::byte>;
using Type = PythonLiteral::Type;

inline const PythonLiteral& at(const PythonLiteral& dictionary, const char* key) {
    if (const PythonLiteral* value = dictionary.find(key)) return *value;
    throw std::runtime_error(std::string("the case has no '") + key + "'");
}

inline Bytes bytes_of(const std::string& hex) {
    const auto digit = [&](std::size_t i) {
        return static_cast<unsigned>(hex[i] <= '9' ? hex[i] - '0' : hex[i] - 'a' + 10);
    };
    Bytes bytes(hex.size() / 2);
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::byte>(digit(2 * i) << 4 | digit(2 * i + 1));
    return bytes;
}

inline hsadrv::Dims dims_of(const PythonLiteral& tuple) {
    std::vector<std::int64_t> values;
    for (const PythonLiteral& value : tuple.items()) values.push_back(value.integer());
    return hsadrv::Dims(std::span<const std::int64_t>(values));
}

inline hsadrv::Order order_of(const PythonLiteral& letter) {
    return letter.string() == "F" ? hsadrv::Order::F : hsadrv::Order::C;
}

inline hsadrv::Index index_of(const PythonLiteral& literal) {
    if (literal.is(Type::integer)) return literal.integer();
    if (literal.is(Type::string)) {
        if (literal.string() == "newaxis") return hsadrv::newaxis;
        return hsadrv::ellipsis;
    }
    const auto bound = [&](std::size_t i) -> std::optional<std::int64_t> {
        const PythonLiteral& value = literal.items()[i];
        if (value.is(Type::none)) return std::nullopt;
        return value.integer();
    };
    return hsadrv::Slice{bound(0), bound(1), bound(2)};
}

/// One operation of a case's list: its name, and from `first` on its arguments.
template <class Array>
Array applied(const Array& array, const std::vector<PythonLiteral>& words, std::size_t first = 0) {
    const std::string& name = words[first].string();
    const auto argument = [&](std::size_t i) -> const PythonLiteral& { return words.at(first + 1 + i); };
    const bool bare = words.size() == first + 1;
    if (name == "slice") {
        std::vector<hsadrv::Index> indices;
        for (const PythonLiteral& index : argument(0).items()) indices.push_back(index_of(index));
        return array.slice(std::span<const hsadrv::Index>(indices));
    }
    if (name == "transpose") return bare ? array.transpose() : array.transpose(dims_of(argument(0)));
    if (name == "squeeze") return bare ? array.squeeze() : array.squeeze(dims_of(argument(0)));
    if (name == "reshape") return array.reshape(dims_of(argument(0)), order_of(argument(1)));
    if (name == "ravel") return array.ravel(order_of(argument(0)));
    if (name == "expand_dims") return array.expand_dims(static_cast<int>(argument(0).integer()));
    if (name == "broadcast_to") return array.broadcast_to(dims_of(argument(0)));
    if (name == "view") return array.view(hsadrv::dtype_from_numpy(argument(0)));
    if (name == "field") return array.field(argument(0).string());
    if (name == "split")
        return array.split(argument(0).integer(), static_cast<int>(argument(1).integer()))
            .at(static_cast<std::size_t>(argument(2).integer()));
    throw std::runtime_error("unknown operation " + name);
}

/// Applies a list of views. Views that NumPy can only copy must be refused.
template <class Array>
Array viewed(Array array, const PythonLiteral& operations) {
    for (const PythonLiteral& operation : operations.items()) {
        const std::vector<PythonLiteral>& words = operation.items();
        if (words[0].string() != "refused") {
            array = applied(array, words);
            continue;
        }
        try {
            applied(array, words, 1);
        } catch (const hsadrv::InvalidArgument&) {
            continue;
        }
        throw std::runtime_error("NumPy has to copy for " + words[1].string() + " of " + array.layout().to_string());
    }
    return array;
}

/// Compares the view with NumPy's. Throws the difference. Strides of axes with one element, and of empty arrays, do not
/// matter.
template <class Array>
void require_seen(const Array& view, const void* base, const PythonLiteral& seen, const char* which) {
    const auto differ = [&](const std::string& what) {
        throw std::runtime_error(std::string("'") + which + "': " + what + ": here it is " + view.layout().to_string());
    };
    if (view.shape() != dims_of(at(seen, "shape"))) differ("the shape differs");
    if (view.is_c_contiguous() != at(seen, "c").boolean()) differ("c_contiguous differs");
    if (view.is_f_contiguous() != at(seen, "f").boolean()) differ("f_contiguous differs");
    if (view.size() == 0) return;
    const hsadrv::Dims strides = dims_of(at(seen, "strides"));
    for (int i = 0; i < view.rank(); ++i) {
        if (view.shape()[i] > 1 && view.strides_bytes()[i] != strides[i]) differ("strides differ");
    }
    if (static_cast<const char*>(view.data()) - static_cast<const char*>(base) != at(seen, "offset").integer())
        differ("the first element is another one");
}

}  // namespace numpy
