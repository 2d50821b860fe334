"""What the tests of the Python module share. The last line that a program prints is "N passed, N failed, N skipped"."""
import sys
import unittest

import numpy as np

import hsadrv as roc

KERNELS = '''
#include <shared/device/device.hpp>
using namespace hsadrv;
HSADRV_KERNEL void add(const float* a, const float* b, float* c, uint32_t n) {
    const uint32_t i = get_global_id(0);
    if (i < n) c[i] = a[i] + b[i];
}
HSADRV_KERNEL void increment(int* data) { data[get_global_id(0)] += 1; }
'''


class Case(unittest.TestCase):
    code = None

    @classmethod
    def module(cls):
        """The kernels above, compiled once."""
        if Case.code is None:
            Case.code = roc.load(roc.compile(KERNELS))
        return Case.code

    def equal(self, on_device, expected):
        np.testing.assert_array_equal(np.asarray(on_device), expected)


def main():
    result = unittest.main(exit=False, verbosity=1).result
    wrong, skipped = len(result.failures) + len(result.errors), len(result.skipped)
    print(f'{result.testsRun - wrong - skipped} passed, {wrong} failed, {skipped} skipped')
    sys.stdout.flush()
    sys.exit(wrong != 0 or result.testsRun == 0)
