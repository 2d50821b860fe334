"""The C interface (hsadrv.h), through ctypes: its structures, and call(), which raises on failure."""
import ctypes
import os
import threading
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_char, c_char_p, c_int, c_int64, c_size_t, c_uint32,
                    c_uint64, c_void_p)

from . import errors

FOREVER = 2**64 - 1
_HERE = os.path.dirname(os.path.abspath(__file__))


def _load():
    wanted = os.environ.get('HSADRV_LIBRARY')
    names = [wanted] if wanted else [os.path.join(_HERE, 'libhsadrv.so.0'), 'libhsadrv.so.0']
    failures = []
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            failures.append(str(error))
    raise ImportError('hsadrv: the library is not found: install it, or set HSADRV_LIBRARY to libhsadrv.so.0 ('
                      + '; '.join(failures) + ')')


class _Sized(Structure):
    """A structure that begins with its size."""

    def __init__(self, **fields):
        super().__init__(struct_size=ctypes.sizeof(type(self)), **fields)


class DeviceFacts(_Sized):
    _fields_ = [('struct_size', c_size_t), ('native_agent', c_uint64), ('memory_bytes', c_uint64),
                ('memory_free_bytes', c_uint64), ('compute_units', c_uint32), ('wavefront_size', c_uint32),
                ('workgroup_max', c_uint32), ('workgroup_max_dim', c_uint32 * 3), ('grid_max_dim', c_uint32 * 3),
                ('lds_bytes', c_uint32), ('max_clock_mhz', c_uint32), ('name', c_char * 64),
                ('product_name', c_char * 64), ('uuid', c_char * 32), ('pci_address', c_char * 16), ('isa', c_char * 96)]


class StreamOptions(_Sized):
    _fields_ = [('struct_size', c_size_t), ('name', c_char_p), ('packets', c_uint32), ('exclusive', c_uint32),
                ('kernarg_bytes', c_size_t), ('cu_mask', POINTER(c_uint32)), ('cu_mask_words', c_size_t),
                ('priority', c_uint32), ('reserved', c_uint32)]


class KernelFacts(_Sized):
    _fields_ = [('struct_size', c_size_t), ('name', c_char_p), ('argument_count', c_size_t),
                ('lds_pointer_count', c_size_t), ('kernarg_bytes', c_uint32), ('lds_bytes', c_uint32),
                ('scratch_bytes', c_uint32), ('workgroup_max', c_uint32), ('workgroup_required', c_uint32 * 3),
                ('wavefront_size', c_uint32), ('vgprs', c_uint32), ('sgprs', c_uint32), ('dynamic_stack', c_uint32)]


class ArgumentFacts(_Sized):
    _fields_ = [('struct_size', c_size_t), ('name', c_char_p), ('type_name', c_char_p), ('offset_bytes', c_uint32),
                ('size_bytes', c_uint32), ('kind', c_uint32), ('element_kind', c_uint32), ('element_bytes', c_uint32),
                ('is_const', c_uint32)]


class LaunchConfig(_Sized):
    _fields_ = [('struct_size', c_size_t), ('grid', c_uint32 * 3), ('workgroup', c_uint32 * 3),
                ('lds_bytes', c_uint32), ('lds_align_bytes', c_uint32), ('stack_bytes', c_uint32),
                ('lds_count', c_uint32), ('lds_offsets_bytes', POINTER(c_uint32)), ('cooperative', c_uint32),
                ('reserved', c_uint32)]


class CompileOptions(_Sized):
    _fields_ = [('struct_size', c_size_t), ('language', c_uint32), ('code_object_version', c_uint32),
                ('line_numbers', c_uint32), ('no_cache', c_uint32), ('target', c_char_p), ('name', c_char_p),
                ('level', c_char_p), ('clang', c_char_p), ('defines', POINTER(c_char_p)), ('define_count', c_size_t),
                ('folders', POINTER(c_char_p)), ('folder_count', c_size_t), ('clang_options', POINTER(c_char_p)),
                ('clang_option_count', c_size_t)]


class Argument(Structure):
    _fields_ = [('kind', c_uint32), ('element_kind', c_uint32), ('element_bytes', c_uint32), ('reserved', c_uint32),
                ('value', c_void_p), ('size_bytes', c_size_t), ('memory', c_void_p), ('offset_bytes', c_size_t)]


class ManagedFacts(_Sized):
    _fields_ = [('struct_size', c_size_t), ('preferred_agent', c_uint64), ('prefetched_agent', c_uint64),
                ('read_mostly', c_uint32), ('access', c_uint32)]


class IpcMemory(Structure):
    _fields_ = [('words', c_uint64 * 8)]


class IpcSignal(Structure):
    _fields_ = [('words', c_uint64 * 5)]


class GraphNode(Structure):
    _fields_ = [('graph', c_uint64), ('number', c_uint32), ('reserved', c_uint32)]


UNKNOWN, POINTER_KIND, INTEGER, FLOATING, OBJECT, VALUE = range(6)
DEVICE, DEVICE_FINE, HOST, HOST_COARSE, MANAGED = range(5)  # the last is Python's own

HostFunction = CFUNCTYPE(c_int, c_void_p)
ReleaseFunction = CFUNCTYPE(None, c_void_p)
AllocateFunction = CFUNCTYPE(c_void_p, c_size_t, c_size_t, c_void_p, c_void_p)
DeallocateFunction = CFUNCTYPE(None, c_void_p, c_size_t, c_size_t, c_void_p)


class MemoryCallbacks(_Sized):
    _fields_ = [('struct_size', c_size_t), ('allocate', AllocateFunction), ('deallocate', DeallocateFunction),
                ('release', ReleaseFunction), ('user', c_void_p)]


_P = c_void_p  # a handle, or an address
_AFTER = [_P, POINTER(GraphNode), c_size_t]  # a builder, and the nodes that a new one follows
_SIGNATURES = {
    'driver_create': [POINTER(_P)],
    'driver_device_count': [_P, POINTER(c_size_t)],
    'driver_device': [_P, c_size_t, POINTER(_P)],
    'driver_find_device': [_P, c_char_p, POINTER(_P)],
    'device_info': [_P, POINTER(DeviceFacts)],
    'memory_create': [_P, c_uint32, c_size_t, POINTER(_P)],
    'memory_destroy': [_P],
    'memory_address': [_P, POINTER(_P)],
    'registration_create': [_P, _P, c_size_t, c_uint32, POINTER(_P)],
    'registration_destroy': [_P],
    'registration_address': [_P, POINTER(_P)],
    'stream_create': [_P, POINTER(StreamOptions), POINTER(_P)],
    'stream_destroy': [_P, c_uint64],
    'stream_synchronize': [_P, c_uint64],
    'stream_query': [_P, POINTER(c_int)],
    'stream_copy': [_P, _P, _P, c_size_t, c_uint64],
    'stream_copy_and_wait': [_P, _P, _P, c_size_t, c_uint64],
    'stream_fill': [_P, _P, c_size_t, _P, c_size_t, c_uint64],
    'stream_hold': [_P, _P],
    'stream_call': [_P, HostFunction, _P, ReleaseFunction, c_uint64],
    'stream_record': [_P, c_uint32, c_uint64, POINTER(_P)],
    'stream_wait': [_P, _P, c_uint64],
    'event_destroy': [_P],
    'event_synchronize': [_P, c_uint64],
    'event_query': [_P, POINTER(c_int)],
    'event_elapsed': [_P, _P, POINTER(c_int64)],
    'compile': [_P, c_char_p, c_size_t, POINTER(CompileOptions), c_uint64, POINTER(_P)],
    'compiled_code': [_P, POINTER(_P), POINTER(c_size_t)],
    'compiled_destroy': [_P],
    'executable_load': [_P, _P, c_size_t, c_char_p, POINTER(_P)],
    'executable_destroy': [_P],
    'executable_kernel_count': [_P, POINTER(c_size_t)],
    'executable_kernel_name': [_P, c_size_t, POINTER(c_char_p)],
    'executable_kernel': [_P, c_char_p, POINTER(_P)],
    'executable_global': [_P, c_char_p, POINTER(_P), POINTER(c_size_t)],
    'kernel_destroy': [_P],
    'kernel_info': [_P, POINTER(KernelFacts)],
    'kernel_argument_info': [_P, c_size_t, POINTER(ArgumentFacts)],
    'kernel_launch': [_P, _P, POINTER(LaunchConfig), POINTER(Argument), c_size_t, c_uint64],
    'stream_begin_capture': [_P],
    'stream_end_capture': [_P, POINTER(_P)],
    'graph_destroy': [_P],
    'graph_launch': [_P, _P, c_uint64],
    'graph_update': [_P, c_size_t, _P, POINTER(LaunchConfig), POINTER(Argument), c_size_t, c_uint64],
    'graph_size': [_P, POINTER(c_size_t), POINTER(c_size_t)],
    'graph_kernel_index': [_P, POINTER(GraphNode), POINTER(c_size_t)],
    'graph_builder_create': [_P, POINTER(_P)],
    'graph_builder_destroy': [_P],
    'graph_builder_add_kernel': [*_AFTER, _P, POINTER(LaunchConfig), POINTER(Argument), c_size_t, POINTER(GraphNode)],
    'graph_builder_add_copy': [*_AFTER, _P, _P, c_size_t, POINTER(GraphNode)],
    'graph_builder_add_fill': [*_AFTER, _P, c_size_t, _P, c_size_t, POINTER(GraphNode)],
    'graph_builder_add_call': [*_AFTER, HostFunction, _P, ReleaseFunction, POINTER(GraphNode)],
    'graph_builder_add_graph': [*_AFTER, _P, POINTER(GraphNode)],
    'graph_builder_add_empty': [*_AFTER, POINTER(GraphNode)],
    'graph_builder_hold': [_P, _P],
    'graph_builder_finish': [_P, POINTER(_P)],
    'signal_create': [_P, c_int64, c_uint32, POINTER(_P)],
    'signal_destroy': [_P],
    'signal_load': [_P, POINTER(c_int64)],
    'signal_store': [_P, c_int64],
    'signal_add': [_P, c_int64],
    'signal_wait': [_P, c_uint32, c_int64, c_uint64, POINTER(c_int64)],
    'stream_wait_signal': [_P, _P, c_uint32, c_int64, c_uint64],
    'stream_decrement': [_P, _P, c_uint64],
    'memory_size': [_P, POINTER(c_size_t)],
    'memory_export_ipc': [_P, c_size_t, c_size_t, POINTER(IpcMemory)],
    'memory_attach_ipc': [POINTER(_P), c_size_t, POINTER(IpcMemory), POINTER(_P)],
    'signal_export_ipc': [_P, POINTER(IpcSignal)],
    'signal_attach_ipc': [_P, POINTER(IpcSignal), POINTER(_P)],
    'memory_export_dmabuf': [_P, c_size_t, c_size_t, POINTER(c_int), POINTER(c_uint64)],
    'memory_import_dmabuf': [POINTER(_P), c_size_t, c_int, POINTER(_P)],
    'memory_create_managed': [POINTER(_P), c_size_t, c_size_t, POINTER(_P)],
    'managed_advise': [_P, c_size_t, c_uint32, _P],
    'managed_info': [_P, c_size_t, _P, POINTER(ManagedFacts)],
    'stream_prefetch': [_P, _P, c_size_t, _P, c_uint64],
    'physical_memory_granule': [_P, c_uint32, POINTER(c_size_t)],
    'physical_memory_create': [_P, c_uint32, c_size_t, POINTER(_P)],
    'physical_memory_share': [_P, POINTER(c_int)],
    'physical_memory_import': [_P, c_int, c_size_t, POINTER(_P)],
    'physical_memory_destroy': [_P],
    'virtual_range_create': [_P, c_size_t, POINTER(_P)],
    'virtual_range_address': [_P, POINTER(_P)],
    'virtual_range_map': [_P, c_size_t, _P, POINTER(_P), c_size_t, POINTER(_P)],
    'virtual_range_destroy': [_P],
    'memory_resource_create': [_P, POINTER(MemoryCallbacks), POINTER(_P)],
    'memory_resource_create_cache': [_P, c_uint32, c_size_t, POINTER(_P)],
    'memory_resource_destroy': [_P],
    'memory_create_from': [_P, _P, c_size_t, c_size_t, POINTER(_P)],
}

_library = _load()
_functions = {}
for _name, _types in _SIGNATURES.items():
    _function = getattr(_library, 'hsadrv_' + _name)
    _function.argtypes, _function.restype = _types, c_int
    _functions[_name] = _function
_library.hsadrv_last_error_message.restype = c_char_p
_library.hsadrv_last_error_status.restype = c_uint32
_library.hsadrv_last_error_address.restype = c_uint64


ending = False  # the interpreter has begun to end


def end_daemon():
    """Ends a daemon thread that goes on while the interpreter ends, and prints nothing: a thread that is stopped while it prints is fatal
    to the interpreter."""
    if ending and threading.current_thread().daemon:
        raise SystemExit


def call(name, *arguments):
    """Calls hsadrv_NAME; raises the error that fits its result."""
    result = _functions[name](*arguments)
    if result == 0:
        return
    end_daemon()
    error = errors.BY_RESULT.get(result, errors.Error)(_library.hsadrv_last_error_message().decode(errors='replace'))
    error.status = _library.hsadrv_last_error_status()
    if isinstance(error, errors.MemoryFault):
        error.address = _library.hsadrv_last_error_address()
    raise error


def quietly(name, *arguments):
    """The same in finalizers, which cannot raise."""
    _functions[name](*arguments)


def made(name, *arguments):
    """The handle, address or number that a function returns through its last parameter."""
    out = _SIGNATURES[name][-1]._type_()
    call(name, *arguments, byref(out))
    return out.value


def made_structure(name, *arguments):
    """The same for a structure."""
    out = _SIGNATURES[name][-1]._type_()
    call(name, *arguments, byref(out))
    return out


def handles_of(objects):
    """Their handles as an array for C, and its length."""
    return (c_void_p * len(objects))(*(one.handle for one in objects)), len(objects)


def nanoseconds(timeout):
    """Seconds, or None for no deadline."""
    if timeout is None:
        return FOREVER
    if timeout < 0:
        raise ValueError(f'timeout={timeout}: seconds from now, not negative; None waits without a deadline')
    return min(int(timeout * 1e9), FOREVER - 1)
