"""Streams, whose operations run in the order in which they were enqueued, and events in them."""
from __future__ import annotations

import asyncio
import atexit
import collections
import contextlib
import itertools
import sys
import threading
import time
import traceback
import weakref

from . import _c
from ._types import Any, Callable, DeviceLike, ShapeLike, StreamLike
from .device import Device, Entered, gpu_of, threads
from .signals import condition_number

_CLOSE_S = 10

# What host functions get as `user` is a number: the objects live here until the library releases it.
_calls = {}
_alive = weakref.WeakSet()  # streams, graphs and their builders
ended_at_exit = _alive.add
_numbers = itertools.count(1)


class _Call:
    """A function, and what follows when it was called or will not be."""

    def __init__(self, function, released=lambda: None):
        self.run, self.released = function, released


@_c.HostFunction
def _run_call(number):
    try:
        _calls[number].run()
        return 0
    except BaseException:  # none may leave a callback
        print('hsadrv: a host function of a stream or a graph raised:', file=sys.stderr)
        traceback.print_exc()
        return 1


@_c.ReleaseFunction
def _release_call(number):
    call = _calls.pop(number, None)
    if call:
        call.released()


def host_function(enqueue: Any, function: Callable[..., Any], released: Any = lambda: None) -> Any:
    """Returns enqueue(…), which gives C a function that calls this one."""
    number = next(_numbers)
    _calls[number] = _Call(function, released)
    try:
        if _c.ending:
            _c.end_daemon()
            raise RuntimeError('the interpreter is ending: no function of the host can be called')
        return enqueue(_run_call, number, _release_call)
    except BaseException:
        del _calls[number]
        raise


@atexit.register
def _end_calls():
    """No host function may run, nor be released, when the interpreter ends: the thread would end inside of the library. Other
    threads, which may be daemons, make no more calls."""
    _c.ending = True
    for ends in list(_alive):
        ends._end()
    until = time.monotonic() + _CLOSE_S
    while _calls and time.monotonic() < until:
        time.sleep(0.001)


class Event:
    """A point in a stream: made by Stream.record(), or before it by event()."""

    def __init__(self, timing: bool = True) -> None:
        self.timing, self.handle, self.capture = timing, None, None

    def record(self, stream: StreamLike = None) -> Any:
        """The point where all that is enqueued so far is complete."""
        stream = stream_of(stream, device_for(stream))
        if self.handle is not None:
            self._end()
        self.handle, self.capture = _c.made('stream_record', stream.handle, int(self.timing), _c.FOREVER), stream._capture
        self._end = weakref.finalize(self, _c.quietly, 'event_destroy', self.handle)

    def wait(self, stream: StreamLike = None) -> Any:
        """What the stream gets later waits for it, on the device."""
        stream_of(stream, device_for(stream)).wait(self)

    def synchronize(self, timeout: float | None = None) -> None:
        """Returns when it is complete; raises Timeout after that many seconds."""
        if self.handle is not None:
            _c.call('event_synchronize', self.handle, _c.nanoseconds(timeout))

    def query(self) -> bool:
        """Whether it is complete; one that was not recorded is."""
        return self.handle is None or bool(_c.made('event_query', self.handle))

    def elapsed_time(self, later: Any) -> float:
        """Milliseconds up to the other, as Numba's."""
        return later.seconds_since(self) * 1e3

    def seconds_since(self, earlier: Any) -> float:
        """By the device's clock, between two complete events that were recorded with timing=True."""
        return _c.made('event_elapsed', earlier.handle, self.handle) * 1e-9


class _Capture:
    """What a graph that is being recorded keeps, and the streams that take part."""

    def __init__(self):
        self.kept, self.streams = [], []

    def joined_by(self, stream):
        stream._capture = self
        self.streams.append(stream)

    def end(self):
        """What it has kept."""
        for stream in self.streams:
            stream._capture = None
        kept, self.kept, self.streams = self.kept, [], []
        return kept


class Graph:
    """Work that was recorded once, in Stream.capture() or by a GraphBuilder, and is replayed by launch()."""

    def __init__(self, handle: Any, kept: Any) -> None:
        self.handle, self._kept = handle, kept
        self._updates = {}  # what the last three updates of each kernel have kept: replays of two may be in flight
        self._end = weakref.finalize(self, _c.quietly, 'graph_destroy', handle)
        ended_at_exit(self)

    def launch(self, stream: Stream, timeout: float | None = None) -> None:
        stream.follow_default()
        _c.call('graph_launch', self.handle, stream.handle, _c.nanoseconds(timeout))
        stream.keep(self)

    def update(self, node: Any, kernel: Any, arguments: Any, grid: ShapeLike, group: ShapeLike, lds_bytes: int = 0,
               timeout: float | None = None) -> None:
        """Replaces the launch of a kernel, from the next replay on; arguments as GraphBuilder.kernel(). `node`: that of the builder, or the
        kernel's number in the order of recording."""
        if isinstance(node, _c.GraphNode):
            node = _c.made('graph_kernel_index', self.handle, node)
        packed, config = kernel.described(arguments, grid, group, lds_bytes)
        _c.call('graph_update', self.handle, node, kernel.handle, config, packed.arguments, len(arguments), _c.nanoseconds(timeout))
        self._updates.setdefault(node, collections.deque(maxlen=3)).append((kernel, packed.kept, arguments))


class Stream(Entered):
    """A stream of a GPU. `priority`: 'normal', 'low' or 'high'. Any thread may use it. In a with-statement it is the thread's default
    stream of its device; close() ends it, or its last reference."""

    def __init__(self, device: DeviceLike = None, name: str | None = None, priority: str = 'normal', exclusive: bool = False) -> None:
        self.device, self.name, self._number = gpu_of(device), name, next(_numbers)
        try:
            number = ('normal', 'low', 'high').index(priority)
        except ValueError:
            raise ValueError(f"priority={priority!r}: 'normal', 'low' or 'high'") from None
        options = _c.StreamOptions(name=name.encode() if name else None, priority=number, exclusive=exclusive)
        self.handle = _c.made('stream_create', self.device.handle, options)
        self._kept, self._lock = {}, threading.Lock()  # by a number that grows
        self._followed = []  # streams that this one follows, and up to which number
        self._used, self._follows = 0, {}  # calls that enqueue; of other streams, up to which this one follows them
        self._capture = None
        self._end = weakref.finalize(self, _c.quietly, 'stream_destroy', self.handle, _c.nanoseconds(_CLOSE_S))
        ended_at_exit(self)

    def __repr__(self) -> str:
        return f'<Stream {self.name or hex(id(self))} of {self.device!r}>'

    def synchronize(self, timeout: float | None = None) -> None:
        """Returns when all that was enqueued is complete; raises Timeout after that many seconds, or what failed."""
        followed = [(self, next(_numbers)), *self.take_followed()]
        _c.call('stream_synchronize', self.handle, _c.nanoseconds(timeout))
        forget(followed)

    def take_followed(self):
        """The streams that this one follows, and up to where: for forget(), when what it gets from now on is complete."""
        followed, self._followed = self._followed, []
        return followed

    def query(self) -> bool:
        """Whether all that was enqueued is complete."""
        return bool(_c.made('stream_query', self.handle))

    @contextlib.contextmanager
    def auto_synchronize(self, timeout: float | None = None) -> Any:
        """Synchronizes at the end of the context, also if it is left by an exception."""
        try:
            yield self
        finally:
            self.synchronize(timeout)

    def record(self, timing: bool = False) -> Any:
        """An Event that completes when all that is enqueued so far has."""
        event = Event(timing)
        event.record(self)
        return event

    def wait(self, event: Any) -> Any:
        """What is enqueued later waits for the event, on the device."""
        if event.handle is None:  # never recorded
            return
        _c.call('stream_wait', self.handle, event.handle, _c.FOREVER)
        if event.capture is not None and self._capture is None:
            event.capture.joined_by(self)
        self.keep(event)

    def wait_signal(self, signal: Any, condition: str = '<', than: int = 1) -> None:
        """What is enqueued later waits, on the device, until the Signal's value meets the condition."""
        _c.call('stream_wait_signal', self.handle, signal.handle, condition_number(condition), than, _c.FOREVER)

    def decrement(self, signal: Any) -> None:
        """Subtracts one from a Signal when what is enqueued so far is complete."""
        _c.call('stream_decrement', self.handle, signal.handle, _c.FOREVER)

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Calls function(*arguments) in the stream's order, on a thread of the library. If it raises, the stream
        fails. It must not use the stream."""
        self._call(lambda: function(*arguments))

    def _call(self, *functions):
        self.follow_default()
        host_function(lambda *call: _c.call('stream_call', self.handle, *call, _c.FOREVER), *functions)

    def add_callback(self, callback: Callable[..., Any], arg: Any = None) -> None:
        """call() of callback(stream, status, arg), as Numba's; status is 0."""
        self.call(callback, self, 0, arg)

    def async_done(self) -> asyncio.Future[Stream]:
        """A future of asyncio: this stream, when what is enqueued so far is complete, or what failed."""
        loop = asyncio.get_running_loop()
        future, event = loop.create_future(), self.record()

        def finish():
            if not future.done():
                try:
                    event.synchronize(0)
                    future.set_result(self)
                except _c.errors.Error as error:
                    future.set_exception(error)

        def released():  # of a stream that failed, too
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(finish)

        self._call(lambda: None, released)
        return future

    @contextlib.contextmanager
    def capture(self) -> Any:
        """Records what is enqueued in the context instead of executing it, and yields a list that holds the Graph
        afterwards: with stream.capture() as graphs: …; graphs[0].launch(stream)."""
        graphs, capture = [], _Capture()
        _c.call('stream_begin_capture', self.handle)
        capture.joined_by(self)
        try:
            yield graphs
        finally:
            handle = _c.made('stream_end_capture', self.handle)  # if it raises, the capture goes on
            graphs.append(Graph(handle, capture.end()))

    def follow_default(self) -> Any:
        """Before a call that enqueues: the device's default stream is ordered with all others, as Numba's. What it gets follows what
        they were given, and what they get follows it. A capture records no such order."""
        default = _defaults.get(self.device.index)
        if default is not None and self._capture is None:
            others = streams_of(self.device) if self is default else [default]
            for other in others:
                if other is not self and other._used != self._follows.get(other._number, 0) and other._capture is None:
                    self._follows[other._number] = other._used
                    with contextlib.suppress(_c.errors.Error):  # of a stream that has failed, which says so itself
                        until, event = next(_numbers), _c.made('stream_record', other.handle, 0, _c.FOREVER)
                        _c.call('stream_wait', self.handle, event, _c.FOREVER)
                        _c.quietly('event_destroy', event)
                        self._followed.append((other, until))
        self._used += 1
        return self

    def copy(self, to: Any, source: Any, size_bytes: int, memories: Any = (), wait: bool = False, timeout: float | None = None) -> Any:
        """Copies bytes between addresses of any memory. `memories`: Memory objects to hold until then."""
        self.follow_default()
        _c.call('stream_copy_and_wait' if wait else 'stream_copy', self.handle, to, source, size_bytes,
                _c.nanoseconds(timeout))
        if not wait:
            self.hold(*memories)

    def fill(self, to: Any, size_bytes: int, pattern: Any, memory: Any = None) -> None:
        """Repeats the bytes of `pattern`."""
        self.follow_default()
        _c.call('stream_fill', self.handle, to, size_bytes, pattern, len(pattern), _c.FOREVER)
        self.hold(*([memory] if memory else []))

    def hold(self, *memories: Any) -> None:
        for memory in memories:
            if memory.handle is None:  # another library's
                self.keep(memory)
            else:
                _c.call('stream_hold', self.handle, memory.handle)

    def keep(self, kept: Any) -> None:
        """Keeps a Python object until what is enqueued so far is complete; in a capture, for the life of the graph."""
        with self._lock:
            if self._capture is not None:
                self._capture.kept.append(kept)
                return
            if len(self._kept) >= 4096 and self.query():
                self._kept.clear()
            self._kept[next(_numbers)] = kept

    def close(self, timeout: float | None = _CLOSE_S) -> None:
        """Waits for its work, then ends what remains; raises if work was lost."""
        if self._end.detach():
            handle, self.handle = self.handle, None
            _c.call('stream_destroy', handle, _c.nanoseconds(timeout))


def forget(followed):
    """Lets go of what the streams have kept up to those numbers."""
    for stream, until in followed:
        with stream._lock:
            for number in [number for number in stream._kept if number < until]:
                del stream._kept[number]


def event(timing: bool = True) -> Event:
    """An Event, for record()."""
    return Event(timing)


def event_elapsed_time(earlier: Any, later: Any) -> float:
    """Milliseconds."""
    return earlier.elapsed_time(later)


def streams_of(device: DeviceLike) -> Any:
    """All of a device that are there."""
    return [stream for stream in list(_alive) if isinstance(stream, Stream) and stream.device is device and stream._end.alive]


_defaults, _defaults_lock = {}, threading.Lock()  # of all threads, by the device's index


def default_stream(device: DeviceLike = None) -> Stream:
    """The stream of the device for calls that name none: that of the thread's innermost with-statement, or one of all threads, which is
    ordered with all others. If it has failed, this raises once, and the next call gets another."""
    device = gpu_of(device)
    for entered in reversed(threads.entered):
        if isinstance(entered, Stream) and entered.device is device:
            return entered
    with _defaults_lock:
        if device.index not in _defaults:
            _defaults[device.index] = Stream(device, name='default')
        default = _defaults[device.index]
    try:
        default.query()
    except _c.errors.Error:
        _defaults.pop(device.index, None)
        raise
    return default


def is_named(stream: StreamLike) -> bool:
    """Whether users passed a stream: not None, nor the 0 that stands for none in Numba, nor a Device."""
    return stream is not None and not isinstance(stream, Device) and not (isinstance(stream, int) and stream == 0)


def device_for(stream: StreamLike, device: DeviceLike = None) -> Any:
    """That of the stream, or the one given in its place, as numba.roc's `context`; otherwise `device`."""
    return stream.device if hasattr(stream, 'device') else gpu_of(device)


def stream_of(stream: StreamLike, device: DeviceLike) -> Any:
    """For what users pass: a Stream; None, 0 or the Device for the calling thread's."""
    if isinstance(stream, Device) and stream is not device:
        raise ValueError(f'the array is on {device!r}, not on {stream!r}')
    if not is_named(stream):
        return default_stream(device).follow_default()
    if not isinstance(stream, Stream):
        raise TypeError(f'stream={stream!r} is not a Stream')
    if stream.device is not device:
        raise ValueError(f'the array is on {device!r}, the stream on {stream.device!r}')
    if stream.handle is None:
        raise ValueError(f'{stream!r} was closed')
    return stream.follow_default()
