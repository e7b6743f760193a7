"""Operations that do what a test of jobs asks for, good or bad. `OPERATIONS` names them."""

import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

SECONDS = 60  # of what never ends by itself
KEPT = []


def echo(report, **arguments):
    print("nobody reads this")
    return arguments


def count(report, lines):
    for number in range(lines):
        report(f"{number} of {lines}")


def meet(report, mine, other, seconds=SECONDS):
    """Return whether two such calls run at once."""
    Path(mine).touch()
    until = time.monotonic() + seconds
    while not Path(other).exists() and time.monotonic() < until:
        time.sleep(0.01)
    return Path(other).exists()


def hold(report):
    """Wait for workers, which a killed parent would leave behind for ever, with a temporary folder."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        report(f"{os.getpid()} {pool.submit(os.getpid).result()} {tempfile.mkdtemp()}")
        pool.submit(time.sleep, SECONDS).result()


def leave(report):
    return subprocess.Popen([sys.executable, "-S", "-c", f"import time; time.sleep({SECONDS})"]).pid


def refuse(report):
    raise ValueError("Expected a table. Got a poem.")


def err(report):
    raise RuntimeError("a secret of the program")


def grow(report):
    while True:
        KEPT.append(bytearray(os.urandom(1) * 10_000_000))
        time.sleep(0.01)


def die(report):
    report(f"{leave(report)}")
    time.sleep(1)  # in which it is seen
    os._exit(11)


OPERATIONS = {call.__name__: call for call in (echo, count, meet, hold, leave, refuse, err, grow, die)}
