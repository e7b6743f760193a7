"""The work of `graph-bandit screen`: choose a batch, have a program compute its values, and choose the next one."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from graph_bandit_campaign.checks import TooFewLeftError, check_value
from graph_bandit_campaign.command.suggestions import write_suggestions
from graph_bandit_campaign.report.tables import write_table
from graph_bandit_campaign.screening.program import Outcome, score, split_command
from graph_bandit_campaign.screening.settings import ScreenSettings
from graph_bandit_campaign.state import CampaignState
from graph_bandit_campaign.store import Store, read_digest
from graph_bandit_campaign.text import listed, shield, short, unshield
from graph_bandit_env.files import is_file_of_graphs
from graph_bandit_env.storage import find_file, replace_file
from graph_bandit_env.tables import open_table
from graph_bandit_lab import count_cores
from graph_bandit_lab.storage import sole_driver

MOST_REMARKS = 3  # of a round, on what the program did
SHOWN = 200  # characters of the last line that a program printed
STOPS = ("SIGTERM", "SIGHUP")
FAILED = "failed"


def screen(settings: ScreenSettings) -> dict[str, float | None]:
    """Choose molecules batch by batch, and have a program compute their values, until the evaluations are spent.

    Files are replaced whenever there is something new, so the same command goes on after any end.

    Returns:
        The value of each molecule that the program was given, None if it failed.

    Raises:
        ChildProcessError: an OSError, if the program gives no value for any molecule of its first batch.
        ValueError, OSError: if a file cannot be read, one that is to be written is not as this command wrote it, or the
            program cannot be started.
        ImportError: if a package that reads a file is not installed.
        KeyboardInterrupt: after Ctrl-C, SIGTERM or SIGHUP, when all that was started has ended.
    """
    command = split_command(settings.score)
    if is_file_of_graphs(settings.pool):
        raise ValueError(f"Expected a pool of molecules, which have a SMILES. Got {settings.pool}.")
    out = find_file(settings.out)
    with _ends_when_told(), sole_driver(out.parent, f".{out.name}.lock"):
        loop = _Screen(settings, command)
        try:
            loop.play()
        except KeyboardInterrupt:
            raise KeyboardInterrupt("All values so far are stored: give the same command again to go on.") from None
    files = (settings.out, settings.batch_table, settings.state, settings.html)
    print("\n" + "\n".join(str(path) for path in files if path is not None))
    return dict(loop.scores)


class _Screen:
    """The loop. The batch is always read from the files, so that a new process goes on as this one would."""

    def __init__(self, settings: ScreenSettings, command: Sequence[str]) -> None:
        self.settings, self.scores = settings, Scores(settings.out, settings.target)
        self._command, self._said = command, set[str]()

    def play(self) -> None:
        """Go on until the evaluations are spent, or no molecule is left."""
        settings = self.settings
        while (left := settings.evaluations - len(self.scores)) > 0:
            if not self._waiting() and not self._choose(min(settings.n, left)):
                return
            batch = dict([*self._waiting().items()][:left])
            if not batch:
                raise ValueError(f"Expected a batch of molecules that are not in {settings.out}. Got none that is new.")
            self._compute(batch)
            found = {name: value for name, value in self.scores.items() if value is not None}
            best = max(found, key=lambda name: settings.goals[0].sign * found[name])
            number, done = len(self._state().rounds), f"{len(self.scores):,} of {settings.evaluations:,} evaluations"
            failed = f"{len(self.scores) - len(found):,} failed"
            best_text = f"best {settings.target} {short(found[best])} ({best})"
            print(f"round {number}: {done}, {best_text}, {failed}", flush=True)

    def _state(self) -> CampaignState:
        """Return the campaign, which is without rounds before it begins."""
        return Store(self.settings.state).state or CampaignState("random", True, 0)

    def _waiting(self) -> dict[str, str]:
        """Return the molecules of the last batch that have no value, SMILES by id; none if its files are incomplete."""
        state, table = self._state(), self.settings.batch_table
        if not state.rounds:
            return {}
        written, batch = dict[str, str](), [each.id for each in state.rounds[-1]]
        if read_digest(table) in state.written:
            with open_table(table) as opened:
                written = {unshield(name): smiles for _, (name, smiles) in opened.rows(("id", "smiles"))}
        if written.keys() != {*batch} and self.scores.keys().isdisjoint(batch):
            return {}  # it stopped before the table was written; `suggest` answers the same batch, and writes it
        smiles_of = {**state.structures, **written}
        return {name: smiles_of[name] for name in batch if name not in self.scores}

    def _choose(self, count: int) -> bool:
        """Choose a batch of so many molecules, or of as many as are left; return whether there are any."""
        try:
            answer, remarks = write_suggestions(self.settings.batch(count, has_results=len(self.scores) > 0))
        except TooFewLeftError as error:
            if error.left:
                return self._choose(error.left)
            if not self.scores:
                raise
            print(f"There is nothing left to choose. {error}")
            return False
        for remark in filter(None, (answer.agent_change, *remarks)):
            if remark not in self._said:
                print(remark, flush=True)
            self._said.add(remark)
        if not answer.suggested:
            print(answer.ending)
        return bool(answer.suggested)

    def _compute(self, molecules: Mapping[str, str]) -> None:
        """Have the program compute the values of some molecules.

        Failures are stored once the program has given a value: one that never does is broken.
        """
        order = [suggestion.id for batch in self._state().rounds for suggestion in batch]
        held, last, count = dict[str, float | None](), Outcome({}), 0
        settings, jobs = self.settings, self.settings.jobs or count_cores()
        with closing(score(self._command, molecules, settings.chunk, jobs, settings.timeout)) as outcomes:
            for outcome in outcomes:
                problem, end = outcome.problem, outcome.said.rpartition("\n")[2][-SHOWN:]
                remarks = [f"{problem} ({end})"] if problem else outcome.remarks
                for remark in remarks[: max(0, MOST_REMARKS - count)]:
                    print(f"{listed([*outcome.molecules], 1)}: {remark}", flush=True)
                count += len(remarks)
                last = outcome if outcome.said or problem else last
                held |= outcome.values
                if any(value is not None for value in (*held.values(), *self.scores.values())):
                    self.scores.add(held, molecules, order)
                    held = {}
        if held:
            text = f"The program gave no value for the first {len(held)} molecules. {last.problem}"
            raise ChildProcessError(f"{text} Nothing was stored. Correct it. It printed:\n{last.said or '(nothing)'}")


class Scores(dict[str, float | None]):
    """The values so far, by id; None where the program failed.

    Args:
        path: the table: id, smiles, and the value or `failed`. It is read if it is there.
        name: name of the column of the values.

    Raises:
        ValueError: if the file is another table.
    """

    smiles: dict[str, str]
    """SMILES of these molecules, by id."""

    def __init__(self, path: Path, name: str) -> None:
        super().__init__()
        self._path, self._name, self.smiles = path, name, {}
        advice = "Give earlier results with --measured, and another --out; or move the file away."
        if not path.exists():
            return
        with open_table(path) as table:
            if table.columns != ("id", "smiles", name):
                got = f"Got {', '.join(table.columns)}."
                raise ValueError(f"Expected {path} with the columns id, smiles, {name}. {got} {advice}")
            for number, (written, smiles, cell) in table.rows(table.columns):
                identifier = unshield(written)
                try:
                    if not (identifier and smiles) or identifier in self:
                        raise ValueError("Expected a SMILES, and an id that no other row has.")
                    value = None if cell.lower() == FAILED else check_value(identifier, float(cell))
                except ValueError as error:
                    raise ValueError(f"{table.where(number)}: {error} {advice}") from error
                self[identifier], self.smiles[identifier] = value, smiles
        if table.problems:
            raise ValueError(f"{table.where(table.problems[0][0])}: {table.problems[0][1]}")

    def add(self, values: Mapping[str, float | None], smiles_of: Mapping[str, str], order: Iterable[str]) -> None:
        """Take in values, and replace the table.

        Args:
            values: values by id, None where the program failed.
            smiles_of: SMILES of these molecules.
            order: ids of all that was suggested, in whose order rows are written. Others come first.
        """
        every, rank_of = {**self, **values}, {identifier: number for number, identifier in enumerate(order)}
        self.clear()
        self.update((name, every[name]) for name in sorted(every, key=lambda name: rank_of.get(name, -1)))
        self.smiles |= {name: smiles_of[name] for name in values}
        table = [("id", "smiles", self._name)]
        table += [(shield(name), self.smiles[name], FAILED if y is None else repr(y)) for name, y in self.items()]
        replace_file(self._path, write_table(self._path, table))


@contextmanager
def _ends_when_told() -> Iterator[None]:
    """Take the signals that end a process as Ctrl-C, so that all that was started ends, too; in the main thread."""
    is_main = threading.current_thread() is threading.main_thread()
    numbers = [getattr(signal, name) for name in STOPS if hasattr(signal, name)] if is_main else []
    taken = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]  # `nohup` ignores SIGHUP
    for number in taken:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)
