"""Damage the results file of a small sweep: what is read and continued must be true, or the damage must be named."""

from __future__ import annotations

import shutil
import sqlite3
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.attack.attempts import Attempt, refusal, run_command
from benchmarks.attack.kills import SWEEP
from graph_bandit_lab import load_results, read_sweep, run_sweep

PAGE = 4096  # bytes, of SQLite
TIMES = ("wall_time", "round_time", "created")  # a repetition that is played again has others
WHOLE = 25  # attempts between two that run the commands

Damage = Callable[[bytearray, np.random.Generator], bytes | bytearray]
Row = dict[Any, Any]
Key = tuple[str, int]


def attack(generator: np.random.Generator, folder: Path) -> Iterator[Attempt]:
    """Damage copies of a results file, each in one way, and read, report and continue them."""
    whole = folder / "whole"
    whole.mkdir()
    (folder / "sweep.toml").write_text(SWEEP.format(repetitions=2), encoding="utf-8")
    plan = read_sweep(folder / "sweep.toml").plan()
    run_sweep(plan, whole, diagnostics=True, progress=False, report=False)
    truth, content = _rows(whole), (whole / "results.sqlite").read_bytes()
    for number, (kind, damage) in enumerate(cycle(DAMAGES.items())):
        copy = folder / str(number)
        copy.mkdir()
        file = copy / "results.sqlite"
        file.write_bytes(damage(bytearray(content), generator))
        fault = _fault_of_reading(copy, truth)
        if not fault and number % WHOLE == 0:
            fault = _fault_of_commands(copy, folder / "sweep.toml", truth)
        elif not fault:
            go_on = partial(run_sweep, plan, copy, diagnostics=True, progress=False, report=False)
            fault = _fault_of_continuing(copy, truth, go_on)
        yield Attempt(kind, fault)
        shutil.rmtree(copy)


def _rows(folder: Path) -> dict[Key, Row]:
    rows: list[Row] = load_results(folder).to_dict("records")
    keys = [(row["settings_hash"], row["seed"]) for row in rows]
    if len(set(keys)) != len(keys):
        raise AssertionError(f"{len(keys) - len(set(keys))} repetitions are doubled")
    return dict(zip(keys, rows, strict=True))


def _differences(found: dict[Key, Row], truth: dict[Key, Row], but: tuple[str, ...] = ()) -> list[str]:
    """Name the columns in which rows differ from the true ones; a row that nobody stored differs in `seed`."""
    names: set[str] = set()
    for key, row in found.items():
        if key not in truth:
            names.add("seed")
            continue
        for name in truth[key].keys() - set(but):
            if name not in row or not _equal(row[name], truth[key][name]):
                names.add(name)
    return sorted(names)


def _equal(first: Any, second: Any) -> bool:
    try:
        np.testing.assert_equal(first, second)
    except AssertionError:
        return False
    return type(first) is type(second)


def _fault_of_reading(folder: Path, truth: dict[Key, Row]) -> str:
    """Return what is wrong with what `load_results` returns, warns of or raises."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = _rows(folder)
        except (ValueError, OSError) as error:
            return "" if "results.sqlite" in str(error) else f"load_results does not name the file: {error!r}"
        except BaseException as error:  # noqa: BLE001 - any other error is the fault that is looked for
            return f"load_results: {error!r}"
    wrong = _differences(found, truth)
    if wrong:
        return f"load_results silently returns other {', '.join(wrong)}"
    lost = len(truth) - len(found)
    told = any("results.sqlite" in str(warning.message) and str(lost) in str(warning.message) for warning in caught)
    return "" if told or not lost else f"load_results silently leaves out {lost} repetitions"


def _fault_of_continuing(folder: Path, truth: dict[Key, Row], go_on: Callable[[], object]) -> str:
    """Return what is wrong after the same sweep has gone on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            go_on()
        except (ValueError, OSError) as error:
            return "" if "results.sqlite" in str(error) else f"sweep does not name the file: {error!r}"
        except BaseException as error:  # noqa: BLE001 - any other error is the fault that is looked for
            return f"sweep: {error!r}"
        found = _rows(folder)
    if found.keys() != truth.keys():
        lost, strange = len(truth.keys() - found.keys()), len(found.keys() - truth.keys())
        return f"sweep leaves {lost} repetitions lost, {strange} strange"
    wrong = _differences(found, truth, but=TIMES)
    return f"sweep keeps other {', '.join(wrong)}" if wrong else ""


def _fault_of_commands(folder: Path, sweep: Path, truth: dict[Key, Row]) -> str:
    """Return what is wrong with `graph-bandit report` and `graph-bandit sweep`."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            silent = not load_results(folder).empty and not caught
        except (ValueError, OSError):
            silent = False
    code, printed = run_command(["report", folder])
    if code != 0 and refusal(code, printed):
        return f"report: {refusal(code, printed)}"
    if not silent and "results.sqlite" not in printed:
        return f"report does not name the file: {printed.strip()[-200:]!r}"

    def go_on() -> None:
        code, printed = run_command(["sweep", sweep, "--out", folder, "--workers", "None", "--diagnostics"])
        if code != 0:
            raise ValueError(refusal(code, printed) or printed.strip())

    return _fault_of_continuing(folder, truth, go_on)


def _flip(begin: bytes = b"", most: int | None = None) -> Damage:
    """Return the damage of one bit, of the first `most` bytes from a text on."""

    def damage(content: bytearray, generator: np.random.Generator) -> bytearray:
        start = content.index(begin)
        content[start + generator.integers(most or len(content))] ^= 1 << int(generator.integers(8))
        return content

    return damage


def _swap_bytes(content: bytearray, generator: np.random.Generator) -> bytearray:
    one, two = generator.integers(len(content), size=2)
    content[one], content[two] = content[two], content[one]
    return content


def _swap_pages(content: bytearray, generator: np.random.Generator) -> bytearray:
    one, two = (slice(PAGE * k, PAGE * (k + 1)) for k in generator.choice(len(content) // PAGE, 2, replace=False))
    content[one], content[two] = content[two], content[one]
    return content


def _empty_page(content: bytearray, generator: np.random.Generator) -> bytearray:
    page = int(generator.integers(len(content) // PAGE))
    content[PAGE * page : PAGE * (page + 1)] = bytes(PAGE)
    return content


def _truncate(content: bytearray, generator: np.random.Generator) -> bytearray:
    return content[: generator.integers(1, len(content))]


def _edit(statement: str) -> Damage:
    def damage(content: bytearray, generator: np.random.Generator) -> bytes:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.deserialize(bytes(content))
            connection.execute(statement.format(number=generator.integers(5, 1000)))
            connection.commit()
            return connection.serialize()

    return damage


DAMAGES: dict[str, Damage] = {
    "one bit flipped": _flip(),
    "two bytes swapped": _swap_bytes,
    "truncated": _truncate,
    "one bit of the schema flipped": _flip(b"CREATE TABLE", 1000),
    "two pages swapped": _swap_pages,
    "one bit of the header flipped": _flip(most=100),
    "a page of zeros": _empty_page,
    "another format": _edit("PRAGMA user_version = {number}"),
    "a column dropped": _edit("ALTER TABLE repetitions DROP COLUMN rewards"),
    "no table": _edit("ALTER TABLE repetitions RENAME TO others"),
    "emptied": lambda content, generator: b"",
}
