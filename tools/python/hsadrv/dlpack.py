"""Device arrays exchanged with other libraries as DLPack tensors, without a copy."""
from __future__ import annotations

import ast
import ctypes
from ctypes import c_char_p, c_void_p, py_object, pythonapi

import numpy as np

from . import _c
from ._types import Any, DeviceLike
from .device import gpus
from .device_array import DeviceNDArray, DeviceRecord
from .memory import Memory
from .stream import stream_of

CPU, ROCM, ROCM_HOST = 1, 10, 11
_NAMES = {False: (b'dltensor', b'used_dltensor'), True: (b'dltensor_versioned', b'used_dltensor_versioned')}

pythonapi.PyCapsule_New.restype, pythonapi.PyCapsule_New.argtypes = py_object, [c_void_p, c_char_p, c_void_p]
pythonapi.PyCapsule_IsValid.argtypes = [py_object, c_char_p]
pythonapi.PyCapsule_GetPointer.restype = c_void_p
pythonapi.PyCapsule_GetPointer.argtypes = [py_object, c_char_p]
pythonapi.PyCapsule_SetName.argtypes = [py_object, c_char_p]
_end_capsule = _c.address_of_function('array_end_capsule')  # no Python: it may run while an exception is raised


def exported(ary: Any, max_version: Any, dl_device: Any, copy: bool) -> Any:
    """A capsule for ary. Waits for its stream, or the default one: consumers of ROCm tensors have streams that this library
    does not know."""
    if dl_device is not None and tuple(map(int, dl_device)) != (ROCM, ary.device.index):
        raise BufferError(f'the array is on DLPack device {(ROCM, ary.device.index)}, not {tuple(map(int, dl_device))}; '
                          'copy_to_host(), or to_device() of another GPU, copies it')
    if not ary.dtype.isnative:
        raise BufferError(f'dtype {ary.dtype} has no DLPack type')
    if copy:
        ary = ary.copy()
    stream_of(ary.stream, ary.device).synchronize()
    versioned = max_version is not None and max_version[0] >= 1
    try:
        return _capsule(ary, versioned)
    except _c.errors.NotOffered:
        return _capsule(ary, False)
    except _c.errors.InvalidArgument as error:
        raise BufferError(str(error)) from None


def _capsule(ary, versioned):
    tensor = _c.made('array_export_dlpack', ary._array, versioned)
    return pythonapi.PyCapsule_New(tensor, _NAMES[versioned][0], _end_capsule)


def from_dlpack(tensor: Any) -> DeviceNDArray:
    """A DeviceNDArray that shares the memory of another library's array on a ROCm GPU. One of the host: use
    numpy.from_dlpack()."""
    kind, number = tensor.__dlpack_device__()
    if int(kind) not in (ROCM, ROCM_HOST):
        raise BufferError(f'the tensor is on a device of DLPack type {int(kind)}, not on a ROCm GPU; copy it with to_device()')
    try:
        capsule = tensor.__dlpack__(max_version=(1, 0))
    except TypeError:  # older than version 1
        capsule = tensor.__dlpack__()
    versioned = bool(pythonapi.PyCapsule_IsValid(capsule, _NAMES[True][0]))
    name, used = _NAMES[versioned]
    if not pythonapi.PyCapsule_IsValid(capsule, name):
        raise BufferError('the capsule holds no DLPack tensor, or one that was taken before')
    array = _c.Array()
    try:
        _c.call('array_import_dlpack', pythonapi.PyCapsule_GetPointer(capsule, name), versioned, array)
    except _c.errors.InvalidArgument as error:
        raise BufferError(str(error)) from None
    pythonapi.PyCapsule_SetName(capsule, used)
    return attached(array, gpus()[array.gpu if array.flags & _c.ARRAY_ON_GPU else 0])


def attached(array: Any, device: DeviceLike) -> Any:
    """A DeviceNDArray of what another library or process has given."""
    text = array.dtype.decode()
    dtype = np.dtype(ast.literal_eval(text) if text[0] in '[({' else text)
    kind = DeviceRecord if array.rank == 0 and dtype.names else DeviceNDArray
    return kind(array, dtype, Memory.of_handle(device, array.memory))
