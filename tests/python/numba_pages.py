"""The examples of Numba's pages on memory management, for roc and for cuda, with this module in their place."""
import numpy
import numpy as np

import hsadrv as roc
from common import Case, main

cuda = hsa = roc


class Examples(Case):
    def setUp(self):
        self.my_kernel = self.module()['increment']

    def test_host_to_device_and_back(self):
        ary = numpy.arange(10)
        d_ary = roc.to_device(ary)
        hary = d_ary.copy_to_host()
        self.equal(hary, ary)
        ary = numpy.empty(shape=d_ary.shape, dtype=d_ary.dtype)
        d_ary.copy_to_host(ary)
        self.equal(ary, numpy.arange(10))

    def test_kernel(self):
        for module in [hsa, cuda]:
            arr = np.arange(10000, dtype=np.int32)
            d_arr = module.to_device(arr)
            self.my_kernel[100, 100](d_arr)
            result_array = d_arr.copy_to_host()
            self.equal(result_array, arr + 1)

    def test_reshape(self):
        d_arr = roc.to_device(np.arange(1000))
        d_arr = d_arr.reshape(20, 50, order='F')
        self.equal(d_arr.copy_to_host(), np.arange(1000).reshape(20, 50, order='F'))
        self.assertTrue(d_arr.is_f_contiguous())
        self.assertFalse(d_arr.is_c_contiguous())
        self.equal(d_arr.ravel(order='F').copy_to_host(), np.arange(1000))

    def test_register(self):
        array_a = numpy.arange(10)
        array_b = numpy.arange(10)
        with roc.register(array_a, array_b):
            self.equal(roc.to_device(array_a).copy_to_host(), array_b)

    def test_stream(self):
        ary = np.arange(10)
        stream = cuda.stream()
        d_ary = cuda.to_device(ary, stream=stream)
        hary = d_ary.copy_to_host(stream=stream)
        with stream.auto_synchronize():
            d_ary.copy_to_host(hary, stream=stream)
        stream.synchronize()
        self.equal(hary, ary)

    def test_allocation(self):
        d_ary = cuda.device_array((3, 4), dtype=np.float32, strides=None, order='C', stream=0)
        self.assertEqual(cuda.device_array_like(d_ary, stream=0).shape, (3, 4))
        host = cuda.pinned_array((3, 4), dtype=np.float32, strides=None, order='C')
        mapped = cuda.mapped_array((3, 4), dtype=np.float32, strides=None, order='C', stream=0, portable=False, wc=False)
        host[...] = mapped[...] = 3
        d_ary.copy_to_device(host, stream=0)
        self.equal(d_ary.copy_to_host(None, stream=0), mapped)
        d_other = cuda.to_device(host, stream=0, copy=True, to=d_ary)
        self.assertIs(d_other, d_ary)
        with cuda.pinned(np.arange(3)), cuda.mapped(np.arange(4)):
            pass

    def test_context_in_place_of_a_stream(self):
        ary = numpy.arange(10)
        for context in roc.gpus():
            d_ary = roc.to_device(ary, context, copy=True, to=None)
            self.assertIs(d_ary.device, context)
            self.equal(d_ary.copy_to_host(), ary)
            self.assertIs(roc.device_array((3,), stream=context).device, context)
        if len(roc.gpus()) > 1:
            with self.assertRaisesRegex(ValueError, 'GPU 0'):
                d_ary.copy_to_host(stream=roc.gpus()[0])

    def test_writeback(self):
        ary = np.arange(10, dtype=np.int32)
        d_ary = cuda.to_device(ary).with_writeback(ary)
        self.my_kernel[1, 10](d_ary)
        d_ary.to_host()
        self.equal(ary, np.arange(1, 11))
        with self.assertRaisesRegex(ValueError, 'with_writeback'):
            d_ary[1:].to_host()

    def test_scalars(self):
        self.assertEqual(cuda.to_device(5.0).copy_to_host(), 5.0)
        self.assertEqual(cuda.to_device(np.float32(5)).dtype, np.float32)

    def test_record(self):
        record = cuda.to_device(np.array([(1, 2.0)], dtype=[('a', 'i4'), ('b', 'f4')])[0])
        self.assertEqual(record.copy_to_host().item(), (1, 2.0))


if __name__ == '__main__':
    main()
