"""Memory of GPUs and of the host, and registrations of the program's own memory."""
from __future__ import annotations

import weakref

from . import _c
from ._types import Any, DTypeLike, DeviceLike, Sequence, ShapeLike


class Memory:
    """size_bytes bytes, freed with the last reference to this object; kernels in flight hold it, too."""

    def __init__(self, device: DeviceLike, size_bytes: int, kind: int = _c.DEVICE) -> None:
        with _c.called_from_program():
            self._take(device, _c.made('memory_create', device.handle, kind, size_bytes), size_bytes, kind)

    @classmethod
    def of_handle(cls, device: DeviceLike, handle: Any, kind: int = _c.DEVICE) -> Any:
        """Takes a hsadrv_memory of any origin."""
        memory = cls.__new__(cls)
        memory._take(device, handle, _c.made('memory_size', handle), kind)
        return memory

    def _take(self, device, handle, size_bytes, kind):
        self.device, self.handle, self.size_bytes, self.kind = device, handle, size_bytes, kind
        self.address = _c.made('memory_address', handle) or 0
        weakref.finalize(self, _c.quietly, 'memory_destroy', handle)

    def array(self, shape: ShapeLike, dtype: DTypeLike, strides: Sequence[int] | None = None, order: str = 'C',
              offset_bytes: int = 0) -> DeviceNDArray:
        """A DeviceNDArray in this memory, which it keeps. offset_bytes: of the element whose indices are all zero."""
        from .device_array import in_memory
        return in_memory(self, shape, dtype, strides, order, offset_bytes)

    @property
    def is_of_host(self) -> Any:
        return self.kind in (_c.HOST, _c.HOST_COARSE)


class Registration:
    """Pins a range of host memory until close(). `address`: the GPUs' address of its beginning."""

    def __init__(self, device: DeviceLike, host_address: Any, size_bytes: int) -> None:
        self.host_address, self.size_bytes = host_address, size_bytes
        self.users = weakref.WeakSet()  # streams
        self.handle = _c.made('registration_create', device.handle if device else None, host_address, size_bytes, _c.HOST)
        self.address = _c.made('registration_address', self.handle)
        self._end = weakref.finalize(self, _c.quietly, 'registration_destroy', self.handle)

    def close(self) -> None:
        """Work that uses it must be complete."""
        if self._end.detach():
            _c.call('registration_destroy', self.handle)

    def contains(self, address: Any, size_bytes: int) -> bool:
        return self.host_address <= address and address + size_bytes <= self.host_address + self.size_bytes
