import shutil
import subprocess
import sys

import pytest
from support import ROOT

import registry


def test_lists_the_agents_in_alphabetical_order():
    assert registry.list_agents() == tuple(sorted(registry.list_agents()))
    assert {"gnn-ts", "random"} <= set(registry.list_agents())
    assert dir(registry) == sorted(registry.__all__)


@pytest.mark.parametrize(
    ("name", "settings", "named"),
    [
        ("gnn_ts", {}, "`gnn-ts`"),
        ("zzz", {}, "epsilon-greedy"),
        ("lin-ucb:preset=paper", {}, "`lin-ucb`"),
        ("gnn-ts", {"widht": 8}, "`width`"),
        ("lin-ucb", {"alpha": 1.0}, "`exploration_scale`"),
        ("random", {"preset": "paper"}, "`paper`"),
        ("mine_i:Mine", {}, "`mine_i:Mine`"),
    ],
)
def test_unknown_names_come_with_advice(name, settings, named):
    with pytest.raises(ValueError, match=named):
        registry.make_agent(name, **settings)


@pytest.mark.parametrize("text", ["random()", "gnn-ts(width=256, covariance='diagonal')"])
def test_an_agent_is_written_with_the_settings_that_differ_from_its_defaults(text):
    name, _, settings = text.partition("(")
    assert repr(registry.make_agent(name, **eval(f"dict({settings}"))) == text


def test_an_agent_of_ones_own_is_made_by_name(monkeypatch):
    monkeypatch.setattr(registry, "_REGISTRATIONS", dict(registry._REGISTRATIONS))
    registry.register_agent("mine", lambda **settings: ("mine", settings), needs="molecules")
    assert registry.make_agent("mine", a=1) == ("mine", {"a": 1})
    assert registry.agent_needs("mine") == "molecules"
    assert registry.registered_agents() == ("mine",)
    with pytest.raises(ValueError, match="`random`"):
        registry.register_agent("random", lambda: None)


@pytest.mark.parametrize("ours", ["registry.py", "agents"])
def test_the_agents_of_another_package_are_refused_by_name(ours, tmp_path):
    """One that comes first on the path, and one that another package installed over ours."""
    beside = tmp_path / "beside" if ours == "agents" else tmp_path
    beside.mkdir(exist_ok=True)
    shutil.copy(ROOT / "registry.py", beside)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "__init__.py").write_text("")
    code = f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(beside)!r}]; import registry"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert f"ImportError: Expected `agents` of graph-bandit-env. Got another package, {tmp_path}" in done.stderr


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Leave a package as pip does: a module, and metadata with its entry points."""
    monkeypatch.syspath_prepend(tmp_path)

    def install(package, points, code="def make(scale=1.0):\n    return ('made', scale)\n"):
        (tmp_path / f"{package}.py").write_text(code)
        info = tmp_path / f"{package}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2\n")
        (info / "entry_points.txt").write_text(f"[graph_bandit.agents]\n{points} = {package}:make\n")
        return info

    return install


def test_an_agent_of_an_installed_package_is_made_by_name_until_it_is_removed(install):
    info = install("mine_a", "mine")
    assert registry.agent_origin("mine") == "mine_a 1.2"
    assert registry.make_agent("mine", scale=2) == ("made", 2)
    with pytest.raises(ValueError, match="`scale`"):
        registry.make_agent("mine", scael=2)
    shutil.rmtree(info)
    assert "mine" not in registry.list_agents()


def test_a_package_that_cannot_be_imported_is_named(install):
    install("broken_c", "mine", code="import not_there\n")
    assert "mine" in registry.list_agents()
    with pytest.raises(ImportError, match=r"not_there.*broken_c 1\.2"):
        registry.make_agent("mine")


def test_a_name_that_two_packages_claim_is_refused(install):
    install("mine_d", "random")
    with pytest.raises(ValueError, match=r"mine_d 1\.2, graph-bandit-env"):
        registry.make_agent("random")


def test_an_agent_of_a_file_is_made_once_it_is_admitted_and_declared(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", list(sys.path))
    monkeypatch.setattr(registry, "_ADMITTED", {})
    declared = '@registry.agent_factory(needs="molecules")\ndef make(scale=1.0):\n    return scale\n'
    (tmp_path / "mine_i.py").write_text(f"import registry\n{declared}def undeclared(): pass\n")
    with pytest.raises(ValueError, match="`mine_i:make`"):
        registry.make_agent("mine_i:make")
    assert "mine_i" not in sys.modules
    registry.admit_agent("mine_i:make")
    assert (registry.make_agent("mine_i:make", scale=2), registry.agent_needs("mine_i:make")) == (2, "molecules")
    for name, refusal in (("mine_i:undeclared", ValueError), ("json:loads", ValueError), ("mine_j:make", ImportError)):
        with pytest.raises(refusal, match=f"`{name}`"):
            registry.admit_agent(name)
