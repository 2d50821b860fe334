"""The C interface (hsadrv.h, devicearray.h), through ctypes: call(), which raises on failure, and what it is given."""
import contextlib
import ctypes
import functools
import glob
import os
import sys
import threading
from ctypes import byref, c_void_p

from . import _interface, errors
from ._interface import *  # noqa: F403: its structures and numbers are this module's

FOREVER = 2**64 - 1
_HERE = os.path.dirname(os.path.abspath(__file__))


def _load():
    """libdevicearray.so.0, and with it libhsadrv.so.0: where HSADRV_LIBRARY names one of them, in the wheel, beside this file or installed."""
    wanted = os.environ.get('HSADRV_LIBRARY')
    name = 'libdevicearray.so.0'
    wheel = os.path.join(_HERE, os.pardir, '.hsadrv.mesonpy.libs')
    names = glob.glob(os.path.join(wheel, name + '.*')) + [os.path.join(_HERE, name), name]
    if wanted:
        folder, file = os.path.split(wanted)
        names = [os.path.join(folder, file.replace('libhsadrv', 'libdevicearray')),
                 os.path.join(folder, '..', 'devicearray', name)]
    elif os.path.isdir(wheel):  # which has no links: the other library finds it in the process, by its soname
        ctypes.CDLL(*glob.glob(os.path.join(wheel, 'libhsadrv.so.0.*')))
    failures = []
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            failures.append(str(error))
    raise ImportError('hsadrv: the library is not found: install it, or set HSADRV_LIBRARY to libdevicearray.so.0 ('
                      + '; '.join(failures) + ')')


UNKNOWN, POINTER_KIND, INTEGER, FLOATING = (_interface.ARGUMENT_UNKNOWN, _interface.ARGUMENT_POINTER,
                                            _interface.ARGUMENT_INTEGER, _interface.ARGUMENT_FLOATING)
DEVICE, DEVICE_FINE, HOST, HOST_COARSE, MANAGED = range(5)  # hsadrv_memory_kind; the last is Python's own

_library = _load()
_functions = {}
for _name, (_result, _parameters) in _interface.FUNCTIONS.items():
    _function = getattr(_library, _name)
    _function.argtypes, _function.restype = _parameters, _result
    _functions[_name.removeprefix('hsadrv_')] = _function
version = '{}.{}.{}'.format(*_functions['version']().to_bytes(4, 'big')[1:])


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
    error = errors.BY_RESULT.get(result, errors.Error)(_functions['last_error_message']().decode(errors='replace'))
    error.status = _functions['last_error_status']()
    if isinstance(error, errors.MemoryFault):
        error.address = _functions['last_error_address']()
    raise error


@functools.cache
def _checks():
    """kfdemu_called_from, where kfdemu checks accesses of memory; else None."""
    process = ctypes.CDLL(None)
    if not hasattr(process, 'kfdemu_called_from') or not process.kfdemu_pool_is_checked():
        return None
    process.kfdemu_called_from.argtypes, process.kfdemu_called_from.restype = [ctypes.c_char_p], None
    return process.kfdemu_called_from


@contextlib.contextmanager
def called_from_program():
    """For kfdemu's reports: what is allocated meanwhile is the program's line's, which no native stack shows."""
    set_caller = _checks()
    if set_caller:
        frame = sys._getframe(1)
        while frame.f_back and (os.path.dirname(frame.f_code.co_filename) == _HERE or frame.f_code.co_filename == contextlib.__file__):
            frame = frame.f_back
        set_caller(f'{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno} in {frame.f_code.co_name}'.encode())
    try:
        yield
    finally:
        if set_caller:
            set_caller(None)


def quietly(name, *arguments):
    """The same in finalizers, which cannot raise."""
    _functions[name](*arguments)


def made(name, *arguments):
    """The handle, address or number that a function returns through its last parameter."""
    out = _functions[name].argtypes[-1]._type_()
    call(name, *arguments, byref(out))
    return out.value


def made_structure(name, *arguments):
    """The same for a structure."""
    out = _functions[name].argtypes[-1]._type_()
    call(name, *arguments, byref(out))
    return out


def address_of_function(name):
    return ctypes.cast(_functions[name], c_void_p).value


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
