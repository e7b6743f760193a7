"""The agents by name: `gnn_ts(width=256)` makes the same agent as `registry.make_agent("gnn-ts", width=256)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from agents.zoo.recipes import RECIPES, Recipe, find_factory

if TYPE_CHECKING:
    from agents.contract import Agent

_FACTORIES = {name.replace("-", "_"): name for name in RECIPES}

__all__ = ["RECIPES", "Recipe", *_FACTORIES]


def __getattr__(name: str) -> Callable[..., Agent]:
    """Join model and rule when an agent is first needed; torch is not imported before."""
    if name not in _FACTORIES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return find_factory(_FACTORIES[name])


def __dir__() -> list[str]:
    return sorted(__all__)
