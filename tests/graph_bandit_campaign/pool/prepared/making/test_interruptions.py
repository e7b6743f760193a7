import errno
import os
import shutil
from contextlib import nullcontext, suppress

import pytest
from support.crashes import CHANGES, Crash, DiesAfter, die_once
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
    """Return the files of the pool when nothing interrupts it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PrepareSettings, "block", 8)
        return files_of(prepare_small(table, table.parent / "whole").folder)


def files_of(folder):
    """Return the files of a pool, without half-written ones of a process that lives, as this one does."""
    paths = (path for path in folder.iterdir() if path.suffix != ".part")
    return {path.name: path.read_bytes() if path.is_file() else None for path in paths}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("error", "changes"), [(Crash, CHANGES), (FULL, [(os, "fsync")])], ids=["a crash", "a full disk"]
)
def test_an_interruption_at_any_change_of_files_leaves_finished_parts(error, changes, table, whole, tmp_path):
    number, is_through = 0, False
    while not is_through:
        out, made = tmp_path / f"out-{number}", []
        with pytest.MonkeyPatch.context() as patch, suppress(Crash, OSError):
            dies = DiesAfter(patch, number, error, lasting=error is Crash, changes=changes)
            prepare_small(table, out)
        finished = {path.name: path.read_bytes() for path in out.glob("part-*.parquet")}
        assert finished.items() <= whole.items()
        assert error is Crash or not list(out.glob("*.part"))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(run, "make_part", lambda *task, made=made: [made.append(task[1]), work.make_part(*task)][1])
            prepare_small(table, out)
        assert files_of(out) == whole
        assert not finished.keys() & {f"part-{part:05d}.parquet" for part in made}
        number, is_through = number + 1, dies.left >= 0
        shutil.rmtree(out)


@pytest.mark.slow
def test_the_part_of_a_worker_that_dies_is_made_again(table, whole, tmp_path, monkeypatch):
    monkeypatch.setattr(run, "make_part", die_once)
    prepare_small(table, tmp_path / "out", workers=1)
    (tmp_path / "died").unlink()
    assert files_of(tmp_path / "out") == whole


@pytest.mark.parametrize(
    ("finished", "changes"),
    [
        (True, {"descriptors": ("fcfp",)}),
        (True, {"most_atoms": 20}),
        (False, {"part_rows": 24}),
        (False, {"id": "vendor, name"}),
    ],
)
def test_other_settings_than_the_folder_has_are_refused(table, tmp_path, finished, changes):
    out = tmp_path / "out"
    with pytest.MonkeyPatch.context() as patch, nullcontext() if finished else pytest.raises(Crash):
        DiesAfter(patch, 10**9 if finished else 14)
        prepare_small(table, out)
    before = files_of(out)
    with pytest.raises(ValueError, match="begun with"):
        prepare_small(table, out, **changes)
    assert files_of(out) == before


def test_another_table_is_refused_and_the_same_one_under_another_name_is_not(table, whole, tmp_path):
    moved = shutil.copyfile(table, tmp_path / "moved.csv")
    prepare_small(table, tmp_path / "out")
    prepare_small(moved, tmp_path / "out")
    moved.write_text(moved.read_text().replace("CCO", "CCN", 1))
    with pytest.raises(ValueError, match="begun with"):
        prepare_small(moved, tmp_path / "out")
    assert files_of(tmp_path / "out") == whole
