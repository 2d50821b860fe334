"""The GPUs of this machine."""
from __future__ import annotations

import atexit
import collections
import collections.abc
import functools
import os
import threading
from typing import TYPE_CHECKING, TypeVar

from . import _c
from ._types import Any, DeviceLike
from .errors import NoDevice, NotOffered


@functools.cache
def driver() -> Any:
    """The handle of the runtime."""
    handle = _c.made('driver_create')
    atexit.register(_c.quietly, 'driver_destroy', handle)
    return handle


_Self = TypeVar('_Self')
MemoryInfo = collections.namedtuple('MemoryInfo', 'free total')  # bytes


class _Threads(threading.local):
    """What a thread has: Devices that it selected and used last; the Devices and Streams of with-statements, the innermost last."""

    def __init__(self):
        self.selected, self.used, self.entered = None, None, []


threads = _Threads()


class Entered:
    """In a with-statement, calls of the thread that name no device or stream use it."""

    def __enter__(self: _Self) -> _Self:
        threads.entered.append(self)
        return self

    def __exit__(self, *_: Any) -> None:
        threads.entered.pop()


class Device(Entered):
    """A GPU. `name` ("gfx90a"), `product_name`, `uuid`, `pci_address`, `isa`, `compute_units`, `wavefront_size`,
    `workgroup_max`, `lds_bytes`, `memory_bytes`, … are those of hsadrv_device_facts."""

    def __init__(self, handle: Any, index: Any) -> None:
        self.handle, self.index, self.device = handle, index, self
        facts = self._facts()
        for name, _ in facts._fields_[1:]:
            value = getattr(facts, name)
            if isinstance(value, bytes):
                value = value.decode(errors='replace')
            elif not isinstance(value, int):
                value = tuple(value)
            setattr(self, name, value)

    id = property(lambda self: self.index)

    if TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any: ...  # noqa: E704

    def _facts(self):
        facts = _c.DeviceFacts()
        _c.call('device_info', self.handle, facts)
        return facts

    def synchronize(self, timeout: float | None = None) -> None:
        """Waits for the streams of the device, of all threads, that this module has made."""
        from .stream import streams_of
        for stream in streams_of(self):
            stream.synchronize(timeout)

    def get_memory_info(self) -> MemoryInfo:
        """Bytes, now: (free, total). Free is 0 where the runtime is too old to say."""
        return MemoryInfo(self._facts().memory_free_bytes, self.memory_bytes)

    def __repr__(self) -> str:
        return f'<GPU {self.index}: {self.name} ({self.product_name})>'


class _Gpus(collections.abc.Sequence):
    """All GPUs that can run kernels: gpus[n], len(gpus), for gpu in gpus; gpus() is a tuple. ROCR_VISIBLE_DEVICES applies."""

    @functools.cache
    def __call__(self):
        return tuple(Device(_c.made('driver_device', driver(), index), index)
                     for index in range(_c.made('driver_device_count', driver())))

    def __getitem__(self, index: int) -> Device:  # type: ignore[override]
        return self()[index]

    def __len__(self):
        return len(self())

    @property
    def current(self):
        """default_gpu(), once the thread has used it; before, and after close(), None."""
        return threads.entered[-1].device if threads.entered else threads.selected or threads.used


gpus = _Gpus()


def find_gpu(text: str) -> Device:
    """The GPU named by an index, a UUID, a PCI address or a name."""
    handle = _c.made('driver_find_device', driver(), str(text).encode())
    return next(device for device in gpus if device.handle == handle)


@functools.cache
def _first():
    wanted = os.environ.get('HSADRV_DEVICE')
    return find_gpu(wanted) if wanted else gpus[0]


def default_gpu() -> Device:
    """That of the innermost with-statement; otherwise the one that select_device() chose, that HSADRV_DEVICE names, or the first."""
    threads.used = (threads.entered[-1].device if threads.entered else threads.selected) or _first()
    return threads.used


def select_device(device: DeviceLike) -> Device:
    """The calling thread's default_gpu() from now on."""
    threads.selected = gpu_of(device)
    return threads.selected


def close():
    """The calling thread's select_device() ends. (Numba's frees memory, too; here that goes with its last reference.)"""
    threads.selected = threads.used = None


def is_available() -> bool:
    """Whether there is a GPU that can run kernels."""
    try:
        return len(gpus) > 0
    except (NoDevice, NotOffered):
        return False


def detect() -> bool:
    """Prints what GPUs there are; returns whether there is one."""
    found = gpus() if is_available() else ()
    print(f'Found {len(found)} ROCm devices')
    for gpu in found:
        print(f'{gpu!r}: {gpu.isa}, {gpu.compute_units} compute units, {gpu.memory_bytes >> 20} MiB, {gpu.pci_address}, {gpu.uuid}')
    return bool(found)


def gpu_of(device: DeviceLike) -> Device:
    """A Device for what users pass: a Device, an index or a name, None for the default."""
    if device is None:
        return default_gpu()
    return device if isinstance(device, Device) else find_gpu(device)


def gpus_of(devices: Any) -> Any:
    """A list of Devices for what users pass: one, several, or None for all."""
    if devices is None:
        return gpus()
    if isinstance(devices, (Device, int, str)):
        return [gpu_of(devices)]
    return [gpu_of(device) for device in devices]
