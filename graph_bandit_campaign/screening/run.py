"""The work of `graph-bandit screen`: choose a batch, have a program compute its values, and choose the next one."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager

from graph_bandit_campaign.checks import TooFewLeftError
from graph_bandit_campaign.command.suggestions import write_suggestions
from graph_bandit_campaign.screening.program import Outcome, score, split_command
from graph_bandit_campaign.screening.scores import Scores
from graph_bandit_campaign.screening.settings import ScreenSettings
from graph_bandit_campaign.state import CampaignState
from graph_bandit_campaign.store import Store, read_digest
from graph_bandit_campaign.text import duration, short, unshield
from graph_bandit_env.files import is_file_of_graphs
from graph_bandit_env.storage import find_file
from graph_bandit_env.tables import open_table
from graph_bandit_lab import count_cores
from graph_bandit_lab.storage import sole_driver

MOST_REMARKS = 3  # of a round, on what the program did
SHOWN = 200  # characters of the last line that a program printed
STOPS = ("SIGTERM", "SIGHUP")


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
            text = "All values that came in are stored: give the same command again to go on."
            raise KeyboardInterrupt(text) from None
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
            begin = time.monotonic()
            if not self._waiting() and not self._choose(min(settings.n, left)):
                return
            batch, chosen = dict([*self._waiting().items()][:left]), time.monotonic()
            if not batch:
                raise ValueError(f"Expected a batch of molecules that are not in {settings.out}. Got none that is new.")
            self._compute(batch)
            found = {name: value for name, value in self.scores.items() if value is not None}
            best = max(found, key=lambda name: settings.goals[0].sign * found[name])
            print(
                f"round {len(self._state().rounds)}: {len(self.scores):,} of {settings.evaluations:,} evaluations, "
                f"best {settings.target} {short(found[best])} ({best}), {len(self.scores) - len(found):,} failed; "
                f"chosen in {duration(chosen - begin)}, computed in {duration(time.monotonic() - chosen)}",
                flush=True,
            )

    def _state(self) -> CampaignState:
        """Return the campaign, which is without rounds before it begins."""
        return Store(self.settings.state).state or CampaignState("random", True, 0)

    def _waiting(self) -> dict[str, str]:
        """Return the molecules of the last batch that have no value, SMILES by id; none if its files are incomplete."""
        state, table = self._state(), self.settings.batch_table
        if not state.rounds:
            return {}
        written = dict[str, str]()
        if read_digest(table) in state.written:
            with open_table(table) as opened:
                written = {unshield(name): smiles for _, (name, smiles) in opened.rows(("id", "smiles"))}
        smiles_of = {**state.structures, **written}
        names = [suggestion.id for suggestion in state.rounds[-1] if suggestion.id not in self.scores]
        if unknown := [name for name in names if name not in smiles_of]:
            raise ValueError(
                f"Expected a SMILES of `{unknown[0]}`, which is suggested, in {self.settings.state}. Got none. Move "
                "the file away to start a new campaign."
            )
        return {name: smiles_of[name] for name in names}

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
                many, problem = len(outcome.molecules), outcome.problem
                alone = ", so each is tried alone" * (many > 1)
                end = outcome.said.rpartition("\n")[2][-SHOWN:]
                names = f"{many} molecules" if many > 1 else next(iter(outcome.molecules))
                remarks = [f"{problem}{alone} ({end})"] if problem else outcome.remarks
                for remark in remarks[: max(0, MOST_REMARKS - count)]:
                    print(f"{names}: {remark}", flush=True)
                count += len(remarks)
                last = outcome if outcome.said or problem else last
                held |= outcome.values
                if any(value is not None for value in (*held.values(), *self.scores.values())):
                    self.scores.add(held, molecules, order)
                    held = {}
        if held:
            raise ChildProcessError(
                f"Expected a value of one molecule at least. The program gave none for the first {len(held)}"
                f"{': ' * bool(last.problem)}{last.problem}. Nothing was stored. Correct the program, and give the "
                f"command again; or, if these molecules are to blame, write them to {self.settings.out} as failed. The "
                f"program printed:\n{last.said or '(nothing)'}"
            )


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
