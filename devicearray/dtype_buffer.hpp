// Types as Python's buffer protocol describes them (PEP 3118): the struct module's letters, with names,
// shapes and nesting.
//
//     dtype_from_buffer("f");  dtype_from_buffer("Zd");          // float32, complex128
//     dtype_from_buffer("T{b:a:xxxf:b:(3,2)h:v:}", 20);          // a record; 20: Py_buffer's itemsize
//     buffer_format(t);                                          // and back
//
// '@' (the default) has C's sizes and alignment, '^' C's sizes, '=' and '<' standard sizes; '>' and '!' are
// refused for numbers of more than one byte. Refused as well: pointers, objects, text, long double. No state.
// Throws InvalidArgument, saying what is there and at which letter.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "devicearray/dtype.hpp"

namespace hsadrv {

/// `itemsize`: what the format must come to.
DType dtype_from_buffer(std::string_view format, std::optional<std::size_t> itemsize = {});

/// Records in '=' with all padding written out, so that readers agree whatever they think of alignment. Titles
/// of fields are left out, as a format has none. Throws for bfloat16, which has no letter, for names with a ':'
/// and for fields that overlap or are out of order.
std::string buffer_format(const DType& type);

}  // namespace hsadrv
