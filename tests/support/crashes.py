"""A process that dies between any two changes of files, as a test can die: whatever it does then fails at once."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

from graph_bandit_campaign.pool.prepared.making.work import make_part

CHANGES = ((os, "replace"), (os, "fsync"), (Path, "unlink"), (Path, "mkdir"), (shutil, "rmtree"))


class Crash(BaseException):
    """The process died."""


class DiesAfter:
    """Let a number of changes pass, and fail at every later one; count them.

    Args:
        monkeypatch: undoes it.
        count: how many changes pass.
        error: what is raised at the next one.
        lasting: raise it at every later one, too: a dead process cleans nothing up.
        changes: what counts as a change.
    """

    def __init__(self, monkeypatch, count, error=Crash, lasting=True, changes=CHANGES):
        self.left, self.made, self._error, self._lasting = count, 0, error, lasting
        for owner, name in changes:
            monkeypatch.setattr(owner, name, self._guard(getattr(owner, name)))

    def _guard(self, change):
        def guarded(*arguments, **options):
            self.made += 1
            self.left -= 1
            if self.left == -1 or (self.left < 0 and self._lasting):
                raise self._error
            return change(*arguments, **options)

        return guarded


def crashes(monkeypatch, run, begin=lambda: None, changes=CHANGES):
    """Yield after each crash of a run, at one change of files after the other, until it goes through.

    Args:
        monkeypatch: undoes it.
        run: does something with files.
        begin: makes the files as they are before it, each time.
        changes: what counts as a change.
    """
    count, is_through = 0, False
    while not is_through:
        begin()
        with monkeypatch.context() as dying:
            dies = DiesAfter(dying, count, changes=changes)
            with suppress(Crash):
                run()
            is_through = dies.left >= 0
        yield
        count += 1


def die_once(folder, *task):
    """Make a part of a prepared pool in place of `make_part`, and die the first time."""
    note = folder.parent / "died"
    if not note.exists():
        note.touch()
        os._exit(1)
    return make_part(folder, *task)
