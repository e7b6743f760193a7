"""A campaign: ask which graphs to measure next, tell what came back."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

from agents.contract import Agent, BatchAgent
from graph_bandit_campaign.checks import check_integer, check_value
from graph_bandit_campaign.file import CampaignFile
from graph_bandit_campaign.graph_sets import PoolLike
from graph_bandit_campaign.learner import Learner, expect
from graph_bandit_campaign.state import CampaignState, Measurement, Suggestion


class AgentChangedWarning(UserWarning):
    """A campaign is opened again, and its agent plays otherwise than when it was last written."""


class Campaign:
    """Choose graphs of a pool to measure, a few at a time, for as long as it takes.

    Results may come in any order, or not at all. With `state`, everything is written to that file before a call
    returns: a program that is killed loses nothing, and the next `Campaign` on the file goes on. The agent is trained
    anew from the measurements, so that what it suggests depends on them, on what is pending and on the seed alone.

    Args:
        graph_set: K graphs, with `ids` if they have names (as a `GraphPool` or a `MoleculeSet` has).
        agent: as on the command line, `name:setting=value,...`; None: `molecule-ucb` for molecules, else
            `gnn-ts:steps=1000`. One that is no `BatchAgent` chooses a batch one after the other, and predicts nothing.
        maximize: whether large values are wanted, or small ones; None: large ones.
        seed: of all randomness; None: 0.
        target: name of what is measured, by which another campaign is noticed; None: nameless.
        state: file of the campaign; None: it is not kept. What is None above is then as the file has it. Another agent
            may take over; the others stay. Where the same agent plays otherwise than when the file was written, an
            `AgentChangedWarning` says so, and the campaign goes on.
        offered: `(K,)` bool. Graphs that can be suggested; None: all. The others can be told all the same.

    Raises:
        ValueError: if the agent is unknown, or the file is of a campaign with another direction, seed or target.
    """

    agent_change: str
    """What `AgentChangedWarning` said; empty where the agent has not changed."""

    def __init__(
        self,
        graph_set: PoolLike,
        agent: str | None = None,
        *,
        maximize: bool | None = None,
        seed: SupportsIndex | None = None,
        target: str | None = None,
        state: str | Path | None = None,
        offered: Sequence[bool] | NDArray[np.bool_] | None = None,
    ) -> None:
        self.graph_set = graph_set
        self.ids: tuple[str, ...] = tuple(getattr(graph_set, "ids", map(str, range(len(graph_set)))))
        self._place = {identifier: k for k, identifier in enumerate(self.ids)}
        self._offered = np.ones(len(self.ids), np.bool_) if offered is None else np.array(offered, np.bool_)
        if self._offered.shape != (len(self.ids),):
            raise ValueError(f"Expected `offered` of shape `({len(self.ids)},)`. Got `{self._offered.shape}`.")
        given = {
            "maximize": None if maximize is None else bool(maximize),
            "seed": None if seed is None else check_integer("seed", seed, smallest=0),
            "target": target,
        }
        self._file: CampaignFile | None = CampaignFile(state)
        written = self._file.read()
        self._learner = Learner(graph_set, agent or (written.agent if written else None))
        known = written or CampaignState(
            self._learner.spec, given["maximize"] is not False, int(given["seed"] or 0), target=target or ""
        )
        for name, wanted in given.items():
            if wanted not in (None, getattr(known, name)):
                raise ValueError(
                    f"Expected a campaign with `{name}` {wanted}. {state} has {getattr(known, name)}. "
                    "Give what it has, or another `state` (on the command line another --out)."
                )
        self.state = replace(known, agent=self._learner.spec, algorithm=self._learner.algorithm)
        self.agent_change = ""
        if known.agent == self.state.agent and known.algorithm != self.state.algorithm and written:
            self.agent_change = (
                f"The agent has changed since this campaign was last written (algorithm {known.algorithm}, now "
                f"{self.state.algorithm}): suggestions may differ."
            )
            warnings.warn(self.agent_change, AgentChangedWarning, stacklevel=2)

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Write the changes of a `with` block once, at its end; if that fails or it raises, nothing of them is left."""
        before, file = self.state, self._file
        self._file = None
        try:
            yield
            if file is not None:
                file.write(self.state)
        except BaseException:
            self.state = before
            raise
        finally:
            self._file = file

    @property
    def best(self) -> float | None:
        """Return the best value measured so far, of repeated measurements the mean; None: nothing was measured."""
        values = self.state.means().values()
        return None if not values else max(values) if self.state.maximize else min(values)

    def ask(self, count: SupportsIndex = 1, question: str = "") -> tuple[Suggestion, ...]:
        """Choose graphs that are neither measured nor pending nor failed, and count them as pending.

        Args:
            count: how many.
            question: kept as `state.question`, for those who ask again after a crash and want the same answer.

        Returns:
            The graphs, first choice first, with what is expected of each.

        Raises:
            ValueError: if fewer are left, or the campaign knows a graph that the pool does not hold.
        """
        mask = self._offered.copy()
        mask[self._places((*self.state.means(), *self.state.failed, *self.state.pending))] = False
        count, left = check_integer("count", count, smallest=1), int(mask.sum())
        if count > left:
            raise ValueError(f"Expected to be asked for no more graphs than are left, {left}. Got {count}.")
        agent = self._agent(fresh=True)
        if isinstance(agent, BatchAgent):
            chosen = agent.select_batch(None, count, mask, self._places(self.state.pending))
        else:
            chosen = []
            for _ in range(count):
                chosen.append(agent.select_action(None, mask))
                mask[chosen[-1]] = False
        suggested = self._expect(chosen)
        pending = (*self.state.pending, *(one.id for one in suggested))
        rounds = (*self.state.rounds, suggested)
        self._save(replace(self.state, rounds=rounds, pending=pending, question=question))
        return suggested

    def tell(self, identifier: str, value: float) -> None:
        """Take in a measurement; another value of the same graph counts beside the earlier ones, an equal one is known.

        Raises:
            ValueError: if there is no such graph, or the value is not finite; nothing is changed then.
        """
        self.tell_many({identifier: value})

    def tell_many(self, values: Mapping[str, float]) -> None:
        """Take in a measurement of each of some graphs; all or none.

        Raises:
            ValueError: as `tell`.
        """
        checked = {self._known(identifier): check_value(identifier, value) for identifier, value in values.items()}
        known = {(one.id, one.value) for one in self.state.measured}
        told = (Measurement(*pair, len(self.state.rounds)) for pair in checked.items() if pair not in known)
        self._save(
            replace(
                self.state,
                measured=(*self.state.measured, *told),
                pending=self._pending_without(*checked),
                failed=tuple(one for one in self.state.failed if one not in checked),
            )
        )

    def tell_failed(self, identifier: str) -> None:
        """Note that a graph cannot be measured: it is not suggested again, and teaches nothing.

        Raises:
            ValueError: if there is no such graph.
        """
        failed = tuple(dict.fromkeys((*self.state.failed, self._known(identifier))))
        self._save(replace(self.state, failed=failed, pending=self._pending_without(identifier)))

    def withdraw(self, identifier: str) -> None:
        """Forget that a graph is pending: it can be suggested again.

        Raises:
            ValueError: if there is no such graph.
        """
        self._known(identifier)
        self._save(replace(self.state, pending=self._pending_without(identifier)))

    def undo_ask(self) -> None:
        """Take the last suggestions back, as if they had not been asked for.

        Raises:
            ValueError: if there was no round yet.
        """
        if not self.state.rounds:
            raise ValueError("Expected a round to take back. Nothing was suggested yet.")
        pending = self._pending_without(*(one.id for one in self.state.rounds[-1]))
        self._save(replace(self.state, rounds=self.state.rounds[:-1], pending=pending, question=""))

    def replace_results(
        self, measured: Iterable[Measurement], failed: Iterable[str] = (), pending: Iterable[str] = ()
    ) -> None:
        """Take over what somebody else keeps the books of: all measurements, failures and what is under way.

        Raises:
            ValueError: as `tell`.
        """
        measured, failed, pending = tuple(measured), tuple(failed), tuple(pending)
        for one in measured:
            check_value(self._known(one.id), one.value)
        for identifier in (*failed, *pending):
            self._known(identifier)
        self._save(replace(self.state, measured=measured, failed=failed, pending=pending))

    def predict(self) -> dict[str, Suggestion]:
        """Return what is expected of every graph now, by its id, as far as the agent predicts."""
        return {one.id: one for one in self._expect(range(len(self.ids)))}

    def _expect(self, places: Sequence[int]) -> tuple[Suggestion, ...]:
        return expect(self._agent(), places, self.ids, self.state)

    def _agent(self, fresh: bool = False) -> Agent:
        return self._learner.learn(self.state, self._places(one.id for one in self.state.measured), fresh)

    def _places(self, identifiers: Iterable[str]) -> list[int]:
        return [self._place[self._known(identifier)] for identifier in identifiers]

    def _known(self, identifier: str) -> str:
        if identifier not in self._place:
            nearest = difflib.get_close_matches(str(identifier), self.ids, n=1)
            hint = f" Did you mean `{nearest[0]}`?" if nearest else ""
            raise ValueError(f"Expected the id of a graph of the pool. Got {identifier!r}.{hint}")
        return identifier

    def _pending_without(self, *identifiers: str) -> tuple[str, ...]:
        settled = set(identifiers)
        return tuple(one for one in self.state.pending if one not in settled)

    def _save(self, state: CampaignState) -> None:
        if self._file is not None:
            self._file.write(state)
        self.state = state
