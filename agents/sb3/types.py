"""Names for generic types of Gymnasium and NumPy."""

from __future__ import annotations

from typing import Any, TypeAlias

from gymnasium.spaces import Space
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
"""An array of actions, observations or pixels."""
AnySpace: TypeAlias = Space[Any]
"""A space, before it is checked."""
Info: TypeAlias = dict[str, Any]
"""The `info` that Gymnasium's `step` and `reset` return."""
