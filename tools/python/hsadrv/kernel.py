"""Code loaded on a GPU, its kernels, and how they are launched."""
from __future__ import annotations

import ctypes
import os
import weakref

import numpy as np

from . import _c
from ._types import Any, Callable, DeviceLike, Sequence, ShapeLike, StreamLike
from .description import in_place
from .device import gpu_of
from .device_array import DeviceNDArray, array_of, to_device
from .errors import InvalidArgument
from .host_array import device_address_of
from .stream import stream_of

_NUMPY_KINDS = {'b': _c.INTEGER, 'i': _c.INTEGER, 'u': _c.INTEGER, 'f': _c.FLOATING, 'c': _c.FLOATING}
_FLOATS = {2: np.float16, 4: np.float32, 8: np.float64}


_LANGUAGES = ('c++', 'cl', 'ir', 'asm')


def _words(words):
    """Texts as an array for C, and their number."""
    words = [os.fsencode(word) for word in words]
    return (ctypes.c_char_p * len(words))(*words), len(words)


def compile(source: Any, language: str = 'c++', options: Sequence[str] = (), device: DeviceLike = None, defines: Sequence[str] = (),
            folders: Sequence[str] = (), level: str = '2', name: str = '<source>',  # noqa: A001
            clang: str | None = None, timeout: float | None = None) -> bytes:
    """The code object of a source text for the device: 'c++', 'cl' (OpenCL C), 'ir' or 'asm'. `options`: words for clang;
    `folders`: of headers; `clang`: a program in place of the one that is found. What was compiled before comes from a
    cache. Raises CompileError with the compiler's messages."""
    if language not in _LANGUAGES:
        raise ValueError(f'language={language!r}: one of {", ".join(_LANGUAGES)}')
    text = source.encode() if isinstance(source, str) else bytes(source)
    (defines, define_count), (folders, folder_count), (words, word_count) = map(_words, (defines, folders, options))
    wanted = _c.CompileOptions(language=_LANGUAGES.index(language), level=str(level).encode(), name=name.encode(),
                               clang=os.fsencode(clang) if clang else None, defines=defines, define_count=define_count,
                               folders=folders, folder_count=folder_count, clang_options=words,
                               clang_option_count=word_count)
    made = _c.made('compile', gpu_of(device).handle, text, len(text), wanted, _c.nanoseconds(timeout))
    try:
        code, size = ctypes.c_void_p(), ctypes.c_size_t()
        _c.call('compiled_code', made, ctypes.byref(code), ctypes.byref(size))
        return ctypes.string_at(code.value, size.value)
    finally:
        _c.quietly('compiled_destroy', made)


def load(code: Any, device: DeviceLike = None) -> Module:
    """A Module from a code object or an offload bundle: bytes, or the name of a file."""
    name = '<memory>'
    if isinstance(code, (str, os.PathLike)):
        name = os.fspath(code)
        with open(code, 'rb') as file:
            code = file.read()
    return Module(bytes(code), gpu_of(device), name)


class Module:
    """Code on a device. module['name'] is a Kernel; `kernels`: their names."""

    def __init__(self, code: Any, device: DeviceLike, name: str) -> None:
        self.device, self.name = device, name
        self.handle = _c.made('executable_load', device.handle, code, len(code), name.encode())
        weakref.finalize(self, _c.quietly, 'executable_destroy', self.handle)
        self._made = {}

    @property
    def kernels(self) -> list[str]:
        count = _c.made('executable_kernel_count', self.handle)
        return [_c.made('executable_kernel_name', self.handle, n).decode() for n in range(count)]

    def kernel(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = Kernel(self, name)
        return self._made[name]

    __getitem__ = kernel

    def variable(self, name: str) -> tuple[int, int]:
        """The address and size of a variable of the code."""
        address, size = ctypes.c_void_p(), ctypes.c_size_t()
        _c.call('executable_global', self.handle, name.encode(), ctypes.byref(address), ctypes.byref(size))
        return address.value, size.value


class Kernel:
    """kernel[groups, group_size, stream, lds_bytes](arguments) launches so many work-groups, in Numba's order of
    parameters; groups and group_size are numbers or tuples of up to three. kernel.launch() takes the grid in work-items."""

    def __init__(self, module: Any, name: str) -> None:
        self.module, self.name = module, name
        self.handle = _c.made('executable_kernel', module.handle, name.encode())
        weakref.finalize(self, _c.quietly, 'kernel_destroy', self.handle)
        self.facts = _c.KernelFacts()
        _c.call('kernel_info', self.handle, self.facts)
        self.arguments = tuple(self._argument(n) for n in range(self.facts.argument_count))

    def _argument(self, n):
        facts = _c.ArgumentFacts()
        _c.call('kernel_argument_info', self.handle, n, facts)
        return facts

    def __repr__(self) -> str:
        return f'<Kernel {self.name} of {self.module.name} with {len(self.arguments)} arguments>'

    def __getitem__(self, shape: ShapeLike) -> Any:
        if not isinstance(shape, tuple) or not 2 <= len(shape) <= 4:
            raise TypeError(f'{self.name}[{shape}]: kernel[groups, group_size, stream, lds_bytes], the last two optional')
        groups, size = _three(shape[0]), _three(shape[1])
        grid = tuple(a * b for a, b in zip(groups, size))
        stream = shape[2] if len(shape) > 2 else None
        lds_bytes = shape[3] if len(shape) > 3 else 0
        return lambda *arguments, **named: self.launch(self._ordered(arguments, named), grid, size, stream, lds_bytes)

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise TypeError(f'a launch needs a size: {self.name}[groups, group_size](…), or {self.name}.forall(count)(…)')

    def forall(self, count: int, group_size: int = 256, stream: StreamLike = None) -> Callable[..., None]:
        """One work-item for each of `count` elements: kernel.forall(n)(a, b). The last work-group may be partial."""
        if count < 0:
            raise ValueError(f"{self.name}.forall({count}): Can't create ForAll with negative task count")
        group = min(group_size, max(count, 1))
        return lambda *arguments, **named: self.launch(self._ordered(arguments, named), count, group, stream)

    def suggest_group_size(self, lds_bytes_per_item: int = 0) -> tuple[int, ShapeLike]:
        """The group size with the most work-items resident on a compute unit, and how many such groups the device holds at once, for a
        kernel that loops over its data: groups, size = …; kernel[groups, size](…)."""
        size, groups = (_c.c_uint32 * 3)(), _c.c_uint32()
        _c.call('kernel_suggest_group_size', self.handle, lds_bytes_per_item, size, ctypes.byref(groups))
        return groups.value, size[0] if tuple(size[1:]) == (1, 1) else tuple(size)

    def _ordered(self, given, named):
        """Arguments by position and by the names that the kernel gives them."""
        names = [facts.name.decode() for facts in self.arguments]
        wrong = [name for name in named if name not in names[len(given):]]
        if wrong:
            raise TypeError(f'{self.name}() has no argument {wrong[0]!r} after {len(given)} by position; its arguments: '
                            f'{", ".join(names) or "none"}')
        return given + tuple(named[name] for name in names[len(given):] if name in named)

    def launch(self, arguments: Any, grid: ShapeLike, group: ShapeLike, stream: StreamLike = None, lds_bytes: int = 0,
               cooperative: bool = False) -> None:
        """Enqueues it with a grid in work-items. cooperative=True: its work-groups may wait for each other, by grid_barrier() of the device
        headers; a grid that the GPU cannot hold at once raises. NumPy arrays that are neither mapped nor registered are copied to the device
        before and back after, which waits; without a stream, and without such arrays, it does not wait either."""
        if 0 in _three(grid):
            return
        queue = stream_of(stream, self.module.device)
        packed, config = self.described(arguments, grid, group, lds_bytes, cooperative, queue)
        _c.call('kernel_launch', self.handle, queue.handle, config, packed.arguments, len(arguments), _c.FOREVER)
        packed.after_launch()

    def described(self, arguments: Any, grid: ShapeLike, group: ShapeLike, lds_bytes: int = 0, cooperative: bool = False,
                  stream: StreamLike = None) -> Any:
        """A launch in the form of the C interface. Without a stream, NumPy arrays that would be copied are refused."""
        if len(arguments) != len(self.arguments):
            raise TypeError(f'{self.name}() takes {len(self.arguments)} arguments, and got {len(arguments)}')
        config = _c.LaunchConfig(grid=_three(grid), workgroup=_three(group), lds_bytes=lds_bytes, cooperative=cooperative)
        return _Packed(self, arguments, stream), config


class In:
    """A NumPy array as an argument that a kernel only reads: not copied back."""

    copied_in, copied_back = True, False

    def __init__(self, array: Any) -> None:
        self.array = in_place(array)


class Out(In):
    """One that a kernel writes all of: not copied in."""

    copied_in, copied_back = False, True


class InOut(In):
    """One that a kernel reads and writes, as without it."""

    copied_back = True


def _three(size):
    size = (size,) if hasattr(size, '__index__') else tuple(size)
    if not 1 <= len(size) <= 3 or any(n < 0 for n in size):
        raise ValueError(f'{size}: one to three sizes that are not negative')
    return size + (1,) * (3 - len(size))


class _Packed:
    """The arguments of one launch, in the form of the C interface."""

    def __init__(self, kernel, given, stream):
        self.kernel, self.stream, self.kept, self.copied_back = kernel, stream, [], []
        self.arguments = (_c.Argument * max(len(given), 1))()
        for n, value in enumerate(given):
            self._pack(n, self.arguments[n], kernel.arguments[n], value)

    def after_launch(self):
        for kept in self.kept:
            self.stream.keep(kept)
        for host, on_device in self.copied_back:
            host[...] = on_device.copy_to_host()

    def _pack(self, n, out, facts, value):
        if not isinstance(value, (DeviceNDArray, np.ndarray)) and hasattr(value, '__cuda_array_interface__'):
            value = array_of(value)
            self.kept.append(value)
        if isinstance(value, DeviceNDArray):
            self._require_packed(n, value, value.is_c_contiguous() or value.is_f_contiguous())
            self._point(out, value.dtype, memory=value.memory, offset=value.address - value.memory.address)
        elif isinstance(value, (np.ndarray, In)) or isinstance(value, np.void) and facts.kind == _c.POINTER_KIND:
            self._host_array(n, out, facts, value if isinstance(value, In) else InOut(value))
        elif facts.kind == _c.POINTER_KIND:
            if value is not None and not hasattr(value, '__index__'):
                raise self._wrong(n, value, 'it is a pointer: a device array, a NumPy array, an address or None')
            out.kind, out.value = _c.POINTER_KIND, int(value) if value is not None else None
        else:
            self._value(n, out, facts, value)

    def _require_packed(self, n, value, packed):
        """The kernel gets an address, and knows no strides."""
        if not packed:
            raise self._wrong(n, value, f'its strides {value.strides} leave gaps or reverse it, which the kernel would not know; pass '
                              'a copy: array.copy()')
        if not value.dtype.isnative:
            raise self._wrong(n, value, f'the byte order of {value.dtype} is not the device\'s; convert it with astype()')

    def _host_array(self, n, out, facts, given):
        value = given.array
        address = device_address_of(value, self.stream)
        if address is None and self.stream is None:
            raise self._wrong(n, value, 'a graph does not copy it; it must be on the device, mapped, managed or registered')
        if address is None:
            native = value.astype(value.dtype.newbyteorder('='), copy=False)
            on_device = to_device(native, self.stream, given.copied_in, device=self.kernel.module.device).bind(self.stream)
            self.kept.append(on_device)
            if given.copied_back and not facts.is_const and value.flags.writeable:
                self.copied_back.append((value, on_device))
            self._point(out, native.dtype, memory=on_device.memory)
            return
        self._require_packed(n, value, value.flags.c_contiguous or value.flags.f_contiguous)
        self._point(out, value.dtype, address=address)
        self.kept.append(value)

    @staticmethod
    def _point(out, dtype, address=None, memory=None, offset=0):
        out.kind = _c.POINTER_KIND
        out.element_kind = _NUMPY_KINDS.get(dtype.kind, _c.UNKNOWN)
        out.element_bytes = dtype.itemsize // (2 if dtype.kind == 'c' else 1) if out.element_kind else 0
        out.value, out.memory, out.offset_bytes = address, memory.handle if memory else None, offset

    def _value(self, n, out, facts, value):
        data = self._bytes_of(n, facts, value)
        buffer = ctypes.create_string_buffer(data, len(data))
        self.kept.append(buffer)
        out.kind = _NUMPY_KINDS.get(value.dtype.kind, _c.UNKNOWN) if isinstance(value, np.number) else _c.UNKNOWN
        out.value, out.size_bytes = ctypes.addressof(buffer), len(data)

    def _bytes_of(self, n, facts, value):
        size = facts.size_bytes
        if isinstance(value, (np.generic, bytes)):
            data = value.tobytes() if isinstance(value, np.generic) else value
            if len(data) != size:
                raise self._wrong(n, value, f'it has {size} bytes, and the value {len(data)}')
            return data
        if isinstance(value, bool) or hasattr(value, '__index__'):
            if facts.kind == _c.FLOATING:
                return self._float(n, facts, float(value))
            number = int(value)
            if not -(1 << 8 * size - 1) <= number < 1 << 8 * size:
                raise self._wrong(n, value, f'it has {size} bytes, which do not hold this number')
            return number.to_bytes(size, 'little', signed=number < 0)
        if isinstance(value, complex) and size in (8, 16):
            return np.array(value, f'c{size}').tobytes()
        if isinstance(value, float):
            if facts.kind == _c.INTEGER:
                raise self._wrong(n, value, 'it is an integer')
            return self._float(n, facts, value)
        raise self._wrong(n, value, 'a number, a NumPy scalar or bytes is wanted')

    def _float(self, n, facts, value):
        if facts.size_bytes not in _FLOATS:
            raise self._wrong(n, value, f'it has {facts.size_bytes} bytes, which is no floating-point type')
        return _FLOATS[facts.size_bytes](value).tobytes()

    def _wrong(self, n, value, why):
        name = self.kernel.arguments[n].name.decode()
        return InvalidArgument(f'argument {n}{" " + repr(name) if name else ""} of kernel {self.kernel.name} cannot be '
                               f'{value!r} ({type(value).__name__}): {why}')
