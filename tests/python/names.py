"""What users of numba.cuda and numba.roc know by name, and current devices and streams."""
import asyncio
import contextlib
import io
import pathlib
import re
import threading

import numpy as np

import hsadrv as roc
from common import Case, main

PAGE = pathlib.Path(__file__).parents[2] / 'docs/guide/python.md'
SOURCE = '''
kernel void increment(global int* data, int by) { data[__builtin_amdgcn_workitem_id_x()] += by; }
kernel void set(global int* record, const global int* from) { record[1] = *from; }
'''


def in_thread(function):
    """What it returns on a thread of its own."""
    results = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    return results[0]


class Names(Case):
    def test_each_name_of_the_pages_table_is_there(self):
        rows = re.findall(r'^\| .*? \| (.*?) \|', PAGE.read_text().split('## Coming from Numba')[1], re.M)
        names = [name for row in rows[2:] for name in re.findall(r'`([\w.]+)', row)]
        self.assertGreater(len(names), 40)
        for name in names:
            with self.subTest(name):
                found = roc
                for part in name.split('.'):
                    found = getattr(found, part)

    def test_version(self):
        self.assertRegex(roc.__version__, r'^\d+\.\d+\.\d+$')

    def test_what_gpus_there_are(self):
        self.assertTrue(roc.is_available())
        self.assertEqual((len(roc.gpus), list(roc.gpus), roc.gpus[0].id), (len(roc.gpus()), list(roc.gpus()), 0))
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.assertTrue(roc.detect())
        for gpu in roc.gpus:
            self.assertIn(gpu.uuid, out.getvalue())
        free, total = roc.current_context().get_memory_info()
        self.assertTrue(0 <= free <= total == roc.default_gpu().memory_bytes)

    def test_arrays_of_the_host_like_others(self):
        for like in [roc.pinned_array_like, roc.mapped_array_like]:
            made = like(np.ones((2, 3), np.int16, order='F'))
            self.assertEqual((made.shape, made.dtype, made.strides), ((2, 3), np.int16, (2, 4)))
        for array in [roc.coarsegrain_array, roc.finegrain_array]:
            made = array(5, np.float32)
            made[:] = range(5)
            self.equal(roc.to_device(made).copy_to_host(), np.arange(5, dtype=np.float32))


class Current(Case):
    def test_a_device(self):
        roc.close()
        self.assertIsNone(roc.gpus.current)
        self.assertIs(roc.default_gpu(), roc.gpus.current)
        first = roc.default_gpu()
        for gpu in roc.gpus:
            with gpu as entered:
                self.assertIs(entered, gpu)
                self.assertIs(roc.gpus.current, gpu)
                self.assertIs(roc.device_array(1).device, gpu)
                self.assertIs(roc.stream().device, gpu)
                self.assertIs(in_thread(roc.default_gpu), first)
            self.assertIs(roc.default_gpu(), first)

    def test_a_device_that_a_thread_selects(self):
        last = roc.gpus[-1]
        self.assertIs(in_thread(lambda: roc.select_device(len(roc.gpus) - 1) and roc.device_array(1).device), last)
        self.assertIs(roc.default_gpu(), roc.gpus[0])

    def test_a_stream(self):
        stream, array, done = roc.stream(name='mine'), roc.to_device(np.arange(4)), []
        self.assertIn('mine', repr(stream))
        with stream:
            self.assertIs(roc.default_stream(), stream)
            with roc.stream() as inner:
                self.assertIs(roc.default_stream(), inner)
            self.equal(array.copy_to_host(), np.arange(4))
            self.assertIsNot(in_thread(roc.default_stream), stream)
        self.assertIsNot(roc.default_stream(), stream)
        stream.call(done.append, 1)  # it goes on after the with-statement
        stream.synchronize(10)
        self.assertEqual(done, [1])

    def test_a_closed_stream(self):
        stream = roc.stream()
        array = roc.to_device(np.arange(4), stream=stream)
        self.assertIs(array.stream, stream)
        stream.close()
        stream.close()
        self.assertEqual(array.stream, 0)
        self.equal(array.copy_to_host(), np.arange(4))
        with self.assertRaisesRegex(ValueError, 'closed'):
            array.copy_to_host(stream=stream)
        with self.assertRaises(roc.InvalidArgument):
            stream.synchronize()

    def test_synchronize_of_a_device(self):
        go, done, stream = threading.Event(), [], roc.stream()
        stream.call(lambda: (go.wait(10), done.append(1)))
        with self.assertRaises(roc.Timeout):
            stream.device.synchronize(0.01)
        go.set()
        stream.device.synchronize(10)
        self.assertEqual(done, [1])


class Events(Case):
    def test_recorded_again(self):
        first, last, stream = roc.event(), roc.event(), roc.stream()
        self.assertTrue(first.query())  # not recorded
        first.synchronize()
        first.wait(stream)
        for _ in range(2):
            first.record(stream)
            array = roc.to_device(np.arange(32.), stream=stream)
            last.record(stream)
            last.wait(roc.stream())
            last.synchronize(10)
            self.assertGreater(first.elapsed_time(last), 0)
            self.assertEqual(roc.event_elapsed_time(first, last), first.elapsed_time(last))
        self.equal(array.copy_to_host(), np.arange(32.))

    def test_callbacks(self):
        seen, stream = [], roc.stream()
        stream.add_callback(lambda *given: seen.append(given), 7)
        stream.add_callback(lambda *given: seen.append(given))
        stream.synchronize(10)
        self.assertEqual(seen, [(stream, 0, 7), (stream, 0, None)])

    def test_futures(self):
        async def all_of():
            streams = [roc.stream() for _ in range(4)]
            host = [roc.pinned_array(8) for _ in streams]
            for number, (stream, ary) in enumerate(zip(streams, host)):
                roc.to_device(np.full(8, float(number)), stream=stream).copy_to_host(ary, stream=stream)
            futures = [stream.async_done() for stream in streams] + [streams[0].async_done()]
            futures[-1].cancel()
            self.assertEqual(await asyncio.gather(*futures[:-1]), streams)
            self.assertEqual([ary[7] for ary in host], [0, 1, 2, 3])
            self.assertTrue(futures[-1].cancelled())

            def fails():
                raise KeyError('on purpose')

            streams[0].call(fails)
            with contextlib.suppress(roc.Error), self.assertRaises(roc.Error):
                await asyncio.wait_for(streams[0].async_done(), 10)
        with contextlib.redirect_stderr(io.StringIO()):
            asyncio.run(all_of())
        with contextlib.suppress(roc.Error):  # the default stream may follow the one that failed
            roc.default_stream().synchronize()


class Arguments(Case):
    @classmethod
    def setUpClass(cls):
        cls.code = roc.load(roc.compile(SOURCE, 'cl', ['-cl-kernel-arg-info']))

    def test_what_is_copied(self):
        host = np.zeros(4, np.int32)
        increment = self.code['increment'].forall(4)
        increment(roc.In(host), 1)
        self.equal(host, [0, 0, 0, 0])
        for given in [host, roc.InOut(host)]:
            increment(given, 1)
        self.equal(host, [2, 2, 2, 2])
        increment(roc.Out(host), 1)
        self.assertNotEqual(host.tolist(), [3] * 4)  # memory that was not written before

    def test_a_record_of_the_host(self):
        host = np.zeros(2, [('a', np.int32), ('b', np.int32)])
        self.code['set'][1, 1](host[1], np.int32([5]))
        self.assertEqual(host.tolist(), [(0, 0), (0, 5)])
        self.code['set'][1, 1](roc.In(host[1]), np.int32([6]))
        self.assertEqual(host.tolist(), [(0, 0), (0, 5)])
        array = roc.to_device(host)
        got = np.zeros((), host.dtype)[()]
        self.assertIs(array[1].copy_to_host(got), got)
        self.assertEqual(got.tolist(), (0, 5))

    def test_by_name(self):
        array = roc.to_device(np.zeros(4, np.int32))
        self.code['increment'].forall(4)(array, by=3)
        self.code['increment'][1, 4](by=3, data=array)
        self.equal(array.copy_to_host(), [6] * 4)
        for arguments, named in [((array, 1), dict(by=1)), ((array,), dict(other=1))]:
            with self.assertRaisesRegex(TypeError, 'data, by'):
                self.code['increment'][1, 4](*arguments, **named)

    def test_without_a_size(self):
        with self.assertRaisesRegex(TypeError, r'increment\[groups, group_size\]'):
            self.code['increment'](1, 2)
        with self.assertRaisesRegex(ValueError, 'negative'):
            self.code['increment'].forall(-1)


class Forms(Case):
    def test_flags_are_those_of_numpy(self):
        host = np.arange(24).reshape(2, 3, 4)
        on_device = roc.to_device(host)
        for index in [..., 0, (slice(None), 0), (..., 0), slice(0, 0), (slice(0, 1), ..., slice(0, 1))]:
            for array, mine in [(host[index], on_device[index]), (host[index].T, on_device[index].T)]:
                for flag in ['C_CONTIGUOUS', 'F_CONTIGUOUS']:
                    self.assertEqual(mine.flags[flag], array.flags[flag], (index, flag))

    def test_records_with_texts_dates_and_arrays(self):
        dtype = np.dtype([('a', np.float64), ('d', '<U5'), ('when', 'M8[s]'), ('big', '>i4'), ('m', np.float32, (3, 3))], align=True)
        on_device = roc.to_device(np.zeros(3, dtype))
        on_device[1]['d'], on_device[1]['when'], on_device[1]['big'] = 'abc', np.datetime64('2020-01-01'), 7
        on_device[1]['m'][1, 1:] = 4
        self.assertEqual(on_device[1]['d'], 'abc')
        self.assertEqual(on_device.copy_to_host()['big'].tolist(), [0, 7, 0])
        self.assertEqual(on_device[1]['m'].copy_to_host().sum(), 8)
        records = np.zeros(2, [('a', np.int32)]).view(np.recarray)
        self.assertEqual(roc.to_device(records).copy_to_host().dtype, records.dtype)


class Foreign:
    """Another library's array."""

    def __init__(self, array, **changes):
        self.array = array
        self.__cuda_array_interface__ = dict(array.__cuda_array_interface__, **changes)


class Interchange(Case):
    def test_there_and_back(self):
        host = np.arange(24.).reshape(4, 6)
        on_device = roc.to_device(host)
        self.assertTrue(roc.is_cuda_array(on_device) and not roc.is_cuda_array(host))
        for index in [..., (slice(None, None, -1), slice(1, None, 2)), (slice(0, 0),), 2]:
            mine = roc.as_cuda_array(Foreign(on_device[index]))
            self.assertEqual((mine.shape, mine.dtype), (host[index].shape, host.dtype))
            self.equal(mine.copy_to_host(), host[index])
        del on_device
        mine[0] = 50  # its owner lives
        self.assertEqual(mine[0], 50)
        mapped = roc.mapped_array(3, np.int8)
        roc.as_cuda_array(mapped)[...] = 3
        self.equal(mapped, [3, 3, 3])

    def test_empty(self):
        facts = roc.to_device(np.zeros((0, 3))).__cuda_array_interface__
        self.assertEqual((facts['data'][0], facts['shape'], facts['version']), (0, (0, 3), 3))

    def test_what_is_refused(self):
        array = roc.to_device(np.arange(3))
        with self.assertRaises(NotImplementedError):
            roc.as_cuda_array(Foreign(array, mask=array))
        with self.assertRaisesRegex(BufferError, 'from_dlpack'):
            roc.as_cuda_array(Foreign(array, stream=2))
        self.equal(roc.as_cuda_array(Foreign(array, stream=2), sync=False).copy_to_host(), [0, 1, 2])
        with self.assertRaises(TypeError):
            roc.as_cuda_array(np.arange(3))


class OfOther:
    """Another library's array."""

    def __init__(self, ary):
        self.__cuda_array_interface__ = ary.__cuda_array_interface__


class TakenAsNumbasAre(Case):
    def test_arrays_of_other_libraries(self):
        d = roc.to_device(np.arange(8, dtype=np.int32))
        self.module()['increment'][1, 8](OfOther(d))
        self.equal(roc.to_device(OfOther(d)), np.arange(1, 9))
        other = roc.device_array(8, np.int32)
        other.copy_to_device(OfOther(d))
        self.equal(other, np.arange(1, 9))
        other[2:4] = OfOther(d[:2])
        self.equal(other, [1, 2, 1, 2, 5, 6, 7, 8])

    def test_shapes_and_numbers(self):
        self.assertEqual(roc.device_array(np.array([2, 3])).shape, (2, 3))
        self.assertEqual(roc.device_array(np.int64(3)).reshape(np.array([3, 1])).shape, (3, 1))
        kernel = roc.load(roc.compile('''
            #include <shared/device/device.hpp>
            struct Complex { float re, im; };
            HSADRV_KERNEL void set(Complex* to, Complex value) { to[0] = value; }'''))['set']
        d = roc.device_array(1, np.complex64)
        kernel[1, 1](d, 4 + 3j)
        self.equal(d, [4 + 3j])

    def test_what_needs_a_copy(self):
        for strided in [roc.to_device(np.arange(6.).reshape(2, 3))[:, ::2], roc.device_array((3, 4)).T]:
            for wrong in (NotImplementedError, ValueError, roc.NeedsCopy):
                with self.assertRaisesRegex(wrong, 'copy'):
                    strided.ravel()
        with self.assertRaisesRegex(ValueError, 'one unknown dimension'):
            roc.device_array(12).reshape(-1, -1)

    def test_numpys_words(self):
        d, host = roc.device_array((4, 6), np.int16), np.empty((4, 6), np.int16)
        for change in [lambda a: a.transpose(0, 2), lambda a: a.transpose(0, 0), lambda a: a.transpose(0), lambda a: a[:, :3].view('i4'),
                       lambda a: a.T.view('i4')]:
            with self.assertRaises(ValueError) as wanted:
                change(host)
            with self.assertRaises(ValueError) as got:
                change(d)
            self.assertEqual(str(got.exception), str(wanted.exception))

    def test_comparisons(self):
        zero = roc.to_device(np.float64(3))
        self.assertEqual((zero == 3, zero != 3, zero < 4, zero >= roc.to_device(np.float64(4))), (True, False, True, False))
        d = roc.device_array(3)
        self.assertEqual((d == None, d != None, None in [d]), (False, True, False))  # noqa: E711
        with self.assertRaises(TypeError):
            d == d  # noqa: B015

    def test_nothing_waits_for_memory(self):
        with roc.defer_cleanup():
            roc.device_array(1000)
        d = roc.device_array(3)
        d.setitem(1, 5.0, stream=roc.stream())
        self.assertEqual(d[1], 5)
        self.assertEqual(roc.mapped_array_like(np.zeros(3), stream=roc.stream(), portable=True).shape, (3,))


class Agents(Case):
    def test_all_are_there(self):
        kinds = [agent.kind for agent in roc.agents()]
        self.assertIn('cpu', kinds)
        self.assertEqual([agent.device for agent in roc.agents() if agent.device], list(roc.gpus))
        gpu = next(agent for agent in roc.agents() if agent.kind == 'gpu')
        self.assertIn(gpu.name, repr(gpu))
        self.assertEqual({region.kind for region in gpu.regions} & {'global', 'group'}, {'global', 'group'})
        self.assertTrue(any(pool.kind == 'group' and pool.size_bytes == gpu.device.lds_bytes for pool in gpu.pools))

    def test_memory_of_pools_and_regions(self):
        host, d = roc.pinned_array(256, np.float32), roc.device_array(256, np.float32)
        host[:], made = range(256), 0
        for agent in roc.agents():
            for pool in [*agent.pools, *agent.regions]:
                if not pool.alloc_allowed or pool.kind != 'global':
                    with self.assertRaises(roc.NotOffered):
                        pool.allocate(4096)
                    continue
                memory = pool.allocate(4096)
                ary = memory.array(256, np.float32)
                ary.copy_to_device(host)
                d.copy_to_device(ary)
                self.equal(d, host)
                self.assertEqual(memory.is_of_host, pool.host_accessible)
                made += 1
        self.assertGreater(made, 4)


if __name__ == '__main__':
    main()
