"""Types of Gymnasium and NumPy whose parameters say nothing here."""

from __future__ import annotations

from typing import Any, TypeAlias

from gymnasium.spaces import Space
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
"""An array of actions, observations or pixels."""
AnySpace: TypeAlias = Space[Any]
"""A space, before it is checked."""
Info: TypeAlias = dict[str, Any]
"""What Gymnasium's `step` tells beside the observation."""
