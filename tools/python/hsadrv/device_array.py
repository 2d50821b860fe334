"""Arrays in device memory, and how they get there and back."""
from __future__ import annotations

import functools
import operator

import numpy as np

from . import _c, description
from ._types import Any, DTypeLike, DeviceLike, Iterator, Sequence, ShapeLike, StreamLike
from .description import of_host, view
from .device import Device
from .errors import InvalidArgument, NeedsCopy
from .host_array import device_address_of, is_pinned
from .memory import Memory
from .resource import allocated
from .stream import device_for, forget, is_named, stream_of


class DeviceNDArray:
    """An array in a GPU's memory. Views share the memory; it is freed with the last of them, and not before the work
    that uses it is complete."""

    def __init__(self, array: Any, dtype: DTypeLike, memory: Any, stream: StreamLike = None, writeback: Any = None) -> None:
        self._array, self.dtype, self.memory, self._stream, self.writeback = array, np.dtype(dtype), memory, stream, writeback
        self.shape, self.strides = tuple(array.shape[:array.rank]), description.strides_of(array)

    stream = property(lambda self: self._stream if self._stream and self._stream.handle else 0,
                      doc='that copies go through if they name none: given at allocation, or to bind(), and not closed; else 0, as in Numba')
    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: int(np.prod(self.shape, dtype=np.int64)))
    nbytes = property(lambda self: self.size * self.dtype.itemsize)
    itemsize = property(lambda self: self.dtype.itemsize)
    device = property(lambda self: self.memory.device)
    address = property(lambda self: self._array.data or 0, doc='of the first element, on the device')
    T = property(lambda self: self.transpose())

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError('len() of a device array without dimensions')
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[n] for n in range(len(self)))

    def __repr__(self) -> str:
        return f'<{type(self).__name__} shape={self.shape} strides={self.strides} dtype={self.dtype} on {self.device!r}>'

    @functools.cached_property
    def flags(self) -> Any:
        """As NumPy's: flags['C_CONTIGUOUS'], flags.f_contiguous."""
        return description.stand_in(self.shape, self.strides, self.dtype).flags

    def is_c_contiguous(self) -> bool:
        return self.flags.c_contiguous

    def is_f_contiguous(self) -> bool:
        return self.flags.f_contiguous

    def bind(self, stream: StreamLike) -> DeviceNDArray:
        """The same array, whose copies go through that stream if none is named."""
        return type(self)(self._array, self.dtype, self.memory, stream, self.writeback)

    def with_writeback(self, ary: Any) -> DeviceNDArray:
        """The same array, with a host array of its shape and type that to_host() fills."""
        self._check_same('with_writeback', ary)
        return type(self)(self._array, self.dtype, self.memory, self.stream, ary)

    def to_host(self, stream: StreamLike = None, timeout: float | None = None) -> None:
        """copy_to_host() to the array of with_writeback(). Views have none."""
        if self.writeback is None:
            raise ValueError('to_host: the array has no host array to write back to; use copy_to_host(), or '
                             'with_writeback() first')
        self.copy_to_host(self.writeback, stream, timeout)

    def ravel(self, order: str = 'C', stream: StreamLike = None) -> DeviceNDArray:
        """One dimension, without a copy."""
        return self.reshape(-1, order=order)

    def reshape(self, *shape: Any, order: str = 'C') -> DeviceNDArray:
        """Another shape, without a copy; ValueError if that is impossible."""
        if order not in ('C', 'F', 'A'):
            raise ValueError(f"order={order!r}: 'C', 'F' or 'A'")
        wanted = description.shape_of(shape[0] if len(shape) == 1 else shape)
        if wanted.count(-1) > 1:
            raise ValueError('can only specify one unknown dimension')
        try:
            return self._of(view('reshape', self._array, (_c.c_int64 * len(wanted))(*wanted), len(wanted), order.encode()))
        except InvalidArgument as error:
            raise (NeedsCopy if 'needs a copy' in str(error) else InvalidArgument)(str(error)) from None

    def transpose(self, *axes: Any) -> DeviceNDArray:
        if len(axes) == 1 and (axes[0] is None or not hasattr(axes[0], '__index__')):
            axes = axes[0]
        if axes:
            np.empty((1,) * self.ndim).transpose(axes)  # raises, in NumPy's words
            axes = [operator.index(axis) % self.ndim for axis in axes]
        return self._of(view('transpose', self._array, (_c.c_int32 * self.ndim)(*axes) if axes else None))

    def squeeze(self, axis: Any = None) -> DeviceNDArray:
        """Without the axes of one element, or those that are named."""
        named = range(self.ndim) if axis is None else [n % self.ndim for n in np.atleast_1d(axis).tolist()]
        if axis is not None and any(self.shape[n] != 1 for n in named):
            raise ValueError(f'squeeze: not every one of the axes {axis} has one element')
        return self._part(tuple(0 if n in named and self.shape[n] == 1 else slice(None) for n in range(self.ndim)) + (...,))[0]

    def split(self, section: int, stream: StreamLike = None) -> list[Any]:
        """Equal parts of `section` elements, the last of which may be smaller. One dimension."""
        return parts(self, section)

    def view(self, dtype: DTypeLike) -> DeviceNDArray:
        """The same bytes as another type, as numpy.ndarray.view()."""
        dtype = np.dtype(dtype)
        try:
            return self._of(view('view', self._array, description.type_text(dtype)), dtype.base)
        except InvalidArgument:
            description.stand_in(self.shape, self.strides, self.dtype).view(dtype)  # raises, in NumPy's words
            raise

    def __getitem__(self, index: Any) -> Any:
        """A view; an element, if every axis has an integer."""
        part, element = self._part(index)
        return part.copy_to_host()[()] if element and not isinstance(part, DeviceRecord) else part

    def __setitem__(self, index: Any, value: Any) -> None:
        """As NumPy: the value is broadcast and converted. Complete on return."""
        self.setitem(index, value)

    def setitem(self, index: Any, value: Any, stream: StreamLike = None) -> None:
        """array[index] = value, on that stream, as Numba's."""
        part, _ = self._part(index)
        value = array_of(value)
        stream = stream_of(stream if is_named(stream) else self.stream, self.device)
        if not isinstance(value, DeviceNDArray):
            if not (description.is_number(value.dtype) and description.is_number(part.dtype)):  # NumPy converts those
                value = value.astype(part.dtype, copy=False)
        source = value._array if isinstance(value, DeviceNDArray) else of_host(value)
        casting = _c.CASTING_NO if value.dtype == part.dtype else _c.CASTING_UNSAFE
        _c.call('array_assign', stream.handle, part._array, source, casting, _c.FOREVER)
        stream.synchronize()

    def item(self, *index: Any) -> Any:
        """The element as a Python number."""
        chosen = self[index] if index else self
        return chosen.copy_to_host().item() if isinstance(chosen, DeviceNDArray) else chosen.item()

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __bool__(self) -> bool:
        return bool(self.item())

    def _no_arithmetic(self, *_):
        raise TypeError('device arrays do not compute: use a kernel, or copy_to_host()')

    def _compared(operation):  # noqa: N805
        """Of elements; other arrays are not compared, but with None, as what they are not."""
        def compare(self, other):
            if other is None:
                return NotImplemented
            if self.shape or np.ndim(other):
                self._no_arithmetic()
            return operation(self.copy_to_host()[()], other.copy_to_host()[()] if isinstance(other, DeviceNDArray) else other)
        return compare

    __eq__, __ne__, __lt__, __le__, __gt__, __ge__ = map(_compared, (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge))
    __hash__ = object.__hash__
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __neg__ = _no_arithmetic

    def __copy__(self) -> Any:
        return self._of(self._array)

    def __deepcopy__(self, _: Any) -> Any:
        """Another array of the same device, with the same elements."""
        return to_device(self, stream=self.stream)

    def copy(self) -> Any:
        return to_device(self, stream=self.stream)

    def __reduce__(self) -> Any:
        raise TypeError('a device array cannot be pickled; give another process its get_ipc_handle(), or pickle copy_to_host()')

    def tolist(self) -> Any:
        return self.copy_to_host().tolist()

    def astype(self, dtype: DTypeLike) -> DeviceNDArray:
        """A new array, converted as NumPy does."""
        made = device_array_like(self, dtype=dtype)
        made[...] = self
        return made

    def fill(self, value: Any) -> None:
        """Sets every element. Complete on return."""
        self[...] = value

    def copy_to_host(self, ary: Any = None, stream: StreamLike = None, timeout: float | None = None) -> np.ndarray:
        """Copies to `ary`, or to a new array, and returns it. With a stream and a pinned or registered `ary`, the copy is
        enqueued only; otherwise it is complete on return."""
        named = is_named(stream)
        stream = stream_of(stream if named or isinstance(stream, Device) else self.stream, self.device)
        host = np.empty(self.shape, self.dtype, description.order_of(self)) if ary is None else description.in_place(ary)
        self._check_same('copy_to_host', host)
        if not host.flags.writeable:
            raise ValueError('copy_to_host: the array is read-only')
        self._transfer(of_host(host), self._array, stream, not (named and is_pinned(host)), timeout, host)
        return host if ary is None else ary

    def copy_to_device(self, ary: Any, stream: StreamLike = None, timeout: float | None = None) -> None:
        """Copies from an array of this shape and type, of the host or of a device, or from what NumPy makes such an array of.
        array[...] = ary converts and broadcasts. With a stream and a pinned or registered `ary`, the copy is enqueued only."""
        named = is_named(stream)
        stream = stream_of(stream if named or isinstance(stream, Device) else self.stream, self.device)
        ary = array_of(ary, self.dtype)
        if ary.dtype != self.dtype:
            raise TypeError(f'incompatible dtype: {ary.dtype} vs. {self.dtype}; array[...] = ary converts')
        if ary.shape != self.shape:
            raise ValueError(f'incompatible shape: {ary.shape} vs. {self.shape}; array[...] = ary broadcasts')
        source = ary._array if isinstance(ary, DeviceNDArray) else of_host(ary := np.asarray(ary))
        self._transfer(self._array, source, stream, not named, timeout, ary)

    @staticmethod
    def _transfer(to, source, stream, wait, timeout, kept):
        followed = stream.take_followed() if wait else []
        _c.call('array_copy_and_wait' if wait else 'array_copy', stream.handle, to, source, _c.nanoseconds(timeout))
        if wait:
            forget(followed)
        else:
            stream.keep(kept)
            if isinstance(kept, np.ndarray):
                device_address_of(kept, stream)

    def __array__(self, dtype: DTypeLike = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError('a device array cannot become a NumPy array without a copy')
        host = self.copy_to_host()
        return host if dtype is None else host.astype(dtype, copy=False)

    def __dlpack_device__(self) -> tuple[int, int]:
        from .dlpack import ROCM
        return ROCM, self.device.index

    def __dlpack__(self, *, stream: StreamLike = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None) -> Any:
        from .dlpack import exported
        return exported(self, max_version, dl_device, copy)

    @property
    def __cuda_array_interface__(self) -> Any:
        """Version 3, for libraries on ROCm that know it. Waits for its stream, or the default one."""
        stream_of(self.stream, self.device).synchronize()
        return {'shape': self.shape, 'strides': None if self.is_c_contiguous() else self.strides, 'typestr': self.dtype.str,
                'descr': self.dtype.descr, 'data': (self.address if self.size else 0, False), 'stream': None, 'version': 3}

    def get_ipc_handle(self) -> Any:
        """An IpcArrayHandle for another process, as numba.cuda's. Keep the array until that process is done."""
        from .sharing import IpcArrayHandle
        return IpcArrayHandle.of(self)

    def to_dmabuf(self) -> Any:
        """Its memory as a file descriptor: a DmaBuf. Raises NotOffered before ROCm 5.6."""
        from .sharing import DmaBuf
        return DmaBuf(self)

    def _of(self, array, dtype=None):
        """A view with that description."""
        dtype = self.dtype if dtype is None else dtype
        kind = DeviceRecord if array.rank == 0 and dtype.names else DeviceNDArray
        return kind(array, dtype, self.memory, self.stream)

    def _part(self, index):
        """The view of an index, and whether it is an element that has a value."""
        if isinstance(index, str):
            if index not in (self.dtype.names or ()):
                raise KeyError(f'there is no field {index!r}; there are {", ".join(self.dtype.names or ()) or "none"}')
            return self._of(view('field', self._array, index.encode()), self.dtype.fields[index][0].base), False
        part, element = description.sliced(self._array, index)
        return self._of(part), element

    def _check_same(self, call, ary):
        if not isinstance(ary, np.ndarray):
            raise TypeError(f'{call}: {type(ary).__name__} is not a numpy.ndarray')
        if ary.dtype != self.dtype:
            raise TypeError(f'{call}: incompatible dtype: {ary.dtype} vs. {self.dtype}')
        if ary.shape != self.shape:
            raise ValueError(f'{call}: incompatible shape: {ary.shape} vs. {self.shape}')


class DeviceRecord(DeviceNDArray):
    """A structured element in a GPU's memory; its fields are arrays: record['x']."""


def array_of(value: Any, dtype: DTypeLike = None) -> Any:
    """An array, a structured scalar, or another library's array on the GPU as it is; of other values what NumPy makes of them."""
    if isinstance(value, (DeviceNDArray, np.ndarray, np.generic)):
        return value
    if hasattr(value, '__cuda_array_interface__'):
        from .interchange import as_cuda_array
        return as_cuda_array(value)
    return np.asarray(value, dtype)


def parts(array: Any, section: int) -> Any:
    """Slices of `section` elements, the last of which may be smaller. One dimension."""
    if array.ndim != 1:
        raise ValueError(f'split: the array has {array.ndim} dimensions; ravel() it first')
    if section <= 0:
        raise ValueError(f'split: section={section} must be positive')
    return [array[begin:begin + section] for begin in range(0, array.size, section)]


def device_array(shape: ShapeLike, dtype: DTypeLike = np.float64, strides: Sequence[int] | None = None, order: str = 'C', stream: StreamLike = None,
                 device: DeviceLike = None, resource: Any = None) -> DeviceNDArray:
    """An uninitialised array on the device (default: default_gpu()), as numpy.empty(). resource: where its memory comes from, a
    CachingResource or an object with allocate() and deallocate() (see resource.py)."""
    form = description.form(shape, dtype, strides, order)
    low, high = description.extent(form)
    memory = _memory_for(max(high - low, 1), stream, device, resource)
    return _in_memory(form, np.dtype(dtype).base, memory, -low, stream if is_named(stream) else None)


def _in_memory(form, dtype, memory, offset_bytes, stream=None):
    form.data, form.memory = memory.address + offset_bytes, memory.handle
    form.flags |= _c.ARRAY_ON_GPU
    form.gpu = memory.device.index
    kind = DeviceRecord if form.rank == 0 and dtype.names else DeviceNDArray
    return kind(form, dtype, memory, stream)


def in_memory(memory: Any, shape: ShapeLike, dtype: DTypeLike, strides: Sequence[int] | None = None, order: str = 'C', offset_bytes: int = 0) -> Any:
    """An array in memory that is there. offset_bytes: of the element whose indices are all zero."""
    form = description.form(shape, dtype, strides, order)
    made = _in_memory(form, np.dtype(dtype).base, memory, offset_bytes)
    view('slice', form, None, 0)  # raises unless the elements are in the memory
    return made


def _memory_for(size_bytes, stream, device, resource):
    device = device_for(stream, device)
    return Memory(device, size_bytes) if resource is None else allocated(resource, stream_of(stream, device), size_bytes)


def device_array_like(ary: Any, stream: StreamLike = None, device: DeviceLike = None, resource: Any = None, dtype: DTypeLike = None) -> DeviceNDArray:
    """Of the same shape, type and order."""
    return device_array(ary.shape, dtype or ary.dtype, order=description.order_of(ary), stream=stream, device=device, resource=resource)


def to_device(obj: Any, stream: StreamLike = None, copy: bool = True, to: Any = None, device: DeviceLike = None,
              resource: Any = None) -> DeviceNDArray:
    """Copies an array, a structured scalar, or what NumPy makes an array of, to the device. `stream` may be a Device, as
    numba.roc's `context`. copy=False allocates only, from `resource`, as device_array();
    `to` is a device array to be filled instead. With a stream and a pinned or registered array, the copy is enqueued only."""
    obj = array_of(obj)
    if to is None:
        to = device_array_like(obj, stream, device or (obj.device if isinstance(obj, DeviceNDArray) else None), resource)
    if copy:
        to.copy_to_device(obj, stream)
    return to
