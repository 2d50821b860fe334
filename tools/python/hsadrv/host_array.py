"""Host arrays that the GPUs use in place, and registration of the program's own arrays."""
from __future__ import annotations

import threading

import numpy as np

from . import _c, description
from ._types import Any, DTypeLike, DeviceLike, Sequence, ShapeLike, StreamLike
from .device import driver, gpu_of
from .memory import Memory, Registration

_registered = {}  # address and number of the bytes -> Registrations, the latest last
_lock = threading.Lock()


class MappedNDArray(np.ndarray):
    """A NumPy array in pinned or managed memory that kernels and copies use in place, at its own address."""

    memory = None

    def __array_finalize__(self, origin: Any) -> Any:
        self.memory = getattr(origin, 'memory', None)

    @property
    def is_mapped(self) -> Any:
        """Whether the elements are in that memory; results of arithmetic are not."""
        return self.memory is not None and _within(self, self.memory.address, self.memory.size_bytes)

    @property
    def __cuda_array_interface__(self) -> Any:
        """For libraries on ROCm that know it: the GPUs use it at its address. Synchronize what uses it before."""
        return dict(self.__array_interface__, stream=None)

    def copy_to_host(self, ary: Any = None, stream: StreamLike = None) -> np.ndarray:
        """A copy, for programs that treat it as a device array."""
        if stream:
            stream.synchronize()
        if ary is None:
            return np.array(self, subok=False)
        ary[...] = self
        return ary

    def copy_to_device(self, ary: Any, stream: StreamLike = None) -> None:
        if stream:
            stream.synchronize()
        self[...] = np.asarray(ary)

    def split(self, section: int, stream: StreamLike = None) -> list[Any]:
        from .device_array import parts
        return parts(self, section)


def _allocated(shape, dtype, strides, order, device, kind):
    return in_memory(shape, dtype, strides, order, lambda size_bytes: Memory(gpu_of(device), size_bytes, kind))


def in_memory(shape: ShapeLike, dtype: DTypeLike, strides: Sequence[int] | None, order: str, allocate: Any) -> Any:
    """A MappedNDArray in the Memory that allocate(size_bytes) returns, which the host accesses at its address."""
    form = description.form(shape, dtype, strides, order)
    low, high = description.extent(form)
    memory = allocate(max(high - low, 1))
    raw = _Bytes(memory).array()
    result = np.ndarray(tuple(form.shape[:form.rank]), np.dtype(dtype).base, raw, -low, description.strides_of(form)).view(MappedNDArray)
    result.memory = memory
    return result


class _Bytes:
    """The bytes of host memory for NumPy; keeps the memory."""

    def __init__(self, memory):
        self.memory = memory
        self.__array_interface__ = {'shape': (memory.size_bytes,), 'typestr': '|u1', 'version': 3,
                                    'data': (memory.address, False)}

    def array(self):
        return np.asarray(self)


def pinned_array(shape: ShapeLike, dtype: DTypeLike = np.float64, strides: Sequence[int] | None = None, order: str = 'C',
                 device: DeviceLike = None) -> MappedNDArray:
    """An uninitialised NumPy array in pinned memory, as numpy.empty(). Copies to and from it are not staged."""
    return _allocated(shape, dtype, strides, order, device, _c.HOST)


def mapped_array(shape: ShapeLike, dtype: DTypeLike = np.float64, strides: Sequence[int] | None = None, order: str = 'C', stream: StreamLike = None,
                 portable: bool = False, wc: bool = False, device: DeviceLike = None) -> MappedNDArray:
    """The same; kernels take it as an argument and use it in place. portable and wc are accepted: all GPUs can use it, and
    it is not write-combined."""
    return _allocated(shape, dtype, strides, order, device, _c.HOST)


def coarsegrain_array(shape: ShapeLike, dtype: DTypeLike = np.float64, strides: Sequence[int] | None = None, order: str = 'C',
                      device: DeviceLike = None) -> MappedNDArray:
    """The same: GPUs may hold in their caches what they read until a kernel ends."""
    return _allocated(shape, dtype, strides, order, device, _c.HOST_COARSE)


finegrain_array = pinned_array


def pinned_array_like(ary: Any, stream: StreamLike = None, portable: bool = False, wc: bool = False) -> MappedNDArray:
    """Of the same shape, type and order; the rest as mapped_array()."""
    return pinned_array(ary.shape, ary.dtype, order=description.order_of(ary))


mapped_array_like = pinned_array_like


def address_of(ary: Any) -> Any:
    return ary.__array_interface__['data'][0]


def bytes_of(ary: Any) -> Any:
    """The address of its first byte, and the number of bytes up to the last."""
    low, high = description.extent(description.of_host(ary))
    return address_of(ary) + low, high - low


def _within(ary, begin, size_bytes):
    first, count = bytes_of(ary)
    return begin <= first and first + count <= begin + size_bytes


def is_pinned(ary: Any) -> bool:
    return (isinstance(ary, MappedNDArray) and ary.is_mapped) or _registration_of(ary) is not None


def _registration_of(ary):
    first, size = bytes_of(ary)
    with _lock:
        for registrations in _registered.values():
            if registrations[-1].contains(first, size):
                return registrations[-1]
    return None


def device_address_of(ary: Any, stream: StreamLike = None) -> Any:
    """The GPUs' address of a mapped or registered array's first element, which the stream will use; None if it is neither."""
    if isinstance(ary, MappedNDArray) and ary.is_mapped:
        return address_of(ary)
    registration = _registration_of(ary)
    if registration is None:
        return None
    if stream is not None:
        registration.users.add(stream)
    return registration.address + address_of(ary) - registration.host_address


class _Registered:
    """What register() returns: deregisters at the end of a with-statement."""

    def __init__(self, arrays):
        self.arrays = arrays

    def __enter__(self):
        return self.arrays if len(self.arrays) != 1 else self.arrays[0]

    def __exit__(self, *_):
        deregister(*self.arrays)


def register(*arrays: Any) -> Any:
    """Pins each array and maps it for all GPUs, until deregister() or the end of a with-statement."""
    driver()
    done = []
    try:
        for ary in arrays:
            if not isinstance(ary, np.ndarray):
                raise TypeError(f'register: {type(ary).__name__} is not a numpy.ndarray')
            begin, size = bytes_of(ary)
            if size:
                registration = Registration(None, begin, size)
                with _lock:
                    _registered.setdefault((begin, size), []).append(registration)
            done.append(ary)
    except BaseException:
        deregister(*done)
        raise
    return _Registered(arrays)


def deregister(*arrays: Any) -> None:
    """Waits for the kernels and copies of streams that use them."""
    for ary in arrays:
        key = bytes_of(ary)
        if key[1] == 0:
            continue
        with _lock:
            registrations = _registered.get(key)
            if not registrations:
                raise ValueError(f'deregister: the array at {key[0]:#x} of {key[1]} bytes is not registered')
            registration = registrations.pop()
            if not registrations:
                del _registered[key]
        for stream in list(registration.users):
            stream.synchronize()
        registration.close()


pinned = mapped = register
