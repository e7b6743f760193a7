import errno
import os
import shutil

import pytest
from support.crashes import Crash, DiesAfter
from support.dying import die_once
from support.messy import messy_table, prepare_small

from graph_bandit_campaign import PrepareSettings
from graph_bandit_campaign.pool.prepared.making import run, work

FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(PrepareSettings, "block", 8)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "pool.csv"
    path.write_text(messy_table(40, seed=2))
    return path


@pytest.fixture(scope="module")
def whole(table):
    """Return the files of the pool when nothing interrupts it, and the changes of files that it takes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PrepareSettings, "block", 8)
        counted = DiesAfter(patch, 10**9)
        prepare_small(table, table.parent / "whole")
    return files_of(table.parent / "whole"), counted.made


def files_of(folder):
    return {path.name: path.read_bytes() if path.is_file() else None for path in folder.iterdir()}


def interrupt(table, out, changes):
    """Let the process die after some changes of files."""
    with pytest.MonkeyPatch.context() as patch:
        DiesAfter(patch, changes)
        with pytest.raises(Crash):
            prepare_small(table, out)


@pytest.mark.slow
def test_a_process_that_dies_between_any_two_changes_of_files_is_continued(table, whole, tmp_path):
    expected, count = whole
    for number in range(count):
        out = tmp_path / f"out-{number}"
        interrupt(table, out, number)
        finished = {path.name for path in out.glob("part-*.parquet")}
        with pytest.MonkeyPatch.context() as patch:
            made = []
            patch.setattr(run, "make_part", lambda *task, made=made: [made.append(task[1]), work.make_part(*task)][1])
            prepare_small(table, out)
        assert files_of(out) == expected
        assert not {f"part-{number:05d}.parquet" for number in made} & finished
        shutil.rmtree(out)


@pytest.mark.slow
def test_a_full_disk_is_told_and_leaves_nothing_half_written(table, whole, tmp_path):
    expected, _ = whole
    writes = sum(name.endswith(("parquet", "json", "csv")) for name in expected) + 3  # of parts, one more
    for number in range(writes):
        out = tmp_path / f"out-{number}"
        with pytest.MonkeyPatch.context() as patch:
            DiesAfter(patch, number, FULL, lasting=False, changes=[(os, "fsync")])
            with pytest.raises(OSError, match="No space"):
                prepare_small(table, out)
        assert not list(out.glob("*.part"))
        for path in out.glob("part-*.parquet"):
            assert path.read_bytes() == expected[path.name]
        prepare_small(table, out)
        assert files_of(out) == expected


@pytest.mark.slow
def test_the_part_of_a_worker_that_dies_is_made_again(table, whole, tmp_path, monkeypatch):
    monkeypatch.setattr(run, "make_part", die_once)
    prepare_small(table, tmp_path / "out", workers=1)
    (tmp_path / "died").unlink()
    assert files_of(tmp_path / "out") == whole[0]


@pytest.mark.parametrize(
    ("finished", "changes", "name"),
    [
        (True, {"traits": ("roles",)}, "traits"),
        (True, {"stereo": True}, "stereo"),
        (True, {"most_atoms": 20}, "most_atoms"),
        (False, {"part_rows": 24}, "part_rows"),
        (False, {"id": "vendor, name"}, "identifier"),
    ],
)
def test_other_settings_than_the_folder_has_are_refused(table, tmp_path, finished, changes, name):
    out = tmp_path / "out"
    prepare_small(table, out) if finished else interrupt(table, out, 14)
    before = files_of(out)
    with pytest.raises(ValueError, match=name):
        prepare_small(table, out, **changes)
    assert files_of(out) == before


def test_another_table_is_refused_and_the_same_one_under_another_name_is_not(table, whole, tmp_path):
    moved = shutil.copyfile(table, tmp_path / "moved.csv")
    prepare_small(table, tmp_path / "out")
    prepare_small(moved, tmp_path / "out")
    moved.write_text(moved.read_text().replace("CCO", "CCN", 1))
    with pytest.raises(ValueError, match="files"):
        prepare_small(moved, tmp_path / "out")
    assert files_of(tmp_path / "out") == whole[0]
