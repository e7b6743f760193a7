import subprocess

import pytest
from support.mutants import trials
from support.mutants.__main__ import Chosen, Draw, draw, rooms
from support.mutants.changes import count_changes, lines_since, mutants_of

SOURCE = """
LIMIT: int = 3


def clip(value: int = 4, *, strict: bool = True) -> int:
    if value < LIMIT and not strict:
        raise ValueError(f"at least {3 - 0}")
    return sum(zip([-value], strict=True))
"""


def test_a_mutant_changes_one_sign_comparison_or_constant():
    """Annotations, default values, what is raised and `strict` stay."""
    found = mutants_of("clip.py", SOURCE)
    assert [(mutant.line, mutant.after) for mutant in found] == [
        (2, "LIMIT: int = 4"),
        (2, "LIMIT: int = 2"),
        (6, "if value <= LIMIT and not strict:"),
        (6, "if value >= LIMIT and not strict:"),
        (6, "if value < LIMIT and  strict:"),
        (6, "if not value < LIMIT and not strict:"),
        (6, "if value < LIMIT or not strict:"),
        (8, "return sum(zip([+value], strict=True))"),
    ]
    assert [mutant.lines for mutant in found[1:3]] == [range(0), range(6, 7)]


def test_a_sample_is_the_same_for_the_same_seed_and_of_the_lines_asked_for():
    everything = {mutant.after for mutant in mutants_of("clip.py", SOURCE)}
    few = [{mutant.after for mutant in mutants_of("clip.py", SOURCE, Draw(0.5, "0", None))} for _ in range(2)]
    assert few[0] == few[1] < everything
    assert [mutant.line for mutant in mutants_of("clip.py", SOURCE, Draw(1.0, "0", {8}))] == [8]


def test_a_draw_is_of_all_files_together_and_the_same_for_the_same_seed():
    counts = {"clip.py": count_changes("clip.py", SOURCE), "other.py": 1000}
    assert draw(counts, 50, seed=0) == draw(counts, 50, seed=0) != draw(counts, 50, seed=1)
    assert sum(map(len, draw(counts, 50, seed=0).values())) == 50
    everything = draw(counts, 10_000, seed=0)
    assert {path: len(numbers) for path, numbers in everything.items()} == counts
    assert mutants_of("clip.py", SOURCE, Chosen(everything["clip.py"])) == mutants_of("clip.py", SOURCE)
    assert len(mutants_of("clip.py", SOURCE, Chosen({0}))) == 1


def test_rooms_add_up_the_counts_of_their_files():
    table = [("gntk/engines/loops.py", 3, 2, 1), ("gntk/engines/choice.py", 2, 2, 0), ("gntk/network.py", 1, 0, 1)]
    assert rooms(table) == [("gntk/engines", 5, 4, 1), ("gntk", 1, 0, 1)]


def test_lines_since_a_commit_are_those_that_it_did_not_have(tmp_path, monkeypatch):
    def git(*words):
        done = subprocess.run(["git", *words], cwd=tmp_path, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    git("init")
    text = "".join(f"number_{k} = {k}\n" for k in range(20))
    (tmp_path / "old.py").write_text(text)
    git("add", ".")
    git("-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-m", "Begin")
    commit = git("rev-parse", "HEAD")
    git("mv", "old.py", "moved.py")
    (tmp_path / "moved.py").write_text(text.replace("number_3 = 3", "number_3 = 4"))
    (tmp_path / "new.py").write_text("a = 1\nb = 2\n")
    git("add", ".")
    monkeypatch.setattr("support.mutants.changes.ROOT", tmp_path)
    assert lines_since(commit) == {"moved.py": {4}, "new.py": {1, 2}}


@pytest.mark.parametrize(
    ("path", "tests"),
    [
        ("registry.py", "tests/test_registry.py"),
        ("gntk/network.py", "tests/gntk/test_network.py"),
        ("graph_bandit_campaign/records.py", "tests/graph_bandit_campaign/test_campaign.py"),
    ],
)
def test_a_file_has_its_own_tests_or_those_of_its_folder(path, tests):
    assert tests in trials.tests_of(path)
