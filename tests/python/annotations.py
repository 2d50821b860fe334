"""What mypy says of programs that use the module: strictly nothing of a right one, and something of each wrong line."""
import pathlib
import subprocess
import sys
import tempfile

from common import main
from unittest import TestCase

RIGHT = '''
import asyncio
from typing import Any
import numpy as np
import hsadrv as roc

code = roc.load(roc.compile('...', language='c++', defines=['N=1'], timeout=5.0))
d: roc.DeviceNDArray = roc.to_device(np.zeros((2, 3), np.float32))
with roc.gpus[0] as gpu, roc.stream(priority='high') as stream:
    units: int = gpu.compute_units
    code['saxpy'][10, (64, 1), stream](d, 2, np.float32(3))
    groups, size = code.kernel('saxpy').suggest_group_size()
    code['saxpy'].forall(100)(d, 1, roc.In(np.zeros(4)))
    host: 'np.ndarray[Any, Any]' = d[1:].T.reshape(-1, order='F').copy_to_host(stream=stream, timeout=1.5)
    event = stream.record(timing=True)
    stream.wait(event)
    event.synchronize()
    free, total = gpu.get_memory_info()
d[0] = 1
made = roc.device_array((3, 4), np.int16, order='F', stream=0, device='gfx90a')
mapped = roc.mapped_array(10, dtype='f4')
mapped[:] = 1
with roc.register(np.zeros(3)), roc.defer_cleanup():
    roc.synchronize(1.0)
text: str = str(made.get_ipc_handle())
for agent in roc.agents():
    sizes = [pool.size_bytes for pool in agent.pools]


async def wait() -> roc.Stream:
    return await stream.async_done()

asyncio.run(wait())
'''

WRONG = ['roc.device_array("3")', 'roc.to_device([1], stream="s")', 'roc.stream().synchronize("soon")', 'roc.gpus["first"]', 'made.nonsense',
         'roc.nonsense', 'roc.device_array(3, order=1)', 'roc.compile("...", options=3)', 'number: int = made.copy_to_host()',
         'roc.select_device(1.5)', 'roc.mapped_array(3).memory.nonsense()', 'roc.stream(device=roc.stream())']


def said_of(program):
    """mypy's lines."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / 'program.py'
        file.write_text(program)
        found = subprocess.run(['mypy', '--strict', '--follow-imports=silent', '--cache-dir', '/dev/null', '--no-error-summary', file],
                               capture_output=True, text=True, cwd=folder, check=False)
        if found.returncode not in (0, 1):
            sys.exit(found.stdout + found.stderr)
        return found.stdout.splitlines()


class Annotations(TestCase):
    def test_a_right_program(self):
        self.assertEqual(said_of(RIGHT), [])

    def test_each_wrong_line(self):
        lines = said_of(RIGHT + '\n'.join(WRONG) + '\n')
        first = RIGHT.count('\n') + 1
        unsaid = [wrong for n, wrong in enumerate(WRONG) if not any(f':{first + n}: error' in line for line in lines)]
        self.assertEqual(unsaid, [])

    def test_every_public_function_is_annotated(self):
        package = pathlib.Path(__file__).resolve().parents[2] / 'tools/python/hsadrv'
        found = subprocess.run(['mypy', '--disallow-incomplete-defs', '--cache-dir', '/dev/null', package], capture_output=True, text=True, check=False)
        self.assertEqual([line for line in found.stdout.splitlines() if 'no-untyped-def' in line], [])


if __name__ == '__main__':
    main()
