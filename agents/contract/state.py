"""Check that a saved state belongs to an agent with the same settings, graphs and version of the algorithm."""

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


def check_identity(state: State, expected: State, keys: Iterable[str]) -> None:
    """Refuse a state that is incomplete, or that was saved with other settings or on other graphs.

    Raises:
        ValueError: if a key is missing, or settings, graphs or versions of the algorithm differ; the message says
            which.
    """
    missing = [key for key in ("identity", *keys) if key not in state]
    if missing:
        raise ValueError(f"Expected a state made by `state_dict`. Got one without {', '.join(missing)}.")
    identity = state["identity"]
    names = expected["settings"].keys() | identity["settings"].keys()
    differing = sorted(name for name in names if expected["settings"].get(name) != identity["settings"].get(name))
    if differing:
        raise ValueError(
            "Expected the state of an agent with the same settings. Got another "
            + ", ".join(f"`{name}`: {identity['settings'].get(name)!r}" for name in differing)
            + "."
        )
    if expected["graphs"] != identity["graphs"]:
        raise ValueError("Expected the state of an agent on the same graphs. Got one on other graphs.")
    version = identity.get("algorithm", 1)  # states of the first version do not contain it
    if version != expected["algorithm"]:
        raise ValueError(
            f"Expected the state of version {expected['algorithm']} of the agent's algorithm. Got one of version "
            f"{version}, which plays differently. Give a new agent the same measurements by `update`."
        )
