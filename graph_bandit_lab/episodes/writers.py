"""Write the rounds of an episode to files as they are played: give a writer to `run_bandit` as `on_round`."""

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
MOST_WAITING = 1000  # rounds for the thread that writes them to TensorBoard; play would wait for room among fewer


def encode_round(record: RoundRecord, facts: Mapping[str, object]) -> bytes:
    """Return a line of JSON: some facts, such as the name of the agent, and the record. What is not finite is null."""
    return msgspec.json.encode({**facts, **{name: getattr(record, name) for name in NAMES}}) + b"\n"


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
        require("tensorboard", "Writing for TensorBoard")
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

        self._writer, self._rounds = EventFileWriter(str(folder), max_queue_size=MOST_WAITING), 0

    def __call__(self, record: RoundRecord) -> None:
        """Write a round.

        Raises:
            ValueError: if it is of another episode.
        """
        if record.round <= self._rounds:
            raise ValueError(
                f"Expected rounds of one episode, in their order. Got round {record.round} after {self._rounds}. "
                f"Make a writer with another folder for each episode."
            )
        self._rounds = record.round
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary

        known = {name: getattr(record, name) for name in SCALARS if getattr(record, name) is not None}
        summary = Summary(value=[Summary.Value(tag=name, simple_value=value) for name, value in known.items()])
        event = Event(step=record.round, wall_time=time.time(), summary=summary)  # one: four take three times as long
        self._writer.add_event(event)

    def close(self) -> None:
        """Write what is left, and close the file."""
        self._writer.close()
