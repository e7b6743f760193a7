"""Run `graph-bandit screen`: choose a batch, compute its values with a program, and choose the next one."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace

from graph_bandit_campaign.checks import TooFewLeftError
from graph_bandit_campaign.command.pools.opening import open_pool
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.command.suggestions import write_suggestions
from graph_bandit_campaign.report.tables import write_table
from graph_bandit_campaign.results.rows import Columns, ResultTables
from graph_bandit_campaign.screening.program import score, split_command
from graph_bandit_campaign.screening.settings import ScreenSettings
from graph_bandit_campaign.store import Store
from graph_bandit_campaign.text import listed, shield, short, unshield
from graph_bandit_env.files import is_file_of_graphs
from graph_bandit_env.storage import find_file, replace_file
from graph_bandit_env.tables import open_table
from graph_bandit_lab import count_cores
from graph_bandit_lab.storage import sole_driver

FAILED = "failed"

Scores = dict[str, tuple[str, float | None]]
"""SMILES and value of each molecule given to the program, by id. The value is None if it failed."""


def screen(settings: ScreenSettings) -> dict[str, float | None]:
    """Choose molecules batch by batch, and compute their values with a program, until all evaluations are used.

    Files are updated with all new values, so the same command continues after an interruption.

    Returns:
        The value of each molecule given to the program, or None if it failed.

    Raises:
        ChildProcessError: an OSError, if the program gives no value for any molecule of its first batch.
        TooFewLeftError: a ValueError, if prices, budget or caps do not allow another molecule.
        ValueError, OSError: if a file cannot be read, a file to be written was not written by this command, or the
            program cannot be started.
        ImportError: if a package for reading a file is not installed.
        KeyboardInterrupt: after Ctrl-C, SIGTERM or SIGHUP, when all started processes have ended.
    """
    command, out = split_command(settings.score), find_file(settings.out)
    if is_file_of_graphs(settings.pool) or open_pool(settings).slots:
        raise ValueError(f"Expected a pool of molecules, which have a SMILES. Got {settings.pool}.")
    _end_by_signals()
    with sole_driver(out.parent, f".{out.name}.lock"):
        scores = read_scores(settings)
        try:
            while (left := settings.evaluations - len(scores)) > 0:
                asked = settings.batch(min(settings.n, left), has_results=bool(scores))
                batch = _last_batch(asked)
                if batch.keys() <= scores.keys():
                    batch = _choose(asked, scores)
                if not batch:
                    break
                scores = _compute(settings, command, batch, scores)
                values = {name: value for name, (_, value) in scores.items() if value is not None}
                best = max(values, key=lambda name: settings.goals[0].sign * values[name])
                done = f"{len(scores):,} of {settings.evaluations:,} evaluations, {len(scores) - len(values):,} failed"
                print(f"{done}; best {settings.quantity} {short(values[best])} ({best})", flush=True)
        except KeyboardInterrupt:
            raise KeyboardInterrupt("All values so far are stored. Run the same command again to continue.") from None
    return {name: value for name, (_, value) in scores.items()}


def read_scores(settings: ScreenSettings) -> Scores:
    """Return the values so far. Empty without a table of values.

    Raises:
        ValueError: if the file is another table.
    """
    tables = ResultTables.open([settings.out] if settings.out.exists() else [])
    columns = ("id", "smiles", settings.quantity)
    if any(header != columns for header in tables.headers):
        raise ValueError(
            f"Expected {settings.out} with the columns {', '.join(columns)}. Pass earlier results with --measured "
            f"and use another --out, or move the file away."
        )
    rows = tables.read(Columns(settings.quantity, "id")).rows if tables else []
    return {unshield(row.identifier): (row.smiles, None if isinstance(row.value, str) else row.value) for row in rows}


def write_scores(settings: ScreenSettings, scores: Scores) -> None:
    """Replace the table of values."""
    rows = ((shield(name), smiles, FAILED if y is None else repr(y)) for name, (smiles, y) in scores.items())
    replace_file(settings.out, write_table(settings.out, [("id", "smiles", settings.quantity), *rows]))


def _last_batch(asked: SuggestSettings) -> dict[str, str]:
    """Return the last batch of the campaign, SMILES by id. Empty if its table is not written yet."""
    state = Store(asked.state).state
    if state is None or not state.rounds or not asked.out.is_file():
        return {}
    with open_table(asked.out) as table:
        written = {unshield(name): smiles for _, (name, smiles) in table.rows(("id", "smiles"))}
    return written if [*written] == [suggestion.id for suggestion in state.rounds[-1]] else {}


def _choose(asked: SuggestSettings, scores: Scores) -> dict[str, str]:
    """Choose a batch, with fewer molecules if fewer are left, and return it. It may be empty."""
    try:
        answer, remarks = write_suggestions(asked)
    except TooFewLeftError as error:
        if not error.left:
            raise
        return _choose(replace(asked, n=error.left), scores)
    for remark in filter(None, (*remarks, answer.ending)):
        print(remark, flush=True)
    return _last_batch(asked) if answer.suggested else {}


def _compute(settings: ScreenSettings, command: Sequence[str], batch: Mapping[str, str], scores: Scores) -> Scores:
    """Compute the values of a batch with the program, and return all values, those of the batch last, in its order.

    Failures are stored after the program has returned a value, since a program without any values is broken.
    """
    names = [name for name in batch if name not in scores][: settings.evaluations - len(scores)]
    given, log, is_sound = {name: batch[name] for name in names}, settings.out.with_suffix(".log"), False
    how = settings.chunk, settings.jobs or count_cores(), settings.timeout, log
    with closing(score(command, given, *how)) as outcomes:
        for outcome in outcomes:
            if outcome.problem:
                print(f"{listed([*outcome.molecules], 1)}: {outcome.problem}", flush=True)
            known = scores | {name: (batch[name], value) for name, value in outcome.values.items()}
            others = (name for name in known if name not in batch)
            scores = {name: known[name] for name in (*others, *(name for name in batch if name in known))}
            if is_sound := any(value is not None for _, value in scores.values()):
                write_scores(settings, scores)
    if not is_sound:
        text = f"The program gave no value for the first {len(given)} molecules. Nothing was stored."
        raise ChildProcessError(f"{text} Correct it: {log} has its output.")
    return scores


def _end_by_signals() -> None:
    """Handle SIGTERM and SIGHUP like Ctrl-C, so that all started processes are ended."""
    for number in (getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)):
        if signal.getsignal(number) is signal.SIG_DFL:  # `nohup` ignores SIGHUP
            with suppress(ValueError):  # only the main thread can set handlers
                signal.signal(number, signal.default_int_handler)
