#!/usr/bin/env python3
"""A small array language: expressions of arrays are collected, and what fits together becomes one kernel.

    a, b = Array(np.arange(10.)), Array(np.ones(10))
    print(((a + b) * a - 3).evaluate())           # one kernel, compiled when it is first needed
    print(where(a > 4, a, -a).sum())

Each node knows its type and how it is written in C++; evaluate() walks the tree once, numbers the arrays and the constants
that it meets, and launches a kernel with them as arguments. Kernels are kept by their source.
"""
import functools

import numpy as np

import hsadrv as roc

CPP = {'float32': 'float', 'float64': 'double', 'int32': 'int', 'int64': 'long', 'bool': 'bool', 'uint8': 'unsigned char'}


class Node:
    """A value for each element: a C++ expression with {0}, {1}, … for its operands, of a NumPy type."""

    def __init__(self, text, operands, dtype, shape):
        self.text, self.operands, self.dtype, self.shape = text, operands, np.dtype(dtype), shape
        if str(self.dtype) not in CPP:
            raise TypeError(f'{self.dtype} is not a type of this language: {", ".join(CPP)}')

    def evaluate(self):
        """A NumPy array."""
        return self.on_device().copy_to_host()

    def on_device(self):
        leaves = []
        expression = self.written(leaves)
        out = roc.device_array(self.shape, self.dtype)
        arguments = [leaf.value for leaf in leaves]
        kernel_for(source(expression, self.dtype, leaves)).forall(out.size)(out, *arguments, np.uint32(out.size))
        return out

    def written(self, leaves):
        return f'{CPP[str(self.dtype)]}({self.text.format(*[operand.written(leaves) for operand in self.operands])})'

    def sum(self):
        """Of all elements; halves the array on the device until one is left."""
        values = self.on_device().ravel()
        while values.size > 1:
            half = values.size // 2
            rest = values[2 * half:]
            values = (Array(values[:half]) + Array(values[half:2 * half])).on_device()
            if rest.size:
                values[:1] = (Array(values[:1]) + Array(rest)).on_device()
        return values.copy_to_host()[0]

    def binary(self, text, other, dtype=None):
        other = node(other, self.dtype)
        shape = np.broadcast_shapes(self.shape, other.shape)
        if any(operand.shape not in ((), shape) for operand in (self, other)):
            raise ValueError(f'shapes {self.shape} and {other.shape}: arrays have one shape, or are constants')
        return Node(text, [self, other], dtype or np.result_type(self.dtype, other.dtype), shape)

    def __add__(self, other): return self.binary('{0} + {1}', other)
    def __sub__(self, other): return self.binary('{0} - {1}', other)
    def __mul__(self, other): return self.binary('{0} * {1}', other)
    def __truediv__(self, other): return self.binary('{0} / {1}', other, np.result_type(self.dtype, np.float32))
    def __lt__(self, other): return self.binary('{0} < {1}', other, bool)
    def __gt__(self, other): return self.binary('{0} > {1}', other, bool)
    def __neg__(self): return Node('-{0}', [self], self.dtype, self.shape)
    def __radd__(self, other): return node(other, self.dtype) + self
    def __rsub__(self, other): return node(other, self.dtype) - self
    def __rmul__(self, other): return node(other, self.dtype) * self


class Array(Node):
    """An array as a leaf."""

    def __init__(self, value):
        self.value = value if isinstance(value, roc.DeviceNDArray) else roc.to_device(np.ascontiguousarray(value))
        super().__init__('', [], self.value.dtype, self.value.shape)

    def written(self, leaves):
        return f'{leaf_name(self, leaves)}[i]'


class Constant(Node):
    def __init__(self, value, dtype):
        self.value = np.dtype(dtype).type(value)
        super().__init__('', [], self.value.dtype, ())

    def written(self, leaves):
        return leaf_name(self, leaves)


def leaf_name(leaf, leaves):
    if leaf not in leaves:
        leaves.append(leaf)
    return f'x{leaves.index(leaf)}'


def node(value, dtype):
    """What an operand is: a node, an array, or a constant of the other operand's type."""
    if isinstance(value, Node):
        return value
    if isinstance(value, (bool, int, float)):
        return Constant(value, np.float32 if isinstance(value, float) and np.dtype(dtype).kind != 'f' else dtype)
    return Array(value)


def where(condition, yes, no):
    yes = node(yes, np.float32)
    no = node(no, yes.dtype)
    return Node('{0} ? {1} : {2}', [condition, yes, no], np.result_type(yes.dtype, no.dtype), condition.shape)


def source(expression, dtype, leaves):
    parameters = [f'const {CPP[str(leaf.dtype)]}* x{n}' if isinstance(leaf, Array) else f'{CPP[str(leaf.dtype)]} x{n}'
                  for n, leaf in enumerate(leaves)]
    return f'''#include <shared/device/device.hpp>
HSADRV_KERNEL void fused({", ".join([f"{CPP[str(dtype)]}* out", *parameters, "unsigned n"])}) {{
    const unsigned i = hsadrv::get_global_id(0);
    if (i < n) out[i] = {expression};
}}
'''


@functools.cache
def kernel_for(text):
    return roc.load(roc.compile(text))['fused']


def main():
    a, b = np.linspace(0, 1, 1000, dtype=np.float32), np.arange(1000, dtype=np.float32)
    x, y = Array(a), Array(b)
    fused = (x + y) * x - 3
    assert np.allclose(fused.evaluate(), (a + b) * a - 3)
    assert np.array_equal(where(y > 500, y, -y).evaluate(), np.where(b > 500, b, -b))
    assert np.array_equal((2 * Array(np.arange(7)) + 1).evaluate(), 2 * np.arange(7) + 1)
    assert (x / 4).sum() - (a / 4).sum() < 1e-3 and Array(np.arange(1001)).sum() == 500500
    print(f'{kernel_for.cache_info().currsize} kernels; the sum of (x + y) * x - 3 is {fused.sum():.1f}')


if __name__ == '__main__':
    main()
