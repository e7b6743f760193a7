"""A results file with damage of any kind: what is read and continued is true, or the damage is named."""

import sqlite3
import warnings
from contextlib import closing

import numpy as np
import pytest

from graph_bandit_lab import load_results, read_sweep, run_sweep

PAGE = 4096  # bytes, of SQLite
TIMES = ["wall_time", "round_time", "created"]  # a repetition that is played again has others
DRAWS = 6  # of each kind
SWEEP = """
title = "small"
repetitions = 2
agents = ["ucb1", "random"]

[[grid]]
environment = {num_graphs = [3, 5], num_nodes = 4, horizon = 8}
"""


def flip(begin=b"", most=None):
    """Return the damage of one bit, of the first `most` bytes from a text on."""

    def damage(content, generator):
        start = content.index(begin)
        content[start + generator.integers(most or len(content))] ^= 1 << int(generator.integers(8))
        return content

    return damage


def swap(size):
    """Return the damage of two blocks that have changed places."""

    def damage(content, generator):
        one, two = (slice(size * k, size * (k + 1)) for k in generator.choice(len(content) // size, 2, replace=False))
        content[one], content[two] = content[two], content[one]
        return content

    return damage


def empty_page(content, generator):
    page = int(generator.integers(len(content) // PAGE))
    content[PAGE * page : PAGE * (page + 1)] = bytes(PAGE)
    return content


def edit(statement):
    def damage(content, generator):
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.deserialize(bytes(content))
            connection.execute(statement)
            connection.commit()
            return connection.serialize()

    return damage


DAMAGES = {
    "one bit": flip(),
    "one bit of the header": flip(most=100),
    "one bit of the schema": flip(b"CREATE TABLE", 1000),
    "two bytes swapped": swap(1),
    "two pages swapped": swap(PAGE),
    "a page of zeros": empty_page,
    "cut off": lambda content, generator: content[: generator.integers(1, len(content))],
    "emptied": lambda content, generator: b"",
    "another format": edit("PRAGMA user_version = 99"),
    "a column less": edit("ALTER TABLE repetitions DROP COLUMN rewards"),
    "no table": edit("ALTER TABLE repetitions RENAME TO others"),
}


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    path = tmp_path_factory.mktemp("plan") / "small.toml"
    path.write_text(SWEEP)
    return read_sweep(path).plan()


@pytest.fixture(scope="module")
def whole(plan, tmp_path_factory):
    """The content of a small results file, and its rows with and without times."""
    folder = tmp_path_factory.mktemp("whole")
    play(plan, folder)
    return (folder / "results.sqlite").read_bytes(), rows_in(folder), rows_in(folder, TIMES)


def play(plan, folder):
    return run_sweep(plan, folder, diagnostics=True, progress=False, report=False)


def rows_in(folder, but=()):
    """Return the rows of a folder as text, without some columns."""
    table = load_results(folder).set_index(["settings_hash", "seed"])
    assert not table.index.has_duplicates
    rows = table.drop(columns=[*but]).to_dict("index").items()
    return {key: {name: repr(np.asarray(cell).tolist()) for name, cell in row.items()} for key, row in rows}


def outcome(function, *arguments):
    """Return what a function returns, and what it says: warnings, or the words by which it refuses."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            return function(*arguments), [str(warning.message) for warning in caught]
        except (ValueError, OSError) as error:
            return None, [str(error)]


@pytest.mark.parametrize("kind", DAMAGES)
def test_what_is_read_and_continued_is_true_or_the_damage_is_named(kind, plan, whole, tmp_path):
    (content, truth, untimed), generator = whole, np.random.default_rng(0)
    for number in range(DRAWS):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "results.sqlite").write_bytes(DAMAGES[kind](bytearray(content), generator))
        found, said = outcome(rows_in, folder)
        assert found == truth or any("results.sqlite" in text for text in said)
        assert all(truth[key] == row for key, row in (found or {}).items())
        played, said = outcome(play, plan, folder)
        assert played or "results.sqlite" in said[0]
        assert not played or rows_in(folder, TIMES) == untimed
