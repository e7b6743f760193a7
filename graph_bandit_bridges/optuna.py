"""Optuna: a sampler that chooses graphs of a pool by a campaign."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike, NDArray

from graph_bandit_bridges.trials import PoolCampaigns, Trials
from graph_bandit_campaign import Campaign, Goal, Measurement
from graph_bandit_env.extras import require
from graph_bandit_env.pools import KernelPool, Slot, every_action

require("optuna", "`PoolSampler`")

from optuna.distributions import BaseDistribution, CategoricalDistribution  # noqa: E402 - after the check for the extra
from optuna.samplers import BaseSampler, RandomSampler  # noqa: E402
from optuna.search_space import intersection_search_space  # noqa: E402
from optuna.study import Study, StudyDirection  # noqa: E402
from optuna.trial import FrozenTrial, TrialState  # noqa: E402

UNSETTLED = (TrialState.RUNNING, TrialState.WAITING, TrialState.PRUNED)
"""States of trials whose graph is neither chosen again nor used for training."""


class PoolSampler(BaseSampler):
    """Choose the next graph of a pool, as the value of a categorical parameter, from earlier results.

    The objective calls `trial.suggest_categorical(parameter, pool.ids)`. Other categorical parameters that all trials
    have are additional slots, and the sampler chooses combinations. Each graph or combination is chosen once. The study
    stops after the last one.

    Failed trials train the model of failures. Running, waiting and pruned trials are not used for training and not
    repeated. With several objectives or constraints (`Trial.set_constraint`), graphs are chosen for the front.

    With `graph=W`, the choices are the nodes of a graph. Nodes with heavy edges between them are assumed similar.

    The sampler stores no results. It reads the trials in the storage for each choice, so studies can be continued and
    shared by several processes. Other parameters are sampled at random.

    Args:
        pool: K graphs, for example from `from_smiles(...)`. With `graph`, K choices in the order of its rows. If None,
            the nodes of a networkx graph, or the integers from 0 to K - 1.
        parameter: name of the parameter.
        agent: name of the agent, as on the command line. If None, the default for these graphs.
        seed: seed of all randomness.
        graph: `(K, K)`. Symmetric, non-negative weights of the edges between choices: an array, a sparse SciPy matrix
            or a networkx graph. `laplacian_kernel` defines the similarity of the choices.

    Raises:
        MissingExtraError: if Optuna is not installed.
        TypeError, ValueError: if there is no pool, or `graph` is not such a matrix.
    """

    def __init__(
        self, pool: Any = None, parameter: str = "id", agent: str | None = None, seed: int = 0, graph: Any = None
    ) -> None:
        choices = getattr(pool, "ids", pool)
        if graph is not None:
            if hasattr(graph, "adj"):
                choices = list(graph if choices is None else choices)
                graph = nx.to_numpy_array(graph, choices)
            kernel = laplacian_kernel(graph.toarray() if hasattr(graph, "toarray") else graph)
            choices = range(len(kernel)) if choices is None else choices
            pool = KernelPool(kernel, list(map(str, choices)))
        self._make = partial(PoolCampaigns, agent=agent, seed=seed)
        self._known: tuple[object, PoolCampaigns] = None, self._make(pool)
        self._parameter, self._pool, self._random = parameter, pool, RandomSampler(seed)
        self._choices = CategoricalDistribution(choices)

    def reseed_rng(self) -> None:
        """Reseed the sampling of other parameters, as Optuna requires in each process."""
        self._random.reseed_rng()

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """Return the distributions of the ids and of the other categorical parameters of all trials so far."""
        known = intersection_search_space(study.get_trials(deepcopy=False), include_pruned=True)
        return {self._parameter: self._choices, **slots_of(known)}

    def sample_relative(self, study: Study, trial: FrozenTrial, search_space: dict[str, Any]) -> dict[str, object]:
        """Return the id of the next graph and the values of the other parameters.

        Raises:
            ValueError: if all graphs have been tried, or an earlier trial has no graph of the pool.
        """
        trials = [other for other in study.get_trials(deepcopy=False) if other.number != trial.number]
        campaign = self._open(study, trials, search_space)
        values = [*combinations(search_space)][campaign.ids.index(campaign.ask(1)[0].id)]
        return dict(zip(search_space, values, strict=True))

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> object:
        """Return a random value of another parameter.

        Raises:
            ValueError: if the parameter has the ids of the pool.
        """
        if {*getattr(param_distribution, "choices", ())} == {*self._pool.ids}:
            raise ValueError(f"Name the parameter `{self._parameter}`, or pass `parameter={param_name!r}`.")
        return self._random.sample_independent(study, trial, param_name, param_distribution)

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        """Stop the study if all graphs have been tried."""
        space: Any = self.infer_relative_search_space(study, trial) | slots_of(trial.distributions)
        tried = {id_of(other, space) for other in study.get_trials(deepcopy=False)} - {None}
        if len(tried) >= math.prod(len(given.choices) for given in space.values()):
            study.stop()

    def _open(self, study: Study, trials: Sequence[FrozenTrial], space: Mapping[str, Any]) -> Campaign:
        """Return a campaign with the results of the trials."""
        if len(space) > 1 and self._known[0] != space:
            slots = [Slot(self._parameter, "structure", tuple(self._pool.ids), self._pool)]
            slots += [Slot(name, "category", tuple(map(str, range(len(space[name].choices))))) for name in [*space][1:]]
            self._known = space, self._make(every_action(slots, [*map(name_of, combinations(space))]))
        trials = [trial for trial in trials if id_of(trial, space) is not None]
        constraints = list(dict.fromkeys(name for trial in trials for name in constraints_of(trial)))
        goals = goals_of(study.directions, constraints)
        measured, failed, waiting = list[Measurement](), list[str](), list[str]()
        for trial in trials:
            key = str(id_of(trial, space))
            if trial.state is TrialState.FAIL:
                failed.append(key)
            elif trial.state in UNSETTLED:
                waiting.append(key)
            else:
                values = dict(zip([goal.name for goal in goals] or [""], trial.values, strict=False))
                every = (values | constraints_of(trial)).items()
                measured += [Measurement(key, value, 0, goal=name) for name, value in every]
        maximize = study.directions[0] is StudyDirection.MAXIMIZE
        return self._known[1].after(Trials(measured, failed, waiting), goals, maximize)


def slots_of(given: Mapping[str, BaseDistribution]) -> dict[str, CategoricalDistribution]:
    """Return the categorical parameters with more than one value, by name."""
    return {name: one for name, one in given.items() if isinstance(one, CategoricalDistribution) and one.choices[1:]}


def combinations(space: Mapping[str, Any]) -> Iterator[tuple[object, ...]]:
    """Return all combinations of the values of categorical parameters, the last one fastest."""
    return product(*(given.choices for given in space.values()))


def name_of(values: Iterable[object]) -> str:
    """Return the id for some values."""
    return " | ".join(map(str, values))


def id_of(trial: FrozenTrial, space: Iterable[str]) -> str | None:
    """Return the id of a trial's graph or combination, or None if it lacks a parameter so far."""
    given = {**trial.system_attrs.get("fixed_params", {}), **trial.params}  # `fixed_params` is for enqueued trials
    return name_of(given[name] for name in space) if given.keys() >= {*space} else None


def goals_of(directions: Sequence[StudyDirection], constraints: Sequence[str]) -> tuple[Goal, ...]:
    """Return the goals of a study, or an empty tuple for one objective without constraints.

    Args:
        directions: directions of the objectives.
        constraints: names of the constraints, which are satisfied up to 0.
    """
    if len(directions) == 1 and not constraints:
        return ()
    largest = [direction is StudyDirection.MAXIMIZE for direction in directions]
    goals = [Goal(f"objective {k}", "maximize" if large else "minimize") for k, large in enumerate(largest)]
    return (*goals, *(Goal(name, "limit", high=0.0) for name in constraints))


def constraints_of(trial: FrozenTrial) -> dict[str, float]:
    """Return the constraint values of a trial by name."""
    return {f"constraint {name}": float(value) for name, value in (trial.constraints or {}).items()}


def laplacian_kernel(weights: ArrayLike) -> NDArray[np.float64]:
    """Return the regularised Laplacian kernel of the nodes of a graph.

        k = (I + L)^{-1},   L = diag(sum_j w_ij) - W      [Smola & Kondor 2003]

    Args:
        weights: `(K, K)`. Weights of the edges. Loops are ignored.

    Raises:
        ValueError: if the matrix is not square, finite and symmetric, or an entry is negative.
    """
    matrix = np.asarray(weights, np.float64)
    is_valid = matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1] and np.allclose(matrix, matrix.T)
    if not is_valid or not ((matrix >= 0) & (matrix < np.inf)).all():
        raise ValueError(f"Expected a symmetric `graph` `(K, K)` of weights from 0 on. Got others, {matrix.shape}.")
    return np.asarray(np.linalg.inv(np.eye(len(matrix)) + np.diag(matrix.sum(axis=1)) - matrix), np.float64)
