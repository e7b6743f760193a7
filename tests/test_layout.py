"""The house: who may import whom, and what a folder and a file may hold. Each test lists every offender."""

import ast
import importlib
import re
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from typing import NamedTuple

import networkx as nx
import pytest
from support import PRODUCT, ROOT

from graph_bandit_env.extras import MissingExtraError

MAY_IMPORT = {
    "gntk": (),
    "graph_bandit_env": ("gntk",),
    "agents": ("gntk",),
    "registry": ("graph_bandit_env", "agents"),
    "graph_bandit_lab": ("registry", "graph_bandit_env", "agents.contract"),
    "graph_bandit_campaign": ("graph_bandit_lab", "registry", "graph_bandit_env", "agents", "gntk"),
    "graph_bandit_bridges": ("graph_bandit_campaign", "graph_bandit_lab", "graph_bandit_env", "agents", "registry"),
    "graph_bandit_serve": ("graph_bandit_campaign", "graph_bandit_env.extras", "registry"),
    "graph_bandit_cli": PRODUCT,
    "benchmarks": PRODUCT,
    "examples": PRODUCT,
}
FLOORS_OF_THE_CAMPAIGN = (  # each imports those before it only
    ("text", "checks", "workers"),
    ("pool",),
    ("results",),
    ("constraints",),
    ("state",),
    ("store", "verbs"),
    ("assays", "notebook"),
    ("model",),
    ("records",),
    ("campaign",),
    ("report",),
    ("backtest", "command"),
    ("screening", "operations"),
)
WORK = "graph_bandit_campaign.pool.prepared.making.work"  # in processes that shall stay small
GYMNASIUM = {"gntk": (), "agents": ("agents.padded", "agents.sb3")}
"""Who may import Gymnasium, and of it the spaces alone."""
LIGHT = {
    "graph_bandit_env.wrappers": {"torch", "gntk", "rdkit", "matplotlib", "networkx", "pandas", "scipy", "numba"},
    **{f"graph_bandit_lab.{room}": {"torch", "matplotlib", "pandas"} for room in ("episodes", "design", "execution")},
    "graph_bandit_lab.storage.results": {"torch", "matplotlib", "pandas"},
    **{name: {"torch"} for name in ("graph_bandit_lab.reports", "registry", "graph_bandit_cli.main", WORK)},
}
"""Modules, and what must not be loaded with them."""
ONLY_POSIX = r"\b(fcntl|termios|sched_getaffinity|killpg|getuid|geteuid|SIGKILL|SIGHUP|SIGUSR1)\b"
MODULES_IN_A_FOLDER, LINES_IN_A_FILE = 10, 350
PACKAGES = tuple(name for name in PRODUCT if name != "registry")


def path_of(module):
    return ROOT / module.replace(".", "/")


def module_of(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


FILES = {
    module_of(path): path
    for top in MAY_IMPORT
    for path in ([ROOT / "registry.py"] if top == "registry" else sorted((ROOT / top).rglob("*.py")))
}


class Import(NamedTuple):
    """A name that a module imports from another one."""

    importer: str
    source: str
    name: str
    line: int

    @property
    def target(self):
        """The module that is imported: not one whose name a door gives to a function of it."""
        whole = f"{self.source}.{self.name}".strip(".")
        door = path_of(self.source) / "__init__.py"
        is_function = door.is_file() and f'"{self.name}"' in door.read_text(encoding="utf-8")
        return whole if whole in FILES and not is_function else self.source

    def __str__(self):
        return f"{self.importer}:{self.line} imports {self.name or 'all'} of {self.source}"


def imports_of(module):
    for node in ast.walk(ast.parse(FILES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (Import(module, alias.name, "", node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (Import(module, node.module, alias.name, node.lineno) for alias in node.names)


DOORS = [name for name, path in FILES.items() if path.name == "__init__.py" and "__all__" in path.read_text("utf-8")]
IMPORTS = [one for module in FILES for one in imports_of(module)]
OURS = [one for one in IMPORTS if one.source.split(".")[0] in PRODUCT]


def is_in(name, packages):
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def top(name):
    return name.split(".")[0]


def none_of(offenders):
    """Fail with a line for each offender."""
    offenders = sorted(set(map(str, offenders)))
    assert not offenders, f"{len(offenders)}:\n  " + "\n  ".join(offenders)


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_imports_point_down_the_arrow_and_open_doors_only(package):
    across = [one for one in OURS if top(one.importer) == package != top(one.source)]
    none_of(one for one in across if not is_in(one.source, MAY_IMPORT[package]))
    none_of(one for one in across if one.target != "registry" and not (path_of(one.target) / "__init__.py").is_file())


def test_no_modules_import_each_other_in_a_circle():
    graph = nx.DiGraph((one.importer, one.target) for one in OURS)
    none_of(group for group in nx.strongly_connected_components(graph) if len(group) > 1)


def test_only_makers_of_policies_know_gymnasium_and_of_it_its_spaces():
    foreign = [one for one in IMPORTS if top(one.importer) in GYMNASIUM and top(one.source) == "gymnasium"]
    none_of(
        one
        for one in foreign
        if not is_in(one.importer, GYMNASIUM[top(one.importer)]) or "spaces" not in (one.name, *one.source.split("."))
    )


def test_no_room_of_the_campaign_imports_one_above_it():
    floor = {room: number for number, rooms in enumerate(FLOORS_OF_THE_CAMPAIGN) for room in rooms}
    inside = [one for one in OURS if one.importer.count(".") and one.source.startswith("graph_bandit_campaign.")]
    inside = [one for one in inside if top(one.importer) == "graph_bandit_campaign"]
    none_of(one for one in inside if floor[one.source.split(".")[1]] > floor[one.importer.split(".")[1]])


@pytest.mark.parametrize("modules", LIGHT)
def test_what_starts_often_loads_nothing_that_takes_seconds(modules):
    names = [name for name in FILES if is_in(name, [modules])]
    code = f"import sys, {', '.join(names)}, registry; [*map(registry.agent_needs, registry.list_agents())]"
    command = [sys.executable, "-W", "ignore", "-c", f"{code}; print(*{LIGHT[modules]} & sys.modules.keys())"]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout == "\n"


@pytest.mark.parametrize("door", DOORS)
def test_a_door_has_what_it_lists(door):
    names = importlib.import_module(door).__all__
    with suppress(MissingExtraError):
        assert all(getattr(importlib.import_module(door), name) is not None for name in names)


def test_reports_never_import_torch_inside_functions_either():
    none_of(one for one in IMPORTS if is_in(one.importer, ["graph_bandit_lab.reports"]) and top(one.source) == "torch")


def test_a_folder_and_a_file_can_be_surveyed():
    folders = Counter(path.parent for path in FILES.values() if path.name not in ("__init__.py", "__main__.py"))
    full = [path for path, count in folders.items() if count > MODULES_IN_A_FOLDER]
    none_of(path for path in full if ROOT / "examples" not in (path, path.parent))
    files = [*FILES.values(), *(ROOT / "tests").rglob("*.py")]
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    none_of(f"{path}: {count}" for path, count in lines.items() if count > LINES_IN_A_FILE)


def test_what_only_posix_has_is_asked_for_first():
    texts = {name: path.read_text(encoding="utf-8") for name, path in FILES.items() if top(name) in PRODUCT}
    found = [(name, text, word) for name, text in texts.items() for word in re.findall(ONLY_POSIX, text)]
    none_of(f"{name}: {word}" for name, text, word in found if f'"{word}")' not in text)


def test_the_map_names_every_room():
    rows, package = {name: set() for name in PACKAGES}, ""
    for line in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines():
        first, *cells = line.strip("|").split("|") if line.startswith("| ") else ("",)
        package = first.strip(" `") or package
        if package in rows:
            rows[package] |= set(re.findall(r"`(\w+)`", " ".join(cells)))
    rooms = [name.split(".") for name, path in FILES.items() if path.name == "__init__.py" and top(name) in PACKAGES]
    none_of(".".join(room) for room in rooms if len(room) > 1 and room[-1] not in rows[room[0]])


def test_what_is_installed_is_what_stands_here():
    """A new package is built into the wheel and checked by mypy only where setup.cfg names it."""
    text = (ROOT / "setup.cfg").read_text(encoding="utf-8")
    for package in PACKAGES:
        assert f"    {package}\n    {package}.*\n" in text
        assert re.search(rf"^packages = .*\b{package}\b", text, re.MULTILINE)
        assert (ROOT / package / "py.typed").is_file()
    assert {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests"} == {*PACKAGES, "benchmarks"}
