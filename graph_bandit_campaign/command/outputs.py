"""Write the files of a command, and none over what the command did not write."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from graph_bandit_campaign.records import Records
from graph_bandit_lab.storage import replace_file

TYPED_IN = "If results were typed into it, save it under another name, and give that with --measured."


def digest_of(content: bytes) -> str:
    """Return a digest of the content of a file."""
    return hashlib.sha256(content).hexdigest()[:16]


def read_digest(path: Path) -> str:
    """Return `digest_of` what a file holds; an empty text if there is none."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


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


def write_files(records: Records, contents: Mapping[Path, bytes | Iterable[bytes]]) -> None:
    """Write the files of a round, then save in the campaign that all are written.

    The campaign knows the digest of each content before its file is replaced: of those that are made while they are
    written, too.

    Args:
        records: the campaign, whose last round is saved.
        contents: what is written, by path, in this order.
    """
    for path, content in contents.items():
        replace_file(path, content if isinstance(content, bytes) else _noted(records, content))
    records.note_files()


def _noted(records: Records, content: Iterable[bytes]) -> Iterator[bytes]:
    sha256 = hashlib.sha256()
    for part in content:
        sha256.update(part)
        yield part
    records.note_files([sha256.hexdigest()[:16]], records.state.unwritten)
