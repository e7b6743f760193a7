import errno
import os
import re
import shutil

import pytest
from support.crashes import Crash, DiesAfter
from support.dying import die_always, die_once
from support.messy import messy_table, prepare_small

from graph_bandit_campaign import PreparedPool, PrepareSettings
from graph_bandit_campaign.pool.prepared.making import run, work
from graph_bandit_cli.main import main

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


def test_a_process_that_dies_between_any_two_changes_of_files_is_continued(table, whole, tmp_path):
    expected, count = whole
    assert count > 30
    for number in range(count):
        out = tmp_path / f"out-{number}"
        interrupt(table, out, number)
        finished = {path.name for path in out.glob("part-*.json")} if out.is_dir() else set()
        with pytest.MonkeyPatch.context() as patch:
            made = []
            patch.setattr(run, "make_part", lambda *task, made=made: [made.append(task[1]), work.make_part(*task)][1])
            prepare_small(table, out)
        assert files_of(out) == expected
        assert not {f"part-{number:05d}.json" for number in made} & finished
        shutil.rmtree(out)


def test_a_pool_that_is_not_finished_is_not_opened(table, tmp_path):
    interrupt(table, tmp_path / "out", 12)
    with pytest.raises(ValueError, match="Expected .*out to be finished. Give the command .graph-bandit prepare."):
        PreparedPool.open(tmp_path / "out")


def test_a_full_disk_is_told_and_leaves_nothing_half_written(table, whole, tmp_path):
    expected, _ = whole
    writes = sum(name.endswith(("parquet", "json", "csv")) for name in expected) + 2 * 3  # of parts, two more
    for number in range(writes):
        out = tmp_path / f"out-{number}"
        with pytest.MonkeyPatch.context() as patch:
            DiesAfter(patch, number, FULL, lasting=False, changes=[(os, "fsync")])
            with pytest.raises(OSError, match="is full. Finished parts are kept: make room"):
                prepare_small(table, out)
        assert not list(out.glob("*.part"))
        for path in out.glob("part-*.json"):
            assert (out / f"{path.stem}.parquet").read_bytes() == expected[f"{path.stem}.parquet"]
        prepare_small(table, out)
        assert files_of(out) == expected


@pytest.mark.parametrize("suffix", ["parquet", "molecules", "json"])
def test_a_part_that_was_damaged_since_is_made_again(table, whole, tmp_path, suffix):
    interrupt(table, tmp_path / "out", 26)
    file = tmp_path / "out" / f"part-00000.{suffix}"
    file.write_bytes(file.read_bytes()[:-20] + b"20 bytes of nonsense")
    prepare_small(table, tmp_path / "out")
    assert files_of(tmp_path / "out") == whole[0]


@pytest.mark.parametrize(
    ("last", "said"),
    [(0, "No part was finished, so nothing is stored."), (2, "2 parts are finished in .*out; the same command")],
)
def test_ctrl_c_says_how_much_is_stored(last, said, table, tmp_path, monkeypatch, capsys):
    def stop(*task):
        if task[1] == last:
            raise KeyboardInterrupt
        return work.make_part(*task)

    monkeypatch.setattr(run, "make_part", stop)
    command = ["prepare", str(table), "--out", str(tmp_path / "out"), "--part-rows", "16", "--workers", "None"]
    assert main([*command, "--traits", "properties"]) == 130
    assert re.search(f"Stopped. {said}", capsys.readouterr().err)


def test_the_part_of_a_worker_that_dies_is_made_again(table, whole, tmp_path, monkeypatch):
    monkeypatch.setattr(run, "make_part", die_once)
    prepare_small(table, tmp_path / "out", workers=1)
    (tmp_path / "died").unlink()
    assert files_of(tmp_path / "out") == whole[0]


def test_a_part_over_which_two_workers_die_is_named(table, tmp_path, monkeypatch):
    monkeypatch.setattr(run, "make_part", die_always)
    with pytest.raises(ChildProcessError, match="At least 2 workers died over part-00001.*Finished parts are kept"):
        prepare_small(table, tmp_path / "out", workers=1)
    assert [path.name for path in (tmp_path / "out").glob("part-*.json")] == ["part-00000.json"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"traits": ("roles",)}, "another --traits|other --traits"),
        ({"stereo": True}, "another --stereo"),
        ({"most_atoms": 20}, "another --most-atoms"),
        ({"part_rows": 24}, "another --part-rows"),
        ({"id": "vendor, name"}, "another --id"),
    ],
)
@pytest.mark.parametrize("finished", [True, False])
def test_other_settings_than_the_folder_has_are_refused(table, tmp_path, changes, message, finished):
    out = tmp_path / "out"
    if finished:
        prepare_small(table, out)
    else:
        interrupt(table, out, 14)
    before = files_of(out)
    with pytest.raises(
        ValueError, match=f"Expected the folder .*out to hold this pool. .*({message}).*choose another --out"
    ):
        prepare_small(table, out, **changes)
    assert files_of(out) == before


def test_another_table_is_refused_and_the_same_one_under_another_name_is_not(table, whole, tmp_path, capsys):
    out = tmp_path / "out"
    prepare_small(table, out)
    moved = shutil.copyfile(table, tmp_path / "moved.csv")
    prepare_small(moved, out)
    assert "is finished already" in capsys.readouterr().out
    moved.write_text(moved.read_text().replace("CCO", "CCN", 1))
    with pytest.raises(ValueError, match="other files"):
        prepare_small(moved, out)
    assert files_of(out) == whole[0]


def test_a_folder_with_other_files_is_refused(table, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ValueError, match="Expected .* to be a new folder.*It has mine.txt"):
        prepare_small(table, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_table_that_changes_while_it_is_read_is_refused(table, tmp_path, monkeypatch):
    copy = shutil.copyfile(table, tmp_path / "pool.csv")

    def change_it(*task):
        copy.write_text(copy.read_text() + "CCCCCCCCCCCCC,new,,,,\n")
        return work.make_part(*task)

    monkeypatch.setattr(run, "make_part", change_it)
    with pytest.raises(ValueError, match="to stay as it was while it was read"):
        prepare_small(copy, tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").glob("*.json")} == {"prepare.json", "part-00000.json"}
