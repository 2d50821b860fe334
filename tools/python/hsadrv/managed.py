"""Managed memory: NumPy arrays that the host and GPUs use at the same address."""
from __future__ import annotations

import collections

import numpy as np

from . import _c
from ._types import Any, DTypeLike, DeviceLike, Sequence, ShapeLike, StreamLike
from .device import gpu_of, gpus, gpus_of
from .host_array import MappedNDArray, bytes_of, in_memory
from .memory import Memory
from .stream import is_named, stream_of

_ADVICE = ('read_mostly', 'not_read_mostly', 'preferred_location', 'no_preferred_location', 'accessible_by',
           'accessible_in_place_by', 'not_accessible_by')
_ACCESS = (None, 'migrating', 'in place')

ManagedFacts = collections.namedtuple('ManagedFacts', 'read_mostly preferred_location prefetched access')


def managed_array(shape: ShapeLike, dtype: DTypeLike = np.float64, strides: Sequence[int] | None = None, order: str = 'C', stream: StreamLike = 0,
                  attach_global: bool = True, device: DeviceLike = None) -> MappedNDArray:
    """A zeroed NumPy array that kernels use in place, without a copy, as numba.cuda's. attach_global: all GPUs access it; otherwise
    `device` alone. The host sees a kernel's writes after its stream was synchronised. Raises NotOffered where the system has no shared
    virtual memory."""
    chosen = gpus() if attach_global else gpus_of(gpu_of(device))

    def allocate(size_bytes):
        handle = _c.made('memory_create_managed', *_c.handles_of(chosen), size_bytes)
        return Memory.of_handle(chosen[0], handle, _c.MANAGED)

    return in_memory(shape, dtype, strides, order, allocate)


def _place(where):
    """A handle for what users pass: a Device, or 'host'."""
    return None if isinstance(where, str) and where == 'host' else gpu_of(where).handle


def advise(ary: Any, advice: str, device: DeviceLike = None) -> None:
    """Sets an attribute of the pages of a managed array, or of any NumPy array: 'read_mostly', 'preferred_location' (of `device`, which
    may be 'host'), 'accessible_by', 'accessible_in_place_by', 'not_accessible_by', 'not_read_mostly', 'no_preferred_location'."""
    if advice not in _ADVICE:
        raise ValueError(f'advice={advice!r}: one of {", ".join(_ADVICE)}')
    _c.call('managed_advise', *bytes_of(ary), _ADVICE.index(advice), _place(device))


def prefetch(ary: Any, to: Any = None, stream: StreamLike = None, timeout: float | None = None) -> None:
    """Moves the pages of a NumPy array to a Device, or to the 'host', in the stream's order; None: to the stream's device."""
    stream = stream_of(stream, stream.device if is_named(stream) else gpu_of(None if to == 'host' else to))
    to = stream.device if to is None else to
    _c.call('stream_prefetch', stream.handle, *bytes_of(ary), _place(to), _c.nanoseconds(timeout))
    if isinstance(ary, MappedNDArray) and ary.is_mapped:
        stream.hold(ary.memory)
    stream.keep(ary)


def managed_facts(ary: Any, device: DeviceLike = None) -> Any:
    """What was set for a NumPy array's pages: whether they are read_mostly; the preferred_location and where they were prefetched, a
    Device, 'host' or None; the access of `device`: None, 'migrating' or 'in place'."""
    facts = _c.ManagedFacts()
    _c.call('managed_info', *bytes_of(ary), gpu_of(device).handle, facts)
    places = {gpu.native_agent: gpu for gpu in gpus()}
    places[0] = None
    return ManagedFacts(bool(facts.read_mostly), places.get(facts.preferred_agent, 'host'),
                        places.get(facts.prefetched_agent, 'host'), _ACCESS[facts.access])
