"""The wheel, as a user gets it."""

import subprocess
import sys
import zipfile

import pytest
from support import ROOT

PACKAGES = ("gntk", "graph_bandit_env", "agents", "graph_bandit_lab", "graph_bandit_campaign", "graph_bandit_cli")


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


def in_another_folder(installed, tmp_path, code):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_holds_the_packages_of_the_design_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    info = {top for top in tops if top.endswith(".dist-info")}
    assert tops - info == {*PACKAGES, "registry.py"}
    assert not [name for name in names if "test" in name]
    for needed in (
        "gntk/py.typed",
        "agents/zoo/recipes.py",
        "agents/contract/__init__.pyi",
        "graph_bandit_lab/reports/report.html.jinja",
    ):
        assert needed in names


def test_the_environment_is_made_from_any_folder(installed, tmp_path):
    code = """
import gymnasium as gym
env = gym.make("graph_bandit_env:GraphActionBandit-v0", num_graphs=3, num_nodes=4)
env.reset(seed=0)
print(env.step(0)[1], __import__("graph_bandit_env").__file__)
"""
    assert str(installed) in in_another_folder(installed, tmp_path, code)


def test_the_command_works_from_the_wheel(installed, tmp_path):
    flags = ["--agents", "random", "--num-graphs", "3", "--num-nodes", "4", "--horizon", "5", "--out", "here"]
    code = f"import sys; from graph_bandit_cli.main import main; sys.exit(main(['run', *{flags}]))"
    assert "random" in in_another_folder(installed, tmp_path, code)
    assert (tmp_path / "here" / "report.html").is_file()
