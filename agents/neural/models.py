"""Neural models: the paper's network with or without edges, or the user's own module."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Literal

from agents.beliefs.rules.rule import AcquisitionRule
from agents.neural.agent import NeuralAgent
from agents.neural.network import GRAPH_NETWORK, NODE_NETWORK, ModuleArchitecture, name_module
from agents.neural.settings import NeuralSettings
from gntk.engines import ModuleOrFactory

SHAPE = ("width", "depth", "node_count")  # settings of the paper's network that do not apply to a module


def gnn(
    settings: NeuralSettings,
    make_rule: Callable[[], AcquisitionRule],
    *,
    network: ModuleOrFactory | Literal["paper"] = "paper",
    network_name: str = "",
) -> NeuralAgent:
    """A graph neural network with the covariance of its tangent features [Wu & Amini 2024, Algorithm 1].

    Args:
        settings: settings of network, covariance and fit.
        make_rule: makes the acquisition rule.
        network: "paper"; or a torch module `Batch -> (K,)` on PyG batches with parameters theta_0; or a function that
            makes one, with new parameters from the seed of each `reset`.
        network_name: name of a module in settings and results, in addition to its class.

    Raises:
        ValueError: if `network` is the name of a module, or a module comes with settings of the paper's network.
        TypeError: if `network` is none of these.
    """
    if isinstance(network, str):
        if network != "paper" or network_name:
            raise ValueError(
                f'Expected `network` to be a module, a function that makes one, or "paper" (without a `network_name`). '
                f"Got {network!r}. A stored name does not bring its module back: pass the module itself."
            )
        return NeuralAgent(settings, GRAPH_NETWORK, make_rule)
    defaults = {field.name: field.default for field in dataclasses.fields(settings)}
    ignored = [name for name in SHAPE if getattr(settings, name) != defaults[name]]
    if ignored:
        raise ValueError(f"Expected no {', '.join(ignored)} with `network`, because a module has its own shape.")
    named = dataclasses.replace(settings, network=name_module(network, network_name))
    return NeuralAgent(named, ModuleArchitecture(network), make_rule)


def nn(settings: NeuralSettings, make_rule: Callable[[], AcquisitionRule]) -> NeuralAgent:
    """The same network on nodes without edges, the paper's baseline.

    Args:
        settings: settings of network, covariance and fit.
        make_rule: makes the acquisition rule.

    Raises:
        ValueError: if `settings` name a module.
    """
    if settings.network != "paper":
        raise ValueError(
            f"Expected no `network` for an NN baseline. Got {settings.network!r}. The `gnn-*` agents take one."
        )
    return NeuralAgent(settings, NODE_NETWORK, make_rule)
