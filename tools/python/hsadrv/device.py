"""The GPUs of this machine."""
import atexit
import functools
import os

from . import _c


@functools.cache
def driver():
    """The handle of the runtime."""
    handle = _c.made('driver_create')
    atexit.register(_c.quietly, 'driver_destroy', handle)
    return handle


class Device:
    """A GPU. `name` ("gfx90a"), `product_name`, `uuid`, `pci_address`, `isa`, `compute_units`, `wavefront_size`,
    `workgroup_max`, `lds_bytes`, `memory_bytes`, … are those of hsadrv_device_facts."""

    def __init__(self, handle, index):
        self.handle, self.index = handle, index
        facts = _c.DeviceFacts()
        _c.call('device_info', handle, facts)
        for name, _ in facts._fields_[1:]:
            value = getattr(facts, name)
            if isinstance(value, bytes):
                value = value.decode(errors='replace')
            elif not isinstance(value, int):
                value = tuple(value)
            setattr(self, name, value)

    def __repr__(self):
        return f'<GPU {self.index}: {self.name} ({self.product_name})>'


@functools.cache
def gpus():
    """All GPUs that can run kernels, as a tuple. ROCR_VISIBLE_DEVICES applies."""
    return tuple(Device(_c.made('driver_device', driver(), index), index)
                 for index in range(_c.made('driver_device_count', driver())))


def find_gpu(text):
    """The GPU named by an index, a UUID, a PCI address or a name."""
    handle = _c.made('driver_find_device', driver(), str(text).encode())
    return next(device for device in gpus() if device.handle == handle)


@functools.cache
def default_gpu():
    """The one that HSADRV_DEVICE names; otherwise the first."""
    wanted = os.environ.get('HSADRV_DEVICE')
    return find_gpu(wanted) if wanted else gpus()[0]


def gpu_of(device):
    """A Device for what users pass: a Device, an index or a name, None for the default."""
    if device is None:
        return default_gpu()
    return device if isinstance(device, Device) else find_gpu(device)


def gpus_of(devices):
    """A list of Devices for what users pass: one, several, or None for all."""
    if devices is None:
        return gpus()
    if isinstance(devices, (Device, int, str)):
        return [gpu_of(devices)]
    return [gpu_of(device) for device in devices]
