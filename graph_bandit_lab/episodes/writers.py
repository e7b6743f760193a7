"""Write the rounds of an episode to files as they are played. Pass a writer to `run_bandit` as `on_round`."""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Self

import msgspec

from graph_bandit_env.extras import require
from graph_bandit_lab.episodes.records import RoundRecord

NAMES = tuple(RoundRecord.__slots__)
SCALARS = ("reward", "regret", "cumulative_regret", "best_found")
EVENTS = "events.out.tfevents.*"
MOST_WAITING = 1000  # queued rounds for the TensorBoard thread, so that it does not block play


def encode_round(record: RoundRecord, facts: Mapping[str, object]) -> bytes:
    """Return a line of JSON with facts, such as the agent's name, and the record. Non-finite numbers become null."""
    return msgspec.json.encode({**facts, **{name: getattr(record, name) for name in NAMES}}) + b"\n"


class RoundWriter(ABC):
    """Writer of rounds, which a `with` block closes."""

    @abstractmethod
    def __call__(self, record: RoundRecord) -> None:
        """Write a round."""

    @abstractmethod
    def close(self) -> None:
        """Write remaining rounds, and close the file."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class JsonLinesWriter(RoundWriter):
    """Writer of JSON Lines, one object per round.

    An existing file is appended to. Each line is written as a whole after its round, so a crash leaves complete lines.

    Args:
        path: the file.
        facts: entries of each line before the fields of its `RoundRecord`, such as the agent's name.

    Raises:
        ValueError: if the last line of the file is incomplete, or a fact has the name of a field.
    """

    def __init__(self, path: str | Path, facts: Mapping[str, object] | None = None) -> None:
        self._facts = dict(facts or {})
        taken = sorted(self._facts.keys() & set(NAMES))
        if taken:
            raise ValueError(f"Expected facts with unused names. Got {', '.join(taken)}, as a record has.")
        with Path(path).open("a+b") as file:
            whole = file.seek(0, os.SEEK_END) == 0
            if not whole:
                file.seek(-1, os.SEEK_END)
                whole = file.read(1) == b"\n"
        if not whole:
            raise ValueError(
                f"Expected {path} to end with a whole line. Its last line has no end, as after a crash of another "
                "program or on a full disk. Remove that line, or choose another file."
            )
        self._file = Path(path).open("ab")  # noqa: SIM115 - `close` closes it

    def __call__(self, record: RoundRecord) -> None:
        """Write a round."""
        self._file.write(encode_round(record, self._facts))
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class TensorBoardWriter(RoundWriter):
    """Writer of the scalars `reward`, `regret`, `cumulative_regret` and `best_found` for TensorBoard, by round.

    Args:
        folder: a folder for this episode only. TensorBoard draws two episodes in one folder as a zigzag.

    Raises:
        ImportError: if tensorboard is not installed (install the extra `tensorboard`).
        ValueError: if the folder already holds an episode.
    """

    def __init__(self, folder: str | Path) -> None:
        if any(Path(folder).glob(EVENTS)):
            raise ValueError(f"Expected {folder} to be new, or without events. It holds an episode. Choose another.")
        require("tensorboard", "Writing for TensorBoard")
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

        self._writer, self._rounds = EventFileWriter(str(folder), max_queue_size=MOST_WAITING), 0

    def __call__(self, record: RoundRecord) -> None:
        """Write a round.

        Raises:
            ValueError: if it belongs to another episode.
        """
        if record.round <= self._rounds:
            raise ValueError(
                f"Expected rounds of one episode, in their order. Got round {record.round} after {self._rounds}. "
                "Make a writer with another folder for each episode."
            )
        self._rounds = record.round
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary

        known = {name: getattr(record, name) for name in SCALARS if getattr(record, name) is not None}
        summary = Summary(value=[Summary.Value(tag=name, simple_value=value) for name, value in known.items()])
        event = Event(step=record.round, wall_time=time.time(), summary=summary)  # four events take three times as long
        self._writer.add_event(event)

    def close(self) -> None:
        """Write remaining rounds, and close the file."""
        self._writer.close()
