"""Read an entry of a board: a file of `graph-bandit export`, its rows as data, by the agents that played them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graph_bandit_lab.design.keys import RunKey, to_json
from graph_bandit_lab.storage.database import open_to_read
from graph_bandit_lab.storage.results import read_rows
from graph_bandit_lab.storage.rows import ARRAYS, JSON, Row, decode
from graph_bandit_lab.storage.transfer import open_exports

ENDING = ".sqlite.xz"
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,50}\.sqlite\.xz")  # of a file; board.yml has it, too
MOST_BYTES = 1_000_000
MOST_UNPACKED = 50_000_000  # bytes; five repetitions of one agent on the testbed have about one million
WANTED = ("agent", "label", "seed", "status", "settings_hash", "created", *JSON, *ARRAYS)


@dataclass(frozen=True, eq=False)
class Play:
    """One repetition of an entry, as its row says."""

    label: str
    key: RunKey
    seed: int
    status: str
    """"finished" or "diverged"."""
    actions: NDArray[np.int64]
    """`(T,)`. The graphs that were played."""
    rewards: NDArray[np.float64]
    regret: NDArray[np.float64]
    """`(T,)` each, of these rounds."""
    versions: Mapping[str, str]
    """Software by which it was played, as the row says."""
    created: str
    """When it was stored, ISO 8601."""

    @property
    def identity(self) -> tuple[str, int]:
        """Return the hash and the seed under which it is stored."""
        return self.key.settings_hash, self.seed

    @property
    def player(self) -> str:
        """Return what identifies the agent on all tasks: its name, settings, package and algorithm."""
        key = self.key
        return to_json([key.agent, key.agent_settings, key.plug_in, key.algorithm])

    @property
    def total_regret(self) -> float:
        """Return R_T."""
        return float(self.regret.sum())


@dataclass(frozen=True, eq=False)
class Entry:
    """A file of results that somebody sends to the board."""

    path: Path
    """The file."""
    size: int
    """Bytes."""
    digest: str
    """SHA-256 of the file, as hexadecimal digits."""
    plays: tuple[Play, ...] = ()
    fault: str = ""
    """Why it cannot be read; empty if it can."""

    @property
    def name(self) -> str:
        """Return the name of the file, without its ending."""
        return self.path.name.removesuffix(ENDING)

    @property
    def players(self) -> dict[str, list[Play]]:
        """Return the repetitions of each agent."""
        players: dict[str, list[Play]] = {}
        for play in self.plays:
            players.setdefault(play.player, []).append(play)
        return players

    @property
    def created(self) -> str:
        """Return the day on which its last repetition was stored, as its rows say; empty if it has none."""
        return max((play.created for play in self.plays), default="")[:10]

    @property
    def versions(self) -> dict[str, str]:
        """Return the software that its rows name; several versions of one are separated by commas."""
        named: dict[str, dict[str, None]] = {}
        for play in self.plays:
            for name, version in play.versions.items():
                named.setdefault(str(name), {})[str(version)] = None
        return {name: ", ".join(versions) for name, versions in named.items()}


def read_entry(path: str | Path) -> Entry:
    """Read an entry. A file that is too large, damaged or of another kind becomes an entry with a fault.

    Nothing that the file names is imported, and nothing of it is read before its size is known.

    Args:
        path: the file.

    Returns:
        The entry: its repetitions, or what is wrong with the file.

    Raises:
        FileNotFoundError: if there is no such file.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"Expected a file of `graph-bandit export`. There is none at {path}.")
    size = path.stat().st_size
    if not NAME.fullmatch(path.name):
        fault = f"Expected a file named by small letters, digits and hyphens, and `{ENDING}`. Got {path.name!a}."
        return Entry(path, size, "", fault=fault)
    if size > MOST_BYTES:
        fault = (
            f"Expected at most {MOST_BYTES:,} bytes. Got {size:,}. Send fewer agents in one entry, or export without "
            "diagnostics."
        )
        return Entry(path, size, "", fault=fault)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    try:
        plays = _read_plays(path)
    except ValueError as error:
        return Entry(path, size, digest, fault=str(error))
    if not plays:
        return Entry(path, size, digest, fault="Expected finished repetitions. There are none.")
    return Entry(path, size, digest, plays)


def _read_plays(path: Path) -> tuple[Play, ...]:
    with open_exports([path], MOST_UNPACKED) as exports:
        if exports is None:
            return ()
        with open_to_read(exports.store.path) as connection:
            rows = (decode(row, WANTED) for _, row in read_rows(connection))
            return tuple(_to_play(row) for row in rows if row is not None)


def _to_play(row: Row) -> Play:
    versions = dict(row["versions"])
    plug_in, algorithm = str(versions.pop("plug-in", "")), int(versions.pop("algorithm", 1))
    versions.pop("graphs", None)  # the name of a file of graphs
    return Play(
        label=row["label"],
        key=RunKey(row["agent"], row["agent_settings"], row["environment"], plug_in, algorithm),
        seed=row["seed"],
        status=row["status"],
        versions=versions,
        created=row["created"],
        **{name: row[name] for name in ARRAYS},
    )
