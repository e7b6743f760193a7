"""Play many repetitions in parallel; a worker that dies is replaced."""

from __future__ import annotations

import traceback
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait

from graph_bandit_lab.design.plan import Repetition
from graph_bandit_lab.execution.executors import SchedulerLostError, Workers
from graph_bandit_lab.execution.worker import Outcome, failed, play

ATTEMPTS = 2  # of a repetition during which a worker dies
SILENCE = 600.0  # seconds without an outcome, and
LONGER = 10.0  # times the longest repetition, after which those that are still played are named


def execute(
    repetitions: Iterable[Repetition],
    workers: Workers,
    on_done: Callable[[Repetition, Outcome], None],
    diagnose: bool = False,
    function: Callable[[Repetition, bool], Outcome] = play,
    on_silence: Callable[[float, Sequence[Repetition]], object] = lambda seconds, repetitions: None,
) -> None:
    """Play repetitions in parallel, and hand over each outcome as soon as it is there.

    A repetition whose worker dies is tried again; the second time it is handed over as failed.

    Args:
        repetitions: the repetitions to play.
        workers: are shut down at the end, or abandoned if anything is raised.
        on_done: takes each outcome, in this process.
        diagnose: record diagnostics.
        function: plays one repetition. Workers must be able to import it.
        on_silence: takes the seconds since the last outcome, and the repetitions that are still played, where that is
            much longer than any repetition took. They are waited for all the same.

    Raises:
        SchedulerLostError: if the cluster cannot be reached any more.
        RuntimeError: if workers die before they play.
    """
    waiting, again = iter(repetitions), deque[tuple[Repetition, int]]()
    flying: dict[Future[Outcome], tuple[Repetition, int]] = {}
    longest, silence = 0.0, 0.0
    try:
        while True:
            for _ in range(workers.slots - len(flying)):
                following = again.popleft() if again else next(((repetition, 1) for repetition in waiting), None)
                if following is None:
                    break
                flying[workers.submit(function, following[0], diagnose)] = following
            if not flying:
                break
            patience = max(SILENCE, LONGER * longest, silence) if longest else None
            done = wait(flying, patience, FIRST_COMPLETED).done
            silence = 0.0 if done or patience is None else silence + patience
            if silence:
                on_silence(silence, [repetition for repetition, _ in flying.values()])
            for future in done:
                repetition, attempt = flying.pop(future)
                outcome = _outcome_of(future, attempt)
                longest = max(longest, outcome.wall_time if outcome else 0.0)
                if outcome is None:
                    again.append((repetition, attempt + 1))
                else:
                    on_done(repetition, outcome)
    except BaseException:
        workers.abandon()
        raise
    workers.shutdown()


def _outcome_of(future: Future[Outcome], attempt: int) -> Outcome | None:
    """Return the outcome of a repetition; None if its worker died and it should be tried again."""
    try:
        return future.result()
    except BrokenExecutor:
        return None if attempt < ATTEMPTS else failed(f"The worker that played this died, {ATTEMPTS} times.")
    except CancelledError as error:
        raise SchedulerLostError("The scheduler cannot be reached any more. What was finished is stored.") from error
    except Exception:  # noqa: BLE001 - the worker raised it, not the play: a cluster's KilledWorker, say
        return failed(traceback.format_exc())
