"""Record an episode: each round as it is played, and all of them at the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graph_bandit_lab.episodes.findings import Diagnostics, Findings


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRecord:
    """One round of an episode, as passed to `on_round` by `run_bandit`. Agents never see it."""

    seed: int
    """Seed of the episode."""
    round: int
    """t, starting at 1."""
    action: int
    """The graph played."""
    reward: float
    """y_t, the reward observed."""
    mean_reward: float | None
    """mu(G_t), noise-free. None if unknown."""
    regret: float
    """mu(G*_t) - mu(G_t)."""
    cumulative_regret: float
    """R_t, the sum of the regret so far."""
    best_found: float | None
    """The largest mu of the graphs played so far. None if the graphs change between rounds."""


@dataclass(frozen=True, eq=False, repr=False)
class BanditResult:
    """Record of one episode, shorter than the horizon if the agent diverged.

    Attributes:
        actions: `(T,)` int64. Graphs played.
        rewards: `(T,)` float64. Rewards observed.
        regret: `(T,)` float64. mu(G*_t) - mu(G_t) of each round, noise-free.
        status: "finished", "diverged" if a fit turned non-finite, or "failed" if the repetition raised
            an exception (sweeps store it and continue, while `run_bandit` raises).
        seconds: wall time of the rounds, excluding instance, `reset`, diagnostics, findings and `on_round`. The first
            episode of a process includes imports and compilation. Sweeps warm up before it.
        diagnostics: `(T,)` float64 arrays by the names of `episodes.DIAGNOSTICS`. Empty if the agent has no insight,
            None if they were not recorded.
        simple_regret: `(T,)` float64. mu(G*) - mu of the graph that the agent would recommend after each round (see
            `episodes.findings.Findings`), with G* the best of all graphs. This and the next two use the means of that
            round. They are None if the graphs change between rounds or the environment has no `mean_rewards`.
        best_found: `(T,)` float64. The largest mu of the graphs played so far.
        top_recall: `(T,)` float64. Share of the 1 % of graphs with the largest mu that were played so far.
    """

    actions: NDArray[np.int64]
    rewards: NDArray[np.float64]
    regret: NDArray[np.float64]
    status: Literal["finished", "diverged", "failed"] = "finished"
    seconds: float = 0.0
    diagnostics: dict[str, NDArray[np.float64]] | None = None
    simple_regret: NDArray[np.float64] | None = None
    best_found: NDArray[np.float64] | None = None
    top_recall: NDArray[np.float64] | None = None

    def __repr__(self) -> str:
        return f"BanditResult({self.status}, {len(self.actions)} rounds, total regret {self.regret.sum():.4g})"

    @property
    def cumulative_regret(self) -> NDArray[np.float64]:
        """Return R_t, the running sum of the regret, `(T,)`."""
        return self.regret.cumsum()


class Journal:
    """Record the rounds of an episode with findings and diagnostics.

    Args:
        world: the unwrapped environment, which has been reset.
        agent: the agent, whose recommendations are recorded. It is not changed.
        seed: seed of the episode.
        diagnose: record diagnostics.
    """

    def __init__(self, world: object, agent: object, seed: int, diagnose: bool) -> None:
        self._world, self._agent, self._seed, self._total = world, agent, seed, 0.0
        self._findings, self._diagnostics = Findings(world), Diagnostics() if diagnose else None
        self._means: ArrayLike | None = None
        self._rounds: list[tuple[int, float, float]] = []

    def expect(self, action: int, action_mask: ArrayLike) -> None:
        """Record the beliefs of the agent after it has chosen an action and before the action is played."""
        self._findings.recommend(self._agent)  # after the previous round; the choice has already made the prediction
        self._means = means = getattr(self._world, "mean_rewards", None)  # of this round: they may drift in `step`
        if self._diagnostics is not None and means is not None:
            self._diagnostics.record(self._agent, means, action, action_mask)

    def add(self, action: int, reward: float, info: Mapping[str, float]) -> RoundRecord:
        """Record a played round, and return its record."""
        regret, mean = float(info["regret"]), info.get("mean_reward")
        self._rounds.append((action, reward, regret))
        self._total += regret
        return RoundRecord(
            seed=self._seed,
            round=len(self._rounds),
            action=int(action),
            reward=reward,
            mean_reward=None if mean is None else float(mean),
            regret=regret,
            cumulative_regret=self._total,
            best_found=self._findings.play(action, self._means),
        )

    def tell(self, actions: ArrayLike, rewards: ArrayLike) -> None:
        """Record rewards that the agent receives."""
        self._findings.tell(actions, rewards)

    def close(self, status: Literal["finished", "diverged"], seconds: float) -> BanditResult:
        """Return the result of the episode."""
        self._findings.recommend(self._agent if status == "finished" else None)
        actions, rewards, regret = zip(*self._rounds, strict=True) if self._rounds else ((), (), ())
        return BanditResult(
            np.array(actions, np.int64),
            np.array(rewards, np.float64),
            np.array(regret, np.float64),
            status,
            seconds,
            None if self._diagnostics is None else self._diagnostics.arrays(),
            **self._findings.arrays(),
        )
