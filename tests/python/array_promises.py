"""What was once wrong in silence, a kind each: the result is NumPy's or Numba's, or an error that names the remedy."""
import concurrent.futures
import contextlib
import copy
import io
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

import hsadrv as roc
from common import Case, main


SPIN_AND_SET = '''
#include <shared/device/device.hpp>
HSADRV_KERNEL void set(int* data, int value, int rounds) {
    unsigned x = value;
    for (int i = 0; i < rounds; ++i) x = x * 1664525u + 1013904223u;
    data[hsadrv::get_global_id(0)] = x == 12345u ? 0 : value;
}'''


class DefaultStream(Case):
    """What names no stream is ordered with all streams, of every thread, as in Numba."""

    def test_it_follows_the_others_and_they_follow_it(self):
        kernel = roc.load(roc.compile(SPIN_AND_SET))['set']
        d = roc.to_device(np.zeros(64, np.int32))
        for n in range(1, 5):
            stream = roc.stream()
            kernel[1, 64, stream](d, n, 200000)
            self.equal(d.copy_to_host(), np.full(64, n))
            kernel[1, 64](d, -n, 200000)
            self.assertEqual(d.copy_to_host(roc.pinned_array(64, np.int32), stream=stream) is not None and stream.synchronize(), None)
            self.equal(d.copy_to_host(), np.full(64, -n))
            with concurrent.futures.ThreadPoolExecutor(1) as threads:
                threads.submit(lambda value=n: kernel[1, 64](d, value, 200000)).result()
            self.equal(d.copy_to_host(), np.full(64, n))

    def test_a_copy_on_a_stream_is_before_what_names_none(self):
        source, d, stream = roc.pinned_array(1 << 20), roc.device_array(1 << 20), roc.stream()
        for n in range(4):
            source[:] = n
            d.copy_to_device(source, stream=stream)
            self.assertEqual(d.copy_to_host()[-1], n)

    def test_its_failure_is_raised_once(self):
        stream, started = roc.stream(), threading.Event()

        def fails():
            started.wait()
            raise KeyError('on purpose')

        with contextlib.redirect_stderr(io.StringIO()):
            stream.call(fails)
            made = roc.device_array(4)
            threading.Timer(0.1, started.set).start()
            with self.assertRaises(roc.HostFunctionError):
                made[...] = 1
        with contextlib.suppress(roc.Error):
            roc.default_stream()
        made[...] = 2
        self.equal(made.copy_to_host(), np.full(4, 2.0))


class Indexing(Case):
    def test_index_arrays_and_masks_are_refused(self):
        d = roc.to_device(np.arange(12.).reshape(3, 4))
        for index in [np.array([1, 0]), [1, 0], np.array([True, False, True]), (slice(None), np.array([1, 3])), True, 1.5]:
            with self.assertRaisesRegex(TypeError, r'copy_to_host\(\)\[\.\.\.\]|kernel'):
                d[index]
            with self.assertRaises(TypeError):
                d[index] = 0
        self.equal(d, np.arange(12.).reshape(3, 4))
        self.assertEqual(d[np.array(1), np.int64(2)], 6)

    def test_an_element_is_a_number(self):
        d = roc.to_device(np.arange(4, dtype=np.int16))
        self.assertIsInstance(d[2], np.int16)
        self.assertEqual(d[2], 2)
        self.assertIn(2, d)
        self.assertEqual(list(d), [0, 1, 2, 3])
        zero = roc.to_device(np.float64(2.5))
        self.assertEqual((float(zero), int(zero), bool(zero), zero == 2.5, zero.item()), (2.5, 2, True, True, 2.5))
        with self.assertRaisesRegex(TypeError, 'kernel'):
            d + 1
        with self.assertRaisesRegex(TypeError, 'kernel'):
            d == d

    def test_views_have_numpys_orders(self):
        host = np.asfortranarray(np.arange(6).reshape(2, 3))
        d = roc.to_device(host)
        for order in 'CFA':
            with self.subTest(order):
                try:
                    wanted = host.view()
                    wanted = wanted.reshape(6, order=order) if np.shares_memory(wanted.reshape(6, order=order), host) else None
                    if wanted is None:
                        with self.assertRaises(ValueError):
                            d.reshape(6, order=order)
                    else:
                        self.equal(d.reshape(6, order=order), wanted)
                except AssertionError:
                    raise
        with self.assertRaises(ValueError):
            d.reshape(6, order='K')
        for shape in [[2.7, 1.2], '3', 2.0]:
            with self.assertRaises(TypeError):
                roc.device_array(shape)


class Assignments(Case):
    def test_overlapping_and_broadcast(self):
        host = np.arange(20.)
        d = roc.to_device(host)
        d[1:], host[1:] = d[:-1], host[:-1].copy()
        self.equal(d, host)
        d[:] = d
        d[::-1] = d
        self.equal(d, host[::-1])
        table = roc.to_device(np.zeros((3, 4), np.float32))
        table[...] = roc.to_device(np.arange(3).reshape(3, 1))
        self.equal(table, np.broadcast_to(np.arange(3).reshape(3, 1), (3, 4)))

    def test_copies_do_not_convert_unless_asked(self):
        d = roc.to_device(np.zeros(4, np.float32))
        with self.assertRaisesRegex(TypeError, 'incompatible dtype'):
            d.copy_to_device(np.ones(4))
        with self.assertRaisesRegex(ValueError, 'incompatible shape'):
            d.copy_to_device(np.ones(1, np.float32))
        with self.assertRaises(TypeError):
            d.copy_to_host(np.empty(4))
        d[...] = np.ones(4)
        self.equal(d, np.ones(4))

    def test_a_transposed_write_is_one_transfer(self):
        host, d = np.arange(1e6, dtype=np.float32).reshape(1000, 1000), roc.device_array((1000, 1000), np.float32)
        begin = time.monotonic()
        d.T[...] = host
        self.assertLess(time.monotonic() - begin, 10)  # 40 s as a copy for each element
        self.equal(d, host.T)

    def test_fields_and_records(self):
        dtype = np.dtype([('a', 'i4'), ('b', 'f4', (2,)), ('c', [('x', 'f8')])])
        host = np.zeros(3, dtype)
        d = roc.to_device(host)
        d['a'], host['a'] = [1, 2, 3], [1, 2, 3]
        d[1]['a'] = 17
        d['c']['x'] = 2.5
        host[1]['a'] = 17
        host['c']['x'] = 2.5
        self.equal(d, host)
        self.assertIsInstance(d[1], roc.DeviceRecord)
        self.assertEqual(d[1].copy_to_host(), host[1])

    def test_copies_of_arrays(self):
        d = roc.to_device(np.arange(5))
        other = copy.deepcopy(d)
        d[0] = 9
        self.equal(other, np.arange(5))
        self.assertEqual(copy.copy(d).address, d.address)
        with self.assertRaisesRegex(TypeError, 'get_ipc_handle'):
            pickle.dumps(d)
        self.equal(d.astype(np.float32), [9, 1, 2, 3, 4])


class Arguments(Case):
    def test_strided_arrays_are_refused(self):
        d = roc.to_device(np.arange(64, dtype=np.int32))
        for wrong in [d[::2], d[40:8:-1], roc.mapped_array(8, np.int32)[::2]]:
            with self.assertRaisesRegex(roc.InvalidArgument, 'copy'):
                self.module()['increment'][1, 4](wrong)
        self.module()['increment'][1, 4](d[8:12])
        self.assertEqual(d[8], 9)

    def test_host_arrays_of_every_kind(self):
        increment, add = self.module()['increment'], self.module()['add']
        big = np.arange(4).astype('>i4')
        increment[1, 4](big)
        np.testing.assert_array_equal(big, [1, 2, 3, 4])
        with self.assertRaisesRegex(roc.InvalidArgument, 'byte order'):
            increment[1, 4](roc.to_device(big))
        c = np.zeros(4, np.float32)
        same = np.broadcast_to(np.float32(3), 4)
        read_only = np.frombuffer(np.arange(4, dtype=np.float32).tobytes(), np.float32)
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, 'a')
            np.arange(4, dtype=np.float32).tofile(name)
            for given in [same, read_only, np.memmap(name, np.float32, 'r')]:
                add[1, 4](given, given, c, np.uint32(4))
                np.testing.assert_array_equal(c, 2 * np.asarray(given))

    def test_a_registration_waits_for_the_work_that_uses_it(self):
        whole = np.zeros(4096, np.int32)
        with roc.register(whole), roc.register(whole[1024:2048]):
            for _ in range(50):
                self.module()['increment'][16, 256](whole)
        self.assertEqual(whole.sum(), 50 * 4096)
        roc.register(whole)
        roc.register(whole[:1024])
        roc.deregister(whole[:1024])  # the other remains
        self.module()['increment'][16, 256](whole)
        roc.deregister(whole)
        self.assertEqual(whole[-1], 51)
        with self.assertRaises(ValueError):
            roc.deregister(whole)

    def test_nothing_to_do(self):
        self.module()['increment'].forall(0)(roc.to_device(np.zeros(1, np.int32)))
        self.module()['increment'][0, 64](roc.to_device(np.zeros(1, np.int32)))
        with roc.pinned(np.zeros(0)):
            pass


class Exchange(Case):
    def test_dlpack_follows_the_standard(self):
        d = roc.to_device(np.arange(4.))
        for options in [{}, {'max_version': (1, 0)}, {'copy': False}, {'dl_device': d.__dlpack_device__()}, {'stream': None}]:
            with self.subTest(str(options)):
                self.assertEqual(type(d.__dlpack__(**options)).__name__, 'PyCapsule')
        with self.assertRaises(BufferError):
            d.__dlpack__(dl_device=(1, 0))
        with self.assertRaises(BufferError):
            roc.to_device(np.arange(4).astype('>i4')).__dlpack__()

        class Copied:
            __dlpack_device__ = d.__dlpack_device__

            @staticmethod
            def __dlpack__(**_):
                return d.__dlpack__(copy=True)
        other = roc.from_dlpack(Copied())
        d[0] = 9
        self.equal(other, np.arange(4.))
        with self.assertRaises((BufferError, RuntimeError, TypeError)):
            np.from_dlpack(d)
        self.equal(d, [9, 1, 2, 3])

    def test_a_copy_that_cannot_be_captured_is_not_recorded(self):
        d, stream = roc.to_device(np.arange(4)), roc.stream()
        with stream.capture() as graphs:
            with self.assertRaises(roc.InvalidArgument):
                d.copy_to_host(np.empty(4, int), stream=stream)
        graphs[0].launch(stream)
        stream.synchronize()

    def test_the_module_leaves_nothing(self):
        program = 'import numpy as np, hsadrv as roc; d = roc.to_device(np.arange(9.)); d[2:5] = 7; print(d.copy_to_host().sum())'
        checked = dict(os.environ, KFDEMU=os.environ.get('KFDEMU', 'on') + ',check')
        said = subprocess.run([sys.executable, '-c', program], env=checked, capture_output=True, text=True)
        self.assertEqual((said.returncode, said.stdout), (0, '48.0\n'), said.stderr)

    def test_a_finding_names_the_line_that_allocated(self):
        program = """import numpy as np, hsadrv as roc
code = roc.load(roc.compile('#include <shared/device/device.hpp>\\nHSADRV_KERNEL void set(int* data) { data[hsadrv::get_global_id(0)] = 1; }'))
def allocate():
    return roc.device_array(100, np.int32)
code['set'][2, 64](allocate())
roc.synchronize()
"""
        with tempfile.TemporaryDirectory() as folder, open(f'{folder}/allocates.py', 'w') as file:
            file.write(program)
            file.flush()
            checked = dict(os.environ, KFDEMU=os.environ.get('KFDEMU', 'on') + ',check')
            said = subprocess.run([sys.executable, file.name], env=checked, capture_output=True, text=True)
            self.assertIn('just past the end of 400 bytes', said.stderr)
            self.assertIn(f'allocated at {os.path.basename(file.name)}:4 in allocate', said.stderr)


main()
