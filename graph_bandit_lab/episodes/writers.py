"""Write the rounds of an episode to files as they are played: give a writer to `run_bandit` as `on_round`."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Self

import msgspec

from graph_bandit_env.extras import require
from graph_bandit_lab.episodes.records import RoundRecord

if TYPE_CHECKING:
    from tensorboard.compat.proto.summary_pb2 import Summary
    from torch.utils.tensorboard import FileWriter

NAMES = tuple(RoundRecord.__slots__)
SCALARS = ("reward", "regret", "cumulative_regret", "best_found")
EVENTS = "events.out.tfevents.*"
MOST_WAITING = 1000  # rounds for the thread that writes them to TensorBoard; play would wait for room among fewer
_values_of = attrgetter(*NAMES)


def encode_round(record: RoundRecord, facts: Mapping[str, object]) -> bytes:
    """Return a line of JSON: some facts, such as the name of the agent, and the record. What is not finite is null."""
    return msgspec.json.encode({**facts, **dict(zip(NAMES, _values_of(record), strict=True))}) + b"\n"


class RoundWriter(ABC):
    """Writer of rounds; a `with` block closes it."""

    @abstractmethod
    def __call__(self, record: RoundRecord) -> None:
        """Write a round."""

    @abstractmethod
    def close(self) -> None:
        """Write what is left, and close the file."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class JsonLinesWriter(RoundWriter):
    """Writer of a JSON object a line, for each round.

    Lines are appended to a file that is there already. Each is written whole when its round is over, so a crash leaves
    whole lines.

    Args:
        path: the file.
        facts: what each line says before the fields of its `RoundRecord`, such as the name of the agent.

    Raises:
        ValueError: if the last line of the file is not whole, or a fact has the name of a field.
    """

    def __init__(self, path: str | Path, facts: Mapping[str, object] | None = None) -> None:
        self._facts = dict(facts or {})
        taken = sorted(self._facts.keys() & set(NAMES))
        if taken:
            raise ValueError(f"Expected facts with names of their own. Got {', '.join(taken)}, as a record has.")
        self._file = Path(path).open("a+b")  # noqa: SIM115 - `close` closes it
        try:
            _check_last_line(Path(path), self._file)
        except ValueError:
            self._file.close()
            raise

    def __call__(self, record: RoundRecord) -> None:
        """Write a round."""
        self._file.write(encode_round(record, self._facts))
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class TensorBoardWriter(RoundWriter):
    """Writer of the scalars `reward`, `regret`, `cumulative_regret` and `best_found` for TensorBoard, by rounds.

    Args:
        folder: a folder for this episode alone; TensorBoard would draw two in one as a zigzag.

    Raises:
        ImportError: if tensorboard is not installed (the extra of that name brings it).
        ValueError: if the folder holds an episode already.
    """

    def __init__(self, folder: str | Path) -> None:
        if any(Path(folder).glob(EVENTS)):
            raise ValueError(f"Expected {folder} to be new, or without events. It holds an episode. Choose another.")
        self._writer = _open_events(Path(folder))
        self._rounds = 0

    def __call__(self, record: RoundRecord) -> None:
        """Write a round.

        Raises:
            ValueError: if it is of another episode.
        """
        if record.round <= self._rounds:
            raise ValueError(
                f"Expected rounds of one episode, in their order. Got round {record.round} after {self._rounds}. "
                "Make a writer with a folder of its own for each episode."
            )
        self._rounds = record.round
        self._writer.add_summary(_summarize(record), record.round)

    def close(self) -> None:
        """Write what is left, and close the file."""
        self._writer.close()


def _check_last_line(path: Path, file: BinaryIO) -> None:
    if file.seek(0, os.SEEK_END) == 0:
        return
    file.seek(-1, os.SEEK_END)
    if file.read(1) != b"\n":
        raise ValueError(
            f"Expected {path} to end with a whole line. Its last line has no end, as after a crash of another program "
            "or on a full disk. Remove that line, or choose another file."
        )


def _open_events(folder: Path) -> FileWriter:
    require("tensorboard", "Writing for TensorBoard")
    from torch.utils.tensorboard import FileWriter

    return FileWriter(str(folder), max_queue=MOST_WAITING)


def _summarize(record: RoundRecord) -> Summary:
    """Return the scalars that are known, in one event: four of them take three times as long."""
    from tensorboard.compat.proto.summary_pb2 import Summary

    values = {name: getattr(record, name) for name in SCALARS}
    return Summary(value=[Summary.Value(tag=k, simple_value=v) for k, v in values.items() if v is not None])
