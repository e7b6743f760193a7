"""Read and replace the file of a campaign as a whole under a lock, with its undo and redo history."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from filelock import FileLock

from graph_bandit_campaign.state import CampaignState
from graph_bandit_env.storage import find_file, replace_file

T = TypeVar("T")
FORMAT = 6
RENAMED = {"near": "target", "also": "related_assay", "only": "filter", "at_most": "max_per_group", "per": "group_by"}
"""Old names of settings of `suggest` in files of format 5, with their new names."""
MOST = 20  # changes that can be undone


class ChangedError(ValueError):
    """Another process has changed the campaign meanwhile.

    Args:
        path: path of its file.
    """

    def __init__(self, path: Path | None) -> None:
        super().__init__(f"Expected {path} as this campaign left it. Another process wrote to it. Open it again.")


class ConflictError(ValueError):
    """The campaign has changed since the caller read it."""


@dataclass(frozen=True)
class Change:
    """A change of a campaign that can be undone or redone."""

    verb: str
    """Called method: `tell`, `ask` or `annotate`."""
    about: str
    """Description of the change, for people."""
    by: str
    """Name of the user. Empty if unknown."""
    at: str
    """Time in UTC."""
    other: Any
    """Difference that `apply` uses to undo or redo the change."""


class Store:
    """The state of a campaign, in a file or in memory. Changes of several processes are applied one after the other.

    Args:
        path: path of the file, or of a symbolic link to it. If None, the state is kept in memory only.

    Raises:
        ValueError: if the folder does not exist, or the file does not hold a campaign.
    """

    state: CampaignState | None
    """The campaign when it was last read or changed here. None if it has not started."""
    past: tuple[Change, ...] = ()
    """The last changes, newest last."""
    future: tuple[Change, ...] = ()
    """Changes undone since then, the next to redo last."""

    @staticmethod
    def clock() -> str:
        """Return the time, in UTC, to the second."""
        return datetime.now(UTC).isoformat(timespec="seconds").removesuffix("+00:00") + "Z"

    def __init__(self, path: str | Path | None) -> None:
        self.path, self.state = None if path is None else find_file(Path(path)), None
        self._folder = None if self.path is None else self.path.parent
        if self._folder is not None and not self._folder.is_dir():
            raise ValueError(f"Expected the folder of {self.path} to exist. Make it first.")
        self._text: bytes | None = None
        self.read()

    def twin(self) -> Store:
        """Return a copy in memory. `take` saves all its changes at once."""
        made = copy.copy(self)
        made.path = None
        return made

    def take(self, twin: Store) -> None:
        """Save the changes of a copy in memory.

        Args:
            twin: the copy.

        Raises:
            ChangedError: a ValueError, if another process has changed the campaign since `read`.
        """
        with self.locked():
            if self._content() != self._text:
                raise ChangedError(self.path)
            if twin.state is not None and twin.state is not self.state:
                self._save(twin.state, twin.past, twin.future)

    def locked(self) -> AbstractContextManager[object]:
        """Wait for the lock, and keep other processes from changing the campaign in a `with` block."""
        if self.path is None:
            return nullcontext()
        return FileLock(self.path.with_name(f".{self.path.name}.lock"), is_singleton=True)

    def read(self) -> CampaignState | None:
        """Return the current campaign of the file.

        Raises:
            ValueError: if the file does not hold a campaign.
        """
        text = self._content()
        if self.path is not None and text != self._text:
            self.state, self.past, self.future = (None, (), ()) if text is None else read_file(text, self.path)
            self._text = text
        return self.state

    def _content(self) -> bytes | None:
        return self.path.read_bytes() if self.path is not None and self.path.is_file() else None

    @property
    def version(self) -> str:
        """Return a digest of the file when it was last read or written here, or an empty text without a file."""
        return "" if self._text is None else digest_of(self._text)

    def change(
        self, verb: str, make: Callable[[CampaignState], tuple[CampaignState, T]], about: str = "", by: str = ""
    ) -> tuple[CampaignState, T]:
        """Change the newest state, save it if it differs, and return the result of `make`.

        Args:
            verb: name of the change, or an empty text if it cannot be undone.
            make: returns the state after the change, and an answer. If it raises, the state is unchanged.
            about: description of the change, for people.
            by: name of the user.

        Raises:
            ValueError: if the campaign has not started.
        """
        with self.locked():
            if (before := self.read()) is None:
                raise ValueError("Expected a campaign. It has no suggestions and no results yet.")
            after, answer = make(before)
            if after != before or not (self._text or self.path is None):
                past = self.past
                if verb:
                    other = difference(_plain(after), _plain(before))
                    past = (*past, Change(verb, about, by, self.clock(), other))[-MOST:]
                self._save(after, past, () if verb else self.future)
        return after, answer

    def begin(self, state: CampaignState) -> None:
        """Use a state that is not saved yet, if the campaign has not started."""
        if self.read() is None:
            self.state = state

    def name_of(self, path: Path) -> str:
        """Return the path of a file relative to the folder of the campaign, so that both can be moved together."""
        return path.as_posix() if self._folder is None else portable(path, self._folder)

    def undo(self) -> Change:
        """Undo the last change, and return it.

        Raises:
            ValueError: if there is no change to undo.
        """
        return self._step(back=True)

    def redo(self) -> Change:
        """Redo the change that was undone last, and return it.

        Raises:
            ValueError: if there is no change to redo.
        """
        return self._step(back=False)

    def _step(self, back: bool) -> Change:
        with self.locked():
            self.read()
            steps = self.past if back else self.future
            if not steps or self.state is None:
                raise ValueError(f"Expected a change to {'undo' if back else 'redo'}. There is none.")
            change, here = steps[-1], _plain(self.state)
            there = apply(here, change.other)
            moved = replace(change, other=difference(there, here))
            past = self.past[:-1] if back else (*self.past, moved)
            future = (*self.future, moved) if back else self.future[:-1]
            self._save(msgspec.convert(there, CampaignState), past, future)
        return change

    def _save(self, state: CampaignState, past: tuple[Change, ...], future: tuple[Change, ...]) -> None:
        if self.path is not None:
            text = write_file(state, past, future)
            replace_file(self.path, text)
            self._text = text
        self.state, self.past, self.future = state, past, future


def _plain(state: CampaignState) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(state))
    return plain


def difference(here: Any, there: Any) -> Any:
    """Return the difference that `apply` uses to turn `here` into `there`, nested in mappings and lists.

    Args:
        here: a value of JSON.
        there: another one.
    """
    if isinstance(here, dict) and isinstance(there, dict):
        other = {key: difference(here.get(key), value) for key, value in there.items() if here.get(key) != value}
        return {"keys": other, "gone": [key for key in here if key not in there]}
    if isinstance(here, list) and isinstance(there, list):
        shorter = min(len(here), len(there))
        begin = next((k for k in range(shorter) if here[k] != there[k]), shorter)
        end = next((k for k in range(shorter - begin) if here[-1 - k] != there[-1 - k]), shorter - begin)
        return {"from": begin, "to": len(here) - end, "put": [*there[begin : len(there) - end]]}
    return {"is": there}


def apply(here: Any, other: Any) -> Any:
    """Return the value on the other side of a `difference`.

    Args:
        here: the value on this side.
        other: the difference.
    """
    if "is" in other:
        return other["is"]
    if "put" in other:
        return [*here[: other["from"]], *other["put"], *here[other["to"] :]]
    kept = {key: value for key, value in here.items() if key not in other["gone"]}
    return kept | {key: apply(here.get(key), value) for key, value in other["keys"].items()}


def write_file(state: CampaignState, past: tuple[Change, ...] = (), future: tuple[Change, ...] = ()) -> bytes:
    """Write the file of a campaign, in a readable format."""
    steps = {"past": [*map(dataclasses.asdict, past)], "future": [*map(dataclasses.asdict, future)]}
    return json.dumps({"format": FORMAT, **_plain(state), **steps}, indent=1, allow_nan=False).encode() + b"\n"


def read_file(text: bytes, path: Path) -> tuple[CampaignState, tuple[Change, ...], tuple[Change, ...]]:
    """Read the file of a campaign: its state, and its undo and redo history.

    Args:
        text: the content of the file.
        path: path of the file, for messages.

    Raises:
        ValueError: if it is not a campaign, or has another format. The message names the problem.
    """
    try:
        fields = msgspec.json.decode(text.decode("utf-8-sig"), type=dict[str, object])
        number, command = fields.pop("format", None), fields.get("command", {})
        if number == FORMAT - 1 and isinstance(command, dict):  # steps in its undo history have the old names
            fields |= {"command": {RENAMED.get(key, key): command[key] for key in command}, "past": [], "future": []}
        elif number != FORMAT:
            raise ValueError(f"Expected a campaign of format {FORMAT}. {path} has format {number}.")
        steps = [msgspec.convert(fields.pop(name, ()), tuple[Change, ...]) for name in ("past", "future")]
        state = msgspec.convert(fields, CampaignState)
        unknown = _unknown(fields, _plain(state))
        if odd := unknown | {"measured", "failures", "pending", "rounds"} - fields.keys():
            raise msgspec.ValidationError(f"Missing or unknown: {', '.join(sorted(odd))}")
        return state, steps[0], steps[1]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        problem = f"Expected {path} to be the file of a campaign. {str(error).rstrip('.')}."
        raise ValueError(f"{problem} Correct it, or move it away to start a new campaign.") from error


def _unknown(given: object, kept: object) -> set[str]:
    """Return the keys of a file, at any depth, that were not read."""
    if isinstance(given, dict) and isinstance(kept, dict):
        return (given.keys() - kept.keys()).union(*(_unknown(given[k], kept[k]) for k in given.keys() & kept.keys()))
    pairs = zip(given, kept, strict=True) if isinstance(given, list) and isinstance(kept, list) else ()
    return {name for pair in pairs for name in _unknown(*pair)}


def portable(path: Path, folder: Path) -> str:
    """Return the path of a file relative to a folder, in a form for all systems.

    Args:
        path: path of the file.
        folder: the folder.
    """
    whole = path.parent.resolve() / path.name
    try:
        return Path(os.path.relpath(whole, folder)).as_posix()
    except ValueError:  # Windows: on another drive
        return whole.as_posix()


def digest_of(content: bytes) -> str:
    """Return a digest of the content of a file: 16 hexadecimal digits.

    Args:
        content: the whole content.
    """
    return hashlib.sha256(content).hexdigest()[:16]


def read_digest(path: Path) -> str:
    """Return `digest_of` the content of a file, or an empty text if it does not exist."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def refuse_others(paths: Iterable[Path], own: Collection[str], overwrite: bool, advice: str = "") -> None:
    """Raise an error if files to replace were not written by the command, or were changed since.

    Args:
        paths: files to write.
        own: digests of the files that the command has written, or is about to write.
        overwrite: True if the user allows replacement.
        advice: another suggestion for the user.

    Raises:
        ValueError: if such a file exists.
    """
    for path in () if overwrite else paths:
        if read_digest(path) not in ("", *own):
            text = f"{path} was not written by this command, or was changed since."
            raise ValueError(f"{text} {advice} Otherwise move it away, or replace it with --overwrite.")
