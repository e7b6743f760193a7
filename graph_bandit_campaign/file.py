"""The file of a campaign, replaced atomically, never after another process has changed it; and files of commands."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
from filelock import FileLock

from graph_bandit_campaign.constraints.goals.goal import Goal, list_aims
from graph_bandit_campaign.flags import Kind
from graph_bandit_campaign.state import CampaignState
from graph_bandit_env.storage import find_file, replace_file


class ChangedError(ValueError):
    """Another process has changed a campaign meanwhile.

    Args:
        path: path of its file.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(f"Expected {path} as this campaign left it. Another process wrote to it. Open it again.")


@contextmanager
def lock_campaign(path: Path) -> Iterator[None]:
    """Keep other processes from changing a campaign and its table of typed results, for a `with` block.

    It waits for those that do so now. A thread that has the lock may take it again. Without a file nothing is locked.

    Args:
        path: path of the campaign's file.
    """
    path = find_file(path)
    if not path.is_file():
        yield
        return
    with _lock_of(path):
        yield


def _lock_of(path: Path) -> FileLock:
    return FileLock(path.with_name(f".{path.name}.lock"), is_singleton=True)


class CampaignFile:
    """A file that holds the state of a campaign.

    Args:
        path: path of the file, or of a symbolic link to it; None: nothing is saved.

    Raises:
        ValueError: if the folder does not exist, or the path leads to something that is not a file of text.
    """

    def __init__(self, path: str | Path | None) -> None:
        self.path = None if path is None else find_file(Path(path))
        if self.path is not None and not self.path.parent.is_dir():
            raise ValueError(f"Expected the folder of {self.path} to exist. Make it first.")
        self._written = self._text()

    def read(self) -> CampaignState | None:
        """Return the state that the file held when it was opened or last written here.

        Raises:
            ValueError: if the file does not hold a campaign.
        """
        if self.path is None or self._written is None:
            return None
        return read_state(self._written, self.path)

    def write(self, state: CampaignState) -> None:
        """Replace the file.

        Raises:
            ChangedError: a ValueError, if another process has changed it since it was last read or written here.
        """
        if self.path is None:
            return
        with _lock_of(self.path):
            if self._text() != self._written:
                raise ChangedError(self.path)
            text = write_state(state)
            replace_file(self.path, text.encode())
            self._written = text

    def _text(self) -> str | None:
        try:
            return self.path.read_text(encoding="utf-8-sig") if self.path is not None and self.path.is_file() else None
        except UnicodeDecodeError as error:
            raise ValueError(
                f"Expected {self.path} to be the file of a campaign, in UTF-8. Got: {error}. Save it as UTF-8, or "
                "move it away to start a new campaign."
            ) from error


DIRECTIONS: dict[bool | None, str] = {True: "maximize", False: "minimize"}


@dataclass(frozen=True)
class Given:
    """The arguments with which a campaign is started or goes on; None: not given."""

    maximize: bool | None
    """True if large values are wanted, False for small ones."""
    seed: int | None
    """Seed of all randomness."""
    target: str | None
    """Name of the measured quantity."""
    goals: tuple[Goal, ...] | None
    """What is wanted of several quantities."""
    kind: Kind | None = None
    """What the values of the one goal are."""

    def resume(self, saved: CampaignState | None, path: str, agent: str) -> CampaignState:
        """Return the campaign that a file holds, with the goals that are given; or a new one.

        Args:
            saved: what the file holds; None: there is none.
            path: of the file.
            agent: of a new campaign.

        Raises:
            ValueError: if the file holds a campaign with another direction, seed, target or goals.
        """
        wanted = self.wanted(saved)
        state = saved or CampaignState(
            agent, self.maximize is not False, self.seed or 0, target=self.target or "", goals=wanted
        )
        aims = None if self.goals is None else list_aims(wanted)
        pairs = {
            "direction": tuple(DIRECTIONS.get(each) for each in (self.maximize, state.maximize)),
            "seed": (self.seed, state.seed),
            "target": (self.target, state.target),
            "goals": (aims, list_aims(state.goals)),
        }
        for name, (value, before) in pairs.items():
            if value not in (None, before):
                raise ValueError(
                    f"Expected a campaign with {name} {value}. {path} has {'none' if before == '' else before}. "
                    "Use that value, or start a new campaign in another file."
                )
        return replace(state.with_goals(wanted), kind=state.kind if self.kind is None else self.kind)

    def wanted(self, saved: CampaignState | None) -> tuple[Goal, ...]:
        """Return what is wanted of several quantities; nothing with one.

        Raises:
            ValueError: if goals come with what one quantity has.
        """
        wanted = self.goals if self.goals is not None else saved.goals if saved else ()
        if wanted and (self.maximize, self.target, self.kind) != (None, None, None):
            raise ValueError("Expected either `goals`, or `maximize`, `target` and `kind`. Got both.")
        return wanted


FORMAT = 3


def write_state(state: CampaignState) -> str:
    """Write the state as text that people can read too."""
    return json.dumps({"format": FORMAT, **dataclasses.asdict(state)}, indent=1, allow_nan=False) + "\n"


def read_state(text: str, path: Path) -> CampaignState:
    """Read the text of a file of a campaign.

    Args:
        text: the content of the file.
        path: of the file, for messages.

    Raises:
        ValueError: if the text is not a campaign, or one of another format; the message names what is wrong.
    """
    try:
        fields = msgspec.json.decode(text, type=dict[str, object])
        if (number := fields.pop("format", None)) != FORMAT:
            raise ValueError(f"Expected a campaign of format {FORMAT}. {path} has format {number}.")
        state = msgspec.convert(fields, CampaignState)
        unknown = _unknown(fields, json.loads(write_state(state)))
        if odd := unknown | {"measured", "failed", "pending", "rounds"} - fields.keys():
            raise msgspec.ValidationError(f"Missing or unknown: {', '.join(sorted(odd))}")
        return state
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(
            f"Expected {path} to be the file of a campaign. {str(error).rstrip('.')}. Correct the file, or move it "
            "away to start a new campaign."
        ) from error


def _unknown(given: object, kept: object) -> set[str]:
    """Return keys of a file, at any depth, that nothing was read from."""
    if isinstance(given, dict) and isinstance(kept, dict):
        return (given.keys() - kept.keys()).union(*(_unknown(given[k], kept[k]) for k in given.keys() & kept.keys()))
    pairs = zip(given, kept, strict=True) if isinstance(given, list) and isinstance(kept, list) else ()
    return {name for pair in pairs for name in _unknown(*pair)}


TYPED_IN = "If results were typed into it, save it under another name, and give that with --measured."


def digest_of(content: bytes) -> str:
    """Return a digest of the content of a file: 16 hexadecimal digits.

    Args:
        content: all of it.
    """
    return hashlib.sha256(content).hexdigest()[:16]


def read_digest(path: Path) -> str:
    """Return `digest_of` what a file holds; an empty text if there is none."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


class StaleError(ValueError):
    """A campaign has changed since somebody looked at it."""


def check_version(path: Path, version: str) -> None:
    """Refuse to go on with a file that has changed.

    Args:
        path: path of the file.
        version: digest that it is expected to have; empty: any.

    Raises:
        StaleError: a ValueError, if it has another one.
    """
    if version and (now := read_digest(path)) != version:
        raise StaleError(
            f"Expected version {version} of {path.name}. It is {now or 'gone'}: somebody changed it since. Read it "
            "again."
        )


def refuse_others(paths: Iterable[Path], own: Collection[str], overwrite: bool, advice: str = "") -> None:
    """Refuse to replace files that the command did not write, or that were changed since.

    Args:
        paths: files that are to be written.
        own: digests of what the command wrote, or is about to write.
        overwrite: whether the user asked for it.
        advice: what else the user may do.

    Raises:
        ValueError: if there is such a file.
    """
    for path in () if overwrite else paths:
        if read_digest(path) not in ("", *own):
            raise ValueError(
                f"Expected {path} as this command wrote it, or no such file. It is another one, or was changed since. "
                f"{advice}{' ' * bool(advice)}Move it away, or pass --overwrite to replace it."
            )
