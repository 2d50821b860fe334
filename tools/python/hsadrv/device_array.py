"""Arrays in device memory, and how they get there and back."""
import numpy as np

from . import geometry
from .device import Device, gpu_of
from .host_array import address_of, is_pinned
from .memory import Memory
from .resource import allocated
from .stream import is_named, stream_of


class DeviceNDArray:
    """An array in a GPU's memory. Views share the memory; it is freed with the last of them, and not before the work
    that uses it is complete."""

    def __init__(self, shape, strides, dtype, memory, offset_bytes=0, stream=None, writeback=None):
        self.shape, self.strides, self.dtype = tuple(shape), tuple(strides), np.dtype(dtype)
        self.memory, self.offset_bytes, self.stream, self.writeback = memory, offset_bytes, stream, writeback

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: int(np.prod(self.shape, dtype=np.int64)))
    nbytes = property(lambda self: self.size * self.dtype.itemsize)
    itemsize = property(lambda self: self.dtype.itemsize)
    device = property(lambda self: self.memory.device)
    address = property(lambda self: self.memory.address + self.offset_bytes,
                       doc='of the first element, on the device')
    T = property(lambda self: self.transpose())

    def __len__(self):
        if not self.shape:
            raise TypeError('a device array without dimensions has no length')
        return self.shape[0]

    def __repr__(self):
        return f'<{type(self).__name__} shape={self.shape} strides={self.strides} dtype={self.dtype} on {self.device!r}>'

    def is_c_contiguous(self):
        return self._stand_in().flags.c_contiguous

    def is_f_contiguous(self):
        return self._stand_in().flags.f_contiguous

    def bind(self, stream):
        """The same array, whose copies go through that stream if none is named."""
        return DeviceNDArray(self.shape, self.strides, self.dtype, self.memory, self.offset_bytes, stream, self.writeback)

    def with_writeback(self, ary):
        """The same array, with a host array of its shape and type that to_host() fills."""
        self._check_same(ary)
        return DeviceNDArray(self.shape, self.strides, self.dtype, self.memory, self.offset_bytes, self.stream, ary)

    def to_host(self, stream=None, timeout=None):
        """copy_to_host() to the array of with_writeback(). Views have none."""
        if self.writeback is None:
            raise ValueError('to_host: the array has no host array to write back to; use copy_to_host(), or '
                             'with_writeback() first')
        self.copy_to_host(self.writeback, stream, timeout)

    def ravel(self, order='C', stream=None):
        """One dimension, without a copy."""
        return self.reshape(-1, order=order)

    def reshape(self, *shape, order='C'):
        """Another shape, without a copy; ValueError if that is impossible."""
        wanted = shape[0] if len(shape) == 1 and not hasattr(shape[0], '__index__') else shape
        return self._view(geometry.reshaped(self._stand_in(), tuple(wanted), order))

    def transpose(self, *axes):
        return self._view(self._stand_in().transpose(*axes))

    def split(self, section, stream=None):
        """Equal parts of `section` elements, the last of which may be smaller. One dimension."""
        return geometry.parts(self, section)

    def view(self, dtype):
        """The same bytes as another type, as numpy.ndarray.view()."""
        return self._view(self._stand_in().view(dtype))

    def __getitem__(self, index):
        return self._view(geometry.indexed(self._stand_in(), index))

    def __setitem__(self, index, value):
        self[index].copy_to_device(value)

    def copy_to_host(self, ary=None, stream=None, timeout=None):
        """Copies to `ary`, or to a new array, and returns it. With a stream and a pinned or registered `ary`, the copy is
        enqueued only; otherwise it is complete on return."""
        asynchronous = is_named(stream)
        stream = stream_of(stream if asynchronous or isinstance(stream, Device) else self.stream, self.device)
        if ary is None:
            ary = np.empty_like(self._stand_in(), subok=False)
        self._check_same(ary)
        if ary.flags.writeable is False:
            raise ValueError('copy_to_host: the array is read-only')
        if self.size == 0:
            return ary
        if ary.strides == self.strides and self._is_dense():
            low, high = self._span()
            wait = not (asynchronous and is_pinned(ary))
            stream.copy(address_of(ary) + low, self.address + low, high - low, [self.memory], wait, timeout)
            if not wait:
                stream.keep(ary)
            return ary
        ary[...] = self._read_span(stream, timeout)
        return ary

    def copy_to_device(self, ary, stream=None, timeout=None):
        """Copies from an array of the host or of a device, or from anything that NumPy makes an array of, broadcast to this
        shape. With a stream and a pinned or registered `ary`, the copy is enqueued only."""
        asynchronous = is_named(stream)
        stream = stream_of(stream if asynchronous or isinstance(stream, Device) else self.stream, self.device)
        if isinstance(ary, DeviceNDArray):
            self._copy_from_device(ary, stream, asynchronous, timeout)
            return
        given = np.asarray(ary)
        source = np.broadcast_to(given.astype(self.dtype, copy=False), self.shape)
        if self.size == 0:
            return
        if given.ndim == 0 and self._is_dense():
            low, high = self._span()
            stream.fill(self.address + low, high - low, source.reshape(-1)[:1].tobytes(), self.memory)
        elif source.strides == self.strides and self._is_dense():
            low, high = self._span()
            wait = not asynchronous
            stream.copy(self.address + low, address_of(source) + low, high - low, [self.memory], wait, timeout)
            if not wait:
                stream.keep(source)
            return
        else:
            self._write_runs(source, stream)
        if not asynchronous:
            stream.synchronize(timeout)

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError('a device array cannot become a NumPy array without a copy')
        host = self.copy_to_host()
        return host if dtype is None else host.astype(dtype, copy=False)

    def __dlpack_device__(self):
        from .dlpack import ROCM
        return ROCM, self.device.index

    def __dlpack__(self, stream=None, **_):
        from .dlpack import exported
        return exported(self, stream)

    def get_ipc_handle(self):
        """An IpcArrayHandle for another process, as numba.cuda's. Keep the array until that process is done."""
        from .sharing import IpcArrayHandle
        return IpcArrayHandle.of(self)

    def to_dmabuf(self):
        """Its memory as a file descriptor: a DmaBuf. Raises NotOffered before ROCm 5.6."""
        from .sharing import DmaBuf
        return DmaBuf(self)

    def _stand_in(self):
        return geometry.stand_in(self.shape, self.strides, self.dtype)

    def _view(self, form):
        offset = geometry.offset_of(form, self._base(form))
        return DeviceNDArray(form.shape, form.strides, form.dtype, self.memory, self.offset_bytes + offset, self.stream)

    @staticmethod
    def _base(form):
        """The stand-in that a view was made from."""
        while isinstance(form.base, np.ndarray):
            form = form.base
        return form

    def _span(self):
        """The first byte and the end, relative to the first element."""
        return geometry.span(self.shape, self.strides, self.itemsize)

    def _is_dense(self):
        """Whether its elements fill the bytes from the first to the last."""
        low, high = self._span()
        return high - low == self.nbytes

    def _check_same(self, ary):
        if not isinstance(ary, np.ndarray):
            raise TypeError(f'copy_to_host: {type(ary).__name__} is not a numpy.ndarray')
        if ary.shape != self.shape or ary.dtype != self.dtype:
            raise ValueError(f'copy_to_host: the host array is {ary.dtype}{list(ary.shape)}, the device array '
                             f'{self.dtype}{list(self.shape)}')

    def _read_span(self, stream, timeout):
        """A host array of the same form, with all bytes from the first to the last."""
        low, high = self._span()
        raw = np.empty(high - low, np.uint8)
        stream.copy(raw.ctypes.data, self.address + low, high - low, [self.memory], True, timeout)
        return np.ndarray(self.shape, self.dtype, raw, -low, self.strides)

    def _write_runs(self, source, stream):
        for offset, index in geometry.runs(self._stand_in()):
            piece = np.ascontiguousarray(source[index])
            stream.copy(self.address + offset, piece.ctypes.data, piece.nbytes, [self.memory])
            stream.keep(piece)

    def _copy_from_device(self, other, stream, asynchronous, timeout):
        if other.shape != self.shape or other.dtype != self.dtype:
            raise ValueError(f'copy_to_device: the source is {other.dtype}{list(other.shape)}, the array '
                             f'{self.dtype}{list(self.shape)}')
        if self.size == 0:
            return
        if other.strides != self.strides or not self._is_dense():
            self.copy_to_device(other.copy_to_host(), stream if asynchronous else None, timeout)
            return
        low, high = self._span()
        stream.copy(self.address + low, other.address + low, high - low, [self.memory, other.memory], not asynchronous,
                    timeout)


class DeviceRecord(DeviceNDArray):
    """A structured scalar in a GPU's memory; its fields are arrays of one element: record['x']."""

    def __init__(self, dtype, memory, offset_bytes=0, stream=None):
        super().__init__((), (), dtype, memory, offset_bytes, stream)

    def __getitem__(self, index):
        if not isinstance(index, str):
            return super().__getitem__(index)
        if index not in (self.dtype.names or ()):
            raise KeyError(f'the record has no field {index!r}; it has {", ".join(self.dtype.names or ())}')
        dtype, offset = self.dtype.fields[index][:2]
        return DeviceNDArray(dtype.shape, geometry.default_strides(dtype.shape, dtype.base, 'C'), dtype.base, self.memory,
                             self.offset_bytes + offset, self.stream)


def device_array(shape, dtype=np.float64, strides=None, order='C', stream=None, device=None, resource=None):
    """An uninitialised array on the device (default: default_gpu()), as numpy.empty(). resource: where its memory comes from, a
    CachingResource or an object with allocate() and deallocate() (see resource.py)."""
    shape, dtype, strides, low, high = geometry.form(shape, dtype, strides, order)
    return DeviceNDArray(shape, strides, dtype, _memory_for(max(high - low, 1), stream, device, resource), -low, None)


def _memory_for(size_bytes, stream, device, resource):
    device = _device_for(stream, device)
    return Memory(device, size_bytes) if resource is None else allocated(resource, stream_of(stream, device), size_bytes)


def _device_for(stream, device):
    """That of the stream, or the one given in its place, as numba.roc's `context`."""
    if isinstance(stream, Device):
        return stream
    return stream.device if hasattr(stream, 'device') else gpu_of(device)


def device_array_like(ary, stream=None, device=None, resource=None):
    """Of the same shape, type and order."""
    order = 'F' if _is_f_only(ary) else 'C'
    return device_array(ary.shape, ary.dtype, order=order, stream=stream, device=device, resource=resource)


def to_device(obj, stream=None, copy=True, to=None, device=None, resource=None):
    """Copies an array, a structured scalar, or what NumPy makes an array of, to the device. `stream` may be a Device, as
    numba.roc's `context`. copy=False allocates only, from `resource`, as device_array();
    `to` is a device array to be filled instead. With a stream and a pinned or registered array, the copy is enqueued only."""
    if to is None:
        to = _allocated_for(obj, stream, device, resource)
    if copy:
        to.copy_to_device(obj, stream)
    return to


def _allocated_for(obj, stream, device, resource):
    if isinstance(obj, DeviceNDArray):
        return device_array_like(obj, stream, device or obj.device, resource)
    if isinstance(obj, np.void):
        return DeviceRecord(obj.dtype, _memory_for(max(obj.dtype.itemsize, 1), stream, device, resource))
    return device_array_like(np.asarray(obj), stream, device, resource)


def _is_f_only(ary):
    if isinstance(ary, DeviceNDArray):
        return ary.is_f_contiguous() and not ary.is_c_contiguous()
    return ary.flags.f_contiguous and not ary.flags.c_contiguous

