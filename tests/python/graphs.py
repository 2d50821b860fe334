"""Graphs: recorded from a stream, and built node by node."""
import gc
import subprocess
import sys
import threading
import weakref

import numpy as np

import hsadrv as roc
from common import Case, main

PATIENCE_S = 60


class Graphs(Case):
    def setUp(self):
        self.add, self.increment = self.module()['add'], self.module()['increment']
        self.stream = roc.stream()

    def launched(self, graph):
        graph.launch(self.stream)
        self.stream.synchronize(PATIENCE_S)

    def test_a_fork_and_a_join_compute_the_right_data(self):
        n = 1000
        host, out = np.arange(n, dtype=np.float32), roc.pinned_array(n, np.float32)
        d_in, d_left, d_right, d_sum = (roc.device_array(n, np.float32) for _ in range(4))
        seen = []
        build = roc.GraphBuilder()
        upload = build.copy(d_in, host)
        left = build.kernel(self.add, (d_in, d_in, d_left, n), n, 100, after=upload)
        ones = build.fill(d_right, 1)
        right = build.kernel(self.add, (d_in, d_right, d_right, n), n, 100, after=[upload, ones])
        join = build.empty([left, right])
        total = build.kernel(self.add, (d_left, d_right, d_sum, n), (n,), (50, 1), after=join)
        download = build.copy(out, d_sum, after=total)
        build.call(lambda: seen.append(out.sum()), after=download)
        graph = build.finish()
        self.assertEqual(seen, [])
        self.launched(graph)
        self.equal(out, 3 * np.arange(n) + 1)
        host[:] = 1  # each replay reads it
        self.launched(graph)
        self.equal(out, np.full(n, 4))
        self.assertEqual(len(seen), 2)

    def test_updates_replace_a_kernel(self):
        first, second = roc.to_device(np.zeros(10, np.int32)), roc.to_device(np.zeros(10, np.int32))
        build = roc.GraphBuilder()
        node = build.kernel(self.increment, (first,), 10, 10)
        build.kernel(self.increment, (first,), 5, 5, after=node)
        graph = build.finish()
        self.launched(graph)
        graph.update(node, self.increment, (second,), 10, 10)
        self.launched(graph)
        graph.update(1, self.increment, (second,), 10, 10)
        self.launched(graph)
        self.equal(first.copy_to_host(), [3, 3, 3, 3, 3, 1, 1, 1, 1, 1])
        self.equal(second.copy_to_host(), np.full(10, 3))
        with self.assertRaises(ValueError):
            graph.update(2, self.increment, (second,), 10, 10)
        with self.assertRaises(TypeError):
            graph.update(0, self.increment, (), 10, 10)

    def test_a_captured_graph_is_updated_and_a_node_of_another(self):
        data = roc.to_device(np.zeros(10, np.int32))
        with self.stream.capture() as graphs:
            self.increment[1, 10, self.stream](data)
        graphs[0].update(0, self.increment, (data[:5],), 5, 5)
        build = roc.GraphBuilder()
        inner = build.graph(graphs[0])
        build.kernel(self.increment, (data,), 10, 10, after=[inner])
        graph = build.finish()
        del graphs, inner
        gc.collect()
        self.launched(graph)
        self.equal(data.copy_to_host(), [2] * 5 + [1] * 5)

    def test_what_is_wrong_adds_no_node(self):
        data = roc.to_device(np.zeros((4, 6), np.int32))
        build = roc.GraphBuilder()
        old = build.empty()
        build.finish()
        for wrong in [lambda: build.empty(after=old), lambda: build.copy(data, np.zeros((4, 6), np.int64)),
                      lambda: build.copy(data, np.zeros((6, 4), np.int32)), lambda: build.copy(data[:, :3], data[:, 3:]),
                      lambda: build.kernel(self.increment, (np.zeros(10, np.int32),), 10, 10), lambda: build.fill(data, [1, 2]),
                      lambda: build.kernel(self.increment, (data,), 10, 4096), lambda: build.copy(data, data)]:
            with self.assertRaises(ValueError):
                wrong()
        with self.assertRaises(TypeError):
            build.kernel(self.increment, (), 10, 10)
        with self.assertRaises(TypeError):
            build.empty(after=[5])
        self.launched(build.finish())

    def test_a_graph_keeps_what_it_uses_and_no_longer(self):
        array = roc.to_device(np.zeros(10, np.int32))
        kept = [weakref.ref(array)]

        def function():
            pass
        kept.append(weakref.ref(function))
        build = roc.GraphBuilder()
        build.kernel(self.increment, (array,), 10, 10)
        build.call(function)
        graph = build.finish()
        memory = array.memory
        del array, function
        gc.collect()
        self.assertTrue(all(one() is not None for one in kept))
        self.launched(graph)
        self.equal(memory.array(10, np.int32).copy_to_host(), np.ones(10))
        del graph, memory
        gc.collect()
        self.stream.close()
        self.assertIsNone(kept[0]())

    def test_a_function_that_raises_fails_the_stream(self):
        build = roc.GraphBuilder()
        build.call(lambda: 1 // 0)
        build.finish().launch(self.stream)
        with self.assertRaises(roc.HostFunctionError):
            self.stream.synchronize(PATIENCE_S)
        with self.assertRaises(roc.Error):
            self.stream.close()

    def test_threads_build_at_once(self):
        build, calls = roc.GraphBuilder(), []

        def chain():
            node = ()
            for n in range(20):
                node = build.call(calls.append, n, after=node)
        threads = [threading.Thread(target=chain) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.launched(build.finish())
        self.assertEqual(sorted(calls), sorted(4 * list(range(20))))

    def test_the_interpreter_ends_with_graphs_and_builders_in_use(self):
        done = subprocess.run([sys.executable, '-c', '''
import hsadrv as roc
build, stream = roc.GraphBuilder(), roc.stream()
build.call(print, 'called')
graph = build.finish()
build.call(print, 'never')
graph.launch(stream)'''], timeout=PATIENCE_S, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, 'called\n', ''))


if __name__ == '__main__':
    main()
