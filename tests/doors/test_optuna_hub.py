"""The package for OptunaHub, from its folder."""

import re
import subprocess
import sys

import optuna
import optunahub
import pytest
import yaml
from support import ROOT

REGISTRY = ROOT / "examples/optunahub"
PACKAGE = REGISTRY / "samplers/graph_pool"
README = (PACKAGE / "README.md").read_text("utf-8")


@pytest.fixture(autouse=True)
def quiet():
    optuna.logging.set_verbosity(optuna.logging.WARNING)


@pytest.fixture(scope="module")
def hub():
    return optunahub.load_local_module("samplers/graph_pool", registry_root=str(REGISTRY))


def test_the_readme_has_what_the_registry_asks_for():
    head = yaml.safe_load(README.split("---")[1])
    assert set(head) == {"author", "title", "description", "tags", "optuna_versions", "license"}
    assert "sampler" in head["tags"]
    assert optuna.__version__ in head["optuna_versions"]


def test_the_code_of_the_readme_runs(hub, capsys, monkeypatch):
    monkeypatch.setattr(optunahub, "load_module", lambda package: hub)
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})
    assert "{'id': " in capsys.readouterr().out


def test_the_example_finds_the_best(tmp_path):
    done = subprocess.run([sys.executable, PACKAGE / "example.py"], cwd=tmp_path, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        found, best = re.search(r"evaluations (\S+), best of all (\S+)", line).groups()
        assert found == best
