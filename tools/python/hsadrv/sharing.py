"""Arrays of other processes, and device memory as file descriptors."""
from __future__ import annotations

import ast
import contextlib
import ctypes
import os

import numpy as np

from . import _c, description
from ._types import Any, DTypeLike, DeviceLike, Sequence, ShapeLike
from .device import default_gpu, gpu_of, gpus
from .device_array import device_array
from .dlpack import attached
from .memory import Memory


class IpcArrayHandle:
    """Names an array of a process, for another. Made by DeviceNDArray.get_ipc_handle(); can be pickled. str(handle) is one line of text,
    which C++'s hsadrv::from_ipc() takes, and IpcArrayHandle(text) takes that of hsadrv::to_ipc(). Exchange handles with processes that
    you trust. The process that made it keeps the array until the others are done."""

    def __init__(self, text: str) -> None:
        try:
            facts = ast.literal_eval(text)
            self.dtype = np.dtype(facts['dtype'])
            self.shape, self.strides = tuple(facts['shape']), tuple(facts['strides'])
            self.memory = bytes.fromhex(facts['memory'])
        except (SyntaxError, TypeError, KeyError, ValueError, AttributeError) as error:
            raise ValueError(f'the text describes no shared array: {error}') from error
        self._text, self._opened = text, None

    @classmethod
    def of(cls, ary: Any) -> Any:
        size = _c.made('array_export_ipc', ary._array, None, 0)
        text = ctypes.create_string_buffer(size)
        _c.made('array_export_ipc', ary._array, text, size)
        return cls(text.value.decode())

    def __str__(self) -> str:
        return self._text

    def __reduce__(self) -> Any:
        return IpcArrayHandle, (self._text,)

    def open(self, device: DeviceLike = None) -> Any:
        """The array, in another process than the one that made the handle: the same memory, of the GPU that it is on. It is detached with
        the last array that uses it, and not before close()."""
        if self._opened is not None:
            raise ValueError('IpcHandle is already opened')
        array = _c.Array()
        for device in [gpu_of(device)] if device is not None else sorted(gpus(), key=lambda gpu: gpu is not default_gpu()):
            try:
                _c.call('array_attach_ipc', device.handle, self._text.encode(), array)
                break
            except _c.errors.InvalidArgument as error:  # the memory is of another GPU
                failed = error
        else:
            raise failed
        self._opened = attached(array, device) if array.memory else device_array(self.shape, self.dtype, device=device)
        return self._opened

    def close(self) -> None:
        """The handle's own reference ends."""
        self._opened = None

    def __enter__(self) -> Any:
        return self.open()

    def __exit__(self, *_: Any) -> None:
        self.close()


def _attached(name, device):
    if len(name) != ctypes.sizeof(_c.IpcMemory):
        raise ValueError(f'{len(name)} bytes; the memory of a handle has {ctypes.sizeof(_c.IpcMemory)}')
    device = gpu_of(device)
    handle = _c.made('memory_attach_ipc', *_c.handles_of([device]), _c.IpcMemory.from_buffer_copy(bytes(name)))
    return Memory.of_handle(device, handle)


@contextlib.contextmanager
def open_ipc_array(handle: Any, shape: ShapeLike, dtype: DTypeLike, strides: Sequence[int] | None = None, offset: int = 0,
                   device: DeviceLike = None) -> Any:
    """For a with-statement: an array in another process's memory, of the bytes IpcArrayHandle.memory, as numba.cuda's."""
    yield _attached(handle, device).array(shape, dtype, strides, offset_bytes=offset)


class DmaBuf:
    """Device memory as a file descriptor, for a with-statement or until close(). offset_bytes: of the array in it; size_bytes: the array's.
    It keeps the memory itself. Made by DeviceNDArray.to_dmabuf()."""

    def __init__(self, ary: Any) -> None:
        if ary.memory.handle is None:
            raise ValueError('the memory is another library\'s, which alone can share it')
        low, high = description.extent(ary._array)
        memory, offset, self.size_bytes = ary.memory, ary.address + low - ary.memory.address, high - low
        descriptor, offset_bytes = ctypes.c_int(-1), ctypes.c_uint64()
        _c.call('memory_export_dmabuf', memory.handle, offset, self.size_bytes, ctypes.byref(descriptor),
                ctypes.byref(offset_bytes))
        self.descriptor, self.offset_bytes = descriptor.value, offset_bytes.value

    def fileno(self) -> int:
        return self.descriptor

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, 'descriptor', -1) >= 0:
            self.close()


def open_dmabuf(file: Any, shape: ShapeLike, dtype: DTypeLike, strides: Sequence[int] | None = None, order: str = 'C', offset: int = 0,
                device: DeviceLike = None) -> Any:
    """An array in the memory of a dma-buf: of a descriptor, or an object with fileno(), which remains the caller's."""
    device = gpu_of(device)
    descriptor = file if isinstance(file, int) else file.fileno()
    memory = Memory.of_handle(device, _c.made('memory_import_dmabuf', *_c.handles_of([device]), descriptor))
    return memory.array(shape, dtype, strides, order, offset)
