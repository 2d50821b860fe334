"""Arrays as the C interface describes them: hsadrv_array. Its functions make views, and check and execute transfers."""
from __future__ import annotations

import ctypes
import operator

import numpy as np

from . import _c
from ._types import Any, DTypeLike, Sequence, ShapeLike


def type_text(dtype: DTypeLike) -> Any:
    """A dtype for C. What the devices do not compute with travels as bytes: other byte orders, dates, texts."""
    if dtype.hasobject:
        raise TypeError(f'dtype {dtype} holds Python objects, which a device cannot')
    dtype = _plain(dtype)
    return (str(dtype) if dtype.names or dtype.subdtype else dtype.str).encode()


def _plain(dtype):
    if dtype.subdtype:
        return np.dtype((_plain(dtype.base), dtype.shape))
    if dtype.names:
        fields = [dtype.fields[name] for name in dtype.names]
        return np.dtype({'names': dtype.names, 'formats': [_plain(field[0]) for field in fields],
                         'offsets': [field[1] for field in fields], 'itemsize': dtype.itemsize})
    return dtype if dtype.kind in 'biufcV' and dtype.isnative else np.dtype(f'V{dtype.itemsize}')


def is_number(dtype: DTypeLike) -> bool:
    """One that the library converts to any other."""
    return dtype.kind in 'biufc' and dtype.isnative and dtype.itemsize <= 16


def shape_of(shape: ShapeLike) -> tuple[int, ...]:
    """A tuple, for what NumPy takes as a shape; TypeError for what is no integer."""
    return (operator.index(shape),) if hasattr(shape, '__index__') and not np.ndim(shape) else tuple(map(operator.index, shape))


def described(shape: ShapeLike, dtype: DTypeLike, strides: Sequence[int] | None = None, address: Any = None, flags: Any = 0) -> Any:
    """strides: in bytes; None: C order."""
    if len(shape) > _c.ARRAY_MAX_RANK:
        raise ValueError(f'{len(shape)} axes; there are at most {_c.ARRAY_MAX_RANK}')
    array = _c.Array(data=address, dtype=type_text(dtype), rank=len(shape), flags=flags)
    array.shape[:len(shape)] = shape
    if strides is not None:
        array.strides_bytes[:len(shape)] = strides
        array.flags |= _c.ARRAY_STRIDED
    return array


def in_place(value: Any) -> Any:
    """A NumPy array of a structured scalar's own bytes, which the caller keeps; other values as they are."""
    if not isinstance(value, np.void):
        return value
    return np.ndarray((), value.dtype, (ctypes.c_char * value.nbytes).from_address(value.__array_interface__['data'][0]))


def of_host(ary: Any) -> Any:
    """A NumPy array, which the caller keeps."""
    flags = 0 if ary.flags.writeable else _c.ARRAY_READ_ONLY
    return described(ary.shape, ary.dtype, ary.strides, ary.__array_interface__['data'][0], flags=flags)


def order_of(ary: Any) -> str:
    """'F' for what is contiguous in that order alone, otherwise 'C'; of a NumPy or a device array."""
    return 'F' if ary.flags.f_contiguous and not ary.flags.c_contiguous else 'C'


def stand_in(shape: ShapeLike, strides: Sequence[int] | None, dtype: DTypeLike) -> Any:
    """A NumPy array of that form, whose elements are not there: for what NumPy says of it."""
    return np.lib.stride_tricks.as_strided(np.empty((), dtype), shape, strides)


def strides_of(array: Any) -> Any:
    return tuple(array.strides_bytes[:array.rank])


def form(shape: ShapeLike, dtype: DTypeLike, strides: Sequence[int] | None = None, order: str = 'C') -> Any:
    """An array without memory, for what users give, with its strides."""
    shape, dtype = shape_of(shape), np.dtype(dtype)
    if dtype.subdtype is not None:
        shape, dtype = shape + dtype.shape, dtype.base
    if strides is None and order == 'F':
        return view('transpose', described(shape[::-1], dtype), None)
    if order not in ('C', 'F'):
        raise ValueError(f"order={order!r}: 'C' or 'F'")
    return view('slice', described(shape, dtype, strides), None, 0)


def view(name: str, array: Any, *arguments: Any) -> DeviceNDArray:
    """What hsadrv_array_NAME makes of it."""
    made = _c.Array()
    _c.call('array_' + name, array, *arguments, made)
    return made


def extent(array: Any) -> Any:
    """The first byte and the end, relative to the first element."""
    begin, size = ctypes.c_int64(), ctypes.c_size_t()
    _c.call('array_extent', array, ctypes.byref(begin), ctypes.byref(size))
    return begin.value, begin.value + size.value


def _index(part):
    if part is None:
        return _c.Index(kind=_c.INDEX_NEW_AXIS)
    if part is Ellipsis:
        return _c.Index(kind=_c.INDEX_ELLIPSIS)
    if isinstance(part, slice):
        made = _c.Index(kind=_c.INDEX_SLICE)
        for name, flag in (('start', _c.INDEX_START), ('stop', _c.INDEX_STOP), ('step', _c.INDEX_STEP)):
            value = getattr(part, name)
            if value is not None:
                setattr(made, name, max(-2**63 + 1, min(operator.index(value), 2**63 - 1)))
                made.given |= flag
        return made
    if isinstance(part, (bool, np.bool_, list)) or getattr(part, 'shape', ()) != () or not hasattr(part, '__index__'):
        raise TypeError(f'index {part!r}: device arrays take integers, slices, None, ... and names of fields; for index arrays and masks '
                        'use copy_to_host()[...], or a kernel')
    return _c.Index(kind=_c.INDEX_INTEGER, start=operator.index(part))


def sliced(array: Any, index: Any) -> Any:
    """array[index] for integers, slices, None and ...; and whether that is one element by integers alone."""
    parts = index if isinstance(index, tuple) else (index,)
    try:
        made = view('slice', array, (_c.Index * len(parts))(*map(_index, parts)), len(parts))
    except _c.errors.InvalidArgument as error:
        raise IndexError(str(error)) from None
    element = made.rank == 0 and all(part is not Ellipsis for part in parts)
    return made, element
