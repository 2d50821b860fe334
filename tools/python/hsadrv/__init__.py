"""NumPy arrays and kernels on AMD GPUs, through hsadrv's C interface. No HIP, and nothing to compile at installation.

    import numpy as np
    import hsadrv as roc

    code = roc.load(roc.compile('''
        #include <shared/device/device.hpp>
        HSADRV_KERNEL void scale(float* data, float by) { data[hsadrv::get_global_id(0)] *= by; }'''))
    d_a = roc.to_device(np.arange(1000, dtype=np.float32))
    code['scale'][10, 100](d_a, np.float32(2))
    print(d_a.copy_to_host())

Needs libdevicearray.so.0 and libhsadrv.so.0: installed, or named by HSADRV_LIBRARY. HSADRV_DEVICE names the default GPU.
"""
from __future__ import annotations

import contextlib

from . import _c
from ._types import Any, DeviceLike
from .agents import Agent, Pool, agents
from .device import Device, close, default_gpu, detect, find_gpu, gpus, is_available, select_device
from .device_array import DeviceNDArray, DeviceRecord, device_array, device_array_like, to_device
from .dlpack import from_dlpack
from .errors import (CompileError, DeviceLost, Error, HostFunctionError, InvalidArgument, InvalidCodeObject, MemoryFault,
                     NeedsCopy, NoDevice, NotOffered, OutOfMemory, QueueError, Timeout)
from .graph_builder import GraphBuilder
from .host_array import (MappedNDArray, coarsegrain_array, deregister, finegrain_array, mapped, mapped_array, mapped_array_like, pinned,
                         pinned_array, pinned_array_like, register)
from .interchange import as_cuda_array, from_cuda_array_interface, is_cuda_array
from .kernel import In, InOut, Kernel, Module, Out, compile, load  # noqa: A004
from .managed import ManagedFacts, advise, managed_array, managed_facts, prefetch
from .memory import Memory
from .resource import CachingResource
from .sharing import DmaBuf, IpcArrayHandle, open_dmabuf, open_ipc_array
from .signals import Signal, open_ipc_signal
from .stream import Event, Graph, Stream, default_stream, event, event_elapsed_time
from .virtual import PhysicalMemory, VirtualRange


def stream(device: DeviceLike = None, **options: Any) -> Stream:
    """A new Stream."""
    return Stream(device, **options)


def synchronize(timeout: float | None = None) -> None:
    """Waits for the work of all GPUs that this module was given, as Device.synchronize()."""
    for device in gpus:
        device.synchronize(timeout)


def defer_cleanup() -> contextlib.AbstractContextManager[None]:
    """As Numba's: nothing in this context waits for memory to be freed. Nothing ever does: it is freed when its last use is complete."""
    return contextlib.nullcontext()


__version__ = _c.version
get_current_device = current_context = default_gpu
list_devices = gpus


__all__ = [
    'Agent', 'CachingResource', 'CompileError', 'Device', 'DeviceLost', 'DeviceNDArray', 'DeviceRecord', 'DmaBuf', 'Error',
    'Event', 'Graph', 'GraphBuilder', 'HostFunctionError', 'In', 'InOut', 'InvalidArgument', 'InvalidCodeObject',
    'IpcArrayHandle', 'Kernel', 'ManagedFacts', 'MappedNDArray', 'Memory', 'MemoryFault', 'Module', 'NeedsCopy', 'NoDevice',
    'NotOffered', 'Out', 'OutOfMemory', 'PhysicalMemory', 'Pool', 'QueueError', 'Signal', 'Stream', 'Timeout', 'VirtualRange',
    'advise', 'agents', 'as_cuda_array', 'close', 'coarsegrain_array', 'compile', 'current_context', 'default_gpu', 'default_stream',
    'defer_cleanup', 'deregister', 'detect', 'device_array', 'device_array_like', 'event', 'event_elapsed_time', 'find_gpu',
    'finegrain_array', 'from_cuda_array_interface', 'from_dlpack', 'get_current_device', 'gpus', 'is_available',
    'is_cuda_array', 'list_devices', 'load', 'managed_array', 'managed_facts', 'mapped', 'mapped_array',
    'mapped_array_like', 'open_dmabuf', 'open_ipc_array', 'open_ipc_signal', 'pinned', 'pinned_array',
    'pinned_array_like', 'prefetch', 'register', 'select_device', 'stream', 'synchronize', 'to_device']
