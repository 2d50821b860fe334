"""Errors of the library's calls. Each message names the call, the object, the numbers and, if known, the remedy."""


class Error(RuntimeError):
    """A call failed. `status`: the hsa_status_t that caused it, 0 if none did."""

    status = 0


class InvalidArgument(Error, ValueError):
    """Nothing was enqueued."""


class NeedsCopy(InvalidArgument, NotImplementedError):
    """A view in that shape would need a copy: array.copy(), or copy_to_host()."""


class OutOfMemory(Error, MemoryError):
    """Of a device or of the runtime: memory, queues or another resource."""


class InvalidCodeObject(Error):
    """Malformed, or compiled for another GPU."""


class CompileError(Error):
    """The source does not compile, and the message holds the compiler's; or there is no compiler, and it lists what to
    install."""


class QueueError(Error):
    """The packet processor stopped a queue; its stream has failed."""


class MemoryFault(Error):
    """A kernel accessed memory that is not there; the device is lost. `address`: of the page."""

    address = 0


class DeviceLost(Error):
    """To a memory fault or a reset, until the process ends."""


class Timeout(Error, TimeoutError):
    """The deadline passed. No work is lost; the wait may be repeated."""


class NoDevice(Error):
    """There is no usable GPU, or none of that name."""


class NotOffered(Error, NotImplementedError):
    """The HSA runtime is too old, or the system has no such memory."""


class HostFunctionError(Error):
    """A function given to Stream.call() raised; the stream has failed."""


BY_RESULT = {
    2: InvalidArgument, 3: InvalidArgument, 4: OutOfMemory, 5: OutOfMemory, 6: InvalidCodeObject, 7: QueueError,
    8: MemoryFault, 9: DeviceLost, 11: Timeout, 12: NoDevice, 13: NotOffered, 15: HostFunctionError,
    17: CompileError, 18: CompileError,
}
