"""The wheel, as a user gets it, and what it says beside packages of others."""

import os
import re
import subprocess
import sys
import zipfile

import pytest
from support import PRODUCT, ROOT


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"  # a copy, for a build leaves files beside the sources
    tracked = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    for name in filter(None, tracked.stdout.splitlines()):
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((ROOT / name).read_bytes())
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", str(folder)]
    subprocess.run([*build, str(source)], check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A folder with nothing but the wheel's content, put before everything else on the path."""
    folder = tmp_path_factory.mktemp("installed")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    return folder


def test_the_wheel_holds_the_packages_of_the_design_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    info = {top for top in tops if top.endswith(".dist-info")}
    assert {top.removesuffix(".py") for top in tops - info} == {*PRODUCT}
    assert not [name for name in names if re.search(r"(^|/)tests?[_/]", name)]
    for needed in (
        "gntk/py.typed",
        "agents/zoo/neural.py",
        "graph_bandit_lab/__init__.pyi",
        "graph_bandit_lab/reports/report.html.jinja",
        "graph_bandit_campaign/backtest/backtest.html.jinja",
        "graph_bandit_serve/templates/campaign.html.jinja",
        "graph_bandit_serve/static/style.css",
    ):
        assert needed in names


def test_the_command_works_from_the_wheel_in_a_folder_with_packages_of_others(installed, tmp_path):
    (tmp_path / "agents").mkdir()
    for foreign in ("agents/__init__.py", "registry.py"):
        (tmp_path / foreign).write_text("raise SystemExit('a stranger was imported')\n")
    (script,) = [path for path in (installed / "bin").iterdir() if path.stem == "graph-bandit"]
    grid = 'agents = ["random"]\nenvironment = {num_graphs = 3, num_nodes = 4, horizon = 5}\n'
    (tmp_path / "small.toml").write_text(f"repetitions = 1\n[[grid]]\n{grid}")
    # Workers, and the process that writes the report, find what the command has found.
    here = {**os.environ, "PYTHONPATH": str(installed), "PYTHONWARNINGS": "ignore"}
    command = [str(script), "sweep", "small.toml", "--workers", "1", "--out", "here"]
    done = subprocess.run(command, cwd=tmp_path, env=here, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "small: played 1, reused 0, failed 0." in done.stdout
    assert (tmp_path / "here" / "report.html").is_file()
