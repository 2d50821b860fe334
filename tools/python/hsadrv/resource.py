"""Memory from an allocator of the program's, below device arrays."""
from __future__ import annotations

import itertools
import sys
import traceback
import weakref

from . import _c
from ._types import Any, DeviceLike, StreamLike
from .device import driver, gpu_of
from .memory import Memory

_numbers = itertools.count(1)
_used = {}  # what C gets as `user` -> _Use, until the library releases it


class _Use:
    """One allocation from a program's resource."""

    def __init__(self, resource, stream):
        self.resource, self.stream, self.failure = resource, stream, None


@_c.AllocateFunction
def _allocate(size_bytes, alignment_bytes, _, number):
    use = _used[number]
    try:
        return use.resource.allocate(size_bytes, alignment_bytes, use.stream)
    except BaseException as failure:  # raised by allocated()
        use.failure = failure
        return None


@_c.DeallocateFunction
def _deallocate(address, size_bytes, alignment_bytes, number):
    try:
        _used[number].resource.deallocate(address, size_bytes, alignment_bytes)
    except BaseException:  # none may leave a callback
        print('hsadrv: deallocate() of a memory resource raised:', file=sys.stderr)
        traceback.print_exc()


@_c.ReleaseFunction
def _release(number):
    _used.pop(number, None)


class CachingResource:
    """A caching allocator of a device's memory, which makes no call of the runtime for memory that was freed before. limit_bytes: the most
    that it holds."""

    def __init__(self, device: DeviceLike = None, limit_bytes: int = 0) -> None:
        self.device = gpu_of(device)
        self.handle = _c.made('memory_resource_create_cache', self.device.handle, _c.DEVICE, limit_bytes)
        weakref.finalize(self, _c.quietly, 'memory_resource_destroy', self.handle)


def allocated(resource: Any, stream: StreamLike, size_bytes: int, alignment_bytes: Any = 0) -> Any:
    """Memory for a stream's device: from a CachingResource, or from any object with allocate(size_bytes, alignment_bytes, stream), which
    returns an address that the device accesses, and deallocate(address, size_bytes, alignment_bytes), which is called when no array and
    no work uses it, on any thread."""
    if isinstance(resource, CachingResource):
        return _created(resource.handle, stream, size_bytes, alignment_bytes)
    number = next(_numbers)
    use = _used[number] = _Use(resource, stream)
    callbacks = _c.MemoryCallbacks(allocate=_allocate, deallocate=_deallocate, release=_release, user=number)
    try:
        handle = _c.made('memory_resource_create', driver(), callbacks)
    except BaseException:
        del _used[number]
        raise
    try:
        return _created(handle, stream, size_bytes, alignment_bytes)
    except _c.errors.OutOfMemory:
        if use.failure is not None:
            raise use.failure from None
        raise
    finally:
        use.stream = None
        _c.quietly('memory_resource_destroy', handle)  # the memory keeps it


def _created(handle, stream, size_bytes, alignment_bytes):
    return Memory.of_handle(stream.device, _c.made('memory_create_from', handle, stream.handle, size_bytes, alignment_bytes))
