"""A program that computes values of molecules, well or badly: python scoring.py MODE NOTES INPUT OUTPUT.

The value is the length of the SMILES. `NOTES` is a folder for what the test wants to know of each call.
"""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

SLEEPER = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"


def command_of(mode, notes):
    """Return the command, for `--score`."""
    words = (sys.executable, "-S", __file__, mode, notes)
    return " ".join(f'"{Path(word).as_posix() if Path(word).exists() else word}"' for word in map(str, words))


def calls_of(notes):
    """Return the arguments, the rows and the times of each call so far."""
    return [json.loads(path.read_text()) for path in sorted(Path(notes).glob("call-*.json"))]


def started_by(notes):
    """Wait until a program has started another one, and return the numbers of both processes."""
    for _ in range(12_000):
        pids = (notes / "sleeper").read_text().split() if (notes / "sleeper").is_file() else ()
        if len(pids) == 2:
            break
        time.sleep(0.01)
    return [*map(int, pids)]


def main(mode, notes, table, output):
    begin, notes = time.time(), Path(notes)
    with open(table, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    values = [[row["id"], len(row["smiles"])] for row in rows]
    ids, head = {row["id"] for row in rows}, ["id", "value"]
    if mode == "slow":
        time.sleep(0.1)
    if mode.startswith("hangs"):
        options = {"start_new_session": True} if mode == "hangs-apart" and os.name != "nt" else {}
        sleeper = subprocess.Popen([sys.executable, "-S", "-c", SLEEPER], **options)
        (notes / "sleeper").write_text(f"{os.getpid()} {sleeper.pid}")
        if mode == "hangs-deaf":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(60)
    if mode == "leaves":
        sleeper = subprocess.Popen([sys.executable, "-S", "-c", SLEEPER])
        (notes / "sleeper").write_text(f"{os.getpid()} {sleeper.pid}")
    if mode == "fails-on-m3" and "m3" in ids:
        values = values[:1]
    if mode == "no-value-of-m3":
        values = [value for value in values if value[0] != "m3"]
    if mode == "silent":
        print("nothing to say")
    else:
        with open(output, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([head, *values])
    call = {"arguments": sys.argv[1:], "rows": rows, "begin": begin, "end": time.time(), "folder": os.getcwd()}
    (notes / f"call-{time.time_ns()}-{os.getpid()}.json").write_text(json.dumps(call))
    if mode == "fails" or (mode == "fails-on-m3" and "m3" in ids):
        print("\x1b[31mno such receptor", file=sys.stderr)
        sys.exit(3)


if __name__ == "__main__":
    main(*sys.argv[1:])
