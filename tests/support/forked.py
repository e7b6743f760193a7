"""`graph-bandit serve` in a process that starts in a moment: a fork of one that has imported all that it needs.

Programs that import torch take seconds, and a test that kills fifty servers has not got that many.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from multiprocessing import forkserver

import psutil

from support import ROOT
from support.preloaded import IS_SAFE, PROCESSES, preload_workers
from support.served import Running

OURS = ("graph_bandit_serve.work.operations", "graph_bandit_serve.work.drawing")
"""What the processes of jobs and drawings import."""
END_SECONDS = 20.0

__all__ = ["IS_SAFE", "Forks", "run_command", "serve_in_forks"]


class Forks:
    """A process whose forks serve a folder, one after the other.

    Args:
        folder: folder of campaigns.
    """

    def __init__(self, folder):
        self._folder, self._last = folder, None
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "tests")))}
        command = [sys.executable, "-W", "ignore", "-c", "from support.forked import serve_in_forks as go; go()"]
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        self._origin = subprocess.Popen(command, text=True, env=environment, **pipes)

    def start(self):
        """Return a server that has started."""
        print(json.dumps(["serve", str(self._folder), "--port", "0"]), file=self._origin.stdin, flush=True)
        self._last = Fork(self._origin)
        return self._last

    def close(self):
        """End the process and the last server; return what all said to stderr."""
        if self._last is not None and self._last.process.is_running():
            self._last.kill()
        _, said = self._origin.communicate(timeout=END_SECONDS)
        return said


class Fork(Running):
    """A server of a fork.

    Args:
        origin: the process that has been told to fork.
    """

    def __init__(self, origin):
        self.process, self._helpers = (psutil.Process(int(text)) for text in origin.stdout.readline().split())
        self.read_links(origin.stdout, origin.stderr)

    def kill(self):
        """Kill it alone, and wait until what it started has ended by itself; return how long that took, in seconds."""
        begin = time.monotonic()
        self.process.kill()
        _, left = psutil.wait_procs([self.process, *self._helpers.children()], END_SECONDS)
        assert not left
        return time.monotonic() - begin


def serve_in_forks():
    """Fork for each line of stdin, which holds the arguments of the command.

    The fork prints its number first, and that of the process whose forks do its work.
    """
    import graph_bandit_serve.app
    import graph_bandit_serve.run
    import graph_bandit_serve.work.operations  # noqa: F401 - it imports all that the others have left for later
    from graph_bandit_cli.main import main

    preload_workers()
    PROCESSES.set_forkserver_preload([*OURS])
    forkserver.ensure_running()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # a fork that is killed is gone at once
    for line in sys.stdin:
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            forkserver._forkserver.ensure_running = lambda: None  # it runs, and is not a child of the fork
            print(os.getpid(), forkserver._forkserver._forkserver_pid, flush=True)
            os._exit(main(json.loads(line)))


def run_command(arguments, path):
    """Run a command in the process that calls this; what it prints goes to a file."""
    from graph_bandit_cli.main import main

    with path.open("w", encoding="utf-8") as file, redirect_stdout(file), redirect_stderr(file):
        code = main(arguments)
    os._exit(code)
