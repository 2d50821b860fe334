// Types as Python's buffer protocol describes them (PEP 3118): the struct module's letters, with names,
// shapes and nesting.
//
//     dtype_from_buffer("f");  dtype_from_buffer("Zd");          // float32, complex128
//     dtype_from_buffer("T{b:a:xxxf:b:(3,2)h:v:}", 20);          // a record; 20: Py_buffer's itemsize
//     buffer_format(t);                                          // and back
//
// '@' (the default) has C's sizes and alignment, '^' C's sizes, '=' and '<' standard sizes; '>' and '!' are refused for
// numbers of more than one byte. Also refused: pointers, objects, text, long double. No state. Throws InvalidArgument,
// naming the problem and the letter's position.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "devicearray/dtype.hpp"

namespace hsadrv {

/// `itemsize`: the expected size of the format.
DType dtype_from_buffer(std::string_view format, std::optional<std::size_t> itemsize = {});

/// Records are written in '=' with explicit padding, so that the result does not depend on the reader's alignment
/// rules. Field titles are omitted, as formats have none. Throws for bfloat16 and 8-bit floats, which have no letter,
/// for names with a ':' and for fields that overlap or are out of order.
std::string buffer_format(const DType& type);

}  // namespace hsadrv
