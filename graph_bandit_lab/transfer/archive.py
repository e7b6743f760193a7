"""Write and read the file of an export: a zip archive of NumPy arrays, which `numpy.load` opens too."""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graph_bandit_lab.design.keys import RunKey
from graph_bandit_lab.design.tasks import Task
from graph_bandit_lab.storage.results import Stored
from graph_bandit_lab.storage.rows import ARRAYS, Row, name_of
from graph_bandit_lab.transfer.rounds import decode_rounds, encode_rounds

FORMAT, VERSION = "graph-bandit-env repetitions", 1
ABOUT, ROWS = "about.json", "rows.json"
TASKS = "tasks.json"  # is there if the folder has tasks; earlier versions pass over it
PLAIN = (
    *("settings_hash", "seed", "label", "agent", "environment", "agent_settings", "status", "error"),
    *("wall_time", "round_time", "versions", "created"),
)
"""Columns of the results file that are neither arrays nor its checksum."""
LISTED = (*PLAIN, "diagnostics", "digest")
STATUSES = ("finished", "diverged")
MOST_UNPACKED, MOST_PACKED = 1 << 24, 1000  # bytes, and times that a larger file may be packed
PIECE = 1 << 12  # bytes of a member that are unpacked at a time
BEGINNING_OF_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
POSIX = 3  # the system that is said to have made the archive, on every system


def write_export(blocks: Iterable[Sequence[Row]], tasks: Sequence[Task] = ()) -> tuple[bytes, int]:
    """Make the content of a file with these repetitions: the same bytes for the same repetitions and tasks.

    Args:
        blocks: rows of the results file, arrays decoded; each block is encoded and read by itself.
        tasks: tasks of the folder.

    Returns:
        The content, and the number of repetitions.

    Raises:
        ValueError: if another program has stored a repetition, and its arrays or its key are not as they should be.
    """
    file, hashes, count = io.BytesIO(), dict[str, str](), 0
    with zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as archive:

        def add(name: str, content: bytes) -> None:
            info = zipfile.ZipInfo(name, BEGINNING_OF_ZIP_TIME)
            info.compress_type, info.create_system, info.external_attr = zipfile.ZIP_LZMA, POSIX, 0o600 << 16
            archive.writestr(info, content)
            hashes[name] = hashlib.sha256(content).hexdigest()

        for number, block in enumerate(blocks):
            listed = [_list_row(row) for row in block]
            for fault in filter(None, map(_find_fault, listed)):
                raise ValueError(
                    f"Expected repetitions that this package has stored. Got {fault}. It cannot be exported."
                )
            encoded = encode_rounds(block)
            if [digest_of(row) for row in decode_rounds(encoded, listed)] != [row["digest"] for row in listed]:
                raise ValueError("Expected rounds that are read back as they were. Please report this as a bug.")
            columns = {name: [row[name] for row in listed] for name in LISTED}
            add(f"{number:05}/{ROWS}", _to_json(columns))
            for name, array in encoded.items():
                buffer = io.BytesIO()
                np.save(buffer, array, allow_pickle=False)
                add(f"{number:05}/{name}.npy", buffer.getvalue())
            count += len(block)
        if tasks:
            add(TASKS, _to_json([vars(task) | {"refused": dict(task.refused)} for task in tasks]))
        about = {"format": FORMAT, "version": VERSION, "repetitions": count, "sha256": _combine(hashes)}
        add(ABOUT, _to_json(about))
    return file.getvalue(), count


@dataclass(frozen=True)
class Export:
    """A file of repetitions that was found intact."""

    path: Path
    digest: str
    """SHA-256 of what it holds."""
    content: bytes = field(repr=False)
    blocks: tuple[tuple[Row, ...], ...] = field(repr=False)
    """The rows of each block, with the names of their diagnostics, and without arrays."""
    tasks: tuple[Task, ...] = ()
    """Tasks of the folder."""

    @property
    def rows(self) -> list[Row]:
        """Return the rows of all blocks, in the order of their folder."""
        return [row for block in self.blocks for row in block]

    def environments(self) -> list[dict[str, object]]:
        """Return the distinct environments."""
        return [json.loads(text) for text in dict.fromkeys(row["environment"] for row in self.rows)]

    def stored(self) -> dict[tuple[str, int], Stored]:
        """Return what it holds, by settings hash and seed, as `ResultStore.stored` does."""
        return {
            (row["settings_hash"], row["seed"]): Stored(failed=False, diagnosed=row["diagnostics"] is not None)
            for row in self.rows
        }

    def mean_wall_times(self) -> dict[str, float]:
        """Return the mean wall time of a repetition, as `ResultStore.mean_wall_times` does."""
        times: dict[str, list[float]] = {}
        for row in self.rows:
            for name in (row["settings_hash"], row["agent"]):
                times.setdefault(name, []).append(row["wall_time"])
        return {name: sum(each) / len(each) for name, each in times.items()}

    def decode(self, number: int) -> list[Row]:
        """Return the rows of a block with their arrays.

        Raises:
            ValueError: if they are not what was exported.
        """
        prefix, arrays = f"{number:05}/", {}
        try:
            with zipfile.ZipFile(io.BytesIO(self.content)) as archive:
                for name in archive.namelist():
                    if name.startswith(prefix) and name.endswith(".npy"):
                        arrays[name[len(prefix) : -len(".npy")]] = _read_array(_read_member(archive, name))
            rows = decode_rounds(arrays, self.blocks[number])
            wrong = [row for row in rows if digest_of(row) != row["digest"]]
        except Exception as error:  # of NumPy or zipfile, at content that no export has
            raise _refusal(self.path, f"arrays that cannot be read ({error})") from error
        if wrong:
            raise _refusal(self.path, f"other rounds than were exported of {name_of(wrong[0])}")
        return rows


def read_export(path: str | Path) -> Export:
    """Read a file of `export_results`, and check all of it.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it is not such a file, is damaged, was made by a later version, or holds repetitions under keys
            that are not those of their settings.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"Expected a file of `graph-bandit export`. There is none at {path}.")
    content = path.read_bytes()
    try:
        about, members = _read_members(content)
        is_ours, version = about["format"] == FORMAT, about["version"]
    except Exception as error:  # zipfile, lzma and json raise all kinds of errors at damaged bytes
        raise _refusal(path, f"a file that cannot be read as one ({error or type(error).__name__})") from error
    if not is_ours:
        raise _refusal(path, "another kind of archive")
    if version != VERSION:
        raise ValueError(
            f"Expected {path} in version {VERSION} of its format. Got version {version}. Update graph-bandit-env here, "
            "or export the folder again with this version."
        )
    digest = _combine({name: hashlib.sha256(member).hexdigest() for name, member in members.items()})
    if digest != about["sha256"]:
        raise _refusal(path, "another digest than that of its content")
    try:
        blocks = tuple(tuple(_read_rows(member)) for name, member in members.items() if name.endswith(f"/{ROWS}"))
    except Exception as error:  # the same, of content that no export has
        raise _refusal(path, f"rows that cannot be read ({error})") from error
    try:
        tasks = tuple(_read_tasks(members[TASKS])) if TASKS in members else ()
    except Exception as error:  # the same
        raise _refusal(path, f"tasks that cannot be read ({error})") from error
    _check_rows(path, blocks, about["repetitions"])
    return Export(path, digest, content, blocks, tasks)


def digest_of(row: Row) -> str:
    """Return a digest of what was played: how it ended, actions, rewards and regret."""
    digest = hashlib.sha256(row["status"].encode())
    for name in ARRAYS:
        digest.update(f"{name} {len(row[name])}".encode() + np.ascontiguousarray(row[name]).tobytes())
    return digest.hexdigest()[:16]


def _list_row(row: Row) -> Row:
    diagnostics = None if row["diagnostics"] is None else list(row["diagnostics"])
    return {**{name: row[name] for name in PLAIN}, "diagnostics": diagnostics, "digest": digest_of(row)}


def _read_members(content: bytes) -> tuple[Row, dict[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
        if unpacked > max(MOST_UNPACKED, MOST_PACKED * len(content)):
            raise ValueError(f"it would unpack to {unpacked:,} bytes")
        members = {name: _read_member(archive, name) for name in archive.namelist()}
    return json.loads(members.pop(ABOUT)), members


def _read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """Read a member in pieces: at once, all that is packed in it would be unpacked, whatever size the archive tells."""
    if archive.getinfo(name).compress_type != zipfile.ZIP_LZMA:
        raise ValueError(f"{name} is packed in another way than an export")
    with archive.open(name) as member:
        return b"".join(iter(partial(member.read, PIECE), b""))


def _read_rows(member: bytes) -> Iterator[Row]:
    columns = json.loads(member)
    for values in zip(*(columns[name] for name in LISTED), strict=True):
        yield dict(zip(LISTED, values, strict=True))


def _read_tasks(member: bytes) -> Iterator[Task]:
    for listed in json.loads(member):
        texts = [listed["name"], listed["hard"], listed["environment_key"]]
        refused = tuple(listed["refused"].items())
        if not all(isinstance(text, str) for text in (*texts, *itertools.chain(*refused))):
            raise TypeError(f"a task of {listed!r}")
        yield Task(name=texts[0], hard=texts[1], environment_key=texts[2], refused=refused)


def _read_array(member: bytes) -> NDArray[np.generic]:
    array: NDArray[np.generic] = np.load(io.BytesIO(member), allow_pickle=False)
    return array


def _check_rows(path: Path, blocks: Sequence[Sequence[Row]], count: int) -> None:
    """Refuse rows that the results file would not hold."""
    rows = [row for block in blocks for row in block]
    if not len({(row["settings_hash"], row["seed"]) for row in rows}) == len(rows) == count:
        raise _refusal(path, f"{len(rows)} repetitions, some of them twice, where it names {count}")
    for row in rows:
        if fault := _find_fault(row):
            raise _refusal(path, fault)


def _find_fault(row: Row) -> str:
    """Say what is wrong with a row, without its arrays; nothing if it is one that the laboratory stores."""
    try:
        versions = json.loads(row["versions"])
        settings, environment = json.loads(row["agent_settings"]), json.loads(row["environment"])
        origin = versions.get("plug-in", ""), int(versions.get("algorithm", 1))
        key = RunKey(row["agent"], settings, environment, *origin)
        if key.settings_hash != row["settings_hash"]:
            return f"{name_of(row)} under a key that is not that of its settings"
    except Exception:  # noqa: BLE001 - of content that no export has
        return f"settings of {name_of(row)} that cannot be read"
    return "" if row["status"] in STATUSES else f"{name_of(row)} with the status {row['status']!r}"


def _refusal(path: Path, reason: str) -> ValueError:
    return ValueError(
        f"Expected {path} to be an intact file of `graph-bandit export`. Got {reason}. Copy the file again, or export "
        "the folder again. Nothing was taken from it."
    )


def _to_json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _combine(hashes: Mapping[str, str]) -> str:
    """Return one SHA-256 of the names of all members and of their own."""
    return hashlib.sha256(_to_json(dict(hashes))).hexdigest()
