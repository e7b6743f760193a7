"""Train the agent of a campaign on its measurements, and read its predictions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

import registry
from agents.contract import Agent, ModelAgent, MoleculeSetLike, Prediction, SourceResults
from agents.process import ProcessAgent
from graph_bandit_campaign.pool.index import PoolLike
from graph_bandit_campaign.state import CUT, LEVEL, CampaignState, Suggestion
from graph_bandit_env.pools import KernelPool
from graph_bandit_lab import AgentSpec

DEFAULT = "default"  # instead of the name of an agent
OF_RESULTS = frozenset(("noise_variance", "forget"))  # settings that do not apply to a model of failures


def default_agent(graph_set: PoolLike, count: int, several_goals: bool = False) -> str:
    """Return the default agent for a batch, as on the command line.

    The model is the same for all batch sizes. For graphs that are not molecules, it uses all of their data, and learns
    from ranks like the model of molecules. If only a kernel is known, it uses that kernel. Expected improvement rates
    the gain of a single result. Upper confidence bounds diversify a batch.

    Args:
        graph_set: K graphs.
        count: number of graphs to choose.
        several_goals: True if there are several goals, for which the agent's rule is not used.
    """
    rule = "ei" if count == 1 and not several_goals else "ucb"
    if isinstance(graph_set, MoleculeSetLike):
        return f"molecule-{rule}"
    if isinstance(graph_set, KernelPool):
        return f"gntk-{rule}:kernel=custom"
    search = "exploration_scale=1," if several_goals else ""  # bounds for several goals are needed before a choice
    return f"gp-{rule}:{search}warp=normal_scores"


def choose_results(rewards: NDArray[np.float64], most: int) -> NDArray[np.bool_]:
    """Return a mask of the results to train on, if there are more than a model can use, `(n,)`.

    One half are the best results. The other half are evenly spaced by rank among the rest, including the worst.

    Args:
        rewards: `(n,)`, large ones are good.
        most: maximum number of results for the model.
    """
    kept, order = np.ones(len(rewards), np.bool_), np.argsort(-rewards, kind="stable")
    if len(rewards) > most:
        best, others = order[: most // 2], order[most // 2 :]
        kept[:] = False
        kept[best] = True
        count, worst = most - len(best), len(others) - 1
        kept[others[np.linspace(0 if count > 1 else worst, worst, count).round().astype(np.int64)]] = True
    return kept


class Learner:
    """An agent that depends only on the measurements and the seed, not on the rounds of the measurements.

    Args:
        graph_set: K graphs.
        spec: the agent as on the command line.
        several_goals: True if there are several goals.
        most: maximum number of graphs with results for training, see `choose_results`. None means all.
        sources: results of other assays.

    Raises:
        ValueError: if the agent is unknown, cannot play these graphs or choose for several goals, or does not use the
            columns of the graphs, or the sources.
    """

    spec: str
    """The agent as on the command line."""
    most: int | None
    """Maximum number of graphs with results for training. None means all."""
    algorithm: int
    """Version of its algorithm. Another version may suggest other graphs from the same measurements."""
    has_posterior: bool
    """True for a `ModelAgent`, which learns from bounds and noisy results. Other agents use a bound as the value."""
    sources: Sequence[SourceResults]
    """Results of other assays."""
    uses_columns: bool
    """True if it learns from columns of the molecules."""

    def __init__(
        self,
        graph_set: PoolLike,
        spec: str,
        several_goals: bool = False,
        most: int | None = None,
        sources: Sequence[SourceResults] = (),
    ) -> None:
        self.graph_set, self.spec, self.most, self.sources = graph_set, spec, most, sources
        self._several, name = several_goals, AgentSpec.parse(spec).name
        if registry.agent_needs(name) == "molecules" and not isinstance(graph_set, MoleculeSetLike):
            raise ValueError(f"Agent `{name}` needs molecules. Choose another agent, or make a MoleculeSet.")
        self._model: Agent = self._make()
        self.algorithm = int(getattr(self._model, "algorithm", 1))
        self.has_posterior = isinstance(self._model, ModelAgent)
        self.uses_columns = bool(getattr(self._model, "uses_columns", False))
        self._trained: dict[str, tuple[object, Agent]] = {}
        if isinstance(graph_set, KernelPool) and not self._takes_kernel and getattr(self._model, "reads", None):
            raise ValueError(f"Agent `{spec}` does not read the kernel of the pool. Try `gntk-ucb:kernel=custom`.")
        if np.size(getattr(graph_set, "columns", ())) and not self.uses_columns:
            raise ValueError(f"Agent `{spec}` does not use columns. Try `molecule-ucb`, or leave them out.")
        self._check("choose for several goals", several_goals)
        self._check("learn from results of other assays", sources)

    def check_results(self, state: CampaignState) -> None:
        """Raise an error if the agent cannot use results with noise, or of a class.

        Raises:
            ValueError: if there are such results.
        """
        self._check("use the noise of a result", any(result.noise is not None for result in state.measured))
        numbers = 'take them as numbers (`kind="number"`, `--goal-kind COLUMN=number`)'
        self._check(f"predict classes: {numbers}", state.kind == "class")

    def _check(self, ability: str, is_needed: object) -> None:
        if is_needed and not self.has_posterior:
            raise ValueError(f"Agent `{self.spec}` cannot {ability}. Choose one of the `gp-` or `molecule-` agents.")

    def learn(self, state: CampaignState, index_of: Mapping[str, int], fresh: bool = False) -> Agent:
        """Return an agent trained on all measurements that count.

        Args:
            state: state of the campaign, with one goal.
            index_of: index of each graph, by its id.
            fresh: True to train a new agent, whose random numbers are unused. False to reuse the last one if possible.
        """
        measured, sign = state.counted(), 1.0 if state.maximize else -1.0
        count = len(measured)
        if self.most is not None:
            means = state.means()
            kept = choose_results(sign * np.array([*means.values()], np.float64), self.most)
            names = {name for name, is_kept in zip(means, kept.tolist(), strict=True) if is_kept}
            measured = tuple(result for result in measured if result.id in names)
        if state.is_class:  # latent value, above the threshold if the result is 1
            measured = tuple(
                replace(result, value=CUT, bound="above" if result.value > CUT else "below") for result in measured
            )
        trained = self._trained.get(state.target)
        if fresh or trained is None or trained[0] != measured:
            sequence = np.random.SeedSequence([state.seed, count])
            agent = self._begin(int(sequence.generate_state(1)[0]))
            indices = np.array([index_of[measurement.id] for measurement in measured], np.int64)
            rewards = np.array([sign * measurement.value for measurement in measured])
            bounded = np.array([bool(measurement.bound) for measurement in measured], np.bool_)
            noises = np.array([np.nan if result.noise is None else result.noise for result in measured], np.float64)
            noisy, left = ~np.isnan(noises), np.ones(len(measured), np.bool_)
            if isinstance(agent, ModelAgent):
                left = ~bounded & ~noisy
                if self.sources:
                    agent.learn_sources([self._placed(source, index_of) for source in self.sources])
                if bounded.any():  # first, because results let it fit to both
                    above = np.array([measurement.bound == "above" for measurement in measured]) == state.maximize
                    agent.update_bounds(None, indices[bounded], rewards[bounded], above[bounded])
                if noisy.any():
                    agent.update_noisy(None, indices[noisy], rewards[noisy], noises[noisy])
            if left.any():
                agent.update(None, indices[left], rewards[left])
            self._trained[state.target] = trained = measured, agent
        return trained[1]

    def process(self) -> ProcessAgent[Any]:
        """Return an exact Gaussian process on the graphs, without results, with the settings of the agent or default.

        Settings for the noise of results, and for forgetting results, are left out.
        """
        if not isinstance(self._model, ProcessAgent):
            return self.like(self.graph_set, default_agent(self.graph_set, 1), None).process()
        if OF_RESULTS.isdisjoint(AgentSpec.parse(self.spec).settings):
            return cast(ProcessAgent[Any], self._begin(0))
        agent = cast(ProcessAgent[Any], self._make(without=OF_RESULTS))
        agent.reset(None, seed=0, graph_set=self.graph_set)
        return agent

    def like(self, graph_set: PoolLike, spec: str, most: int | None) -> Learner:
        """Return a learner for the same goals and sources, with another agent or other graphs of the same pool."""
        return Learner(graph_set, spec, self._several, most, self.sources)

    def _placed(self, source: SourceResults, index_of: Mapping[str, int]) -> SourceResults:
        """Replace ids in results of a source by indices, for graphs that are not molecules."""
        if isinstance(self.graph_set, MoleculeSetLike):
            return source
        return replace(source, graphs=[index_of[str(key)] for key in source.graphs])

    def _begin(self, seed: int) -> Agent:
        """Return an agent without results. It shares the description of the graphs, if known."""
        self._model = self._model.blank() if isinstance(self._model, ModelAgent) else self._make()
        self._model.reset(None, seed=seed, graph_set=self.graph_set)
        return self._model

    @property
    def _takes_kernel(self) -> bool:
        return AgentSpec.parse(self.spec).settings.get("kernel") == "custom"

    def _make(self, without: Collection[str] = ()) -> Agent:
        spec = AgentSpec.parse(self.spec)
        settings = {name: value for name, value in spec.settings.items() if name not in without}
        if isinstance(self.graph_set, KernelPool) and self._takes_kernel:
            return registry.make_agent(spec.name, **settings, kernel_matrix=self.graph_set.kernel)
        return registry.make_agent(spec.name, **settings)


def read_prediction(
    prediction: Prediction, best: float, indices: Sequence[int], ids: Sequence[str], state: CampaignState
) -> tuple[Suggestion, ...]:
    """Return the predictions for some graphs, given those for all.

        P(beats the best) = Phi(+-(mean - best) / sqrt(std^2 + noise_std^2)),   if rewards are normal

    For a class, the probability is that of a hit, and there is no deviation or interval.

    Args:
        prediction: predicted rewards.
        best: the best value so far, or the threshold between two classes.
        indices: indices of the graphs.
        ids: names of all graphs.
        state: state of the campaign, with one goal.
    """
    maximize, sign = state.maximize, 1.0 if state.maximize else -1.0
    beats = prediction.probability_above(sign * best)
    if state.is_class:
        chances = ((ids[k], float(beats[k])) for k in indices)
        return tuple(Suggestion(key, p if maximize else 1 - p, probability=p) for key, p in chances)
    lower, upper = prediction.interval(LEVEL)
    low, high = (lower, upper) if maximize else (-upper, -lower)
    expected = []
    for k in indices:
        reward, std = float(prediction.mean[k]), float(prediction.std[k])
        bounds = float(low[k]), float(high[k])
        expected.append(Suggestion(ids[k], sign * reward, std, prediction.noise_std, float(beats[k]), *bounds))
    return tuple(expected)
