"""Device arrays, their views and copies."""
import gc
import time

import numpy as np

import hsadrv as roc
from common import Case, main

FORMS = [np.arange(24.), np.arange(24, dtype=np.int16).reshape(2, 3, 4), np.asfortranarray(np.arange(12.).reshape(3, 4)),
         np.zeros((0, 3)), np.array(5, np.uint8), np.arange(6).astype('>i4'), np.ones((2, 2), complex), np.array([True, False]),
         np.arange(24).reshape(4, 6)[::-1, ::2]]


class Arrays(Case):
    def test_there_and_back(self):
        for host in FORMS:
            with self.subTest(str((host.dtype, host.shape, host.strides))):
                on_device = roc.to_device(host)
                self.assertEqual((on_device.shape, on_device.dtype), (host.shape, host.dtype))
                self.equal(on_device.copy_to_host(), host)
                given = np.empty_like(host)
                self.assertIs(on_device.copy_to_host(given), given)
                self.equal(given, host)

    def test_allocation(self):
        for shape in [7, (7,), (2, 3), ()]:
            self.assertEqual(roc.device_array(shape).shape, np.empty(shape).shape)
        self.assertEqual(roc.device_array((2, 3), np.float32, order='F').strides, (4, 8))
        self.assertEqual(roc.device_array((2, 3), np.int8, strides=(8, 1)).strides, (8, 1))
        self.assertEqual(roc.device_array_like(np.ones((2, 3), order='F')).strides, (8, 16))
        for wrong in [dict(shape=(-1,)), dict(shape=3, order='X'), dict(shape=3, dtype=object)]:
            with self.assertRaises((ValueError, TypeError)):
                roc.device_array(**wrong)
        with self.assertRaises(roc.OutOfMemory):
            roc.device_array(1 << 50, np.uint8)

    def test_views_are_those_of_numpy(self):
        host = np.arange(120).reshape(4, 5, 6)
        on_device = roc.to_device(host)
        for index in [0, -1, (1, 2), slice(None, None, -2), (slice(1, 3), ..., 2), (None, 3), (..., slice(4, 0, -1))]:
            with self.subTest(str(index)):
                self.equal(on_device[index].copy_to_host(), host[index])
        self.assertEqual(on_device[1, 2, 3], host[1, 2, 3])
        self.equal(on_device.T.copy_to_host(), host.T)
        self.equal(on_device.transpose(1, 0, 2).copy_to_host(), host.transpose(1, 0, 2))
        self.equal(on_device.reshape(20, 6).copy_to_host(), host.reshape(20, 6))
        self.equal(on_device.T.reshape((30, -1), order='F').copy_to_host(), host.T.reshape(30, 4, order='F'))
        self.equal(on_device.ravel().copy_to_host(), host.ravel())
        self.equal(on_device.view(np.int32).copy_to_host(), host.view(np.int32))
        for wrong, error in [((9,), IndexError), ([0, 1], TypeError), ((0, 0, 0, 0), IndexError), (1.5, TypeError)]:
            with self.assertRaises(error):
                on_device[wrong]
        with self.assertRaises(ValueError):
            on_device.T.reshape(-1)
        with self.assertRaises(ValueError):
            on_device.reshape(7, 7)

    def test_parts(self):
        parts = roc.to_device(np.arange(10)).split(4)
        self.assertEqual([part.size for part in parts], [4, 4, 2])
        self.equal(parts[2].copy_to_host(), [8, 9])
        with self.assertRaises(ValueError):
            roc.to_device(np.arange(10)).split(0)

    def test_assignment_writes_what_is_named_and_no_more(self):
        host = np.arange(48.).reshape(6, 8)
        on_device = roc.to_device(host)
        for index, value in [((slice(1, 4), slice(None, None, 3)), 5), (2, np.arange(8)), ((..., 7), [1, 2, 3, 4, 5, 6]),
                             (slice(None, None, -2), np.ones((3, 8))), ((0, 0), 9)]:
            with self.subTest(str(index)):
                on_device[index] = value
                host[index] = value
                self.equal(on_device.copy_to_host(), host)
        other = roc.to_device(np.zeros((6, 8)))
        on_device[...] = other
        self.equal(on_device.copy_to_host(), np.zeros((6, 8)))
        with self.assertRaises(ValueError):
            on_device[0] = np.ones(7)
        with self.assertRaises(ValueError):
            on_device.copy_to_host(np.empty(48))
        with self.assertRaises(TypeError):
            on_device.copy_to_host([0] * 48)

    def test_records(self):
        table = np.array([(1, (2.5, 3.5)), (4, (5.5, 6.5))], dtype=[('n', 'i4'), ('xy', 'f8', 2)])
        record = roc.to_device(table[1])
        self.assertIsInstance(record, roc.DeviceRecord)
        self.assertEqual(record.copy_to_host(), table[1])
        self.equal(record['xy'].copy_to_host(), [5.5, 6.5])
        record['n'].copy_to_device(7)
        self.assertEqual(record.copy_to_host()['n'], 7)
        with self.assertRaises(KeyError):
            record['z']
        self.equal(roc.to_device(table).copy_to_host(), table)

    def test_buffers_and_numpy(self):
        self.equal(roc.to_device(bytearray(b'abc')).copy_to_host(), bytearray(b'abc'))
        self.equal(roc.to_device([[1, 2], [3, 4]]).copy_to_host(), [[1, 2], [3, 4]])
        self.equal(np.asarray(roc.to_device(np.arange(3))), [0, 1, 2])

    def test_dlpack_shares_memory(self):
        first = roc.to_device(np.arange(12, dtype=np.float32).reshape(3, 4))
        second = roc.from_dlpack(first[1:, ::2])
        second[...] = 0
        expected = np.arange(12, dtype=np.float32).reshape(3, 4)
        expected[1:, ::2] = 0
        self.equal(first.copy_to_host(), expected)
        del first
        gc.collect()
        self.equal(second.copy_to_host(), np.zeros((2, 2)))
        with self.assertRaises(BufferError):
            roc.to_device(np.zeros(2, [('a', 'i4')])).__dlpack__()
        with self.assertRaises(BufferError):
            roc.from_dlpack(np.arange(3))

    def test_dlpack_waits_for_the_default_stream(self):
        data, stream = roc.to_device(np.zeros(64, np.int32)), roc.default_stream(roc.default_gpu())
        stream.call(time.sleep, 0.2)
        self.module()['increment'][1, 64](data)
        data.__dlpack__()
        self.assertTrue(stream.query())

    def test_memory_is_freed(self):
        free = roc.default_gpu().memory_bytes
        for _ in range(8):
            roc.device_array(free // 2, np.uint8)
            gc.collect()


class HostArrays(Case):
    def test_pinned_and_mapped(self):
        for make in [roc.pinned_array, roc.mapped_array]:
            host = make((3, 4), np.int32, order='F')
            host[...] = np.arange(12).reshape(3, 4)
            self.assertTrue(host.is_mapped)
            self.assertTrue(host[1:, 2].is_mapped)
            self.assertFalse((host + 1).is_mapped)
            self.equal(roc.to_device(host).copy_to_host(), host)

    def test_copies_in_a_stream(self):
        source, target = roc.pinned_array(1 << 16, np.int32), roc.pinned_array(1 << 16, np.int32)
        source[...] = np.arange(1 << 16)
        target[...] = 0
        stream = roc.stream()
        with stream.auto_synchronize():
            on_device = roc.to_device(source, stream=stream)
            on_device.copy_to_host(target, stream=stream)
        self.equal(target, source)

    def test_a_stream_of_another_gpu_is_refused(self):
        if len(roc.gpus()) < 2:
            self.skipTest('there is one GPU')
        first, second = roc.gpus()[:2]
        host = np.arange(100)
        on_device, stream = roc.to_device(host, first), roc.Stream(second)
        for call in [lambda: on_device.copy_to_host(stream=stream), lambda: on_device.copy_to_device(host, stream=stream),
                     lambda: on_device.bind(stream).copy_to_host(), lambda: on_device.copy_to_device(on_device, stream)]:
            with self.assertRaisesRegex(ValueError, 'GPU 0.*GPU 1'):
                call()
        self.equal(on_device.copy_to_host(), host)

    def test_registration(self):
        a, b = np.arange(100000), np.arange(100000.)
        with roc.register(a, b):
            self.equal(roc.to_device(a).copy_to_host(), a)
        roc.register(a)
        roc.deregister(a)
        with self.assertRaises(ValueError):
            roc.deregister(a)
        with self.assertRaises(TypeError):
            roc.register([1, 2])


if __name__ == '__main__':
    main()
