"""Virtual memory: addresses and memory that are separate, and mapped to each other. Needs ROCm 6.0: raises NotOffered otherwise."""
from __future__ import annotations

import weakref

from . import _c
from ._types import Any, DeviceLike
from .device import driver, gpu_of, gpus_of
from .memory import Memory


class PhysicalMemory:
    """Memory of a GPU without an address, a multiple of granule() bytes."""

    def __init__(self, size_bytes: int, device: DeviceLike = None) -> None:
        self._take(_c.made('physical_memory_create', gpu_of(device).handle, _c.DEVICE, size_bytes), size_bytes)

    @classmethod
    def open(cls, file: Any, size_bytes: int) -> Any:
        """What another process has shared, of the same size: of its descriptor, or an object with fileno()."""
        memory = cls.__new__(cls)
        descriptor = file if isinstance(file, int) else file.fileno()
        memory._take(_c.made('physical_memory_import', driver(), descriptor, size_bytes), size_bytes)
        return memory

    def _take(self, handle, size_bytes):
        self.handle, self.size_bytes = handle, size_bytes
        weakref.finalize(self, _c.quietly, 'physical_memory_destroy', handle)

    @staticmethod
    def granule(device: DeviceLike = None) -> Any:
        """Bytes."""
        return _c.made('physical_memory_granule', gpu_of(device).handle, _c.DEVICE)

    def share(self) -> Any:
        """A descriptor for open(), also in another process. The caller closes it."""
        return _c.made('physical_memory_share', self.handle)


class VirtualRange:
    """Reserved addresses, a multiple of 4096 bytes."""

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        self.handle = _c.made('virtual_range_create', driver(), size_bytes)
        self.address = _c.made('virtual_range_address', self.handle)
        weakref.finalize(self, _c.quietly, 'virtual_range_destroy', self.handle)

    def map(self, physical: Any, offset_bytes: int = 0, devices: Any = None) -> Any:
        """Maps all of a PhysicalMemory at that offset for these devices (default: all), and returns a Memory, whose array() makes arrays.
        It is unmapped with the last of them."""
        devices = gpus_of(devices)
        handle = _c.made('virtual_range_map', self.handle, offset_bytes, physical.handle, *_c.handles_of(devices))
        return Memory.of_handle(devices[0], handle)
