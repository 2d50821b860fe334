"""What the runtime has found: its agents, CPUs among them, and their pools and regions of memory."""
from __future__ import annotations

import functools

from . import _c
from ._types import Any
from .device import driver, gpus
from .memory import Memory

_KINDS, _SEGMENTS = ('cpu', 'gpu', 'other'), ('global', 'readonly', 'private', 'group', 'kernarg')


class Pool:
    """A pool of an agent, or a region, the core specification's view of the same memory. `kind`: 'global', 'readonly', 'private', 'group';
    `size_bytes`, `alloc_max_bytes`, `alloc_granule_bytes`, `alloc_allowed`, `host_accessible`, `kernarg`, `fine_grained`, `coarse_grained`."""

    def __init__(self, agent: Any, view: Any, index: Any) -> None:
        self.agent, self._place = agent, (agent.index, view, index)
        facts = _c.PoolFacts()
        _c.call('driver_pool_info', driver(), *self._place, facts)
        self.size_bytes, self.alloc_max_bytes, self.alloc_granule_bytes = facts.size_bytes, facts.alloc_max_bytes, facts.alloc_granule_bytes
        self.kind, self.alloc_allowed, self.host_accessible = _SEGMENTS[facts.segment], bool(facts.alloc_allowed), bool(facts.host_accessible)
        self.kernarg, self.fine_grained, self.coarse_grained = (bool(facts.flags & flag) for flag in (1, 2, 4))

    def __repr__(self) -> str:
        words = [name for name in ('fine_grained', 'coarse_grained', 'kernarg') if getattr(self, name)]
        return f'<{" ".join([self.kind, *words])} memory of {self.agent!r}, {self.size_bytes} bytes>'

    def allocate(self, size_bytes: int) -> Any:
        """Memory of it."""
        kind = _c.DEVICE if not self.host_accessible else _c.HOST_COARSE if self.coarse_grained else _c.HOST
        device = self.agent.device or gpus[0]
        return Memory.of_handle(device, _c.made('memory_create_in', driver(), *self._place, size_bytes), kind)


class Agent:
    """A CPU, a GPU or another agent. `kind`: 'cpu', 'gpu', 'other'; `name`, `product_name`; `device`: the Device, or None."""

    def __init__(self, index: Any) -> None:
        self.index, facts = index, _c.AgentFacts()
        _c.call('driver_agent_info', driver(), index, facts)
        self.kind, self.name, self.product_name = _KINDS[facts.kind], facts.name.decode(), facts.product_name.decode()
        self.device = gpus[facts.device] if facts.device < len(gpus) else None
        self.pools, self.regions = ([Pool(self, view, n) for n in range(count)] for view, count in enumerate((facts.pools, facts.regions)))

    def __repr__(self) -> str:
        return f'<Agent {self.index}: {self.name} ({self.product_name})>'


@functools.cache
def agents() -> tuple[Agent, ...]:
    """All of them, in the runtime's order."""
    return tuple(Agent(index) for index in range(_c.made('driver_agent_count', driver())))
