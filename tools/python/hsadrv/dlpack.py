"""Device arrays exchanged with other libraries as DLPack tensors, without a copy."""
import ctypes
from ctypes import POINTER, Structure, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p, pythonapi, py_object

import numpy as np

from .device import gpus
from .device_array import DeviceNDArray
from .stream import stream_of

CPU, ROCM, ROCM_HOST = 1, 10, 11
_CODES = {'i': 0, 'u': 1, 'f': 2, 'c': 5, 'b': 6}
_KINDS = {code: kind for kind, code in _CODES.items()}


class _Tensor(Structure):
    _fields_ = [('data', c_void_p), ('device_type', c_int32), ('device_id', c_int32), ('ndim', c_int32),
                ('code', c_uint8), ('bits', c_uint8), ('lanes', c_uint16), ('shape', POINTER(c_int64)),
                ('strides', POINTER(c_int64)), ('byte_offset', c_uint64)]


class _Managed(Structure):
    pass


_Deleter = ctypes.CFUNCTYPE(None, POINTER(_Managed))
_Managed._fields_ = [('tensor', _Tensor), ('context', c_void_p), ('deleter', _Deleter)]

_CapsuleEnd = ctypes.CFUNCTYPE(None, c_void_p)
pythonapi.PyCapsule_New.restype, pythonapi.PyCapsule_New.argtypes = py_object, [c_void_p, ctypes.c_char_p, _CapsuleEnd]
pythonapi.PyCapsule_IsValid.argtypes = [py_object, ctypes.c_char_p]
pythonapi.PyCapsule_GetPointer.restype = c_void_p
pythonapi.PyCapsule_GetPointer.argtypes = [py_object, ctypes.c_char_p]
pythonapi.PyCapsule_SetName.argtypes = [py_object, ctypes.c_char_p]
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, c_void_p, ctypes.c_char_p)(('PyCapsule_IsValid', pythonapi))
_pointer = ctypes.PYFUNCTYPE(c_void_p, c_void_p, ctypes.c_char_p)(('PyCapsule_GetPointer', pythonapi))

_exported = {}  # address of the _Managed -> what it needs
_NAME, _USED = b'dltensor', b'used_dltensor'


@_Deleter
def _delete(managed):
    _exported.pop(ctypes.addressof(managed.contents), None)


@_CapsuleEnd
def _end_capsule(capsule):
    if _is_valid(capsule, _NAME):  # it was not taken
        _exported.pop(_pointer(capsule, _NAME), None)


def exported(ary, stream):
    """A capsule for ary. Waits for its stream, or the thread's default one: consumers of ROCm tensors have streams that this library
    does not know."""
    kind, item = ary.dtype.kind, ary.dtype.itemsize
    if kind not in _CODES or ary.dtype.byteorder == '>':
        raise BufferError(f'dtype {ary.dtype} has no DLPack type')
    if any(stride % item for stride in ary.strides):
        raise BufferError(f'strides {ary.strides} are not multiples of {item} bytes')
    stream_of(ary.stream, ary.device).synchronize()
    shape = (c_int64 * ary.ndim)(*ary.shape)
    strides = (c_int64 * ary.ndim)(*(stride // item for stride in ary.strides))
    managed = _Managed(_Tensor(ary.memory.address, ROCM, ary.device.index, ary.ndim, _CODES[kind], 8 * item, 1,
                               ctypes.cast(shape, POINTER(c_int64)), ctypes.cast(strides, POINTER(c_int64)),
                               ary.offset_bytes), None, _delete)
    address = ctypes.addressof(managed)
    _exported[address] = (managed, shape, strides, ary)
    return pythonapi.PyCapsule_New(address, _NAME, _end_capsule)


class _Foreign:
    """Memory of another library: its deleter is called with the last view."""

    handle = None

    def __init__(self, device, address, managed):
        self.device, self.address, self._managed = device, address, managed

    def __del__(self):
        if self._managed.deleter:
            self._managed.deleter(ctypes.pointer(self._managed))


def from_dlpack(tensor):
    """A DeviceNDArray that shares the memory of another library's array on a ROCm GPU. One of the host: use
    numpy.from_dlpack()."""
    kind, number = tensor.__dlpack_device__()
    if int(kind) not in (ROCM, ROCM_HOST):
        raise BufferError(f'the tensor is on a device of DLPack type {int(kind)}, not on a ROCm GPU; copy it with to_device()')
    capsule = tensor.__dlpack__()
    if not pythonapi.PyCapsule_IsValid(capsule, _NAME):
        raise BufferError('the capsule holds no DLPack tensor, or one that was taken before')
    managed = _Managed.from_address(pythonapi.PyCapsule_GetPointer(capsule, _NAME))
    t = managed.tensor
    if t.code not in _KINDS or t.lanes != 1 or t.bits % 8:
        raise BufferError(f'DLPack type (code {t.code}, {t.bits} bits, {t.lanes} lanes) has no NumPy type')
    dtype = np.dtype('?' if _KINDS[t.code] == 'b' else f'{_KINDS[t.code]}{t.bits // 8}')
    shape = tuple(t.shape[n] for n in range(t.ndim))
    strides = tuple(t.strides[n] * dtype.itemsize for n in range(t.ndim)) if t.strides else None
    pythonapi.PyCapsule_SetName(capsule, _USED)
    memory = _Foreign(gpus()[t.device_id], t.data, managed)
    if strides is None:
        from .geometry import default_strides
        strides = default_strides(shape, dtype, 'C')
    return DeviceNDArray(shape, strides, dtype, memory, t.byte_offset)
