"""Memory that processes, the host and GPUs, and other allocators have in common."""
import gc
import multiprocessing
import os
import pickle
import subprocess
import sys

import numpy as np

import hsadrv as roc
from common import Case, main

PATIENCE_S = 60


def other_process(handle, signal_handle, pipe):
    """Of a spawned process: changes the array that it is given, in place, and completes the signal on the device."""
    with handle as array:
        seen = array.copy_to_host()
        array[...] = seen * 2
        done, stream = roc.open_ipc_signal(signal_handle), roc.stream()
        stream.decrement(done)
        stream.synchronize(PATIENCE_S)
    pipe.send(seen)


def run(program):
    """Another interpreter's output; it must end well."""
    done = subprocess.run([sys.executable, '-c', 'import numpy as np, hsadrv as roc\n' + program], timeout=PATIENCE_S, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    return done.stdout


class Processes(Case):
    @staticmethod
    def received(pipe):
        """None if the other process has ended, or sends nothing in time."""
        try:
            return pipe.recv() if pipe.poll(PATIENCE_S) else None
        except EOFError:
            return None

    def shared(self, array):
        """What a spawned process finds in the array; it leaves twice that."""
        spawn = multiprocessing.get_context('spawn')
        here, there = spawn.Pipe()
        done = roc.Signal(1, shared=True)
        child = spawn.Process(target=other_process, args=(array.get_ipc_handle(), done.get_ipc_handle(), there))
        child.start()
        there.close()
        seen = self.received(here)
        child.join(PATIENCE_S)
        self.assertEqual(child.exitcode, 0)
        self.assertEqual(done.wait('<', 1, timeout=0), 0)
        return seen

    def test_two_processes_have_one_array(self):
        host = np.arange(1000, dtype=np.float32).reshape(10, 100)
        array = roc.to_device(host)
        self.equal(self.shared(array), host)
        self.equal(array.copy_to_host(), host * 2)

    def test_views_are_shared_as_they_are(self):
        host = np.arange(60, dtype=np.int16).reshape(6, 10)
        array = roc.to_device(host)
        self.equal(self.shared(array[1:5, ::-1].T), host[1:5, ::-1].T)
        host[1:5] *= 2
        self.equal(array.copy_to_host(), host)

    def test_a_handle_is_one_line_of_text(self):
        record = np.dtype([('x', np.float32), ('y', np.int64, (2,))])
        array = roc.to_device(np.zeros(5, record))
        handle = array.get_ipc_handle()
        self.assertNotIn('\n', str(handle))
        for same in [roc.IpcArrayHandle(str(handle)), pickle.loads(pickle.dumps(handle))]:
            self.assertEqual((same.shape, same.strides, same.dtype, same.memory), (array.shape, array.strides, record, handle.memory))
        array[...] = np.full(5, 7, record)
        printed = run(f'h = roc.IpcArrayHandle({str(handle)!r})\nwith h as a: print(a.copy_to_host()["y"].sum())')
        self.assertEqual(printed, '70\n')

    def test_open_ipc_array_takes_bytes_as_numba_does(self):
        array = roc.to_device(np.arange(10.))
        memory = array.get_ipc_handle().memory
        with roc.open_ipc_array(memory, 5, np.float64, offset=40) as half:
            self.equal(half.copy_to_host(), np.arange(5., 10))
        with self.assertRaises(ValueError), roc.open_ipc_array(memory, 11, np.float64):
            pass

    def test_an_opened_array_outlives_its_handle(self):
        array = roc.to_device(np.arange(5))
        handle = array.get_ipc_handle()
        opened = handle.open()
        with self.assertRaises(ValueError):
            handle.open()
        handle.close()
        part = opened[2:]
        del opened, array, handle
        gc.collect()
        self.equal(part.copy_to_host(), [2, 3, 4])
        with roc.device_array((0, 3)).get_ipc_handle() as empty:
            self.assertEqual(empty.shape, (0, 3))

    def test_what_is_no_handle_is_refused(self):
        text = str(roc.to_device(np.arange(5)).get_ipc_handle())
        for wrong in ['', '{}', '[1]', 'nonsense(', text.replace('5', '6'), text[:-3] + "'}", text.replace('<i8', 'nonsense'),
                      text.replace("'memory': '", "'memory': 'ffffffff")]:
            with self.subTest(wrong[:30]), self.assertRaises(ValueError):
                roc.IpcArrayHandle(wrong).open()
        with self.assertRaises(ValueError):
            roc.open_ipc_signal(b'short')
        with self.assertRaises(roc.InvalidArgument):
            roc.open_ipc_signal(bytes(40))
        with self.assertRaises(roc.InvalidArgument):
            roc.Signal(1).get_ipc_handle()


class Signals(Case):
    def test_streams_and_the_host_wait_and_change_it(self):
        go, done, stream = roc.Signal(2), roc.Signal(1), roc.stream()
        stream.wait_signal(go, '==', 0)
        stream.decrement(done)
        go.add(-1)
        self.assertEqual((go.value, done.value, stream.query()), (1, 1, False))
        with self.assertRaises(roc.Timeout):
            done.wait(timeout=0.001)
        go.value = 0
        self.assertEqual(done.wait(timeout=PATIENCE_S), 0)
        stream.synchronize(PATIENCE_S)
        with self.assertRaises(ValueError):
            done.wait('>', 0)


class Managed(Case):
    def test_numpy_reads_what_a_kernel_has_written_without_a_copy(self):
        array = roc.managed_array(1000, np.int32)
        address = array.ctypes.data
        self.equal(array, np.zeros(1000))
        array[:] = np.arange(1000)
        stream = roc.stream()
        self.module()['increment'][10, 100, stream](array)
        stream.synchronize(PATIENCE_S)
        self.equal(array, np.arange(1, 1001))
        self.assertEqual(array.ctypes.data, address)
        self.module()['increment'][1, 10, stream](array[500:])
        stream.synchronize(PATIENCE_S)
        self.equal(array[499:511], [500, *range(502, 512), 511])

    def test_copies_between_managed_and_device_arrays(self):
        array = roc.managed_array((3, 4), np.float32, order='F')
        array[...] = np.arange(12).reshape(3, 4)
        on_device = roc.to_device(array)
        on_device[0] = 9
        on_device.copy_to_host(array)
        self.equal(array[0], [9, 9, 9, 9])
        self.equal(array[1:], np.arange(4, 12).reshape(2, 4))

    def test_advice_and_prefetches(self):
        gpu = roc.default_gpu()
        array, stream = roc.managed_array(5000, device=gpu, attach_global=False), roc.stream()
        self.assertEqual(roc.managed_facts(array), (False, None, None, 'migrating'))
        roc.advise(array, 'read_mostly')
        roc.advise(array, 'preferred_location', gpu)
        roc.advise(array, 'accessible_in_place_by', gpu)
        roc.prefetch(array, stream=stream)
        stream.synchronize(PATIENCE_S)
        self.assertEqual(roc.managed_facts(array), (True, gpu, gpu, 'in place'))
        roc.advise(array, 'preferred_location', 'host')
        roc.prefetch(array, 'host', stream)
        stream.synchronize(PATIENCE_S)
        self.assertEqual(roc.managed_facts(array)[1:3], ('host', 'host'))
        roc.advise(array, 'not_accessible_by', gpu)
        self.assertIsNone(roc.managed_facts(array).access)
        with self.assertRaises(ValueError):
            roc.advise(array, 'nonsense')
        with self.assertRaises(ValueError):
            roc.advise(array, 'accessible_by', 'host')


class Pool:
    """A program's allocator: cuts one block of device memory, from its beginning."""

    def __init__(self, size_bytes=1 << 20):
        self.memory, self.used, self.live, self.stream = roc.Memory(roc.default_gpu(), size_bytes), 0, {}, None

    def allocate(self, size_bytes, alignment_bytes, stream):
        if self.used + size_bytes > self.memory.size_bytes:
            raise MemoryError('the pool is empty')
        begin, self.stream = self.memory.address + self.used, stream
        self.used += -(-size_bytes // alignment_bytes) * alignment_bytes
        self.live[begin] = size_bytes
        return begin

    def deallocate(self, address, size_bytes, alignment_bytes):
        assert self.live.pop(address) == size_bytes and alignment_bytes == 256


class Resources(Case):
    def test_arrays_are_cut_from_a_pool_and_given_back(self):
        pool, stream = Pool(), roc.stream()
        array = roc.to_device(np.arange(100, dtype=np.int32), stream, resource=pool)
        other = roc.device_array_like(array, stream=stream, resource=pool)
        self.assertEqual(array.address, pool.memory.address)
        self.assertEqual((len(pool.live), pool.stream), (2, stream))
        self.module()['increment'][1, 100, stream](array)
        self.equal(array[50:].copy_to_host(stream=stream), np.arange(51, 101))
        stream.synchronize(PATIENCE_S)
        part = array[:10]
        del array, other
        self.assertEqual(len(pool.live), 1)  # the view keeps it
        del part
        stream.close()
        self.assertEqual(pool.live, {})

    def test_what_a_pool_raises_is_raised(self):
        pool = Pool(4096)
        with self.assertRaisesRegex(MemoryError, 'the pool is empty'):
            roc.device_array(5000, np.uint8, resource=pool)
        with self.assertRaises(AttributeError):
            roc.device_array(5, resource=object())
        pool.allocate = lambda *_: None
        with self.assertRaises(roc.OutOfMemory):
            roc.device_array(5, resource=pool)
        pool.allocate = lambda *_: pool.memory.address + 8
        pool.deallocate = lambda *_: None
        with self.assertRaises(roc.InvalidArgument):
            roc.device_array(5, resource=pool)

    def test_a_cache_gives_memory_out_again(self):
        cache = roc.CachingResource(limit_bytes=8 << 20)
        first = roc.to_device(np.arange(100), resource=cache)
        address = first.address
        self.equal(first.copy_to_host(), np.arange(100))
        del first
        roc.synchronize()
        self.assertEqual(roc.device_array(100, np.int64, resource=cache).address, address)
        with self.assertRaises(roc.OutOfMemory):
            roc.device_array(16 << 20, np.uint8, resource=cache)

    def test_a_pool_that_is_in_use_when_the_interpreter_ends(self):
        printed = run('''
class Pool:
    memory = roc.Memory(roc.default_gpu(), 1 << 20)
    def allocate(self, size, alignment, stream): return self.memory.address
    def deallocate(self, address, size, alignment): print('given back', size)
stream = roc.stream()
array = roc.device_array(1000, np.uint8, resource=Pool())
stream.fill(array.address, 1000, b'x', array.memory)''')
        self.assertEqual(printed, 'given back 1000\n')


class Mappings(Case):
    def test_an_array_grows_in_place_where_the_runtime_can(self):
        granule = roc.PhysicalMemory.granule()
        try:
            addresses = roc.VirtualRange(4 * granule)
        except roc.NotOffered as error:
            self.skipTest(str(error))
        parts = [roc.PhysicalMemory(granule) for _ in range(2)]
        first = addresses.map(parts[0])
        array = first.array(granule, np.uint8)
        array[...] = 7
        second = addresses.map(parts[1], granule)
        second.array(granule, np.uint8)[...] = 8
        self.assertEqual((array.address, second.address), (addresses.address, addresses.address + granule))
        descriptor = parts[0].share()
        same = addresses.map(roc.PhysicalMemory.open(descriptor, granule), 2 * granule, roc.default_gpu())
        os.close(descriptor)
        self.equal(same.array(3, np.uint8).copy_to_host(), [7, 7, 7])
        del addresses, parts, first, second
        self.equal(array[:3].copy_to_host(), [7, 7, 7])
        with self.assertRaises(ValueError):
            same.array(granule + 1, np.uint8)

    def test_a_dmabuf_is_the_same_memory_where_the_runtime_can(self):
        array = roc.to_device(np.arange(100.))
        try:
            shared = array[10:].to_dmabuf()
        except roc.NotOffered as error:
            self.skipTest(str(error))
        with shared:
            same = roc.open_dmabuf(shared, 90, np.float64, offset=shared.offset_bytes)
        self.equal(same.copy_to_host(), np.arange(10., 100))
        self.assertEqual(shared.descriptor, -1)
        array[10] = 5
        self.equal(same[:2].copy_to_host(), [5, 11])

    def test_a_descriptor_of_anything_else_is_refused(self):
        with open(os.devnull) as file, self.assertRaises(roc.InvalidArgument):
            roc.open_dmabuf(file, 5, np.uint8)


if __name__ == '__main__':
    main()
