"""Arrays of libraries that describe them as `__cuda_array_interface__`, as PyTorch and CuPy do on ROCm, too."""
from __future__ import annotations

import numpy as np

from . import description
from ._types import Any, DeviceLike
from .device import gpu_of
from .device_array import DeviceNDArray, device_array, in_memory
from .resource import allocated
from .stream import default_stream


def is_cuda_array(obj: Any) -> bool:
    """Whether as_cuda_array() may take it."""
    return hasattr(obj, '__cuda_array_interface__')


class _Borrowed:
    """Memory of an owner, which it keeps: the resource of an array that is there."""

    def __init__(self, owner, address):
        self.owner, self.address = owner, address

    def allocate(self, *_):
        return self.address

    def deallocate(self, *_):
        pass


def from_cuda_array_interface(facts: Any, owner: Any = None, sync: bool = True, device: DeviceLike = None) -> DeviceNDArray:
    """A DeviceNDArray of what a dictionary of that kind describes, in the same memory; the owner is kept."""
    if facts.get('mask') is not None:
        raise NotImplementedError('__cuda_array_interface__: Masked arrays are not supported')
    if sync and facts.get('stream') is not None:
        raise BufferError(f'__cuda_array_interface__: the array is used by HIP stream {facts["stream"]}, for which this library cannot wait: '
                          'synchronize it and pass sync=False, or use from_dlpack()')
    dtype, shape, strides, device = np.dtype(facts['typestr']), facts['shape'], facts.get('strides'), gpu_of(device)
    if facts.get('descr') and dtype.kind == 'V' and facts['descr'][0][0]:
        dtype = np.dtype(facts['descr'])
    low, high = description.extent(description.form(shape, dtype, strides))
    if high == low:
        return device_array(shape, dtype, strides, device=device)
    memory = allocated(_Borrowed(owner, facts['data'][0] + low), default_stream(device), high - low, 1)
    return in_memory(memory, shape, dtype, strides, offset_bytes=-low)


def as_cuda_array(obj: Any, sync: bool = True, device: DeviceLike = None) -> DeviceNDArray:
    """A DeviceNDArray that shares the memory of another library's, of the device (default: default_gpu())."""
    if not is_cuda_array(obj):
        raise TypeError(f'{type(obj).__name__} has no __cuda_array_interface__')
    return obj if isinstance(obj, DeviceNDArray) else from_cuda_array_interface(obj.__cuda_array_interface__, obj, sync, device)
