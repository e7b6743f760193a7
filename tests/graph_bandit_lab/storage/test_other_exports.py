"""A file that is not what was exported is refused at the door, and nothing is taken from it."""

import lzma

import numpy as np
import pytest
from support.stored import execute, forge

from graph_bandit_lab import BanditResult
from graph_bandit_lab.design import RunKey
from graph_bandit_lab.design.keys import to_json
from graph_bandit_lab.storage import ResultStore, export_results, import_results, transfer
from graph_bandit_lab.storage.results import _words
from graph_bandit_lab.storage.rows import to_archive, to_blob

ENVIRONMENT = {"num_graphs": 3, "graph_model": "er", "horizon": 4}
RESULT = BanditResult(np.array([2, 0, 2]), np.array([0.1, -0.2, np.pi]), np.array([0.0, 1.5, 0.0]), seconds=0.75)


@pytest.fixture
def export(tmp_path):
    store = ResultStore(tmp_path / "stored")
    for seed in (5, 6):
        store.add(RunKey("random", {}, ENVIRONMENT), seed, "random", RESULT, 1.25)
    return export_results(tmp_path / "stored", tmp_path / "e.xz").path


def refused(path, match):
    """Whether a file is refused by its name, and nothing is taken from it."""
    with pytest.raises(ValueError, match=match) as caught:
        import_results(path.parent / "new", [path])
    return str(path) in str(caught.value) and not (path.parent / "new").exists()


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_file_that_is_cut_off_is_refused(export, share):
    content = export.read_bytes()
    export.write_bytes(content[: int(share * len(content))])
    assert refused(export, "intact file of `graph-bandit export`. Got a file that is cut off. Copy the file again")


def test_a_flipped_bit_is_never_read_as_other_numbers(export):
    content, generator = export.read_bytes(), np.random.default_rng(0)
    for place in generator.choice(len(content), 60, replace=False):
        flipped = bytearray(content)
        flipped[place] ^= 1 << generator.integers(8)
        export.write_bytes(flipped)
        assert refused(export, "intact file of `graph-bandit export`")


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"title = 'a sweep'", r"a file that cannot be unpacked \(Input format not supported"),
        (
            b"PK\x03\x04 as an archive begins",
            "a zip archive, which earlier versions exported.* Export the folder again",
        ),
        (lzma.compress(b"text of mine"), "something else"),
        (lzma.compress(b""), "It is empty"),
        (lzma.compress(b"", lzma.FORMAT_ALONE), "a file that cannot be unpacked"),
    ],
)
def test_another_file_is_refused(tmp_path, content, match):
    (tmp_path / "e.xz").write_bytes(content)
    assert refused(tmp_path / "e.xz", match)


@pytest.mark.parametrize("more", [b"\0", lzma.compress(b"more")])
def test_a_file_that_goes_on_is_refused(export, more):
    export.write_bytes(export.read_bytes() + more)
    assert refused(export, "goes on after its end")


def test_what_an_export_unpacks_to_is_bounded(export, tmp_path, monkeypatch):
    unpacked, packed = len(lzma.decompress(export.read_bytes())), export.stat().st_size
    monkeypatch.setattr(transfer, "PIECE", 100)
    monkeypatch.setattr(transfer, "MOST_UNPACKED", unpacked - 1)
    monkeypatch.setattr(transfer, "MOST_PACKED", (unpacked - 1) / packed)
    assert refused(export, f"unpack to more than {unpacked - 1:,}")
    monkeypatch.setattr(transfer, "MOST_PACKED", unpacked / packed)
    assert import_results(tmp_path / "b", [export]).taken == 2


def repacked(path, change, *statements):
    """An export, changed inside by someone who knows the format."""
    inside = path.with_name("inside.sqlite")
    inside.write_bytes(lzma.decompress(path.read_bytes()))
    change(inside, *statements)
    path.write_bytes(lzma.compress(inside.read_bytes()))
    return path


def set_column(name, value):
    return f"UPDATE repetitions SET {name} = ? WHERE seed = 5", (value,)


@pytest.mark.parametrize(
    ("change", "statement", "match"),
    [
        (execute, "PRAGMA user_version = 6", "in format 5. Got 6, which another version of graph-bandit-env"),
        (execute, "ALTER TABLE repetitions ADD COLUMN more", "another table `repetitions`"),
        (execute, "CREATE VIEW more AS SELECT 1", "Got `more`, which is computed"),
        (execute, "CREATE INDEX more ON repetitions (abs(seed))", "Got `more`, which is computed"),
        (execute, set_column("label", "mine"), "'mine', seed 5, which is damaged"),
        (forge, set_column("agent", "gnn-ts"), "a key that is not that of its settings"),
        (forge, set_column("environment", "{}"), "a key that is not that of its settings"),
        (forge, set_column("environment", to_json(ENVIRONMENT) + " "), "a key that is not that of its settings"),
        (forge, set_column("agent_settings", " {}"), "a key that is not that of its settings"),
        (forge, set_column("environment", "{"), "'random', seed 5, which is damaged"),
        (forge, set_column("versions", "[]"), "settings of 'random', seed 5 that cannot be read"),
        (forge, set_column("versions", '{"algorithm": "x"}'), "settings of 'random', seed 5 that cannot be read"),
        (forge, set_column("created", "yesterday"), "settings of 'random', seed 5 that cannot be read"),
        (forge, set_column("status", "failed"), "'random', seed 5 with the status 'failed'"),
        (forge, set_column("label", b"random"), "seed 5 with another type of label"),
        (forge, set_column("wall_time", "long"), "'random', seed 5 with another type of wall_time"),
        (forge, set_column("seed", 5.5), "seed 5.5 with another type of seed"),
        (forge, set_column("regret", b"pickle"), "'random', seed 5, which is damaged"),
        (forge, set_column("regret", to_blob(np.zeros(2))), "seed 5 with regret other than float64 for each round"),
        (forge, set_column("rewards", to_blob(np.zeros(3, "f4"))), "seed 5 with rewards other than float64"),
        (forge, set_column("actions", to_blob(np.zeros(3))), "seed 5 with actions other than int64"),
        (forge, set_column("actions", to_blob(np.zeros((3, 1), int))), "seed 5 with actions other than int64"),
        (forge, set_column("best_found", to_blob(np.zeros((3, 1)))), "seed 5 with best_found other than float64"),
        (
            forge,
            set_column("diagnostics", to_archive({"a": np.zeros((3, 1))})),
            "seed 5 with diagnostics other than float64",
        ),
        (
            forge,
            set_column("diagnostics", to_archive({"a": np.zeros(3, "f4")})),
            "seed 5 with diagnostics other than float64",
        ),
        (execute, "INSERT INTO tasks VALUES ('{}', 'easy', '', '{')", "tasks that cannot be read"),
        (execute, "INSERT INTO tasks VALUES ('{}', 'easy', '', '[]')", "tasks that cannot be read"),
        (execute, "INSERT INTO tasks VALUES ('{}', 'easy', '', '{\"random\": 3}')", "tasks that cannot be read"),
        (execute, "INSERT INTO tasks VALUES ('{}', x'00', '', '{}')", "tasks that cannot be read"),
    ],
)
def test_content_that_was_forged_is_refused(export, change, statement, match):
    assert refused(repacked(export, change, statement), match)


def test_pages_that_contradict_each_other_are_refused(export):
    def empty_a_page(path):
        content = bytearray(path.read_bytes())
        content[2 * 4096 : 3 * 4096] = bytes(4096)  # of the index
        path.write_bytes(content)

    assert refused(repacked(export, empty_a_page), "intact file of `graph-bandit export`")


def test_text_that_is_no_text_is_refused(export):
    statement = "UPDATE repetitions SET label = CAST(x'ff' AS TEXT)"
    assert refused(repacked(export, execute, statement), "rows that cannot be read")


def test_the_schema_is_told_from_its_comments_and_its_layout():
    """So that a better comment does not make exports of equal formats unequal."""
    assert _words("CREATE  TABLE t (\n a, -- one\n  b)") == _words("\nCREATE TABLE t ( a,\n b)")
    assert _words("CREATE TABLE t (a b)") != _words("CREATE TABLE t (ab)")
