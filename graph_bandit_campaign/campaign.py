"""A campaign: ask which graphs to measure next, and tell it the results."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import SupportsIndex

import numpy as np

from agents.contract import Agent, PartsWeigher
from graph_bandit_campaign.checks import check_integer, check_value
from graph_bandit_campaign.file import CampaignFile
from graph_bandit_campaign.graph_sets import PoolLike
from graph_bandit_campaign.learner import DEFAULT, Learner, default_agent, describe_change, expect
from graph_bandit_campaign.pages.outlook import Outlook, look_ahead
from graph_bandit_campaign.plates import Plate, check_plate, choose_plate
from graph_bandit_campaign.roster import MaskLike, Roster
from graph_bandit_campaign.state import Bound, CampaignState, Measurement, Suggestion


class AgentChangedWarning(UserWarning):
    """The agent of a campaign has changed since the campaign was last saved, and may suggest other graphs."""


class Campaign:
    """Choose graphs of a pool to measure, a few at a time, for as many rounds as needed.

    Results may arrive in any order, or not at all. With `state`, each call saves the campaign to that file before it
    returns, so a program that is killed loses nothing, and a new `Campaign` with the same file continues. The agent is
    retrained from the measurements, so its suggestions depend only on them, on what is pending, and on the seed.

    Args:
        graph_set: K graphs, with `ids` if they have names (as a `GraphPool` or a `MoleculeSet` has). Columns of a
            `MoleculeSet` help to predict.
        agent: as on the command line, `name:setting=value,...`; "default": by the size of each batch, `molecule-ei` for
            one molecule and `molecule-ucb` for several, or `gnn-ts:steps=1000` for other graphs; None: the agent that
            was named when the file was written, else "default". An agent that is not a `BatchAgent` chooses the graphs
            of a batch one by one, and makes no predictions.
        maximize: True if large values are wanted, False for small ones; None: True.
        seed: seed of all randomness; None: 0.
        target: name of the measured quantity; a file of a campaign with another target is refused. None: no name.
        state: file of the campaign; None: it is not saved. If the file exists, arguments above that are None are taken
            from it. The agent may differ from the file; direction, seed and target may not. If the same agent has
            changed since the file was written, or the default is another agent than that of the file, an
            `AgentChangedWarning` says so, here or in the first `ask`, and the campaign continues.
        offered: `(K,)` bool. Graphs that can be suggested; None: all. Results of the other graphs are accepted, too.

    Raises:
        ValueError: if the agent is unknown, does not use the columns that the molecules have, or the file holds a
            campaign with another direction, seed or target.
    """

    agent_change: str
    """The text of the `AgentChangedWarning`; empty if the agent has not changed."""

    def __init__(
        self,
        graph_set: PoolLike,
        agent: str | None = None,
        *,
        maximize: bool | None = None,
        seed: SupportsIndex | None = None,
        target: str | None = None,
        state: str | Path | None = None,
        offered: MaskLike = None,
    ) -> None:
        self.graph_set = graph_set
        self._roster = Roster(graph_set)
        self.ids = self._roster.ids
        self._offered = self._roster.mask("offered", offered)
        given = {
            "maximize": None if maximize is None else bool(maximize),
            "seed": None if seed is None else check_integer("seed", seed, smallest=0),
            "target": target,
        }
        self._file: CampaignFile | None = CampaignFile(state)
        saved = self._file.read()
        named = agent or (saved.agent if saved and not saved.by_default else DEFAULT)
        self._named = None if named == DEFAULT else named
        size = len(saved.rounds[-1]) if saved and saved.rounds else 1
        try:
            self._learner = Learner(graph_set, self._named or default_agent(graph_set, size))
        except ValueError as error:
            if agent or not saved:
                raise
            raise ValueError(f"{state}: {error} To continue with another agent, pass it as `agent`.") from error
        known = saved or CampaignState(
            self._learner.spec, given["maximize"] is not False, int(given["seed"] or 0), target=target or ""
        )
        for name, wanted in given.items():
            if wanted not in (None, getattr(known, name)):
                raise ValueError(
                    f"Expected a campaign with `{name}` {wanted}. {state} has {getattr(known, name)}. "
                    "Use that value, or another `state` (on the command line another --out)."
                )
        self.state, self.agent_change = known, ""
        self._opened: CampaignState | None = saved  # until the first `ask`
        self.choose_agent(size)

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Save the changes of a `with` block once, at its end; if the block or saving fails, undo all of them."""
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
        """Return the best value so far, with the mean for repeated measurements; None if nothing was measured.

        A graph that is only known to be better than a value counts as that value. One that is only known to be worse
        than a value does not count.
        """
        return self.state.best()

    def choose_agent(self, count: int) -> None:
        """Take the agent that was named or, if none was, the default for a batch of this size. `ask` does it itself.

        Args:
            count: how many graphs are to be chosen.
        """
        spec = self._named or default_agent(self.graph_set, count)
        if spec != self._learner.spec:
            self._learner = Learner(self.graph_set, spec)
        self.state = replace(self.state, agent=spec, algorithm=self._learner.algorithm, by_default=self._named is None)
        before, self.agent_change = self.agent_change, describe_change(self._opened, self.state, count)
        if self.agent_change not in ("", before):
            warnings.warn(self.agent_change, AgentChangedWarning, stacklevel=3)

    def ask(
        self,
        count: SupportsIndex = 1,
        question: str = "",
        among: MaskLike = None,
        plate: Plate | None = None,
    ) -> tuple[Suggestion, ...]:
        """Choose graphs that are neither measured nor pending nor failed, and mark them as pending.

        Graphs that are pending, but no longer in the pool, stay pending; they do not affect the choice.

        Args:
            count: how many graphs to choose.
            question: saved as `state.question`, so that a caller can ask again after a crash and get the same answer.
            among: `(K,)` bool. The graphs that can be chosen this time, as from `Limits.mask`; None: all that are
                offered. The others still teach, and stay pending if they are.
            plate: prices, a budget, and caps on groups; None: there are none. With a budget there may be fewer graphs.

        Returns:
            The graphs, best first, with a prediction for each.

        Raises:
            ValueError: if fewer graphs are left, a graph that was measured or failed is not in the pool, or the plate
                allows too few (`graph_bandit_campaign.plates.choose_plate`).
        """
        mask = self._offered & self._roster.mask("among", among)
        under_way = [key for key in self.state.pending if key in self._roster.index_of]
        mask[self._roster.indices((*self.state.means(), *self.state.failed, *under_way))] = False
        count = check_integer("count", count, smallest=1)
        check_plate(count, mask, plate or Plate())
        self.choose_agent(count)
        chosen = choose_plate(self._agent(fresh=True), count, mask, self._roster.indices(under_way), plate)
        suggested = self._expect(chosen)
        pending = (*self.state.pending, *(suggestion.id for suggestion in suggested))
        rounds = (*self.state.rounds, suggested)
        structures = {**self.state.structures, **self._structures(chosen)}
        self._save(replace(self.state, rounds=rounds, pending=pending, question=question, structures=structures))
        self._opened = None
        return suggested

    def tell(self, identifier: str, value: float, bound: Bound = "") -> None:
        """Take in a measurement. A second value of a graph is averaged with the first; the same value again is ignored.

        Args:
            identifier: id of the graph.
            value: the value; or a number that the result is only known to exceed or to fall short of.
            bound: "above" if the result lies above `value`, "below" if it lies below, else "". Agents that learn from
                bounds, such as the `molecule-` agents, are taught the bound; others the number, as if it were the
                value. An exact value of a graph replaces its bounds, whichever is told first.

        Raises:
            ValueError: if there is no such graph, the value is not finite, or `bound` is something else; nothing has
                changed then.
        """
        self._tell({identifier: value}, bound)

    def tell_many(self, values: Mapping[str, float]) -> None:
        """Take in one measurement for each of several graphs; all of them or, on an error, none.

        Raises:
            ValueError: as in `tell`.
        """
        self._tell(values, "")

    def _tell(self, values: Mapping[str, float], bound: Bound) -> None:
        checked = {self._roster.known(key): check_value(key, value) for key, value in values.items()}
        told = [Measurement(*pair, len(self.state.rounds), bound) for pair in checked.items()]
        known = {(measurement.id, measurement.value, measurement.bound) for measurement in self.state.measured}
        new = (result for result in told if (result.id, result.value, result.bound) not in known)
        self._save(
            replace(
                self.state,
                measured=(*self.state.measured, *new),
                pending=self._pending_without(*checked),
                failed=tuple(identifier for identifier in self.state.failed if identifier not in checked),
            )
        )

    def tell_failed(self, identifier: str) -> None:
        """Record that a graph cannot be measured; it is not suggested again, and the agent learns nothing from it.

        Raises:
            ValueError: if there is no such graph, or it has been measured.
        """
        failed = tuple(dict.fromkeys((*self.state.failed, self._roster.known(identifier))))
        self._save(replace(self.state, failed=failed, pending=self._pending_without(identifier)))

    def withdraw(self, identifier: str) -> None:
        """Remove a graph from the pending ones, so that it can be suggested again. It need not be in the pool any more.

        Raises:
            ValueError: if there is no such graph.
        """
        if identifier not in self.state.pending:
            self._roster.known(identifier)
        self._save(replace(self.state, pending=self._pending_without(identifier)))

    def undo_ask(self) -> None:
        """Undo the last `ask`, as if it had not been called.

        Raises:
            ValueError: if there was no round yet.
        """
        if not self.state.rounds:
            raise ValueError("Expected a round to undo. Nothing was suggested yet.")
        pending = self._pending_without(*(suggestion.id for suggestion in self.state.rounds[-1]))
        self._save(replace(self.state, rounds=self.state.rounds[:-1], pending=pending, question=""))

    def replace_results(
        self, measured: Iterable[Measurement], failed: Iterable[str] = (), pending: Iterable[str] = ()
    ) -> None:
        """Replace all measurements, failures and pending graphs, for callers that keep their own records of them.

        Raises:
            ValueError: as in `tell`, or if an id is given twice. A graph that is pending already need not be in the
                pool.
        """
        measured, failed, pending = tuple(measured), tuple(failed), tuple(pending)
        known = [*(measurement.id for measurement in measured), *failed]
        known += [key for key in pending if key in self._roster.index_of or key not in self.state.pending]
        structures = {**self.state.structures, **self._structures(self._roster.indices(known))}
        self._save(replace(self.state, measured=measured, failed=failed, pending=pending, structures=structures))

    def predict(self) -> dict[str, Suggestion]:
        """Return the current prediction for every graph, by its id; without numbers if the agent makes none."""
        return {prediction.id: prediction for prediction in self._expect(range(len(self.ids)))}

    @property
    def learns_bounds(self) -> bool:
        """Return whether the agent learns from a bound as such; else the number is taught as if it were the value."""
        return self._learner.learns_bounds

    def shares(self) -> dict[str, float]:
        """Return by what the agent's model compares graphs, with the share of each part; empty if it does not say.

        The results decide the shares, which add up to 1.
        """
        agent = self._agent()
        return agent.shares() if isinstance(agent, PartsWeigher) else {}

    def outlook(self, among: MaskLike = None) -> Outlook | None:
        """Return whether a better graph is still to be found, and what the pending ones promise.

        Args:
            among: `(K,)` bool. The graphs among which it is to be found, as in `ask`; None: all that are offered.

        Returns:
            None if the agent is none of the `molecule-` agents, whose model alone can say, or all results so far are
            equal.
        """
        settled = self._roster.indices((*self.state.means(), *self.state.failed))
        under_way = self._roster.indices(key for key in self.state.pending if key in self._roster.index_of)
        mask = self._offered & self._roster.mask("among", among)
        mask[[*settled, *under_way]] = False
        return look_ahead(self._agent(), self.state, under_way, np.flatnonzero(mask))

    def _expect(self, indices: Sequence[int]) -> tuple[Suggestion, ...]:
        return expect(self._agent(), indices, self.ids, self.state)

    def _agent(self, fresh: bool = False) -> Agent:
        self._roster.indices(result.id for result in self.state.measured)  # refuses those that are not in the pool
        return self._learner.learn(self.state, self._roster.index_of, fresh)

    def _structures(self, indices: Sequence[int]) -> dict[str, str]:
        return self._roster.structures(k for k in indices if self._offered[k])

    def _pending_without(self, *identifiers: str) -> tuple[str, ...]:
        settled = set(identifiers)
        return tuple(identifier for identifier in self.state.pending if identifier not in settled)

    def _save(self, state: CampaignState) -> None:
        if self._file is not None:
            self._file.write(state)
        self.state = state
