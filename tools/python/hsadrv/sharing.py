"""Arrays of other processes, and device memory as file descriptors."""
import ast
import contextlib
import ctypes
import os

import numpy as np

from . import _c, geometry
from .device import gpu_of
from .device_array import device_array
from .memory import Memory


def _exportable(ary):
    """Its memory, the offset there of its first byte, and its size in bytes."""
    if ary.memory.handle is None:
        raise ValueError('the memory is another library\'s, which alone can share it')
    low, high = geometry.span(ary.shape, ary.strides, ary.itemsize)
    return ary.memory, ary.offset_bytes + low, high - low


class IpcArrayHandle:
    """Names an array of a process, for another. Made by DeviceNDArray.get_ipc_handle(); can be pickled. str(handle) is one line of text,
    which C++'s hsadrv::from_ipc() takes, and IpcArrayHandle(text) takes that of hsadrv::to_ipc(). Exchange handles with processes that
    you trust. The process that made it keeps the array until the others are done."""

    def __init__(self, text):
        try:
            facts = ast.literal_eval(text)
            self.dtype = np.lib.format.descr_to_dtype(facts['dtype'])
            self.shape, self.strides = tuple(facts['shape']), tuple(facts['strides'])
            self.memory = bytes.fromhex(facts['memory'])
        except (SyntaxError, TypeError, KeyError, ValueError, AttributeError) as error:
            raise ValueError(f'the text describes no shared array: {error}') from error
        self._opened = None

    @classmethod
    def of(cls, ary):
        memory, offset, size = _exportable(ary)
        name = bytes(_c.made_structure('memory_export_ipc', memory.handle, offset, size)) if size else b''
        return cls(str({'dtype': np.lib.format.dtype_to_descr(ary.dtype), 'shape': ary.shape, 'strides': ary.strides,
                        'memory': name.hex()}))

    def __str__(self):
        return str({'dtype': np.lib.format.dtype_to_descr(self.dtype), 'shape': self.shape, 'strides': self.strides,
                    'memory': self.memory.hex()})

    def __reduce__(self):
        return IpcArrayHandle, (str(self),)

    def open(self, device=None):
        """The array, in another process than the one that made the handle: the same memory. It is detached with the last array that
        uses it, and not before close()."""
        if self._opened is not None:
            raise ValueError('the handle is open')
        low, high = geometry.span(self.shape, self.strides, self.dtype.itemsize)
        if high == low:
            self._opened = device_array(self.shape, self.dtype, device=device)
        else:
            memory = _attached(self.memory, device)
            if memory.size_bytes != high - low:
                raise ValueError(f'the array takes {high - low} bytes, and the memory has {memory.size_bytes}')
            self._opened = memory.array(self.shape, self.dtype, self.strides, offset_bytes=-low)
        return self._opened

    def close(self):
        """The handle's own reference ends."""
        self._opened = None

    def __enter__(self):
        return self.open()

    def __exit__(self, *_):
        self.close()


def _attached(name, device):
    if len(name) != ctypes.sizeof(_c.IpcMemory):
        raise ValueError(f'{len(name)} bytes; the memory of a handle has {ctypes.sizeof(_c.IpcMemory)}')
    device = gpu_of(device)
    handle = _c.made('memory_attach_ipc', *_c.handles_of([device]), _c.IpcMemory.from_buffer_copy(bytes(name)))
    return Memory.of_handle(device, handle)


@contextlib.contextmanager
def open_ipc_array(handle, shape, dtype, strides=None, offset=0, device=None):
    """For a with-statement: an array in another process's memory, of the bytes IpcArrayHandle.memory, as numba.cuda's."""
    yield _attached(handle, device).array(shape, dtype, strides, offset_bytes=offset)


class DmaBuf:
    """Device memory as a file descriptor, for a with-statement or until close(). offset_bytes: of the array in it; size_bytes: the array's.
    It keeps the memory itself. Made by DeviceNDArray.to_dmabuf()."""

    def __init__(self, ary):
        memory, offset, self.size_bytes = _exportable(ary)
        descriptor, offset_bytes = ctypes.c_int(-1), ctypes.c_uint64()
        _c.call('memory_export_dmabuf', memory.handle, offset, self.size_bytes, ctypes.byref(descriptor),
                ctypes.byref(offset_bytes))
        self.descriptor, self.offset_bytes = descriptor.value, offset_bytes.value

    def fileno(self):
        return self.descriptor

    def close(self):
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, 'descriptor', -1) >= 0:
            self.close()


def open_dmabuf(file, shape, dtype, strides=None, order='C', offset=0, device=None):
    """An array in the memory of a dma-buf: of a descriptor, or an object with fileno(), which remains the caller's."""
    device = gpu_of(device)
    descriptor = file if isinstance(file, int) else file.fileno()
    memory = Memory.of_handle(device, _c.made('memory_import_dmabuf', *_c.handles_of([device]), descriptor))
    return memory.array(shape, dtype, strides, order, offset)
