"""Own columns help to predict on a prepared pool as they do in memory."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from support.molecules import some_molecules
from support.prepared import prepare_in_parts, suggest
from support.tables import write

from graph_bandit_campaign.pool.own_columns import PackedRanks, add_results, rank_own_columns
from graph_bandit_campaign.pool.prepared import PreparedPool
from graph_bandit_cli.main import main

COUNT = 160
MOLECULES = some_molecules(COUNT)
RANDOM = np.random.default_rng(5)
DOCK = np.round(-MOLECULES.targets + RANDOM.normal(0, 0.4, COUNT), 1)
OWN = ("--features", "dock", "shape")


def cell(k):
    return "" if k % 7 == 0 else "9999" if k % 31 == 0 else DOCK[k]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A pool with docking scores, some not known, some of repeated molecules, and results that know further ones."""
    folder = tmp_path_factory.mktemp("tables")
    rows = [(f"m{k}", MOLECULES.smiles[k], cell(k), k % 3, 1, "far" if k == 71 else 1.5) for k in range(COUNT)]
    rows += [(f"again{k}", MOLECULES.smiles[k], DOCK[k] / 2, "", 1, 1.5) for k in range(0, COUNT, 10)]
    write(folder / "pool.csv", [("id", "smiles", "dock", "shape", "same", "bad"), *rows])
    known = RANDOM.choice(COUNT, 30, replace=False).tolist()
    values = [(f"m{k}", MOLECULES.smiles[k], round(float(MOLECULES.targets[k]), 3), DOCK[k], "") for k in known]
    values[4] = (*values[4][:2], "pending", *values[4][3:])
    values[5] = (*values[5][:2], "failed", *values[5][3:])
    values += [("x1", "CCCCCCCCO", 2.5, -2.25, 4), ("x2", "OCC(O)CO", -1.2, "", "")]
    write(folder / "results.csv", [("id", "smiles", "logp", "Dock", "shape"), *values])
    write(folder / "bare.csv", [("id", "smiles", "logp"), *(row[:3] for row in values)])
    return folder


@pytest.fixture(scope="module", params=[16, 256])
def prepared(request, tables):
    """The pool in many parts, and in one."""
    return prepare_in_parts(tables / "pool.csv", tables / f"pool{request.param}", request.param)


@pytest.fixture(scope="module")
def some_parts(tables):
    """The pool in three parts."""
    return prepare_in_parts(tables / "pool.csv", tables / "pool64", 64)


@pytest.mark.parametrize("results", ["results.csv", "bare.csv"])
@pytest.mark.parametrize(
    "more", [(), ("--require", "dock<2", "mw<330"), ("--agent", "molecule-ts:short_list=40"), ("--n", "1")], ids=str
)
def test_suggestions_are_those_of_the_pool_in_memory(results, more, tables, prepared, tmp_path):
    plain, said = suggest(tables / "pool.csv", tables / results, tmp_path / "plain.csv", *OWN, *more)
    streamed, told = suggest(prepared, tables / results, tmp_path / "streamed.csv", *OWN, *more)
    assert streamed == plain
    used = [line for line in said.splitlines() if "Columns that the agent uses" in line]
    assert used, "it is said which columns help"
    assert used[0] in told


def test_columns_change_the_suggestions_and_a_column_without_differences_does_not(tables, some_parts, tmp_path):
    results, out = tables / "bare.csv", tmp_path / "out.csv"
    without, _ = suggest(some_parts, results, out)
    assert suggest(some_parts, results, tmp_path / "own.csv", *OWN)[0] != without
    text, told = suggest(some_parts, results, tmp_path / "same.csv", "--features", "same")
    assert "same (not known for 2 molecules, taken as an average one; equal for all molecules, not used)" in told
    assert text == suggest(tables / "pool.csv", results, tmp_path / "plain.csv", "--features", "same")[0]


def test_the_same_question_gets_the_same_answer_and_other_values_another_round(tables, some_parts, tmp_path):
    def rounds(results):
        suggest(some_parts, results, tmp_path / "out.csv", *OWN)
        return len(json.loads((tmp_path / "out.campaign.json").read_text())["rounds"])

    assert [rounds(tables / "results.csv") for _ in range(2)] == [1, 1]
    changed = tmp_path / "changed.csv"
    changed.write_text((tables / "results.csv").read_text().replace("-2.25", "-2.5"))
    assert rounds(changed) == 2


def ranks_of(folder, *columns):
    return rank_own_columns(PreparedPool.open(folder), columns, skip_bad=False)


def test_ranks_are_kept_in_the_folder(tables, tmp_path):
    folder = prepare_in_parts(tables / "pool.csv", tmp_path / "pool", 64)
    first = ranks_of(folder, "dock", "shape")
    files = sorted(folder.glob(".ranks-*"))
    before = [path.stat().st_mtime_ns for path in files]
    assert len(files) == 2
    again = ranks_of(folder, "shape", "dock")
    assert [path.stat().st_mtime_ns for path in files] == before, "nothing was written again"
    np.testing.assert_array_equal(again.values[1], first.values[0])
    packed, expected = PackedRanks.of(again), first.values[0].copy()
    assert [[type(run) for run in runs] for runs in packed.runs] == [[str], [str]], "files are named, not sent"
    np.testing.assert_array_equal(packed.unpack(folder).values[1], expected)


def test_a_folder_that_is_read_only_works_too(tables, tmp_path, monkeypatch):
    folder = prepare_in_parts(tables / "pool.csv", tmp_path / "pool", 64)
    expected = ranks_of(folder, "dock").values[0].copy()
    for path in folder.glob(".ranks-*"):
        path.unlink()

    def refuse(path, content):
        raise PermissionError("read-only")

    monkeypatch.setattr("graph_bandit_campaign.pool.own_columns.replace_file", refuse)
    packed = PackedRanks.of(ranks_of(folder, "dock"))
    assert not list(folder.glob(".ranks-*"))
    np.testing.assert_array_equal(packed.unpack(folder).values[0], expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--features", "dok"), "Expected a column `dok`"),
        (("--features", "all.npz"), "embeddings of a whole pool are read with a table in memory alone"),
        (("--features", "bad"), "pool.csv, line 73: expected a number in `bad`. Got 'far'."),
    ],
)
def test_columns_that_cannot_be_read_are_refused(options, message, tables, some_parts, tmp_path, capsys):
    command = ["suggest", str(some_parts), "--measured", str(tables / "results.csv"), "--maximize", "logp"]
    assert main([*command, "--out", str(tmp_path / "out.csv"), "--workers", "None", *options]) == 1
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_cell_that_is_not_a_number_can_count_as_not_known(tables, some_parts, tmp_path):
    options = ("--features", "bad", "--skip-bad-rows", "--n", "2")
    _, told = suggest(some_parts, tables / "bare.csv", tmp_path / "out.csv", *options)
    assert "bad (not known for 3 molecules, taken as an average one; equal for all molecules, not used)" in told


@pytest.mark.parametrize("known", [{}, {"m1": (2.0,)}])
def test_without_ranks_results_add_nothing(known):
    for scales in (None, SimpleNamespace(ranks=None)):
        molecules = SimpleNamespace(scales=scales)
        assert add_results(molecules, None, known) == (molecules, [])
