"""The arrow of dependencies, and what a file may hold."""

import ast

import pytest
from support import ROOT

ROOMS = ("gntk", "graph_bandit_env", "agents", "registry", "graph_bandit_lab")
MAY_IMPORT = {
    "gntk": set(),
    "graph_bandit_env": {"gntk"},
    "agents": {"gntk"},
    "registry": {"graph_bandit_env", "agents"},
    "graph_bandit_lab": {"registry"},
}
DOORS = {  # of packages that are else out of reach
    "graph_bandit_lab": {"agents.contract", "graph_bandit_env", "graph_bandit_env.bandit", "graph_bandit_env.rewards"}
}


def files_of(room):
    return [ROOT / f"{room}.py"] if room == "registry" else sorted((ROOT / room).rglob("*.py"))


def imports_of(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            yield node.module


SOURCES = [(room, path) for room in ROOMS for path in files_of(room)]


@pytest.mark.parametrize(("room", "path"), SOURCES, ids=[str(path.relative_to(ROOT)) for _, path in SOURCES])
def test_imports_point_down_the_arrow(room, path):
    names = set(imports_of(path)) - DOORS.get(room, set())
    rooms = {name.split(".")[0] for name in names} & set(ROOMS)
    assert rooms - {room} <= MAY_IMPORT[room]


@pytest.mark.parametrize("path", files_of("agents"), ids=lambda path: str(path.relative_to(ROOT)))
def test_agents_know_nothing_of_gymnasium_but_its_spaces(path):
    known = {name for name in imports_of(path) if name.split(".")[0] == "gymnasium"}
    policies = path.parent == ROOT / "agents" / "sb3"  # Stable-Baselines3 makes policies from spaces
    assert known <= ({"gymnasium.spaces"} if policies else set())


@pytest.mark.parametrize(("room", "path"), SOURCES, ids=[str(path.relative_to(ROOT)) for _, path in SOURCES])
def test_a_file_holds_one_idea(room, path):
    assert len(path.read_text().splitlines()) <= 260


def test_every_package_is_typed():
    for room in set(ROOMS) - {"registry"}:
        assert (ROOT / room / "py.typed").is_file()
