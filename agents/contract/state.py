"""A saved state fits an agent with equal settings on equal graphs, and no other."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from torch import Tensor

from agents.contract.protocol import State


def make_identity(settings: State, tensors: Iterable[Tensor], algorithm: int) -> State:
    """Return what a state must agree in with the agent that loads it.

    Args:
        settings: of the agent, by name.
        tensors: what the agent knows of the graphs.
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
    """Refuse a state that is incomplete, or that another agent saved or one on other graphs.

    Raises:
        ValueError: if a key is missing, or settings, graphs or versions of the algorithm differ; it says which.
    """
    missing = [key for key in ("identity", *keys) if key not in state]
    if missing:
        raise ValueError(f"Expected a state made by `state_dict`. Got one without {', '.join(missing)}.")
    found = state["identity"]
    names = expected["settings"].keys() | found["settings"].keys()
    differing = sorted(n for n in names if expected["settings"].get(n) != found["settings"].get(n))
    if differing:
        raise ValueError(
            "Expected the state of an agent with the same settings. Got another "
            + ", ".join(f"`{n}`: {found['settings'].get(n)!r}" for n in differing)
            + "."
        )
    if expected["graphs"] != found["graphs"]:
        raise ValueError("Expected the state of an agent on the same graphs. Got one on others.")
    version = found.get("algorithm", 1)  # which states of the first version do not say
    if version != expected["algorithm"]:
        raise ValueError(
            f"Expected the state of version {expected['algorithm']} of the agent's algorithm. Got one of version "
            f"{version}, which plays otherwise. Tell the agent its measurements again by `update`."
        )
