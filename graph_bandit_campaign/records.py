"""The results of a campaign, and what is pending: told one by one, and saved in its file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from graph_bandit_campaign.checks import check_noise, check_value
from graph_bandit_campaign.file import CampaignFile
from graph_bandit_campaign.model.front import find_front
from graph_bandit_campaign.pool.index import MaskLike, PoolIndex
from graph_bandit_campaign.results.marks import Comment, Veto, check_text
from graph_bandit_campaign.results.measurement import Bound, Measurement
from graph_bandit_campaign.state import CampaignState, Kept


class Records:
    """The records of a campaign; each call saves them before it returns, and changes nothing if it raises.

    Args:
        index: the graphs.
        offered: `(K,)` bool. Graphs that can be suggested.
        file: where the state is saved.
        state: what is known.
    """

    state: CampaignState
    """Everything that is known, and what was suggested."""

    def __init__(self, index: PoolIndex, offered: NDArray[np.bool_], file: CampaignFile, state: CampaignState) -> None:
        self._index, self._offered, self.state = index, offered, state
        self._file: CampaignFile | None = file
        self.ids = index.ids

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

        Raises:
            ValueError: if there are several goals, which have a `front`.
        """
        return self.state.best()

    def front(self) -> tuple[str, ...]:
        """Return the ids on the front of several goals: they meet all limits, and no measured graph beats them.

        One graph beats another if it is as good in every goal and better in one. The best in the first goal come first.
        """
        return find_front(self.state)

    def on_offer(self, among: MaskLike = None) -> NDArray[np.bool_]:
        """Return which graphs can be suggested: those that are neither measured, pending, failed nor vetoed.

        Args:
            among: `(K,)` bool. The graphs that can be chosen this time; None: all that are offered.

        Returns:
            `(K,)` bool.

        Raises:
            ValueError: if the mask does not fit, or a graph that was measured or failed is not in the pool.
        """
        mask = self._offered & self._index.mask("among", among)
        mask[self._index.indices((*self.state.settled(), *self.state.failed))] = False
        mask[self._index.present((*self.state.pending, *self.state.vetoes))] = False
        return mask

    def tell(
        self, identifier: str, value: float, bound: Bound = "", goal: str = "", noise: float | None = None
    ) -> None:
        """Take in a measurement. A second value of a graph is averaged with the first; the same value again is ignored.

        Args:
            identifier: id of the graph.
            value: the value; or a number that the result is only known to exceed or to fall short of; or, of a goal
                that is a class, True or 1 for a hit, and False or 0 for none.
            bound: "above" if the result lies above `value`, "below" if it lies below, else "". Agents that learn from
                bounds, such as the `gp-` and `molecule-` agents, are taught the bound; others the number, as if it were
                the value. An exact value of a graph replaces its bounds, whichever is told first.
            goal: name of the goal that was measured, if there are several. A graph is pending until all are known.
            noise: standard deviation of the measuring noise of this value, in its units; None: it is not known. Equal
                values with different noises all count.

        Raises:
            ValueError: if there is no such graph or goal, the value is not finite, `bound` is something else, `noise`
                is not above 0, or the agent cannot use it; nothing has changed then.
        """
        self._tell([(identifier, value)], bound, goal, check_noise(identifier, noise, bound))

    def tell_many(self, values: Mapping[str, float] | Iterable[tuple[str, float]], goal: str = "") -> None:
        """Take in measurements, by id or in pairs of an id and a value; all of them or, on an error, none.

        Raises:
            ValueError: as in `tell`.
        """
        self._tell([*(values.items() if hasattr(values, "items") else values)], "", goal)

    def _tell(self, values: Sequence[tuple[str, float]], bound: Bound, goal: str, noise: float | None = None) -> None:
        self._place_of(goal)
        self._admit([key for key, _ in values])
        kind, are_bools = self.state.kind, all(isinstance(value, bool | np.bool_) for _, value in values)
        if values and are_bools and not (bound or goal or noise):
            values, kind = [(key, float(value)) for key, value in values], kind or "class"
        checked = dict.fromkeys((self._index.check_id(key), check_value(key, value)) for key, value in values)
        measurements = [Measurement(*pair, len(self.state.rounds), bound, goal, noise) for pair in checked]
        known = {(result.id, result.value, result.bound, result.goal, result.noise) for result in self.state.measured}
        new = [result for result in measurements if (result.id, result.value, result.bound, goal, noise) not in known]
        settled = CampaignState("", True, 0, (*self.state.measured, *new), goals=self.state.goals).settled()
        failed, pending = (
            tuple(key for key in keys if key not in dict([*checked]) or key not in settled)
            for keys in (self.state.failed, self.state.pending)
        )
        told = (*self.state.measured, *new)
        self._save(replace(self.state, measured=told, pending=pending, failed=failed, kind=kind))

    def tell_failed(self, identifier: str) -> None:
        """Record that a graph cannot be measured; it is not suggested again. `failing` says what this teaches.

        Raises:
            ValueError: if there is no such graph, or it has been measured.
        """
        self._admit([identifier])
        key = self._index.check_id(identifier)
        failed = tuple(dict.fromkeys((*self.state.failed, key)))
        self._save(replace(self.state, failed=failed, pending=self._pending_without(key)))

    def withdraw(self, identifier: str) -> None:
        """Remove a graph from the pending ones, so that it can be suggested again. It need not be in the pool any more.

        Raises:
            ValueError: if there is no such graph.
        """
        if identifier not in self.state.pending:
            identifier = self._index.check_id(identifier)
        self._save(replace(self.state, pending=self._pending_without(identifier)))

    def veto(self, identifier: str, reason: str = "", by: str = "") -> None:
        """Say that a graph is not to be suggested; it is not pending any more. This teaches nothing about others.

        `Campaign.another` suggests others in the place of vetoed ones. A second veto replaces the first.

        Args:
            identifier: id of the graph.
            reason: why.
            by: who says so.

        Raises:
            ValueError: if there is no such graph, it has been measured, or a text is too long.
        """
        key = self._check_known(identifier)
        if key in self.state.settled():
            raise ValueError(f"Expected a candidate that is not measured yet. `{key}` is, and is not suggested again.")
        veto = Veto(key, check_text("reason", reason), check_text("by", by), len(self.state.rounds))
        vetoed = (*(each for each in self.state.vetoed if each.id != key), veto)
        pinned = tuple(other for other in self.state.pinned if other != key)
        pending = self._pending_without(key)
        self._mark(key, replace(self.state, vetoed=vetoed, pinned=pinned, pending=pending))

    def pin(self, identifier: str) -> None:
        """Say that a graph is to be in the next batch, whatever the agent thinks of it. A veto of it is lifted.

        Raises:
            ValueError: if there is no such graph, or it is measured or has failed.
        """
        self._admit([identifier])
        key = self._index.check_id(identifier)
        if key in {*self.state.settled(), *self.state.failed}:
            raise ValueError(f"Expected a candidate that can be suggested. `{key}` is measured, or has failed.")
        pinned = dict.fromkeys((*self.state.pinned, key))
        vetoed = tuple(veto for veto in self.state.vetoed if veto.id != key)
        self._mark(key, replace(self.state, vetoed=vetoed, pinned=(*pinned,)))

    def lift(self, identifier: str) -> None:
        """Take back the veto or the pin of a graph, if there is one.

        Raises:
            ValueError: if there is no such graph.
        """
        key = self._check_known(identifier)
        vetoed = tuple(veto for veto in self.state.vetoed if veto.id != key)
        pinned = tuple(other for other in self.state.pinned if other != key)
        self._mark(key, replace(self.state, vetoed=vetoed, pinned=pinned))

    def comment(self, identifier: str, text: str, by: str = "") -> None:
        """Keep a text about a graph. The same text again, by the same person, is ignored.

        Args:
            identifier: id of the graph.
            text: what is said.
            by: who says so.

        Raises:
            ValueError: if there is no such graph, or the text is empty or too long.
        """
        key, said = self._check_known(identifier), (check_text("text", text), check_text("by", by))
        if not said[0]:
            raise ValueError(f"Expected a comment on `{key}` that says something. Got none.")
        if not any((key, *said) == (each.id, each.text, each.by) for each in self.state.comments):
            comments = (*self.state.comments, Comment(key, *said, len(self.state.rounds)))
            self._mark(key, replace(self.state, comments=comments))

    def rename(self, names: Mapping[str, str]) -> None:
        """Take over what is pending, vetoes, pins and comments of graphs that have other ids now.

        Args:
            names: the new id of each that changes.
        """
        kept = {*self.state.settled(), *self.state.failed}
        named = replace(self.state, measured=(), failed=(), rounds=()).renamed(names)
        pending = tuple(key for key in named.pending if key not in kept)
        marked = replace(self.state, vetoed=named.vetoed, pinned=named.pinned, comments=named.comments)
        self._save(replace(marked, pending=pending))

    def undo_ask(self) -> None:
        """Undo the last `ask`, as if it had not been called.

        Raises:
            ValueError: if there was no round yet.
        """
        if not self.state.rounds:
            raise ValueError("Expected a round to undo. Nothing was suggested yet.")
        pending, rounds = self._pending_without(*(each.id for each in self.state.rounds[-1])), self.state.rounds[:-1]
        measured = tuple(replace(each, round=min(each.round, len(rounds))) for each in self.state.measured)
        self._save(replace(self.state, measured=measured, rounds=rounds, pending=pending, question="", unwritten=""))

    def note_files(self, digests: Iterable[str] = (), unwritten: str = "") -> None:
        """Save digests of files that a command writes for the last round, as `written` and `unwritten` of the state."""
        written = tuple(dict.fromkeys((*self.state.written, *digests)))
        self._save(replace(self.state, written=written, unwritten=unwritten))

    def note_command(self, command: Mapping[str, Kept]) -> None:
        """Save the settings of a command, as `command` of the state."""
        self._save(replace(self.state, command=command))

    def replace_results(
        self, measured: Iterable[Measurement], failed: Iterable[str] = (), pending: Iterable[str] = ()
    ) -> None:
        """Replace all measurements, failures and pending graphs, for callers that keep their own records of them.

        Raises:
            ValueError: as in `tell`, or if an id is given twice. A graph that is pending already need not be in the
                pool.
        """
        measured, failed, pending = tuple(measured), tuple(failed), tuple(pending)
        self._admit(dict.fromkeys((*(measurement.id for measurement in measured), *failed)))
        ids = [*(measurement.id for measurement in measured), *failed]
        ids += [key for key in pending if key in self._index.index_of or key not in self.state.pending]
        structures = {**self.state.structures, **self._structures(self._index.indices(ids))}
        self._save(replace(self.state, measured=measured, failed=failed, pending=pending, structures=structures))

    def _admit(self, identifiers: Iterable[str]) -> None:
        """Take graphs into the pool that are not in it yet, where the pool is only made when asked for."""

    def find(self, text: str) -> tuple[str, str]:
        """Return the id of a graph at the begin of `ID` or `ID=TEXT`, and the text; ids may have an `=`.

        Raises:
            ValueError: if there is no such graph.
        """
        places = [len(text), *(place for place in reversed(range(len(text))) if text[place] == "=")]
        for place in places:
            try:
                return self._check_known(text[:place]), text[place + 1 :].strip()
            except ValueError:
                if place == places[-1]:
                    raise
        raise ValueError(f"Expected the id of a candidate. Got {text!r}.")

    def _check_known(self, identifier: str) -> str:
        """Return the id of a graph of the pool, or of one that the campaign knows although it has left the pool."""
        state = self.state
        known = {*state.pending, *state.failed, *state.vetoes, *state.pinned, *state.structures, *state.settled()}
        if identifier in known:
            return identifier
        self._admit([identifier])
        return self._index.check_id(identifier)

    def _mark(self, key: str, state: CampaignState) -> None:
        """Save marks of a graph, with what tells it apart, so that it is known when its pool is read again."""
        structures = {**state.structures, **self._structures(self._index.present([key]))}
        self._save(replace(state, structures=structures))

    def _place_of(self, goal: str) -> int:
        names = [own_goal.name for own_goal in self.state.goals] or [""]
        if goal not in names:
            wanted = f"one of the goals {', '.join(names)}" if self.state.goals else "nothing: there is one goal"
            raise ValueError(f"Expected `goal` to be {wanted}. Got {goal!r}.")
        return names.index(goal)

    def _structures(self, indices: Sequence[int]) -> dict[str, str]:
        return self._index.structures(k for k in indices if self._offered[k])

    def _pending_without(self, *identifiers: str) -> tuple[str, ...]:
        settled = set(identifiers)
        return tuple(identifier for identifier in self.state.pending if identifier not in settled)

    def _save(self, state: CampaignState) -> None:
        if self._file is not None:
            self._file.write(state)
        self.state = state
