"""The public names and their signatures, read from the sources without importing them; settings of agents by name.

    PYTHONPATH=.:tests python -m support.api        # writes docs/api.txt, which a release does (`make api`)

A line is a name and what it takes: `graph_bandit_campaign.Campaign.ask(count=1, ...)`, `graph-bandit suggest --n 8`,
`gnn-ts:exploration_scale=0.3`. Annotations are left out: they are made more precise without breaking anybody.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Collection, Iterator
from functools import cache

import griffe

import registry
from graph_bandit_cli.main import COMMANDS
from support import ROOT
from support.house import PRODUCT

SNAPSHOT = ROOT / "docs" / "api.txt"
TOPS = tuple(name for name in PRODUCT if not name.startswith("_"))
VARIADIC = {griffe.ParameterKind.var_positional: "*", griffe.ParameterKind.var_keyword: "**"}
LONGEST = 60
"""Characters of a default; of longer ones there is `...`."""


def public_lines() -> list[str]:
    """Return a line for each public name, each flag and each setting of an agent, in alphabetical order."""
    return sorted({*_names(), *_flags(), *_settings(), f"environment {registry.ENVIRONMENT_ID}"})


def name_of(line: str) -> str:
    """Return the word by which a change of a line is mentioned: a name without its door, a flag, or a setting."""
    if line.startswith("graph-bandit "):
        return line.split()[2]
    if of_agent := re.match(r"[\w-]+:(\w+)", line):
        return of_agent[1]
    word = re.split(r"[( ]", line.removeprefix("agent ").removeprefix("environment "))[0]
    return word.rpartition(".")[2]


def unmentioned(now: list[str], before: list[str], changes: str) -> list[str]:
    """Return the names whose lines are other than before, and which a text about changes does not have in code."""
    code = {word for text in re.findall(r"`[^`]+`", changes) for word in re.findall(r"[\w-]+", text)}
    return sorted({name for name in map(name_of, {*now} ^ {*before}) if name not in code})


@cache
def _sources() -> griffe.ModulesCollection:
    """Read all packages."""
    loader = griffe.GriffeLoader(search_paths=[ROOT])
    for top in TOPS:
        loader.load(top)
    loader.resolve_aliases(implicit=True, external=False)
    return loader.modules_collection


def _names() -> Iterator[str]:
    """Yield the lines of all doors. What stands at several is described at the outermost."""
    at: dict[str, griffe.Object | None] = {}
    for door, names in sorted(_doors(), key=lambda pair: (pair[0].count("."), pair)):
        for name in names:
            try:
                thing = _sources()[door][name]
                at[f"{door}.{name}"] = thing.final_target if thing.is_alias else thing
            except griffe.AliasResolutionError:  # one of several constants that are set in one line
                at[f"{door}.{name}"] = None
    homes: dict[str, str] = {}
    for name, thing in at.items():
        homes.setdefault(name if thing is None else thing.path, name)
    for name, thing in at.items():
        if thing is None:
            yield name
        elif (home := homes[thing.path]) != name:
            yield f"{name} is {home}"
        elif not thing.is_module:
            yield from _lines_of(name, thing, homes.keys())


def _doors() -> Iterator[tuple[str, list[str]]]:
    """Yield each door with its public names: those of its stub, or of its list `__all__`."""
    for path in (ROOT / "registry.py", *(path for top in TOPS for path in (ROOT / top).rglob("__init__.py"))):
        stub = path.with_suffix(".pyi")
        tree = ast.parse((stub if stub.is_file() else path).read_text(encoding="utf-8"))
        if stub.is_file():
            names = [a.name for n in tree.body if isinstance(n, ast.ImportFrom) and n.level for a in n.names]
        else:
            lists = [n.value for n in tree.body if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "__all__"]
            names = ast.literal_eval(lists[0]) if lists and isinstance(lists[0], ast.List) else []
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join(parts).removesuffix(".__init__"), names


def _lines_of(name: str, thing: griffe.Object, public: Collection[str]) -> Iterator[str]:
    """Yield the lines of a function, a constant, or a class with what it does not have from another public one."""
    if isinstance(thing, griffe.Function):
        yield f"{name}({_taken(thing.parameters, is_method=False)})"
    elif isinstance(thing, griffe.Class):
        yield f"{name}({_taken(thing.parameters, is_method=True)})"
        for member in thing.all_members:
            found = thing.all_members[member]
            found = found.final_target if found.is_alias else found
            owner = found.path.rpartition(".")[0]
            if member.startswith("_") or (owner in public and owner != thing.path):
                continue
            if isinstance(found, griffe.Function):
                yield f"{name}.{member}({_taken(found.parameters, 'staticmethod' not in found.labels)})"
            elif isinstance(found, griffe.Attribute):
                yield f"{name}.{member}"
    else:
        yield name


def _taken(parameters: griffe.Parameters, is_method: bool) -> str:
    """Return the parameters of a function as they are written in a call, without the object of a method."""
    texts, is_keyword_only = list[str](), False
    for parameter in list(parameters)[1:] if is_method else parameters:
        if parameter.kind is griffe.ParameterKind.var_positional:
            is_keyword_only = True
        if parameter.kind is griffe.ParameterKind.keyword_only and not is_keyword_only:
            texts.append("*")
            is_keyword_only = True
        stars = VARIADIC.get(parameter.kind, "")
        default = "" if parameter.default is None or stars else f"={_short(str(parameter.default))}"
        texts.append(f"{stars}{parameter.name}{default}")
    return ", ".join(texts)


def _flags() -> Iterator[str]:
    """Yield the lines of all flags."""
    for command, (module, _) in COMMANDS.items():
        settings = _sources()[f"graph_bandit_cli.{module}.Command"]
        for parameter in list(settings.parameters)[1:]:
            default = "" if parameter.default is None else f" {_short(str(parameter.default))}"
            yield f"graph-bandit {command} --{parameter.name.replace('_', '-')}{default}"


def _settings() -> Iterator[str]:
    """Yield the lines of all agents of this project, and of their settings."""
    for agent in registry.list_agents():
        yield f"agent {agent}"
        for name, parameter in inspect.signature(registry._load(agent)).parameters.items():
            default = "" if parameter.default is inspect.Parameter.empty else f"={_short(repr(parameter.default))}"
            yield f"{agent}:{name}{default}"


def _short(default: str) -> str:
    return default if len(default) <= LONGEST and " at 0x" not in default else "..."


if __name__ == "__main__":
    SNAPSHOT.write_text("\n".join(public_lines()) + "\n", encoding="utf-8")
    sys.stdout.write(f"{SNAPSHOT}\n")
