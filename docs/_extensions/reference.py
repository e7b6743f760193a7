"""Write the pages of the reference before Sphinx reads them: one for each door, and one for each command.

A door is a package, or the module `registry`, with a list `__all__`. The build fails if a name of such a list is
described nowhere.
"""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError
from sphinx.ext.autodoc.mock import mock

from graph_bandit_cli.help import describe_option, format_help, group_options, spell_option
from graph_bandit_cli.main import COMMANDS, PARTS

TOPS = (
    "gntk",
    "graph_bandit_env",
    "agents",
    "registry",
    "graph_bandit_lab",
    "graph_bandit_campaign",
    "graph_bandit_bridges",
    "graph_bandit_serve",
    "graph_bandit_cli",
)
MADE_BY_SKLEARN = re.compile("set_(predict|score)_request")
"""Methods that scikit-learn adds to estimators, which its own reference describes."""
LONGEST_VALUE = 200
"""Characters of a constant; longer ones are left out."""


def find_doors() -> dict[str, ModuleType]:
    """Return all doors by name."""
    doors = {}
    for top in TOPS:
        rooms = pkgutil.walk_packages(getattr(importlib.import_module(top), "__path__", []), f"{top}.")
        for name in (top, *(room.name for room in rooms if room.ispkg)):
            door = importlib.import_module(name)
            if hasattr(door, "__all__"):
                doors[name] = door
    return doors


def find_homes(doors: dict[str, ModuleType]) -> dict[str, str]:
    """Return, for the full name of each public thing, the name under which it is described.

    A class or function of several doors is described once, at the outermost.
    """
    homes: dict[str, str] = {}
    outermost: dict[int, str] = {}
    for door in sorted(doors, key=lambda name: name.count(".")):
        for name in doors[door].__all__:
            full = f"{door}.{name}"
            if full not in doors:
                thing = getattr(doors[door], name)
                is_shared = inspect.isclass(thing) or inspect.isroutine(thing)
                homes[full] = outermost.setdefault(id(thing), full) if is_shared else full
    return homes


def outer_door(name: str, doors: dict[str, ModuleType]) -> str:
    """Return the nearest door around a door, by their names; an empty text if there is none."""
    around = name.rpartition(".")[0]
    return around if around in doors or not around else outer_door(around, doors)


def first_line(thing: object) -> str:
    """Return the first line of a docstring."""
    return (inspect.getdoc(thing) or "").partition("\n")[0]


def write_door(name: str, doors: dict[str, ModuleType], homes: dict[str, str]) -> Iterator[str]:
    """Yield the lines of the page of a door: its docstring, the rooms in it, and its names, constants last."""
    yield from [name, "=" * len(name), "", f".. automodule:: {name}", "   :no-members:", ""]
    rooms = [room for room in doors if outer_door(room, doors) == name]
    if rooms:
        yield from [".. markdown::", ""]
        yield from (f"   - [`{room}`]({room}.rst): {first_line(doors[room])}" for room in rooms)
        yield from ["", ".. toctree::", "   :hidden:", "", *(f"   {room}" for room in rooms), ""]
    constants: list[str] = []
    elsewhere = []
    for public in sorted(doors[name].__all__, key=str.lower):
        full = f"{name}.{public}"
        if homes.get(full, full) != full:
            elsewhere.append(homes[full])
        elif full in homes:
            thing = getattr(doors[name], public)
            if inspect.isclass(thing):
                made = [method for method in vars(thing) if MADE_BY_SKLEARN.fullmatch(method)]
                left_out = [f"   :exclude-members: {', '.join(made)}"] if made else []
                yield from [f".. autoclass:: {full}", "   :members:", *left_out, ""]
            elif inspect.isroutine(thing):
                yield from [f".. autofunction:: {full}", ""]
            else:
                is_long = len(repr(thing)) > LONGEST_VALUE
                constants += [f".. autodata:: {full}", *(["   :no-value:"] if is_long else []), ""]
    yield from constants
    if elsewhere:
        yield from ["Described elsewhere, and importable from here too:", ""]
        yield from (f"- :py:obj:`{full}`" for full in elsewhere)


def write_command(name: str) -> Iterator[str]:
    """Yield the lines of the page of a command, which say what its `--help` says."""
    summary = COMMANDS[name]
    settings = pkgutil.resolve_name(PARTS[name][0])
    title = f"graph-bandit {name}"
    usage = format_help(name, summary, settings, LONGEST_VALUE).partition("\n")[0]
    yield from [title, "=" * len(title), "", ".. markdown::", "", f"   {summary}", ""]
    yield from [".. code-block:: none", "", f"   {usage}", ""]
    for group, options in group_options(name, settings, in_full=True).items():
        yield from [f"{group.capitalize()}", "-" * len(group), ""]
        for option in options:
            yield f"``{spell_option(option)}``"
            yield from ["   .. markdown::", "", f"      {describe_option(option, in_full=True)}", ""]


def write_commands() -> Iterator[str]:
    """Yield the lines of the page of all commands."""
    yield from ["graph-bandit", "=" * len("graph-bandit"), "", ".. markdown::", ""]
    yield from (f"   - [`graph-bandit {name}`](graph-bandit-{name}.rst): {COMMANDS[name]}" for name in COMMANDS)
    yield from ["", ".. toctree::", "   :hidden:", "", *(f"   graph-bandit-{name}" for name in COMMANDS)]


def write_pages(app: Sphinx) -> None:
    """Write all pages of the reference, and remove those of doors that are gone."""
    with mock(app.config.autodoc_mock_imports):  # libraries that some bridges lead to, and this environment lacks
        doors = find_doors()
        app.public_names = find_homes(doors)
    pages = {"graph-bandit": write_commands()}
    pages |= {f"graph-bandit-{name}": write_command(name) for name in COMMANDS}
    pages |= {name: write_door(name, doors, app.public_names) for name in doors}
    folder = Path(app.srcdir) / "reference"
    for path in folder.glob("*.rst"):
        if path.stem not in pages:
            path.unlink()
    for name, lines in pages.items():
        path, text = folder / f"{name}.rst", "\n".join(lines) + "\n"
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def expect_every_name(app: Sphinx, env: BuildEnvironment) -> None:
    """Refuse a reference that leaves out a public name."""
    described = env.domains.python_domain.objects
    missing = sorted(set(app.public_names.values()) - set(described))
    if missing:
        raise ExtensionError(f"Expected every public name in the reference. Missing: {', '.join(missing)}.")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register both steps."""
    app.connect("builder-inited", write_pages)
    app.connect("env-check-consistency", expect_every_name)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
