"""The board of the testbed: our entries keep its rules, and one of a wrong seed is refused as the guide says."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest
import yaml
from support import ROOT

from graph_bandit_lab import read_sweep, run_sweep
from graph_bandit_lab.board import check_entries, read_rules
from graph_bandit_lab.design import Overrides, derive_seeds
from graph_bandit_lab.storage import export_results

GUIDE = (ROOT / "docs" / "guides" / "board.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_our_entries_are_accepted_and_one_of_a_wrong_seed_is_refused(tmp_path):
    sweep = read_sweep("testbed", Overrides(agents=("gaussian-ts",), environments=("task=linear",)))
    run_sweep(replace(sweep, seeds=derive_seeds(23, 5)), tmp_path / "mine", progress=False, report=False)
    wrong = export_results(tmp_path / "mine", tmp_path / "wrong.sqlite.xz").path
    checked = {sent.entry.name: sent for sent in check_entries([ROOT / "board", wrong], read_rules())}
    assert [name for name, sent in checked.items() if sent.faults] == ["wrong"]
    assert {"baselines", "kernels", "linear"} <= checked.keys()
    (fault,) = checked["wrong"].faults
    assert f"```text\n{fault}\n```" in GUIDE
    played = [agent.label for name, sent in checked.items() if name != "wrong" for agent in sent.agents]
    assert {"random", "gntk-ucb", "lin-ucb"} <= set(played)


def git(folder, *arguments):
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


ODD = ("sub/deep.sqlite.xz", "UPPER.sqlite.xz", "$(touch pwned).sqlite.xz", "evil.py", "-x.sqlite.xz")


@pytest.fixture
def take(tmp_path):
    """A function that runs the step of the workflow on a change that brings files, and the folder where it runs."""
    if sys.platform == "win32":
        pytest.skip("the workflow runs on Linux, and Windows makes no links for everybody")
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "board.yml").read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    steps = {step.get("name"): step for step in workflow["jobs"]["check"]["steps"]}
    (step,) = [step for name, step in steps.items() if name and name.startswith("Take the entries")]
    origin, here = tmp_path / "origin", tmp_path / "here"
    (origin / "board").mkdir(parents=True)
    (origin / "board" / "old.sqlite.xz").write_bytes(b"old")
    (origin / "board" / "gone.sqlite.xz").write_bytes(b"gone")
    git(origin, "init", "-q")
    git(origin, "add", ".")
    git(origin, "commit", "-qm", "base")
    base = git(origin, "rev-parse", "HEAD")
    git(tmp_path, "clone", "-q", str(origin), str(here))

    def run(*names):
        (origin / "board" / "gone.sqlite.xz").unlink()
        (origin / "board" / "new.sqlite.xz").write_bytes(b"new\0\n")
        (origin / "board" / "link.sqlite.xz").symlink_to("/etc/hostname")
        for name in names:
            (origin / "board" / name).parent.mkdir(exist_ok=True)
            (origin / "board" / name).write_bytes(b"other")
        git(origin, "add", ".")
        git(origin, "commit", "-qm", "change")
        git(origin, "update-ref", "refs/pull/7/merge", "HEAD")
        environment = {**os.environ, "BASE": base, "MERGED": "refs/pull/7/merge"}
        command = ["bash", "-e", "-o", "pipefail", "-c", step["run"]]
        return subprocess.run(command, cwd=here, env=environment, check=False, capture_output=True, text=True)

    return run, here


def test_of_a_pull_request_only_entries_are_taken_and_as_data(take):
    run, here = take
    assert run("README.md").returncode == 0
    taken = {path.name: path.read_bytes() for path in (here / "entries").iterdir()}
    assert taken == {"new.sqlite.xz": b"new\0\n", "link.sqlite.xz": b"/etc/hostname"}
    assert not any(path.is_symlink() for path in (here / "entries").iterdir())
    assert sorted(path.name for path in (here / "board").iterdir()) == ["gone.sqlite.xz", "old.sqlite.xz"]


@pytest.mark.parametrize("name", ODD)
def test_a_pull_request_with_another_file_on_the_board_is_refused(take, name):
    run, here = take
    done = run(name)
    assert done.returncode == 1
    assert "Expected files board/NAME.sqlite.xz" in done.stdout
    assert not list((here / "entries").iterdir())
    assert not list(here.parent.rglob("pwned"))
