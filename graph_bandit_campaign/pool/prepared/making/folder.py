"""The folder of a pool that is being prepared: what it was begun with, and which of its parts are finished."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

from graph_bandit_campaign.pool.prepared.making.work import FinishedPart
from graph_bandit_campaign.pool.prepared.manifest import (
    MANIFEST,
    QUESTION,
    Manifest,
    Question,
    part_name,
    read_json,
    write_json,
)

LOCK = "driver.lock"
SCRATCH = "merging"  # folder for what is merged; an interruption discards it


class Folder:
    """The folder of a prepared pool, finished or not.

    Args:
        path: path of the folder; it may be missing.
        question: what is to be prepared.

    Raises:
        ValueError: if it holds anything but this pool.
    """

    finished: Manifest | None
    """The manifest, if the pool is finished."""

    def __init__(self, path: Path, question: Question) -> None:
        self.path, self.question, self.finished = path, question, None
        if (path / MANIFEST).is_file():
            self.finished = read_json(path / MANIFEST, Manifest)
            self._check(self.finished.question)
        elif (path / QUESTION).is_file():
            self._check(read_json(path / QUESTION, Question))
        elif path.is_dir():
            strangers = sorted(
                entry.name for entry in path.iterdir() if entry.name != LOCK and not entry.name.endswith(".part")
            )
            if strangers:
                raise ValueError(
                    f"Expected {path} to be a new folder, or one that `graph-bandit prepare` began. It has "
                    f"{strangers[0]}. Choose another --out."
                )

    def begin(self) -> None:
        """Note what is prepared here, and remove what an interruption left half-written."""
        self._remove_half_written()
        if not (self.path / QUESTION).is_file():
            write_json(self.path / QUESTION, self.question)

    def end(self) -> None:
        """Remove what a finished pool does not need."""
        self._remove_half_written()
        for pattern in ("part-*.json", QUESTION):
            for path in self.path.glob(pattern):
                path.unlink(missing_ok=True)

    def part(self, number: int) -> FinishedPart:
        """Return a finished part.

        Raises:
            ValueError, OSError: if it is not finished.
        """
        name = part_name(number)
        part = read_json(self.path / f"{name}.json", FinishedPart)
        if part.key != self.question.key:
            raise ValueError(f"Expected {name} of this pool. Got one of another.")
        return part

    def is_done(self, number: int) -> bool:
        """Return whether a part is finished."""
        return (self.path / f"{part_name(number)}.json").is_file()

    @property
    def scratch(self) -> Path:
        """Return the folder for what is merged."""
        return self.path / SCRATCH

    def _remove_half_written(self) -> None:
        shutil.rmtree(self.scratch, ignore_errors=True)
        for path in self.path.glob("*.part"):
            path.unlink(missing_ok=True)

    def _check(self, earlier: Question) -> None:
        if earlier.key == self.question.key:
            return
        before, now = (dataclasses.asdict(question) for question in (earlier, self.question))
        differ = [name for name, value in now.items() if name != "files" and before[name] != value]
        raise ValueError(
            f"Expected the folder {self.path} to hold this pool. It was begun with other "
            f"{', '.join(differ) or 'files'}. Give the same, choose another --out, or delete the folder."
        )


def describe_kept(path: Path) -> str:
    """Say how much of a pool is stored in a folder, after an interruption."""
    count = sum(1 for _ in path.glob("part-*.json"))
    if count:
        return f"{count:,} {'part is' if count == 1 else 'parts are'} finished in {path}; the same command continues."
    return "Nothing was changed." if (path / MANIFEST).is_file() else "No part was finished, so nothing is stored."
