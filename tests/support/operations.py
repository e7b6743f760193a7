"""Operations that do what a test of jobs asks for, good or bad. `OPERATIONS` names them."""

import os
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

SECONDS = 60  # of what never ends by itself
KEPT = []


def echo(report, **arguments):
    print("nobody reads this")
    return {**arguments, "pid": os.getpid()}


def count(report, lines):
    for number in range(lines):
        report(f"{number} of {lines}")


def note(report, file, word):
    with Path(file).open("a") as opened:
        opened.write(f"{word} begins\n")
        opened.flush()
        time.sleep(0.02)
        opened.write(f"{word} ends\n")


def meet(report, mine, other):
    """Return when two such calls have run at once."""
    Path(mine).touch()
    until = time.monotonic() + SECONDS
    while not Path(other).exists() and time.monotonic() < until:
        time.sleep(0.01)
    return Path(other).exists()


def hold(report):
    child = subprocess.Popen([sys.executable, "-S", "-c", f"import time; time.sleep({SECONDS})"])
    report(f"{os.getpid()} {child.pid}")
    time.sleep(SECONDS)


def hold_workers(report):
    """Wait for workers, which a killed parent would leave behind for ever."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        pids = {pool.submit(os.getpid).result()}
        report(" ".join(map(str, [os.getpid(), *pids])))
        pool.submit(time.sleep, SECONDS).result()


def leave(report):
    return subprocess.Popen([sys.executable, "-S", "-c", f"import time; time.sleep({SECONDS})"]).pid


def refuse(report):
    raise ValueError("Expected a table. Got a poem.")


def err(report):
    raise RuntimeError("a secret of the program")


def return_a_thing(report):
    return object()


def grow(report, megabytes):
    for _ in range(megabytes // 10):
        KEPT.append(bytearray(os.urandom(1) * 10_000_000))
        time.sleep(0.01)
    return os.getpid()


def die(report):
    os._exit(11)


def hang(report):
    time.sleep(SECONDS)


OPERATIONS = {
    call.__name__: call
    for call in (echo, count, note, meet, hold, hold_workers, leave, refuse, err, return_a_thing, grow, die, hang)
}
