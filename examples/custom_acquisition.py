"""Add your own acquisition rule, and play it against the agents of the zoo.

The rule here plays the graph with the largest probability of beating the best mean so far. It is a single class, and
another one adds its setting to those of the network. Network, covariance and fit are those of the zoo.

    python examples/custom_acquisition.py --rounds 60
"""

import argparse
import tempfile
from dataclasses import dataclass

import torch

import registry
from agents.beliefs import Belief, Memoryless, compose
from agents.neural import NeuralSettings, gnn
from graph_bandit_lab import EnvironmentSettings, RunSettings, load_results, run_experiment


@dataclass
class ProbabilityOfImprovement(Memoryless):
    """P(mu(G) > best mean + margin), under N(mean, spread^2)      [Kushner 1964]."""

    margin: float
    """By how much to beat the best mean."""

    def __call__(self, belief: Belief, action_mask: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """Return the standardised improvement of each graph; the probability grows with it."""
        return (belief.mean - belief.mean.max() - self.margin) / belief.spread.clamp(min=1e-12)


@dataclass(frozen=True, kw_only=True)
class ImprovementSettings(NeuralSettings):
    """Settings of `gnn-pi`: those of the network, and that of the rule."""

    margin: float = 0.1
    """By how much to beat the best mean."""


registry.register_agent("gnn-pi", compose("gnn-pi", gnn, ImprovementSettings, ProbabilityOfImprovement))
registry.check_agent(lambda: registry.make_agent("gnn-pi", width=32, steps=5, margin=0.2))

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--rounds", type=int, default=60)
arguments = parser.parse_args()

with tempfile.TemporaryDirectory() as folder:
    run_experiment(
        RunSettings(
            out=folder,
            agents=("gnn-pi", "gnn-ts", "random"),
            environment=EnvironmentSettings(num_graphs=30, num_nodes=20, horizon=arguments.rounds),
            repetitions=2,
        )
    )
    print(load_results(folder).groupby("label")["total_regret"].mean().round(1).to_string())
