"""Code, kernels, their arguments, streams and what goes wrong."""
import gc
import subprocess
import sys
import threading
import weakref

import numpy as np

import hsadrv as roc
from common import Case, main


class Kernels(Case):
    def setUp(self):
        self.a, self.b = np.arange(1000, dtype=np.float32), np.full(1000, 2, np.float32)
        self.add = self.module()['add']

    def test_launches(self):
        d_a, d_b, d_c = roc.to_device(self.a), roc.to_device(self.b), roc.device_array(1000, np.float32)
        for launch in [self.add[10, 100], self.add[(10,), (100, 1)], self.add[4, 256, roc.stream()], self.add.forall(1000)]:
            d_c[...] = 0
            stream = launch(d_a, d_b, d_c, 1000)
            roc.synchronize()
            self.assertIsNone(stream)
        with roc.stream() as stream:
            d_c[...] = 0
            self.add[10, 100, stream](d_a, d_b, d_c, np.uint32(500))
            stream.synchronize()
        expected = self.a + 2
        expected[500:] = 0
        self.equal(d_c.copy_to_host(), expected)

    def test_numpy_arrays_are_copied_there_and_back(self):
        c = np.zeros(1000, np.float32)
        self.add.forall(1000)(self.a, self.b, c, 1000)
        self.equal(c, self.a + 2)

    def test_mapped_and_registered_arrays_are_used_in_place(self):
        c = roc.mapped_array(1000, np.float32)
        with roc.register(self.a):
            self.add.forall(1000)(self.a, roc.to_device(self.b), c, 1000)
            roc.synchronize()
        self.equal(c, self.a + 2)

    def test_views_are_arguments(self):
        data = roc.to_device(np.zeros(10, np.int32))
        self.module()['increment'][1, 3](data[4:7])
        self.equal(data.copy_to_host(), [0, 0, 0, 0, 1, 1, 1, 0, 0, 0])

    def test_wrong_arguments_enqueue_nothing(self):
        d = [roc.to_device(self.a), roc.to_device(self.b), roc.device_array(1000, np.float32)]
        for wrong, error in [(d, TypeError), ([*d, 'n'], ValueError), ([*d, 1 << 40], ValueError), ([*d, np.uint64(3)], ValueError),
                             ([*d, None], ValueError), ([*d, d[0]], ValueError), ([1.5, d[1], d[2], 3], ValueError)]:
            with self.subTest(str([type(one).__name__ for one in wrong])):
                with self.assertRaises(error) as raised:
                    self.add[10, 100](*wrong)
                self.assertIn('add', str(raised.exception))
        for shape in [10, (10,), (10, 100, None, 0, 0), ((1, 2, 3, 4), 5), (-1, 5)]:
            with self.assertRaises((TypeError, ValueError)):
                self.add[shape](*d, 1000)
        with self.assertRaises(TypeError):
            self.add[10, 100, 'stream'](*d, 1000)
        with self.assertRaises(roc.InvalidArgument):
            self.add[1, 5000](*d, 1000)
        self.add[10, 100](*d, 1000)
        self.equal(d[2].copy_to_host(), self.a + 2)

    def test_types_of_cpp_kernels_are_known(self):
        kernel = roc.load(roc.compile('''
            #include <shared/device/device.hpp>
            using real = float;
            HSADRV_KERNEL void scale(real* data, real by, uint32_t n) { if (hsadrv::get_global_id(0) < n) data[hsadrv::get_global_id(0)] *= by; }
            template <class T> __attribute__((amdgpu_kernel, visibility("protected"))) void fill(T* data, T value) { data[hsadrv::get_global_id(0)] = value; }
            template __attribute__((amdgpu_kernel, visibility("protected"))) void fill(double*, double);'''))
        scale, fill = kernel['scale'], kernel['_Z4fillIdEvPT_S0_']
        floats, doubles = roc.to_device(np.ones(10, np.float32)), roc.to_device(np.ones(10))
        scale[1, 10](floats, 2, 10)
        scale[1, 10](floats, np.float32(1.5), True)
        fill[1, 10](doubles, 3)
        self.equal(floats.copy_to_host(), [3] + [2] * 9)
        self.equal(doubles.copy_to_host(), np.full(10, 3.0))
        for wrong in [(doubles, 2, 10), (np.ones(10), 2, 10), (floats, np.int32(2), 10), (floats, 2, 10.0), (floats, 2, np.float32(10)),
                      (floats, 2.0 + 1j, 10), (floats, np.float64(2), 10)]:
            with self.subTest(str(wrong[1:])), self.assertRaisesRegex(ValueError, 'argument|float|integer'):
                scale[1, 10](*wrong)
        for wrong in [(floats, 1.0), (doubles, np.int64(1))]:
            with self.assertRaises(ValueError):
                fill[1, 10](*wrong)
        self.equal(floats.copy_to_host(), [3] + [2] * 9)

    def test_suggested_group_size(self):
        groups, size = self.add.suggest_group_size()
        d = [roc.to_device(self.a), roc.to_device(self.b), roc.device_array(1000, np.float32)]
        self.add[groups, size](*d, 1000)
        self.equal(d[2].copy_to_host(), self.a + 2)
        self.assertEqual(size % self.add.facts.wavefront_size, 0)
        self.assertEqual(groups % roc.default_gpu().compute_units, 0)
        less, _ = self.add.suggest_group_size(lds_bytes_per_item=64)
        self.assertLess(less, groups * 2)
        with self.assertRaises(roc.InvalidArgument):
            self.add.suggest_group_size(1 << 30)

    def test_modules(self):
        self.assertEqual(sorted(self.module().kernels), ['add', 'increment'])
        with self.assertRaisesRegex(roc.InvalidArgument, 'increment'):
            self.module()['nothing']
        with self.assertRaises(roc.InvalidCodeObject):
            roc.load(b'no code')
        with self.assertRaises(FileNotFoundError):
            roc.load('/nowhere.hsaco')
        with self.assertRaisesRegex(roc.CompileError, 'error: '):
            roc.compile('not C++')
        with self.assertRaisesRegex(roc.CompileError, '/nowhere'):
            roc.compile('', clang='/nowhere')
        with self.assertRaisesRegex(ValueError, 'fortran'):
            roc.compile('', 'fortran')
        with self.assertRaisesRegex(roc.CompileError, 'cell 7:1'):
            roc.compile('not C++', name='cell 7')
        with self.assertRaises(TimeoutError):
            roc.compile('int slow;', timeout=0, defines=['NEVER_SEEN_BEFORE'])

    def test_compile_options(self):
        source = '__kernel void set(__global int* p) { *p = VALUE; }'
        data = roc.to_device(np.zeros(1, np.int32))
        for value in [3, 4]:
            code = roc.compile(source, 'cl', defines=[f'VALUE={value}'], options=['-cl-fast-relaxed-math'], level='3')
            roc.load(code)['set'][1, 1](data)
            self.equal(data.copy_to_host(), [value])

    def test_cooperative_launch(self):
        code = roc.load(roc.compile('''
            #include <shared/device/device.hpp>
            HSADRV_KERNEL void last(uint32_t* counts, uint32_t* out) {
                hsadrv::atomic_add(counts, 1u);
                hsadrv::grid_barrier();
                out[hsadrv::get_global_id(0)] = hsadrv::atomic_load(counts);
            }'''))
        counts, out = roc.to_device(np.zeros(1, np.uint32)), roc.device_array(640, np.uint32)
        code['last'].launch((counts, out), 640, 64, cooperative=True)
        self.equal(out.copy_to_host(), np.full(640, 640))
        with self.assertRaisesRegex(roc.InvalidArgument, 'cooperative'):
            code['last'].launch((counts, out), 640, 64)
        with self.assertRaisesRegex(roc.InvalidArgument, 'at once'):
            code['last'].launch((counts, out), 1 << 22, 64, cooperative=True)


class Streams(Case):
    def test_order(self):
        seen, stream, other = [], roc.stream(name='one'), roc.stream(priority='high')
        for n in range(5):
            stream.call(seen.append, n)
        event = stream.record()
        other.wait(event)
        other.call(lambda: seen.append('other'))
        other.synchronize(timeout=30)
        self.assertEqual(seen, [0, 1, 2, 3, 4, 'other'])
        self.assertTrue(event.query() and stream.query())
        with self.assertRaises(ValueError):
            roc.stream(priority='urgent')

    def test_times(self):
        stream = roc.stream()
        begin = stream.record(timing=True)
        self.module()['increment'][1, 64, stream](roc.to_device(np.zeros(64, np.int32)))
        end = stream.record(timing=True)
        end.synchronize(timeout=30)
        self.assertGreater(end.seconds_since(begin), 0)

    def test_deadlines(self):
        stream, go = roc.stream(), threading.Event()
        stream.call(go.wait, 30)
        with self.assertRaises(TimeoutError):
            stream.synchronize(timeout=0.01)
        go.set()
        stream.synchronize(timeout=30)

    def test_a_function_that_raises_fails_its_stream_alone(self):
        stream = roc.stream()
        stream.call(lambda: 1 // 0)
        with self.assertRaises(roc.HostFunctionError):
            stream.synchronize(timeout=30)
        self.equal(roc.to_device(np.arange(3)).copy_to_host(), [0, 1, 2])

    def test_graphs(self):
        stream, data = roc.stream(), roc.to_device(np.zeros(64, np.int32))
        with stream.capture() as graphs:
            self.module()['increment'][1, 64, stream](data)
        for _ in range(3):
            graphs[0].launch(stream)
        stream.synchronize(timeout=30)
        self.equal(data.copy_to_host(), np.full(64, 3))

    def test_graphs_hold_what_they_use(self):
        stream, data = roc.stream(), roc.mapped_array(64, np.int32)
        data[:] = 0
        memory, increment = weakref.ref(data.memory), self.module()['increment']
        with stream.capture() as graphs:
            increment[1, 64, stream](data)
            with self.assertRaises(roc.InvalidArgument):
                with stream.capture():
                    pass
        del data
        gc.collect()
        self.assertIsNotNone(memory())
        graphs[0].launch(stream)
        stream.synchronize(timeout=30)
        del graphs
        gc.collect()
        self.assertIsNone(memory())

    def test_a_capture_that_fails_keeps_what_runs(self):
        stream, other, go = roc.stream(), roc.stream(), threading.Event()
        data = roc.mapped_array(64, np.int32)
        memory, increment = weakref.ref(data.memory), self.module()['increment']
        stream.call(go.wait, 30)
        increment[1, 64, stream](data)
        with self.assertRaisesRegex(roc.InvalidArgument, 'not joined'):
            with stream.capture():
                other.wait(stream.record())
                increment[1, 64, other](roc.mapped_array(64, np.int32))
        del data
        gc.collect()
        kept = memory() is not None
        go.set()
        self.assertTrue(kept)

    def test_graphs_hold_what_their_other_streams_use(self):
        stream, other, data = roc.stream(), roc.stream(), roc.mapped_array(64, np.int32)
        memory, increment = weakref.ref(data.memory), self.module()['increment']
        with stream.capture() as graphs:
            other.wait(stream.record())
            increment[1, 64, other](data)
            stream.wait(other.record())
        del data
        other.synchronize(timeout=30)
        gc.collect()
        self.assertIsNotNone(memory())
        graphs.clear()
        gc.collect()
        self.assertIsNone(memory())

    def test_graphs_hold_many_arrays(self):
        stream, increment = roc.stream(), self.module()['increment']
        first, other = roc.mapped_array(64, np.int32), roc.mapped_array(64, np.int32)
        memory = weakref.ref(first.memory)
        with stream.capture() as graphs:
            increment[1, 64, stream](first)
            for _ in range(4200):
                increment[1, 64, stream](other)
        del first
        gc.collect()
        self.assertEqual(len(graphs), 1)
        self.assertIsNotNone(memory())

    def test_threads_that_call_may_outlive_the_program(self):
        program = '''
import threading, time
import hsadrv as roc
def work():
    stream = roc.default_stream(roc.default_gpu())
    while True:
        for _ in range(20):
            stream.call(lambda: None)
        stream.synchronize()
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
'''
        ended = subprocess.run([sys.executable, '-c', program], timeout=60, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(ended.returncode, 0, ended.stderr[-500:])

    def test_threads(self):
        data = roc.to_device(np.zeros((8, 64), np.int32))
        increment = self.module()['increment']

        def work(row):
            for _ in range(20):
                increment[1, 64](row)
            roc.default_stream(roc.default_gpu()).synchronize(timeout=60)
        threads = [threading.Thread(target=work, args=(data[n],)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.equal(data.copy_to_host(), np.full((8, 64), 20))


if __name__ == '__main__':
    main()
