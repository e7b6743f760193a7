"""An entry is read as data, within its size, or has a fault."""

import hashlib
import lzma

import numpy as np
import pytest
from support.entries import play, send
from support.stored import forge

from graph_bandit_lab import load_results
from graph_bandit_lab.board import entries, read_entry


@pytest.fixture(scope="module")
def sent(tmp_path_factory):
    return send(play(tmp_path_factory.mktemp("sent") / "mine", "random", "ucb1"))


def test_an_entry_has_the_repetitions_of_its_file(sent):
    entry, results = read_entry(sent), load_results(sent.parent / "mine")
    assert (entry.name, entry.size, entry.fault) == ("mine", sent.stat().st_size, "")
    assert entry.digest == hashlib.sha256(sent.read_bytes()).hexdigest()
    assert [play.total_regret for play in entry.plays] == results["total_regret"].tolist()
    assert [play.identity for play in entry.plays] == [*zip(results["settings_hash"], results["seed"], strict=True)]
    for play_, row in zip(entry.plays, results.itertuples(), strict=True):
        np.testing.assert_array_equal(play_.actions, row.actions)


def test_repetitions_belong_to_agents_whatever_the_task(sent):
    players = read_entry(sent).players
    assert [(plays[0].label, len(plays)) for plays in players.values()] == [("random", 9), ("ucb1", 6)]


def test_versions_are_those_that_its_rows_name(sent, tmp_path):
    folder = play(tmp_path / "two", "random")
    forge(
        folder / "results.sqlite",
        "UPDATE repetitions SET versions = json_set(versions, '$.numpy', '1.0') WHERE rowid = 1",
    )
    versions = read_entry(send(folder)).versions
    assert versions["numpy"] == f"1.0, {np.__version__}"
    assert versions["torch"] == read_entry(sent).versions["torch"]


def test_a_file_that_is_too_large_is_not_opened(sent, monkeypatch):
    monkeypatch.setattr(entries, "MOST_BYTES", sent.stat().st_size - 1)
    monkeypatch.setattr(entries, "_read_plays", lambda path: pytest.fail("It was opened."))
    entry = read_entry(sent)
    assert entry.fault.startswith(f"Expected at most {entry.size - 1:,} bytes. Got {entry.size:,}.")
    assert (entry.plays, entry.digest) == ((), "")


def test_a_file_that_unpacks_to_much_is_refused(sent, monkeypatch):
    size = len(lzma.decompress(sent.read_bytes()))
    monkeypatch.setattr(entries, "MOST_UNPACKED", size - 1)
    assert f"would unpack to more than {size - 1:,} bytes" in read_entry(sent).fault
    monkeypatch.setattr(entries, "MOST_UNPACKED", size)
    assert not read_entry(sent).fault


def test_a_damaged_file_is_an_entry_with_a_fault(sent, tmp_path):
    for name, content in {"cut": sent.read_bytes()[:-20], "other": b"a text", "empty": b""}.items():
        path = tmp_path / f"{name}.sqlite.xz"
        path.write_bytes(content)
        assert "to be an intact file of `graph-bandit export`" in read_entry(path).fault


def test_a_file_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is none at"):
        read_entry(tmp_path / "mine.sqlite.xz")


@pytest.mark.parametrize("name", ["My_Entry 1.sqlite.xz", "mine.xz", "b&b.sqlite.xz", "-.sqlite.xz"])
def test_a_file_of_another_name_is_refused(sent, tmp_path, name):
    path = tmp_path / name
    path.write_bytes(sent.read_bytes())
    assert read_entry(path).fault.startswith(
        "Expected a file named by small letters, digits and hyphens, and `.sqlite.xz`"
    )
