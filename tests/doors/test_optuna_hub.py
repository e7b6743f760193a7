"""The package for OptunaHub, from its folder; and Optuna's dashboard over a study of the sampler."""

import json
import re
import subprocess
import sys
from wsgiref.util import setup_testing_defaults

import optuna
import optunahub
import pytest
import yaml
from optuna_dashboard import wsgi
from support import ROOT
from support.molecules import some_molecules

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


def test_the_dashboard_shows_a_study(hub, tmp_path):
    pool = some_molecules(12)
    values = dict(zip(pool.ids, pool.targets.tolist(), strict=True))
    storage = f"sqlite:///{tmp_path}/study.db"
    study = optuna.create_study(storage=storage, sampler=hub.PoolSampler(pool, agent="random"))
    study.optimize(lambda trial: values[trial.suggest_categorical("id", pool.ids)], n_trials=4)
    (shown,) = fetch(wsgi(storage), "/api/studies")["study_summaries"]
    trials = fetch(wsgi(storage), f"/api/studies/{shown['study_id']}")["trials"]
    assert [trial["state"] for trial in trials] == ["Complete"] * 4
    assert {trial["params"][0]["param_external_value"] for trial in trials} <= {*pool.ids, *map(repr, pool.ids)}


def fetch(application, path):
    """Return what an application answers to a request, read as JSON."""
    place, said = {"PATH_INFO": path}, []
    setup_testing_defaults(place)
    body = b"".join(application(place, lambda status, headers, error=None: said.append(status)))
    assert said == ["200 OK"], body
    return json.loads(body)
