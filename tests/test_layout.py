"""The house: who may import whom, and what a folder and a file may hold. Each test lists every offender."""

import ast
import importlib
import re
import tomllib
from pathlib import Path

import pytest
from support import ROOT
from support.house import PRODUCT, House, Import, Module, imports_of, lines_with_any
from support.notebooks import NOTEBOOKS, code_of, read_notebook

MAY_IMPORT = {
    "gntk": (),
    "graph_bandit_env": ("gntk",),
    "agents": ("gntk",),
    "registry": ("graph_bandit_env", "agents"),
    "graph_bandit_lab": ("registry", "graph_bandit_env", "agents.contract"),
    "graph_bandit_campaign": ("graph_bandit_lab", "registry", "graph_bandit_env", "agents", "gntk"),
    "graph_bandit_bridges": ("registry", "graph_bandit_campaign", "graph_bandit_lab", "graph_bandit_env", "agents"),
    "graph_bandit_serve": ("registry", "graph_bandit_campaign", "graph_bandit_env.extras"),
    "graph_bandit_cli": PRODUCT,
    "benchmarks": PRODUCT,
}
FILES = ("registry",)
PACKAGES = tuple(name for name in PRODUCT if name not in FILES)
NEED_AGENTS = tuple(f"graph_bandit_{name}" for name in ("lab", "campaign", "bridges", "serve", "cli"))
MODULES_IN_A_FOLDER = 10
LINES_IN_A_FILE = 350
LINES_WITH_ANY = 120
MAKES_POLICIES_FROM_SPACES = ("agents.padded", "agents.sb3", "agents.policy_gradient")
SLOW_TO_IMPORT = {"torch", "torch_geometric", "stable_baselines3"}

HOUSE = House()


def none_of(offenders):
    """Fail with a line for each offender."""
    offenders = sorted(set(map(str, offenders)))
    assert not offenders, f"{len(offenders)}:\n  " + "\n  ".join(offenders)


def is_in(name, packages):
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def across_packages(modules):
    """Imports of one package of ours by another, those for types too."""
    for module in modules:
        for one in module.imports:
            if one.source.split(".")[0] in set(PRODUCT) - {module.package}:
                yield one


def is_door(name):
    module = HOUSE.modules.get(name)
    return module is not None and (module.is_door or name == "registry") and module.public is not None


def opens_a_door(one):
    """Whether an import takes a door itself, or what its `__all__` has."""
    if not one.name:
        return is_door(one.source)
    return is_door(f"{one.source}.{one.name}") or (is_door(one.source) and one.name in HOUSE.modules[one.source].public)


def is_ours(one):
    return one.source.split(".")[0] in PRODUCT


# --- Imports


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_imports_point_down_the_arrow(package):
    none_of(one for one in across_packages(HOUSE.of(package)) if not is_in(one.source, MAY_IMPORT[package]))


@pytest.mark.parametrize("package", NEED_AGENTS)
def test_those_that_need_agents_import_first_what_refuses_those_of_others(package):
    assert next(one.source for one in HOUSE.modules[package].imports if is_ours(one)) == "registry"


def test_packages_import_doors_of_each_other_only():
    none_of(one for one in across_packages(HOUSE.of(*PRODUCT, "benchmarks")) if not opens_a_door(one))


def test_no_modules_import_each_other_in_a_circle():
    none_of(" -> ".join([*around, around[0]]) for around in HOUSE.circles())


def test_imports_are_absolute():
    none_of(
        f"{module.name}:{node.lineno}"
        for module in HOUSE.modules.values()
        for node in ast.walk(ast.parse("\n".join(module.lines)))
        if isinstance(node, ast.ImportFrom) and node.level
    )


def test_gntk_and_agents_know_nothing_of_gymnasium_but_its_spaces():
    def is_known(one):
        whole = f"{one.source}.{one.name}" if one.name else one.source
        return not is_in(whole, ("gymnasium",)) or (
            is_in(whole, ("gymnasium.spaces",)) and is_in(one.importer, MAKES_POLICIES_FROM_SPACES)
        )

    none_of(one for module in HOUSE.of("gntk", "agents") for one in module.imports if not is_known(one))


def test_reports_never_import_torch_not_even_through_others():
    reports = [module for module in HOUSE.of("graph_bandit_lab") if is_in(module.name, ("graph_bandit_lab.reports",))]
    ways = HOUSE.reached_from(reports, local_in="graph_bandit_lab")
    none_of(" -> ".join(way) for name, way in ways.items() if name.split(".")[0] in SLOW_TO_IMPORT)


FLOORS_OF_THE_CAMPAIGN = (  # each imports those before it only
    ("text", "names", "flags", "checks", "workers"),
    ("pool",),
    ("results",),
    ("constraints",),
    ("state",),
    ("file",),
    ("assays",),
    ("model",),
    ("notebook", "records"),
    ("campaign",),
    ("report",),
    ("backtest", "command"),
    ("screening", "operations"),
)


def room_of(name):
    return name.split(".")[1] if name.count(".") else ""


def test_no_room_of_the_campaign_imports_one_above_it():
    floor = {room: number for number, rooms in enumerate(FLOORS_OF_THE_CAMPAIGN) for room in rooms}
    modules = [module for module in HOUSE.of("graph_bandit_campaign") if room_of(module.name)]
    assert {room_of(module.name) for module in modules} == floor.keys()
    inside = [one for module in modules for one in module.imports if one.source.startswith("graph_bandit_campaign.")]
    assert len(inside) > 300
    none_of(one for one in inside if floor[room_of(one.source)] > floor[room_of(one.importer)])


def test_the_map_names_every_room():
    rows, package = {name: set() for name in PACKAGES}, ""
    for line in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines():
        first, *cells = line.strip("|").split("|") if line.startswith("| ") else ("",)
        package = first.strip(" `") or package
        if package in rows:
            rows[package] |= set(re.findall(r"`(\w+)`", " ".join(cells)))
    rooms = {module.path.parent.relative_to(ROOT).parts for module in HOUSE.of(*PACKAGES)}
    none_of("/".join(room) for room in rooms if len(room) > 1 and room[-1] not in rows[room[0]])


# --- Doors


def imports_of_page(path):
    """The imports of ours that a page shows, in programs and in sentences."""
    ours = "|".join(PRODUCT)
    shown = re.compile(rf"(?:from (?:{ours})[\w.]* import (?:\([^)]*\)|\w+(?: as \w+)?(?:, ?\w+(?: as \w+)?)*))")
    whole = re.compile(rf"^ *(import (?:{ours})[\w.]*)", re.MULTILINE)
    text = path.read_text(encoding="utf-8")
    for match in [*shown.finditer(text), *whole.finditer(text)]:
        line = text.count("\n", 0, match.start()) + 1
        for one in imports_of(ast.parse(match.group().strip()), path.name):
            yield Import(one.importer, line, one.source, one.name)


@pytest.mark.parametrize(
    "path", [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")], ids=lambda path: str(path.relative_to(ROOT))
)
def test_pages_import_from_doors(path):
    none_of(one for one in imports_of_page(path) if not opens_a_door(one))


def test_examples_import_from_doors():
    examples = [Module(f"examples.{path.stem}", path) for path in sorted(ROOT.glob("examples/**/*.py"))]
    assert len(examples) >= 11
    imports = [one for example in examples for one in example.imports]
    imports += [one for path in NOTEBOOKS for one in imports_of(ast.parse(code_of(read_notebook(path))), path.name)]
    none_of(one for one in imports if is_ours(one) and not opens_a_door(one))


def test_a_page_that_imports_what_no_door_has_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("Take `from gntk import gram`.\n\n```python\nfrom gntk import (\n    gram,\n    grim,\n)\n```\n")
    missing = [str(one) for one in imports_of_page(page) if not opens_a_door(one)]
    assert missing == ["page.md:4 imports gntk.grim"]


@pytest.mark.parametrize("package", [*PACKAGES, "registry"])
def test_every_package_has_a_version_and_says_what_is_public(package):
    door = importlib.import_module(package)
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", door.__version__)
    assert door.__all__
    named = [name for name in door.__all__ if f"{package}.{name}" not in HOUSE.modules]  # rooms aside
    assert set(named) <= set(dir(door))
    if package != "graph_bandit_bridges":  # whose names need libraries, and whose door has a test of its own
        none_of(name for name in named if not hasattr(door, name))


def test_every_package_is_typed():
    none_of(package for package in PACKAGES if not (ROOT / package / "py.typed").is_file())


def test_what_is_installed_is_what_stands_here():
    """A new package is built into the wheel and checked by mypy only where setup.cfg names it."""
    text = (ROOT / "setup.cfg").read_text()
    for package in PACKAGES:
        assert f"    {package}\n    {package}.*\n" in text
        assert re.search(rf"^packages = .*\b{package}\b", text, re.MULTILINE)
    folders = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests"}
    assert folders == {*PACKAGES, "benchmarks"}
    assert tomllib.loads((ROOT / "pyproject.toml").read_text()).keys() == {"build-system"}


# --- What stands where


def test_at_most_ten_modules_stand_in_a_folder():
    folders: dict[Path, int] = {}
    for module in HOUSE.of(*PACKAGES, "benchmarks"):
        counts = module.path.name not in ("__init__.py", "__main__.py")
        folders[module.path.parent] = folders.get(module.path.parent, 0) + counts
    none_of(f"{path.relative_to(ROOT)}: {count}" for path, count in folders.items() if count > MODULES_IN_A_FOLDER)


def test_a_file_can_be_read_top_to_bottom():
    files = [path for top in (*PACKAGES, "benchmarks", "examples", "tests") for path in (ROOT / top).rglob("*.py")]
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in [*files, ROOT / "registry.py"]}
    none_of(f"{path.relative_to(ROOT)}: {count}" for path, count in lines.items() if count > LINES_IN_A_FILE)


def test_few_lines_say_any():
    anys = {module.name: len(lines_with_any(module)) for module in HOUSE.of(*PRODUCT)}
    total, most = (
        sum(anys.values()),
        sorted((f"{count:3} {name}" for name, count in anys.items() if count), reverse=True),
    )
    assert total < LINES_WITH_ANY, f"{total}:\n  " + "\n  ".join(most)


def calls_of(module):
    for node in ast.walk(ast.parse("\n".join(module.lines))):
        if isinstance(node, ast.Call):
            yield node, ast.unparse(node.func)


def test_text_is_read_and_written_in_the_same_encoding_on_every_system():
    """Windows takes another where none is named."""

    def names_its_encoding(call, function):
        is_binary = any(isinstance(one, ast.Constant) and "b" in str(one.value) for one in call.args[:2])
        return (
            is_binary
            or function.startswith(("os.", "PreparedPool.", "ResultTables.", "archive."))
            or "encoding" in {keyword.arg for keyword in call.keywords}
        )

    text = {"read_text", "write_text", "open"}
    none_of(
        f"{module.name}:{call.lineno} {function}"
        for module in HOUSE.of(*PRODUCT)
        for call, function in calls_of(module)
        if function.split(".")[-1] in text and not names_its_encoding(call, function)
    )


def test_nothing_needs_linux():
    """What only POSIX has is asked for by `hasattr` in the same module, or not at all."""
    missing = {"sched_getaffinity", "fork", "killpg", "getuid", "geteuid", "SIGKILL", "SIGHUP", "SIGUSR1"}
    modules = ("fcntl", "resource", "termios", "pty", "pwd", "grp", "posix")
    offenders = [one for module in HOUSE.of(*PRODUCT) for one in module.imports if is_in(one.source, modules)]
    for module in HOUSE.of(*PRODUCT):
        asked = {ast.unparse(call.args[1]).strip("'") for call, function in calls_of(module) if function == "hasattr"}
        offenders += [
            f"{module.name}:{node.lineno} {ast.unparse(node)}"
            for node in ast.walk(ast.parse("\n".join(module.lines)))
            if isinstance(node, ast.Attribute) and node.attr in missing - asked
        ]
    none_of(offenders)


def test_tests_mirror_the_tree():
    tests = ROOT / "tests"
    folders = {path.parent.relative_to(tests) for path in tests.rglob("test_*.py")} - {Path(), Path("doors")}
    none_of(f"tests/{folder}" for folder in folders if not (ROOT / folder / "__init__.py").is_file())


def test_every_room_is_tested():
    rooms = {module.path.parent.relative_to(ROOT) for module in HOUSE.of(*PACKAGES) if not module.is_door}
    tested = {room for room in rooms if any((ROOT / "tests" / room).glob("test_*.py"))}
    tested |= {room for room in rooms if (ROOT / "tests" / room.parent / f"test_{room.name}.py").is_file()}
    none_of(rooms - tested)


# --- The rules find what they forbid


@pytest.fixture
def small_house(tmp_path):
    """Two packages: `agents` with a lazy door, whose modules import each other, one inside a function."""
    for name, text in {
        "agents/__init__.py": "import lazy_loader\n",
        "agents/__init__.pyi": "from .one import first as first\nfrom .two import second\n"
        '__all__ = ["first", "second"]\n',
        "agents/one.py": "def first():\n    from agents.two import second\n",
        "agents/two.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from agents.one import first\n"
        "import torch\n",
        "gntk/__init__.py": "from agents import first\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return House(tmp_path)


@pytest.mark.parametrize("how", ["def second():\n    from agents.one import first\n", None])
def test_a_circle_by_an_import_inside_a_function_or_for_types_is_found(small_house, how):
    two = small_house.modules["agents.two"].path
    if how is not None:
        two.write_text(how)
    assert [set(around) for around in House(small_house.root).circles()] == [{"agents.one", "agents.two"}]
    two.write_text("second = 2\n")
    assert House(small_house.root).circles() == []


def test_an_import_from_a_lazy_door_reaches_the_module_of_that_name(small_house):
    (one,) = small_house.modules["gntk"].imports
    assert small_house.targets(one) == {"agents", "agents.one"}
    assert small_house.modules["agents"].public == {"first", "second"}


def test_the_way_to_torch_goes_through_functions_of_the_package_that_is_asked_for(small_house):
    starts = [small_house.modules["gntk"]]
    assert small_house.reached_from(starts, "agents")["torch"] == ["gntk", "agents.one", "agents.two", "torch"]
    assert "torch" not in small_house.reached_from(starts, "gntk")
