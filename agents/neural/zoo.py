"""The neural agents by name: each says what sets it apart. Settings are those of its settings class.

Where a network can be given: `network` is a torch module `Batch -> (K,)` on PyG batches, whose parameters are theta_0,
or a function that makes one, with parameters drawn anew from the seed of each `reset`. `network_name` is by what
settings and results know it, beside its class. `gntk.engines.ModuleNetwork` says what is done with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from agents.beliefs.acquisition import (
    AcquisitionRule,
    EpsilonGreedy,
    Greedy,
    PhasedElimination,
    ThompsonSampling,
    UpperConfidenceBound,
)
from agents.contract.settings import read_settings
from agents.neural.agent import NeuralAgent
from agents.neural.network import NetworkBuilder, graph_network, module_network, name_module, node_network
from agents.neural.settings import (
    ConfidenceSettings,
    EliminationSettings,
    EpsilonSettings,
    NeuralSettings,
    ThompsonSettings,
)

S = TypeVar("S", bound=NeuralSettings)


def gnn_ts(network: Any = "paper", network_name: str = "", **settings: Any) -> NeuralAgent:
    """Make GNN Thompson sampling [Wu & Amini 2024, Algorithm 1]."""
    return _on_graphs(ThompsonSettings, settings, _thompson, network, network_name)


def gnn_ucb(network: Any = "paper", network_name: str = "", **settings: Any) -> NeuralAgent:
    """Make GNN-UCB [Kassraie et al. 2022]."""
    return _on_graphs(ConfidenceSettings, settings, _confidence, network, network_name)


def gnn_pe(network: Any = "paper", network_name: str = "", **settings: Any) -> NeuralAgent:
    """Make GNN phased elimination [Kassraie et al. 2022, Algorithm 2]."""
    return _on_graphs(EliminationSettings, settings, _elimination, network, network_name)


def gnn_greedy(network: Any = "paper", network_name: str = "", **settings: Any) -> NeuralAgent:
    """Make greedy play on the GNN's mean."""
    return _on_graphs(NeuralSettings, settings, _greedy, network, network_name)


def epsilon_greedy(network: Any = "paper", network_name: str = "", **settings: Any) -> NeuralAgent:
    """Make epsilon-greedy play on the GNN's mean."""
    return _on_graphs(EpsilonSettings, settings, _mostly_greedy, network, network_name)


def nn_ts(**settings: Any) -> NeuralAgent:
    """Make Thompson sampling on nodes without their edges [Zhang et al. 2021]."""
    return _on_nodes(ThompsonSettings, settings, _thompson)


def nn_ucb(**settings: Any) -> NeuralAgent:
    """Make UCB on nodes without their edges [Zhou et al. 2020]."""
    return _on_nodes(ConfidenceSettings, settings, _confidence)


def nn_pe(**settings: Any) -> NeuralAgent:
    """Make phased elimination on nodes without their edges."""
    return _on_nodes(EliminationSettings, settings, _elimination)


def _thompson(settings: ThompsonSettings) -> AcquisitionRule:
    return ThompsonSampling(settings.sampling)


def _confidence(settings: ConfidenceSettings) -> AcquisitionRule:
    return UpperConfidenceBound()


def _elimination(settings: EliminationSettings) -> AcquisitionRule:
    return PhasedElimination(settings.elimination)


def _greedy(settings: NeuralSettings) -> AcquisitionRule:
    return Greedy()


def _mostly_greedy(settings: EpsilonSettings) -> AcquisitionRule:
    return EpsilonGreedy(settings.epsilon)


def _on_graphs(
    settings_class: type[S], given: Mapping[str, Any], rule: Callable[[S], AcquisitionRule], network: Any, name: str
) -> NeuralAgent:
    """Compose an agent with the paper's network on aggregated neighbours, or with a module of the user's."""
    if isinstance(network, str):
        if network != "paper" or name:
            raise ValueError(
                f'Expected `network` to be a module, a function that makes one, or "paper" (without a `network_name`). '
                f"Got {network!r}. A stored name does not bring its module back: pass the module itself."
            )
        return _compose(read_settings(settings_class, given), graph_network, rule)
    ignored = [setting for setting in ("width", "depth", "node_count") if setting in given]
    if ignored:
        raise ValueError(f"Expected no {', '.join(ignored)} with `network`: a module has its own shape.")
    settings = read_settings(settings_class, {**given, "network": name_module(network, name)})
    return _compose(settings, module_network(network), rule)


def _on_nodes(settings_class: type[S], given: Mapping[str, Any], rule: Callable[[S], AcquisitionRule]) -> NeuralAgent:
    """Compose an agent with the paper's network on nodes without their edges."""
    if given.get("network", "paper") != "paper":
        raise ValueError("Expected no `network` for an NN baseline. The `gnn-*` agents take one.")
    return _compose(read_settings(settings_class, given), node_network, rule)


def _compose(settings: S, network: NetworkBuilder, rule: Callable[[S], AcquisitionRule]) -> NeuralAgent:
    return NeuralAgent(settings, network, partial(rule, settings))
