"""What annotations name."""
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Union

import numpy as np
from numpy.typing import DTypeLike

if TYPE_CHECKING:
    from .device import Device
    from .stream import Stream

__all__ = ['Any', 'Callable', 'DTypeLike', 'DeviceLike', 'Iterator', 'Sequence', 'ShapeLike', 'StreamLike']

DeviceLike = Union['Device', int, str, None]
StreamLike = Union['Stream', 'Device', int, None]  # 0, as in Numba, and a Device: the default stream
ShapeLike = Union[int, Sequence[int], np.ndarray]
