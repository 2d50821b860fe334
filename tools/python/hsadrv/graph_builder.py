"""Graphs that are built node by node."""
from __future__ import annotations

import weakref

import numpy as np

from . import _c, description
from ._types import Any, Callable, DeviceLike, ShapeLike
from .device import gpu_of
from .device_array import DeviceNDArray
from .host_array import address_of
from .stream import Graph, ended_at_exit, host_function


class GraphBuilder:
    """Adds nodes, each with those that it follows, and finishes a Graph:

        build = GraphBuilder()
        upload = build.copy(d_a, a)
        left = build.kernel(f, (d_a, d_b), grid, group, after=upload)
        right = build.kernel(g, (d_a, d_c), grid, group, after=upload)
        build.kernel(add, (d_b, d_c), grid, group, after=[left, right])
        graph = build.finish()

    A node starts when those of `after` are complete: a node, or several. Nodes that do not follow each other may overlap. The graph keeps
    arrays, kernels and functions."""

    def __init__(self, device: DeviceLike = None) -> None:
        self.device = gpu_of(device)
        self.handle = _c.made('graph_builder_create', self.device.handle)
        self._end = weakref.finalize(self, _c.quietly, 'graph_builder_destroy', self.handle)
        ended_at_exit(self)
        self._kept = []

    def kernel(self, kernel: Any, arguments: Any, grid: ShapeLike, group: ShapeLike, lds_bytes: int = 0, after: Any = ()) -> Any:
        """As kernel.launch(). NumPy arrays must be mapped or registered."""
        packed, config = kernel.described(arguments, grid, group, lds_bytes)
        node = self._add('kernel', after, kernel.handle, config, packed.arguments, len(arguments))
        self._kept.append((kernel, packed.kept, arguments))
        return node

    def copy(self, to: Any, source: Any, after: Any = ()) -> Any:
        """Between arrays of the same shape, type and strides, on the device or the host. Each replay reads the source."""
        if (to.shape, to.dtype, to.strides) != (source.shape, source.dtype, source.strides):
            raise ValueError(f'copy: the source is {source.dtype}{list(source.shape)} with strides {source.strides}, the destination '
                             f'{to.dtype}{list(to.shape)} with strides {to.strides}')
        if isinstance(to, np.ndarray) and not to.flags.writeable:
            raise ValueError('copy: the destination is read-only')
        size = to.nbytes
        node = self._add('copy', after, self._begin('copy', to), self._begin('copy', source), size)
        return self._keep(node, to, source)

    def fill(self, to: Any, value: Any, after: Any = ()) -> None:
        """Writes a value to all elements of an array."""
        pattern = np.asarray(value).astype(to.dtype).tobytes()
        if len(pattern) != to.itemsize:
            raise ValueError('fill: the value is an array')
        return self._keep(self._add('fill', after, self._begin('fill', to), to.nbytes, pattern, len(pattern)), to)

    def call(self, function: Callable[..., Any], *arguments: Any, after: Any = ()) -> Any:
        """Calls function(*arguments) on a thread of the library in each replay. If it raises, the launching stream fails."""
        return host_function(lambda run, number, release: self._add('call', after, run, number, release),
                             lambda: function(*arguments))

    def graph(self, graph: Any, after: Any = ()) -> Any:
        """A whole graph of the same device."""
        return self._keep(self._add('graph', after, graph.handle), graph)

    def empty(self, after: Any = ()) -> Any:
        """No work: one node to follow in place of several."""
        return self._add('empty', after)

    def finish(self) -> Graph:
        """The Graph. The builder then begins an empty one."""
        handle = _c.made('graph_builder_finish', self.handle)
        kept, self._kept = self._kept, []
        return Graph(handle, kept)

    def _add(self, what, after, *arguments):
        nodes = [after] if isinstance(after, _c.GraphNode) else list(after)
        listed = (_c.GraphNode * len(nodes))(*nodes)
        return _c.made_structure('graph_builder_add_' + what, self.handle, listed, len(nodes), *arguments)

    def _keep(self, node, *arrays):
        for ary in arrays:
            if isinstance(ary, DeviceNDArray):
                _c.call('graph_builder_hold', self.handle, ary.memory.handle)
        self._kept.append(arrays)
        return node

    @staticmethod
    def _begin(call, ary):
        """The address of its first byte. Its elements must fill the bytes up to the last."""
        low, high = description.extent(ary._array if isinstance(ary, DeviceNDArray) else description.of_host(ary))
        if high - low != ary.nbytes:
            raise ValueError(f'{call}: the elements of {ary.dtype}{list(ary.shape)} with strides {ary.strides} are not side by side')
        return low + (ary.address if isinstance(ary, DeviceNDArray) else address_of(ary))
