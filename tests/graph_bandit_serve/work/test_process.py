"""A process that does as it is told."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from support.ended import have_ended

from graph_bandit_serve.work.process import READY, LostProcessError, WorkProcess

MUCH, LONG = 10**12, 60


def answer(pipe):
    """Answer what it is asked for, in as many messages."""
    pipe.send(READY)
    while True:
        asked = pipe.recv()
        if asked == "start":
            pipe.send(subprocess.Popen([sys.executable, "-S", "-c", f"import time; time.sleep({LONG})"]).pid)
        if asked == "die":
            os._exit(11)
        if asked == "keep":
            pipe.send(tempfile.mkdtemp())
        while asked == "talk":
            pipe.send(asked)
        pipe.send(asked)


@pytest.fixture
def process():
    process = WorkProcess(answer, "test")
    assert process.start()
    yield process
    process.close()


def test_a_process_answers_one_request_after_the_other_and_takes_its_temporary_files_with_it(process):
    pid = process.pid
    assert [next(iter(process.ask(word, LONG, MUCH))) for word in "abc"] == ["a", "b", "c"]
    assert process.start()
    assert process.pid == pid != os.getpid()
    kept = Path(next(iter(process.ask("keep", LONG, MUCH))))
    assert kept.is_dir()
    process.close()
    assert not kept.exists()


def test_one_that_talks_without_end_is_killed_in_time(process):
    with pytest.raises(LostProcessError, match="time"):
        list(process.ask("talk", 0.2, MUCH))
    assert have_ended([process.pid])


def test_what_it_started_ends_also_if_it_has_died_before(process):
    child = next(iter(process.ask("start", LONG, MUCH)))
    process.children()  # as at each look at its memory
    with pytest.raises(LostProcessError, match="death"):
        list(process.ask("die", LONG, MUCH))
    assert have_ended([child])
