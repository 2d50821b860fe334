"""Shapes, strides and offsets of views, as NumPy computes them: by its own views of an array that is never accessed."""
import numpy as np


def stand_in(shape, strides, dtype):
    """An array of that form. Its elements must not be touched: they are not there."""
    return np.lib.stride_tricks.as_strided(np.empty(1, dtype), shape, strides, writeable=False)


def offset_of(view, base):
    return view.__array_interface__['data'][0] - base.__array_interface__['data'][0]


def indexed(base, index):
    """base[index] for integers, slices, None and ...; never an element."""
    index = index if isinstance(index, tuple) else (index,)
    for part in index:
        if isinstance(part, (bool, np.bool_)) or not (part is None or part is Ellipsis or isinstance(part, slice)
                                                      or hasattr(part, '__index__')):
            raise TypeError(f'index {part!r}: device arrays take integers, slices, None and ...')
    return base[index if Ellipsis in [part for part in index if part is Ellipsis] else (*index, Ellipsis)]


def reshaped(base, shape, order):
    """A view; ValueError if that needs a copy."""
    if order == 'F':
        return reshaped(base.T, tuple(reversed(_resolved(base.size, shape))), 'C').T
    if order not in ('C', 'A', 'K'):
        raise ValueError(f"order={order!r}: 'C' or 'F'")
    view = base.view()
    try:
        view.shape = _resolved(base.size, shape)
    except AttributeError:
        raise ValueError(f'shape {base.shape} with strides {base.strides} cannot be viewed as {shape} without a '
                         'copy; make the array contiguous first') from None
    return view


def _resolved(size, shape):
    """With -1 replaced."""
    shape = tuple(int(n) for n in shape)
    if shape.count(-1) > 1 or any(n < -1 for n in shape):
        raise ValueError(f'shape {shape}: one dimension may be -1')
    known = int(np.prod([n for n in shape if n != -1], dtype=np.int64))
    if -1 in shape:
        if known == 0 or size % known:
            raise ValueError(f'{size} elements cannot have the shape {shape}')
        shape = tuple(size // known if n == -1 else n for n in shape)
    elif known != size:
        raise ValueError(f'{size} elements cannot have the shape {shape}')
    return shape


def span(shape, strides, item_bytes):
    """The first byte and the end of an array, relative to its first element."""
    if 0 in shape:
        return 0, 0
    reach = [(n - 1) * stride for n, stride in zip(shape, strides)]
    return sum(r for r in reach if r < 0), sum(r for r in reach if r > 0) + item_bytes


def form(shape, dtype, strides, order):
    """Shape, type and strides as users give them, checked; and the first byte and the end, as span()."""
    shape = (shape,) if hasattr(shape, '__index__') else tuple(shape)
    shape = tuple(int(n) for n in shape)
    if any(n < 0 for n in shape):
        raise ValueError(f'shape {shape}: a dimension is negative')
    dtype = np.dtype(dtype)
    if dtype.hasobject:
        raise TypeError(f'dtype {dtype} holds Python objects, which a device cannot')
    if strides is None:
        strides = default_strides(shape, dtype, order)
    return shape, dtype, strides, *span(shape, strides, dtype.itemsize)


def parts(array, section):
    """Slices of `section` elements, the last of which may be smaller. One dimension."""
    if array.ndim != 1:
        raise ValueError(f'split: the array has {array.ndim} dimensions; ravel() it first')
    if section <= 0:
        raise ValueError(f'split: section={section} must be positive')
    return [array[begin:begin + section] for begin in range(0, array.size, section)]


def default_strides(shape, dtype, order):
    if order not in ('C', 'F'):
        raise ValueError(f"order={order!r}: 'C' or 'F'")
    axes = range(len(shape)) if order == 'F' else reversed(range(len(shape)))
    strides, step = [0] * len(shape), dtype.itemsize
    for axis in axes:
        strides[axis] = step
        step *= max(shape[axis], 1)
    return tuple(strides)


def runs(array):
    """The contiguous pieces of an array: (offset in bytes from its first element, the piece as an array)."""
    if array.size == 0:
        return
    inner = array.ndim
    expected = array.itemsize
    while inner > 0 and (array.shape[inner - 1] == 1 or array.strides[inner - 1] == expected):
        inner -= 1
        expected *= array.shape[inner]
    for index in np.ndindex(array.shape[:inner]):
        yield sum(i * s for i, s in zip(index, array.strides)), index
