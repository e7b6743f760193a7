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
    """One round of an episode, as `run_bandit` hands it to `on_round`. Agents never see it."""

    seed: int
    """Seed of the episode."""
    round: int
    """t, which begins at 1."""
    action: int
    """The graph played."""
    reward: float
    """y_t, the reward observed."""
    mean_reward: float | None
    """mu(G_t), noise-free; None where it is not known."""
    regret: float
    """mu(G*_t) - mu(G_t)."""
    cumulative_regret: float
    """R_t, the sum of the regret so far."""
    best_found: float | None
    """The largest mu of the graphs played so far; None where the graphs change from round to round."""


@dataclass(frozen=True, eq=False, repr=False)
class BanditResult:
    """Record of one episode; shorter than the horizon if the agent diverged.

    Attributes:
        actions: `(T,)` int64. Graphs played.
        rewards: `(T,)` float64. Rewards observed.
        regret: `(T,)` float64. mu(G*_t) - mu(G_t) of each round, noise-free.
        status: "finished", "diverged" if a fit turned non-finite, or "failed" if the repetition raised
            an exception (sweeps store it and go on; `run_bandit` itself raises).
        seconds: wall time of the rounds, without drawing the instance, the agent's `reset`, diagnostics, what was
            found, or `on_round`. The first episode of a process includes what its rounds import and compile; a
            laboratory warms up before it.
        diagnostics: `(T,)` float64 arrays by the names of `episodes.DIAGNOSTICS`; empty if the agent has no
            insight, None if they were not recorded.
        simple_regret: `(T,)` float64. mu(G*) - mu of the graph that the agent would recommend after each round, G* the
            best of all graphs; `episodes.findings.Findings` says which graph that is. This and the next two are by the
            means of that round, if they drift, and None where the graphs change from round to round, or the
            environment does not tell `mean_rewards`.
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
    """Keep the rounds of an episode, and what an agent found and believed in them.

    Args:
        world: the unwrapped environment, which has been reset.
        agent: is asked what it would recommend, and is not changed.
        seed: seed of the episode.
        diagnose: record diagnostics.
    """

    def __init__(self, world: object, agent: object, seed: int, diagnose: bool) -> None:
        self._world, self._agent, self._seed, self._total = world, agent, seed, 0.0
        self._findings, self._diagnostics = Findings(world), Diagnostics() if diagnose else None
        self._means: ArrayLike | None = None
        self._rounds: list[tuple[int, float, float]] = []

    def expect(self, action: int, action_mask: ArrayLike) -> None:
        """Record what the agent believes that has just chosen an action, before it is played."""
        self._findings.recommend(self._agent)  # after the round before; the choice has computed the prediction already
        self._means = means = getattr(self._world, "mean_rewards", None)  # of this round: they may drift in `step`
        if self._diagnostics is not None and means is not None:
            self._diagnostics.record(self._agent, means, action, action_mask)

    def add(self, action: int, reward: float, info: Mapping[str, float]) -> RoundRecord:
        """Record a round that was played, and return its record."""
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
        """Record rewards that the agent is told."""
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
