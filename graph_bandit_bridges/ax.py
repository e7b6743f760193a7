"""Ax: a generation node that chooses graphs of a pool by a campaign."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from graph_bandit_bridges.trials import PoolCampaigns, Trials
from graph_bandit_campaign import Campaign, Goal, Measurement
from graph_bandit_env.extras import require

require("ax", "`PoolNode`")

from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig  # noqa: E402 - after the check for the extra
from ax.core.parameter import FixedParameter  # noqa: E402
from ax.core.trial_status import TrialStatus  # noqa: E402
from ax.core.types import ComparisonOp  # noqa: E402
from ax.exceptions.core import SearchSpaceExhausted  # noqa: E402
from ax.generation_strategy.external_generation_node import ExternalGenerationNode  # noqa: E402

if TYPE_CHECKING:
    from ax.core.data import Data
    from ax.core.experiment import Experiment
    from ax.core.optimization_config import OptimizationConfig

    from graph_bandit_env import GraphPool

MOST_CHOICES = 1000  # maximum number of values of a choice parameter in Ax
UNDER_WAY = (TrialStatus.CANDIDATE, TrialStatus.STAGED, TrialStatus.RUNNING, TrialStatus.DISPATCHED)
DROPPED = (TrialStatus.ABANDONED, TrialStatus.EARLY_STOPPED)
"""Statuses of trials whose graph is neither chosen again nor used for training."""
Value: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True)
class Quantity:
    """A weighted sum of metrics with a goal."""

    goal: Goal
    """The goal, such as to maximize the sum."""
    weights: Mapping[str, float]
    """The weight of each metric in the sum, by its signature."""

    def measure(self, key: str, results: Mapping[str, tuple[float, float]], name: str) -> Measurement | None:
        """Return the result of a graph, or None if a metric is missing.

            y = sum_m w_m y_m,   noise^2 = sum_m (w_m sem_m)^2

        Args:
            key: id of the graph.
            results: results of the metrics and their standard errors by signature. NaN or 0 marks an unknown error.
            name: name of the goal in the campaign.
        """
        if not self.weights.keys() <= results.keys():
            return None
        value = sum(weight * results[metric][0] for metric, weight in self.weights.items())
        noise = math.hypot(*(weight * results[metric][1] for metric, weight in self.weights.items()))
        return Measurement(key, value, 0, goal=name, noise=noise if noise > 0 else None)  # False for NaN


class PoolNode(ExternalGenerationNode):
    """Choose the next graph of a pool, as the value of one parameter, from earlier results.

    `pool_parameter(pool)` creates the parameter, whose values are the ids or, for more than 1,000 graphs, the indices.
    `id_of` converts a value to an id. Each graph is chosen once. Failed trials train the model of failures.
    Abandoned and early-stopped trials are ignored by the model, but their graphs are not chosen again. Running and
    waiting trials are pending. Graphs of stale trials, which never ran, can be chosen again. With several objectives or
    outcome constraints, graphs are chosen for the Pareto front. A weighted sum of metrics is one quantity. Standard
    errors of results are their noise. Thresholds of objectives are not used.

    The node stores no results. It reads the trials of the experiment for each choice, so an experiment can be saved and
    continued. Other parameters must be fixed.

    Args:
        pool: K graphs, for example from `from_smiles(...)`.
        parameter: name of the parameter.
        agent: name of the agent, as on the command line. If None, the default for these graphs.
        seed: seed of all randomness.
        name: name of the node in a generation strategy.

    Raises:
        MissingExtraError: if Ax is not installed.
    """

    def __init__(
        self, pool: GraphPool, parameter: str = "id", agent: str | None = None, seed: int = 0, name: str = "PoolNode"
    ) -> None:
        super().__init__(name=name, should_deduplicate=False)  # a campaign never repeats a graph
        self._parameter, self._ids, self._campaigns = parameter, tuple(pool.ids), PoolCampaigns(pool, agent, seed)
        self._campaign: Campaign | None = None
        self._as_index, self._fixed = False, dict[str, Value]()

    def update_generator_state(self, experiment: Experiment, data: Data) -> None:
        """Read the trials of an experiment.

        Raises:
            ValueError: if the experiment has no such parameter, others are not fixed, a campaign does not support an
                objective or constraint, or a trial has no graph of the pool.
        """
        parameters = dict(experiment.search_space.parameters)
        own = parameters.pop(self._parameter, None)
        if own is None:
            raise ValueError(f"Expected a parameter `{self._parameter}`, as `pool_parameter` makes. Got none.")
        free = [name for name, parameter in parameters.items() if not isinstance(parameter, FixedParameter)]
        if free:
            raise ValueError(f"Expected other parameters to be fixed. Got {', '.join(free)}, which can take values.")
        self._fixed = {name: parameter.value for name, parameter in parameters.items()}
        self._as_index = own.python_type is int
        config = experiment.optimization_config
        if config is None:
            raise ValueError("Expected an experiment with an objective. Call `configure_optimization` first.")
        quantities = [*objectives_of(config), *constraints_of(config)]
        tried = self._read(experiment, data, quantities)
        (only,) = quantities if len(quantities) == 1 else (None,)
        goals = [] if only else [quantity.goal for quantity in quantities]
        maximize = only is None or only.goal.aim == "maximize"
        self._campaign = self._campaigns.after(tried, goals, maximize)

    def get_next_candidate(self, pending_parameters: Sequence[Mapping[str, Value]]) -> dict[str, Value]:
        """Return the next graph and the fixed parameters.

        Raises:
            SearchSpaceExhausted: if all graphs have been tried.
        """
        if self._campaign is None:
            raise RuntimeError("Expected `update_generator_state` first. Got a node that has read no experiment.")
        waiting = {self.id_of(parameters[self._parameter]) for parameters in pending_parameters}
        mask = self._campaign.on_offer() & np.array([key not in waiting for key in self._campaign.ids])
        if not mask.any():
            raise SearchSpaceExhausted(f"All {len(mask)} graphs of the pool were tried, or are being tried.")
        key = self._campaign.ask(1, among=mask)[0].id
        return {self._parameter: self._campaign.ids.index(key) if self._as_index else key, **self._fixed}

    def new_trial_limit(self, raise_generation_errors: bool = False) -> int:
        """Return the number of remaining graphs, the limit for new trials."""
        trials = [trial for trial in self.experiment.trials.values() if trial.status is not TrialStatus.STALE]
        tried = {self.id_of(arm.parameters[self._parameter]) for trial in trials for arm in trial.arms}
        left, other = len(self._ids) - len(tried), super().new_trial_limit(raise_generation_errors)
        return left if other < 0 else min(left, other)

    def id_of(self, value: Value) -> str:
        """Return the id of the graph for a value of the parameter.

        Raises:
            ValueError: if there is no such graph.
        """
        if isinstance(value, str):
            return value
        if not (isinstance(value, int) and 0 <= value < len(self._ids)):
            raise ValueError(f"Expected an index from 0 to {len(self._ids) - 1}. Got {value!r}.")
        return self._ids[value]

    def _read(self, experiment: Experiment, data: Data, quantities: Sequence[Quantity]) -> Trials:
        """Convert the trials of an experiment to results and statuses of graphs."""
        rows: dict[tuple[int, str], dict[str, tuple[float, float]]] = {}
        columns = ("trial_index", "arm_name", "metric_signature", "mean", "sem")
        for index, arm, metric, mean, error in zip(*(data.df[name] for name in columns), strict=True):
            rows.setdefault((int(index), str(arm)), {})[str(metric)] = float(mean), float(error)
        measured, failed, waiting, dropped = list[Measurement](), list[str](), list[str](), list[str]()
        for index, trial in experiment.trials.items():
            for arm in trial.arms:
                key, results = self.id_of(arm.parameters[self._parameter]), rows.get((index, arm.name), {})
                if trial.status in DROPPED or arm in trial.abandoned_arms:
                    dropped.append(key)
                elif trial.status is TrialStatus.FAILED:
                    failed.append(key)
                elif trial.status in UNDER_WAY:
                    waiting.append(key)
                elif trial.status is TrialStatus.COMPLETED:
                    names = ["" if len(quantities) == 1 else quantity.goal.name for quantity in quantities]
                    pairs = zip(quantities, names, strict=True)
                    found = [quantity.measure(key, results, name) for quantity, name in pairs]
                    measured += [result for result in found if result is not None]
                    waiting.append(key)  # has no effect if there are results
        return Trials(measured, failed, waiting, dropped)


def pool_parameter(pool: GraphPool, name: str = "id") -> ChoiceParameterConfig | RangeParameterConfig:
    """Return a parameter for `configure_experiment` whose values are the graphs of a pool.

    Ax accepts at most 1,000 values of a choice. For more graphs, the values are their indices from 0 to K - 1.

    Args:
        pool: K graphs, at least two.
        name: name of the parameter.
    """
    if len(pool.ids) <= MOST_CHOICES:
        return ChoiceParameterConfig(name=name, values=list(pool.ids), parameter_type="str", is_ordered=False)
    return RangeParameterConfig(name=name, bounds=(0, len(pool.ids) - 1), parameter_type="int")


def objectives_of(config: OptimizationConfig) -> Iterator[Quantity]:
    """Yield the quantities that an experiment maximizes or minimizes.

    Raises:
        ValueError: if one of several objectives is a sum of metrics.
    """
    objective = config.objective
    if objective.is_scalarized_objective:
        yield Quantity(Goal(objective.expression), dict(objective.metric_weights))
        return
    if objective.is_multi_objective and objective.expression.count(",") + 1 < len(objective.metric_names):
        raise ValueError(f"Expected one metric for each of several objectives. Got {objective.expression!r}.")
    for name, (metric, weight) in zip(objective.metric_names, objective.metric_weights, strict=True):
        yield Quantity(Goal(name, "maximize" if weight > 0 else "minimize"), {metric: 1.0})


def constraints_of(config: OptimizationConfig) -> Iterator[Quantity]:
    """Yield the quantities that an experiment constrains. Two constraints on one sum of metrics make a range.

    Raises:
        ValueError: if a bound is relative to a baseline.
    """
    ranges: dict[str, tuple[dict[str, float], list[float], list[float]]] = {}
    for constraint in config.outcome_constraints:
        if constraint.relative:
            raise ValueError(f"Expected absolute bounds of constraints. Got {constraint.expression!r}.")
        weights = dict(constraint.metric_weights)  # the weight of a single metric is 1, as Ax divides by it
        terms = [f"{w:g} {name}" for name, w in zip(constraint.metric_names, weights.values(), strict=True)]
        text = constraint.metric_names[0] if len(terms) == 1 else " + ".join(terms)
        _, lows, highs = ranges.setdefault(text, (weights, [], []))
        (highs if constraint.op is ComparisonOp.LEQ else lows).append(constraint.bound)
    for text, (weights, lows, highs) in ranges.items():
        low, high = max(lows, default=None), min(highs, default=None)
        yield Quantity(Goal(text, "limit", low=low, high=high), weights)
