"""Signals: numbers that the host, streams and other processes change, and wait for."""
from __future__ import annotations

import ctypes
import weakref

from . import _c
from ._types import Any
from .device import driver

_CONDITIONS = ('==', '!=', '<', '>=')


def condition_number(condition: str) -> Any:
    try:
        return _CONDITIONS.index(condition)
    except ValueError:
        raise ValueError(f'condition={condition!r}: one of {", ".join(_CONDITIONS)}') from None


class Signal:
    """A number of 64 bits. shared=True: other processes can open it, and its waiters spin. Any thread may use it."""

    def __init__(self, initial: int = 1, shared: bool = False) -> None:
        self._take(_c.made('signal_create', driver(), initial, int(shared)))

    def _take(self, handle):
        self.handle = handle
        weakref.finalize(self, _c.quietly, 'signal_destroy', handle)

    @property
    def value(self) -> Any:
        return _c.made('signal_load', self.handle)

    @value.setter
    def value(self, value: Any) -> Any:
        _c.call('signal_store', self.handle, value)

    def add(self, value: Any) -> None:
        """Adds to it, atomically."""
        _c.call('signal_add', self.handle, value)

    def wait(self, condition: str = '<', than: int = 1, timeout: float | None = None) -> Any:
        """Returns the value that met the condition; raises Timeout after that many seconds."""
        return _c.made('signal_wait', self.handle, condition_number(condition), than, _c.nanoseconds(timeout))

    def get_ipc_handle(self) -> Any:
        """Bytes for open_ipc_signal() in another process. The signal must be shared."""
        return bytes(_c.made_structure('signal_export_ipc', self.handle))


def open_ipc_signal(handle: Any) -> Signal:
    """The same Signal, of another process: of the bytes that its get_ipc_handle() returned."""
    if len(handle) != ctypes.sizeof(_c.IpcSignal):
        raise ValueError(f'open_ipc_signal: {len(handle)} bytes; a handle has {ctypes.sizeof(_c.IpcSignal)}')
    signal = Signal.__new__(Signal)
    signal._take(_c.made('signal_attach_ipc', driver(), _c.IpcSignal.from_buffer_copy(handle)))
    return signal
