"""Edit campaign files, put odd things where they are written, and play chemists who change their tables."""

from __future__ import annotations

import copy
import csv
import io
import json
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from itertools import count, cycle
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.attack.attempts import Attempt
from graph_bandit_campaign import Campaign, SuggestSettings, suggest
from graph_bandit_env import GraphPool

POOL = GraphPool([[[1.0]]] * 12, [[]] * 12)
WRONG: dict[type, tuple[object, ...]] = {  # values that no field of this type may have
    bool: (None, "no", 1, 0.5, []),
    int: (None, "3", True, -5, 0.5, []),
    float: ("1", True, [], {}),
    str: (None, 3, True, []),
    list: (None, 3, "a", {}),
    dict: (None, 3, "a", []),
    type(None): ("1", True, [], {}),
}
UNIX_PLACES = ("link", "link to a link", "private", "pipe", "device", "folder")
SMILES: tuple[str, ...] = (
    *("CCO", "CCN", "CCCl", "CCBr", "CCCO", "CCCN", "CCCCl", "CC(=O)O", "c1ccccc1", "Cc1ccccc1", "c1ccncc1", "CCOC"),
    *("CCCCO", "CCCCN", "CC(C)O", "CC(C)N", "OCCO", "NCCN", "CC#N", "CCC#N", "c1ccoc1", "c1ccsc1", "CCSC", "CCC=O"),
)


def attack(generator: np.random.Generator, folder: Path) -> Iterator[Attempt]:
    """Go round all kinds of attempts, for ever."""
    kinds = [_wrong_value, _contradiction, _damaged_text, _odd_place, _changing_tables]
    for number, kind in zip(count(), cycle(kinds)):
        place = folder / str(number)
        place.mkdir()
        yield kind(generator, place)


def _written(folder: Path) -> Path:
    """Return the file of a campaign of two rounds."""
    path = folder / "state.json"
    campaign = Campaign(POOL, "random", state=path, seed=1)
    for identifier in [suggestion.id for suggestion in campaign.ask(3)][:2]:
        campaign.tell(identifier, 0.5)
    campaign.tell_failed(campaign.ask(2)[0].id)
    return path


def _open(kind: str, path: Path, must_refuse: bool, what: str) -> Attempt:
    try:
        Campaign(POOL, state=path).ask()
    except ValueError as error:
        clear = any(word in str(error) for word in ("Expected", "Unknown"))
        return Attempt(kind, "" if clear else f"{what}: unclear: {error}")
    except Exception as error:  # noqa: BLE001 - any other error is a traceback to the user
        return Attempt(kind, f"{what}: {type(error).__name__}")
    return Attempt(kind, f"{what}: taken" if must_refuse else "")


def _wrong_value(generator: np.random.Generator, folder: Path) -> Attempt:
    path = _written(folder)
    fields = json.loads(path.read_text(encoding="utf-8"))
    places = list(_places(fields))
    *way, last = places[generator.integers(len(places))]
    parent = fields
    for key in way:
        parent = parent[key]
    choices = WRONG[type(parent[last])]
    parent[last] = choices[generator.integers(len(choices))]
    path.write_text(json.dumps(fields), encoding="utf-8")
    shown = ".".join("[]" if isinstance(key, int) else key for key in (*way, last))
    return _open("value of another type in a campaign file", path, True, f"{shown} = {json.dumps(parent[last])}")


def _places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        if not isinstance(inner, float) or key not in ("mean", "std", "noise_std", "probability"):
            yield (*way, key)
        yield from _places(inner, (*way, key))


def _contradiction(generator: np.random.Generator, folder: Path) -> Attempt:
    path = _written(folder)
    text = path.read_text(encoding="utf-8")
    fields = json.loads(text)
    edited = copy.deepcopy(fields)
    edits: dict[str, Callable[[], object]] = {
        "measured and failed": lambda: edited["failed"].append(fields["measured"][0]["id"]),
        "measured and pending": lambda: edited["pending"].append(fields["measured"][0]["id"]),
        "pending twice": lambda: edited["pending"].append(fields["pending"][0]),
        "unknown key": lambda: edited.update(note="mine"),
        "unknown key of a result": lambda: edited["measured"][0].update(unit="nM"),
        "missing key": lambda: edited.pop(list(edited)[generator.integers(len(edited) - 3)]),
        "doubled key": lambda: None,
        "nested": lambda: None,
    }
    what = list(edits)[generator.integers(len(edits))]
    edits[what]()
    text = json.dumps(edited)
    if what == "doubled key":
        text = text.replace('"seed": 1', '"seed": 1, "seed": 2')
    elif what == "nested":
        text = "[" * 100_000
    path.write_text(text, encoding="utf-8")
    return _open("contradiction in a campaign file", path, True, what)


def _damaged_text(generator: np.random.Generator, folder: Path) -> Attempt:
    path = _written(folder)
    content = bytearray(path.read_bytes())
    if generator.random() < 0.5:
        whole = content.rstrip()  # without the end of the last line it says the same
        del whole[int(generator.integers(len(whole))) :]
        return _open("campaign file cut off", _with(path, whole), len(whole) > 0, "cut")
    content[generator.integers(len(content))] ^= 1 << generator.integers(8)
    return _open("bit of a campaign file flipped", _with(path, content), False, "flip")


def _with(path: Path, content: bytes | bytearray) -> Path:
    path.write_bytes(content)
    return path


def _odd_place(generator: np.random.Generator, folder: Path) -> Attempt:
    path = folder / "state.json"
    kind = str(generator.choice(["folder"] if sys.platform == "win32" else UNIX_PLACES))
    what = f"campaign file is {'' if kind == 'private' else 'a '}{kind}"
    if kind == "private":
        _written(folder).chmod(0o600)
    elif kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        try:
            os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
        except PermissionError:
            return Attempt(f"{what} (needs root)")
    else:
        (folder / "there").mkdir()
        target = _written(folder / "there")
        if kind == "link to a link":
            (folder / "second").symlink_to(target)
            target = folder / "second"
        path.symlink_to(target)
    before = path.lstat()
    refused = False
    try:
        Campaign(POOL, "random", state=path).ask()
    except ValueError:
        refused = True
    except OSError as error:
        return Attempt(what, type(error).__name__)
    now = path.lstat()
    if now.st_mode != before.st_mode:
        return Attempt(what, f"mode {before.st_mode:o} became {now.st_mode:o}")
    return Attempt(what, "" if refused == (kind in ("pipe", "device", "folder")) else "taken")


def _changing_tables(generator: np.random.Generator, folder: Path) -> Attempt:
    """Play rounds with pools that lose, gain and rename molecules, and results that name them in other forms."""
    kind, out = "campaign on changing tables", folder / "out.csv"
    names = {text: f"m{number}" for number, text in enumerate(SMILES)}
    offered = set(SMILES)
    results: dict[str, str] = {}
    asked: list[str] = []
    for number in range(4):
        offered ^= set(generator.choice(SMILES, 2, replace=False)) - set(results)
        renamed = str(generator.choice(SMILES))
        names[renamed] = f"r{number}"
        _table(folder / "pool.csv", [("id", "smiles"), *((names[text], text) for text in SMILES if text in offered)])
        forms = ((text, text if generator.random() < 0.7 else f"{text}.Cl") for text in results)
        rows = [(form, results[text]) for text, form in forms]
        _table(folder / "results.csv", [("smiles", "y"), *rows])
        measured = (folder / "results.csv",) if results else ()
        settings = SuggestSettings(folder / "pool.csv", out, measured, n=3, maximize=("y",), agent="random")
        try:
            with redirect_stdout(io.StringIO()):
                suggested = suggest(settings)
        except Exception as error:  # noqa: BLE001 - every error here is a fault
            return Attempt(kind, f"round {number}: {type(error).__name__}: {str(error).splitlines()[0]}")
        smiles_of = {names[text]: text for text in SMILES}
        new = [smiles_of[suggestion.id] for suggestion in suggested]
        if set(new) & {*asked, *results}:
            return Attempt(kind, "suggested again")
        asked += new
        state = json.loads(out.with_name("out.campaign.json").read_text(encoding="utf-8"))
        if len(state["pending"]) != len(set(asked) - set(results)):
            return Attempt(kind, "pending ones lost")
        for text in generator.choice([text for text in asked if text not in results], 2, replace=False):
            results[str(text)] = str(generator.choice(["failed", ">4.5", f"{generator.normal():.3f}"]))
    return Attempt(kind)


def _table(path: Path, rows: list[tuple[str, str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
