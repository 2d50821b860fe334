"""Random programs of views, assignments, conversions and copies, compared with NumPy. The arguments: how many cases, and the first seed."""
import random
import sys
import warnings

import numpy as np

import hsadrv as roc

SCALARS = [np.dtype(name) for name in ('?', 'i1', 'u1', 'i2', 'u2', 'i4', 'u4', 'i8', 'u8', 'f2', 'f4', 'f8', 'c8', 'c16')]
INNER = np.dtype([('x', 'f8'), ('y', 'i2')])
RECORDS = [np.dtype([('a', 'i4'), ('b', 'f4', (2,)), ('c', INNER)]), np.dtype([('n', 'u1'), ('m', 'f8')], align=True)]


def numbers(rng, shape, dtype):
    """Random elements, with the extremes of their type."""
    if dtype.names:
        made = np.zeros(shape, dtype)
        for name in dtype.names:
            part = made[name]
            part[...] = numbers(rng, part.shape, part.dtype)
        return made
    if dtype.kind in 'fc':
        real = rng.choice([0.0, -0.0, 1.5, -2.5, 1e4, -3e38, 6e-8, np.inf, np.nan, 65519.9, 1 / 3], shape) * rng.choice([1, 0.5, -1], shape)
        return (real + (1j * rng.integers(-3, 3, shape) if dtype.kind == 'c' else 0)).astype(dtype)
    if dtype.kind == 'b':
        return rng.integers(0, 2, shape).astype('?')
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def index_of(choose, shape):
    """Of any kind that devices take."""
    index, left = [], list(shape)
    for extent in left[:choose.randint(0, len(left))]:
        kind = choose.random()
        if kind < 0.25 and extent:
            index.append(choose.randint(-extent, extent - 1))
        else:
            bounds = [choose.choice([None, choose.randint(-extent - 2, extent + 2)]) for _ in range(2)]
            index.append(slice(*bounds, choose.choice([None, 1, 2, -1, -2, 3])))
    if choose.random() < 0.2:
        index.insert(choose.randint(0, len(index)), None)
    if choose.random() < 0.2:
        index.append(Ellipsis)
    return tuple(index)


def is_same(found, wanted):
    """Equal elements; the bytes between fields may be any."""
    found = found.copy_to_host() if isinstance(found, roc.DeviceNDArray) else np.asarray(found)
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return False
    if wanted.dtype.names:
        return all(is_same(np.asarray(found[name]), np.asarray(wanted[name])) for name in wanted.dtype.names)
    return np.array_equal(found, wanted, equal_nan=wanted.dtype.kind in 'fc')


class Case:
    def __init__(self, seed):
        self.choose, self.rng = random.Random(seed), np.random.default_rng(seed)
        self.dtype = self.choose.choice(SCALARS + RECORDS)
        self.shape = tuple(self.choose.choice([0, 1, 2, 3, 5]) if self.choose.random() < 0.4 else self.choose.randint(1, 6)
                           for _ in range(self.choose.randint(0, 4)))
        self.host = np.array(numbers(self.rng, self.shape, self.dtype))
        if self.choose.random() < 0.3:
            self.host = np.asfortranarray(self.host)
        self.device = roc.to_device(self.host)
        self.done = [f'{self.dtype}{list(self.shape)}']

    def view(self):
        """The same part of both, and how it is made."""
        host, device, text = self.host, self.device, ''
        for _ in range(self.choose.randint(0, 3)):
            way = self.choose.random()
            if way < 0.5:
                index = index_of(self.choose, host.shape)
                if isinstance(host[index], np.generic):
                    continue
                host, device, text = host[index], device._part(index)[0], f'{text}[{index}]'
            elif way < 0.65:
                axes = self.choose.sample(range(host.ndim), host.ndim)
                host, device, text = host.transpose(axes), device.transpose(axes), f'{text}.transpose({axes})'
            elif way < 0.8 and host.dtype.names:
                name = self.choose.choice(host.dtype.names)
                host, device, text = host[name], device[name], f'{text}[{name!r}]'
            elif host.flags.c_contiguous and host.size:
                host, device, text = host.reshape(-1), device.reshape(-1), f'{text}.reshape(-1)'
        return host, device, text

    def value_for(self, target):
        """A value that NumPy assigns to it, on the host and perhaps on the device, and how it is made."""
        way = self.choose.random()
        if way < 0.35:  # a part of the same array: they may overlap
            host, device, text = self.view()
            if host.dtype == target.dtype:
                return host.copy(), device, f'a{text}'
        dtype = target.dtype if target.dtype.names else self.choose.choice(SCALARS)
        shape = tuple(n if self.choose.random() < 0.8 else 1 for n in target.shape)[self.choose.randint(0, target.ndim):]
        host = np.array(numbers(self.rng, shape, dtype))
        text = f'{dtype}{list(shape)}'
        return (host, host, text) if self.choose.random() < 0.5 else (host, roc.to_device(host), f'device {text}')

    def assign(self):
        target, on_device, text = self.view()
        value, given, value_text = self.value_for(target)
        self.done.append(f'a{text}[...] = {value_text}')
        try:
            target[...] = convert(value, target.dtype)
        except ValueError:
            try:
                on_device[...] = given
            except ValueError:
                return
            raise AssertionError('NumPy refuses the shapes') from None
        on_device[...] = given

    def run(self):
        for _ in range(self.choose.randint(1, 4)):
            self.assign()
            host, device, text = self.view()
            self.done.append(f'a{text}.copy_to_host()')
            assert is_same(device, host), f'{device.copy_to_host()!r} and not {host!r}'
        assert is_same(self.device, self.host), f'{self.device.copy_to_host()!r} and not {self.host!r}'


def convert(value, dtype):
    """As conversion.hpp says where NumPy leaves it to the processor: numbers that no 64-bit integer holds become the lowest one."""
    with np.errstate(all='ignore'):
        if value.dtype.kind not in 'fc' or dtype.kind not in 'iu':
            return value.astype(dtype)
        real = value.real.astype('f8')
        signed = np.where((real >= -2.0**63) & (real < 2.0**63), real, -2.0**63).astype('i8')
        large = (real >= 2.0**63) & (real < 2.0**64)
        return np.where(large, np.where(large, real, 0).astype('u8').view('i8'), signed).astype(dtype)


def main():
    count, first = int(sys.argv[1]) if len(sys.argv) > 1 else 300, int(sys.argv[2]) if len(sys.argv) > 2 else 0
    failed = 0
    np.seterr(all='ignore')
    warnings.simplefilter('ignore')
    for seed in range(first, first + count):
        case = Case(seed)
        try:
            case.run()
        except Exception as error:  # noqa: BLE001: each is a failure
            failed += 1
            if failed <= 5:
                print(f'seed {seed}: {"; ".join(case.done)}: {type(error).__name__}: {error}')
    print(f'{count - failed} passed, {failed} failed, 0 skipped')
    sys.exit(failed != 0)


main()
