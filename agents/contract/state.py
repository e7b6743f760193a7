"""Check that a saved state belongs to an agent with the same settings, graphs and version, and that it is whole."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from numbers import Real
from typing import NamedTuple

import torch
from torch import Tensor

from agents.contract.protocol import State


class TensorForm(NamedTuple):
    """What stays the same in a tensor of a state, whatever an agent learns."""

    dtype: torch.dtype
    shape: tuple[int, ...]
    """A dimension that is empty at first grows with what the agent learns; the others keep their length."""
    finite: bool
    """Whether all entries are finite at first, and so stay finite."""


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
    identity = state.get("identity") if isinstance(state, dict) else None
    has_known_keys = isinstance(identity, dict) and identity.keys() <= expected.keys()
    if not isinstance(identity, dict) or not has_known_keys or not isinstance(identity.get("settings"), dict):
        raise ValueError(
            "Expected a state made by `state_dict`. Got one without identity, or with one that no agent wrote."
        )
    names = expected["settings"].keys() | identity["settings"].keys()
    mine, theirs = expected["settings"], identity["settings"]
    differing = sorted(name for name in names if name not in mine or name not in theirs or mine[name] != theirs[name])
    if differing:
        raise ValueError(
            "Expected the state of an agent with the same settings. Got another "
            + ", ".join(f"`{name}`: {identity['settings'].get(name)!r}" for name in differing)
            + "."
        )
    if expected["graphs"] != identity.get("graphs"):
        raise ValueError("Expected the state of an agent on the same graphs. Got one on other graphs.")
    version = identity.get("algorithm", 1)  # states of the first version do not contain it
    if version != expected["algorithm"]:
        raise ValueError(
            f"Expected the state of version {expected['algorithm']} of the agent's algorithm. Got one of version "
            f"{version}, which plays differently. Give a new agent the same measurements by `update`."
        )


def form_of(state: object) -> object:
    """Describe the state of an agent that has learnt nothing yet: nested like it, with a `TensorForm` for a tensor."""
    if isinstance(state, Tensor):
        return TensorForm(state.dtype, tuple(state.shape), bool(state.isfinite().all()))
    if isinstance(state, dict):
        return {key: form_of(value) for key, value in state.items()}
    return [form_of(value) for value in state] if isinstance(state, (list, tuple)) else state


def check_form(state: object, form: object, name: str = "") -> None:
    """Refuse a state that is not like the one an agent starts with.

    What is None, or an empty list or dict, at first may hold anything of its kind later; only the agent can check it.

    Args:
        state: a state, or a part of one.
        form: the result of `form_of`.
        name: name of the part, for the message.

    Raises:
        ValueError: if a key is missing or too many, a type, shape or length differs, or a number is not finite.
    """
    wrong = _difference(state, form)
    if wrong:
        raise ValueError(f"Expected a state made by `state_dict`. Got one with {wrong} in `{name or 'state'}`.")
    prefix = f"{name}." if name else ""
    if isinstance(form, dict) and isinstance(state, dict):
        for key, part in form.items():
            check_form(state[key], part, f"{prefix}{key}")
    elif isinstance(form, list) and isinstance(state, (list, tuple)):
        for position, part in enumerate(form):
            check_form(state[position], part, f"{prefix}{position}")


def _difference(state: object, form: object) -> str:
    """Return what is wrong with one entry of a state; empty if nothing is."""
    if form is None:
        return ""
    if _kind(state) != (Tensor if isinstance(form, TensorForm) else _kind(form)):
        return f"a {type(state).__name__}"
    if isinstance(form, TensorForm) and isinstance(state, Tensor):
        shape = tuple(state.shape)
        grown = [then for then, first in zip(shape, form.shape, strict=False) if first in (0, then)]
        if state.dtype != form.dtype or not len(grown) == len(shape) == len(form.shape):
            return f"a tensor {shape} of {state.dtype} instead of {form.shape} of {form.dtype}"
        return "numbers that are not finite" if form.finite and not state.isfinite().all() else ""
    if isinstance(form, dict) and isinstance(state, dict) and form and form.keys() != state.keys():
        return f"the keys {sorted(map(str, state))} instead of {sorted(map(str, form))}"
    if isinstance(form, list) and isinstance(state, (list, tuple)) and form and len(form) != len(state):
        return f"{len(state)} entries instead of {len(form)}"
    if isinstance(form, Real) and isinstance(state, Real):
        return f"the number {state}" if math.isfinite(form) and not math.isfinite(state) else ""
    return ""


def _kind(value: object) -> type:
    """Return the type of an entry; integers and floats are one kind, and so are lists and tuples, and all tensors."""
    kinds = ((bool, bool), (Real, float), ((list, tuple), list), (dict, dict), (Tensor, Tensor))
    return next((kind for types, kind in kinds if isinstance(value, types)), type(value))
