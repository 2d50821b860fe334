// Types as NumPy describes them: in headers of .npy files, in the array interface's `typestr` and `descr`, and
// as the arguments of numpy.dtype().
//
//     dtype_from_numpy("<f4");                                              // typestr; also "f4", "float32", "?"
//     dtype_from_numpy("[('x', '<f4'), ('v', '<f4', (3,)), ('', '|V4')]");  // descr; '' with V is padding
//     dtype_from_numpy("{'names': ['a'], 'formats': ['<i2'], 'offsets': [2], 'itemsize': 8}");
//     typestr(t);  descr(t);                                                // and back
//
// Refused, with the reason and the remedy: big-endian numbers, Python objects, text, dates and times. As with
// ml_dtypes, bfloat16 is described as '<V2' and an 8-bit float as '|V1', which other readers take as raw bytes. No
// state. Throws InvalidArgument.
#pragma once

#include <string>
#include <string_view>

#include "devicearray/dtype.hpp"
#include "devicearray/python_literal.hpp"

namespace hsadrv {

DType dtype_from_numpy(std::string_view description);
DType dtype_from_numpy(const PythonLiteral& description);

/// "<f4", "|b1", "|V8"; a record is described as raw bytes.
std::string typestr(const DType& type);

/// A Python literal: a typestr, or for a record a list of its fields, with gaps as padding. Throws for records whose
/// fields overlap or are not in the order of their offsets: NumPy has no description for them either.
std::string descr(const DType& type);

/// NumPy's str() of a type that is not a scalar.
std::string numpy_text(const DType& type);

}  // namespace hsadrv
