"""Check that a saved state belongs to an agent with the same settings, graphs and version."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from torch import Tensor

from agents.contract.protocol import State


def make_identity(settings: State, tensors: Iterable[Tensor], algorithm: int) -> State:
    """Make the identity of an agent, which a state must share with the agent that loads it.

    Args:
        settings: the agent's settings by name.
        tensors: tensors that identify the graphs.
        algorithm: version of the agent's algorithm.

    Returns:
        The settings, a hash of the graphs, and the version.
    """
    digest = hashlib.sha256()
    for tensor in tensors:
        digest.update(f"{tensor.dtype}{tuple(tensor.shape)}".encode())
        digest.update(tensor.numpy().tobytes())
    return {"settings": settings, "graphs": digest.hexdigest(), "algorithm": algorithm}


def check_identity(state: State, expected: State) -> None:
    """Refuse a state that was saved with other settings or on other graphs, or that no agent saved.

    Raises:
        ValueError: if settings, graphs or versions of the algorithm differ; the message says which.
    """
    identity = state.get("identity")
    if identity is None:
        raise ValueError("Expected a state made by `state_dict`. Got one without identity.")
    mine, theirs = expected["settings"], identity["settings"]
    names = sorted(mine.keys() | theirs.keys())
    differing = [name for name in names if name not in mine or name not in theirs or mine[name] != theirs[name]]
    if differing:
        listed = ", ".join(f"`{name}`: {theirs.get(name)!r}" for name in differing)
        raise ValueError(f"Expected the state of an agent with the same settings. Got another {listed}.")
    if expected["graphs"] != identity["graphs"]:
        raise ValueError("Expected the state of an agent on the same graphs. Got one on other graphs.")
    if identity["algorithm"] != expected["algorithm"]:
        raise ValueError(
            f"Expected the state of version {expected['algorithm']} of the agent's algorithm. Got one of version "
            f"{identity['algorithm']}, which plays differently. Give a new agent the same measurements by `update`."
        )
