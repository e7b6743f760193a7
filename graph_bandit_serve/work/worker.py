"""Call operations in a process of their own: the part of a job that runs there."""

from __future__ import annotations

import pkgutil
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Literal

import msgspec

from graph_bandit_serve.work.process import READY, trace_of

Report = Callable[[str], None]
Operations = Mapping[str, Callable[..., object]]

MISTAKE = "This is a mistake of the program, not of yours. The server has printed a line about it where it runs."
NO_MEMORY = "It needed more memory than this machine has."


@dataclass(frozen=True)
class Request:
    """A call that is asked for."""

    operation: str
    """Its name."""
    arguments: Mapping[str, object]
    """Its arguments, without `report`."""
    most_bytes: int
    """Largest result, as JSON."""


@dataclass(frozen=True)
class Outcome:
    """The last message about a call; those before it are lines of progress."""

    status: Literal["done", "refused", "failed"]
    """"refused": the operation says what is wrong with its arguments; "failed": there is another reason."""
    result: bytes = b""
    """What it returned, as JSON."""
    problem: str = ""
    """Why it is not done, for people."""
    trace: str = ""
    """Where it failed, for those who look after the program."""


def work(operations: str, pipe: Connection) -> None:
    """Make the calls that come through a pipe, until its other end is closed.

    Args:
        operations: where the operations are, as `package.module:NAME`. Importing that module should import all that
            they need, since jobs are given to processes that have done so.
        pipe: takes a `Request`, and gives lines of progress and an `Outcome`.
    """
    calls: Operations = pkgutil.resolve_name(operations)
    sending = threading.Lock()  # operations may report from several threads

    def report(line: str) -> None:
        with sending:
            pipe.send(str(line))

    pipe.send(READY)
    while True:
        try:
            request: Request = pipe.recv()
        except (OSError, EOFError):
            return
        outcome = perform(calls, request, report)
        with sending:
            pipe.send(outcome)


def perform(calls: Operations, request: Request, report: Report) -> Outcome:
    """Make a call, and return how it went."""
    try:
        result = calls[request.operation](report, **request.arguments)
    except (ValueError, OSError, ImportError) as error:  # messages for people
        return Outcome("refused", problem=str(error) or type(error).__name__)
    except MemoryError as error:
        return Outcome("failed", problem=NO_MEMORY, trace=trace_of(error))
    except Exception as error:  # noqa: BLE001 - whatever it is, the server goes on
        return Outcome("failed", problem=MISTAKE, trace=trace_of(error))
    try:
        encoded = msgspec.json.encode(result)
    except Exception as error:  # noqa: BLE001 - as above
        return Outcome("failed", problem=MISTAKE, trace=trace_of(error))
    if len(encoded) > request.most_bytes:
        sizes = f"at most {request.most_bytes / 1e6:,.0f} MB. Got {len(encoded) / 1e6:,.0f} MB"
        return Outcome("refused", problem=f"Expected a result of {sizes}. Ask for less at once.")
    return Outcome("done", encoded)
