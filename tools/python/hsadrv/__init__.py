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
from .device import Device, default_gpu, find_gpu, gpus
from .device_array import DeviceNDArray, DeviceRecord, device_array, device_array_like, to_device
from .dlpack import from_dlpack
from .errors import (CompileError, DeviceLost, Error, HostFunctionError, InvalidArgument, InvalidCodeObject, MemoryFault,
                     NoDevice, NotOffered, OutOfMemory, QueueError, Timeout)
from .graph_builder import GraphBuilder
from .host_array import MappedNDArray, deregister, mapped, mapped_array, pinned, pinned_array, register
from .kernel import Kernel, Module, compile, load  # noqa: A004
from .managed import ManagedFacts, advise, managed_array, managed_facts, prefetch
from .memory import Memory
from .resource import CachingResource
from .sharing import DmaBuf, IpcArrayHandle, open_dmabuf, open_ipc_array
from .signals import Signal, open_ipc_signal
from .stream import Event, Graph, Stream, default_stream
from .virtual import PhysicalMemory, VirtualRange


def stream(device=None, **options):
    """A new Stream."""
    return Stream(device, **options)


def synchronize(timeout=None):
    """Waits for the calling thread's default streams."""
    for device in gpus():
        default_stream(device).synchronize(timeout)


__all__ = [
    'CachingResource', 'CompileError', 'Device', 'DeviceLost', 'DeviceNDArray', 'DeviceRecord', 'DmaBuf', 'Error',
    'Event', 'Graph', 'GraphBuilder', 'HostFunctionError', 'InvalidArgument', 'InvalidCodeObject',
    'IpcArrayHandle', 'Kernel', 'ManagedFacts', 'MappedNDArray', 'Memory', 'MemoryFault', 'Module', 'NoDevice',
    'NotOffered', 'OutOfMemory', 'PhysicalMemory', 'QueueError', 'Signal', 'Stream', 'Timeout', 'VirtualRange',
    'advise', 'compile', 'default_gpu', 'default_stream', 'deregister', 'device_array', 'device_array_like',
    'find_gpu', 'from_dlpack', 'gpus', 'load', 'managed_array', 'managed_facts', 'mapped', 'mapped_array',
    'open_dmabuf', 'open_ipc_array', 'open_ipc_signal', 'pinned', 'pinned_array', 'prefetch', 'register',
    'stream', 'synchronize', 'to_device']
